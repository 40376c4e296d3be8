"""Written by python/stubs.py."""

from enum import IntEnum, IntFlag

class _Word(IntEnum):  # type: ignore[misc]
    """Members print as the words of files and options, and equal them."""
    def __eq__(self, other: object) -> bool: ...
    def __ne__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

__all__ = ["ForwardStage", "ContactState", "TaskType", "Offence", "GeomType", "JointType", "Integrator", "Cone", "Jacobian", "MjSolver", "DisableBit", "EnableBit", "EqualityType", "WrapType", "Transmission", "DynType", "GainType", "BiasType", "ObjType", "SensorType", "ContactDataBit", "ContactReduce", "CamMode", "FclibEncoding", "BlockType", "DelassusForm", "Law", "SolveStatus", "PenaltyRule", "SolverKind", "LengthRangeMode", "Result"]

class ForwardStage(_Word):
    """VELOCITY: what tb_step1 computes: frames, velocities, contacts, their sensors; FORCE: and forces and accelerations: what tb_forward computes"""

    VELOCITY = 0
    FORCE = 1

class ContactState(_Word):
    """OPEN: no normal force; STICKING: neither slides nor rolls; SLIDING: friction is at its limit, and the surfaces slip; ROLLING: does not slide, but the bodies turn about an axis of the tangential plane"""

    OPEN = 0
    STICKING = 1
    SLIDING = 2
    ROLLING = 3

class TaskType(_Word):
    """COM: centre of mass of the tree of `body`; POINT: a point of `body`; ORIENTATION: of `body`; POSE: position and orientation; POSTURE: every hinge and slide joint"""

    COM = 0
    POINT = 1
    ORIENTATION = 2
    POSE = 3
    POSTURE = 4

class Offence(_Word):
    """NONE; UNCONVERGED: the constraint with the largest residual; soft: the largest impulse; FAILED: the step was not made; data->message says why"""

    NONE = 0
    UNCONVERGED = 1
    FAILED = 2

class GeomType(_Word):
    """PLANE; HFIELD; SPHERE; CAPSULE; ELLIPSOID; CYLINDER; BOX; MESH"""

    PLANE = 0
    HFIELD = 1
    SPHERE = 2
    CAPSULE = 3
    ELLIPSOID = 4
    CYLINDER = 5
    BOX = 6
    MESH = 7

class JointType(_Word):
    """FREE; BALL; SLIDE; HINGE"""

    FREE = 0
    BALL = 1
    SLIDE = 2
    HINGE = 3

class Integrator(_Word):
    """EULER; RK4; IMPLICIT; IMPLICITFAST; EXPO; EXPO_MIDPOINT; EULER_EXPLICIT; EULER_IMPLICIT"""

    EULER = 0
    RK4 = 1
    IMPLICIT = 2
    IMPLICITFAST = 3
    EXPO = 4
    EXPO_MIDPOINT = 5
    EULER_EXPLICIT = 6
    EULER_IMPLICIT = 7

class Cone(_Word):
    """PYRAMIDAL; ELLIPTIC"""

    PYRAMIDAL = 0
    ELLIPTIC = 1

class Jacobian(_Word):
    """DENSE; SPARSE; AUTO"""

    DENSE = 0
    SPARSE = 1
    AUTO = 2

class MjSolver(_Word):
    """PGS; CG; NEWTON"""

    PGS = 0
    CG = 1
    NEWTON = 2

class DisableBit(IntFlag):
    """CONSTRAINT; EQUALITY; FRICTIONLOSS; LIMIT; CONTACT; SPRING; DAMPER; GRAVITY; CLAMPCTRL; WARMSTART; FILTERPARENT; ACTUATION; REFSAFE; SENSOR; MIDPHASE; EULERDAMP; AUTORESET; NATIVECCD; ISLAND"""

    CONSTRAINT = 1
    EQUALITY = 2
    FRICTIONLOSS = 4
    LIMIT = 8
    CONTACT = 16
    SPRING = 32
    DAMPER = 64
    GRAVITY = 128
    CLAMPCTRL = 256
    WARMSTART = 512
    FILTERPARENT = 1024
    ACTUATION = 2048
    REFSAFE = 4096
    SENSOR = 8192
    MIDPHASE = 16384
    EULERDAMP = 32768
    AUTORESET = 65536
    NATIVECCD = 131072
    ISLAND = 262144

class EnableBit(IntFlag):
    """OVERRIDE; ENERGY; FWDINV; INVDISCRETE; MULTICCD; SLEEP"""

    OVERRIDE = 1
    ENERGY = 2
    FWDINV = 4
    INVDISCRETE = 8
    MULTICCD = 16
    SLEEP = 32

class EqualityType(_Word):
    """CONNECT; WELD; JOINT; TENDON"""

    CONNECT = 0
    WELD = 1
    JOINT = 2
    TENDON = 3

class WrapType(_Word):
    """NONE; JOINT; PULLEY; SITE; SPHERE; CYLINDER"""

    NONE = 0
    JOINT = 1
    PULLEY = 2
    SITE = 3
    SPHERE = 4
    CYLINDER = 5

class Transmission(_Word):
    """JOINT; JOINTINPARENT; SLIDERCRANK; TENDON; SITE; BODY"""

    JOINT = 0
    JOINTINPARENT = 1
    SLIDERCRANK = 2
    TENDON = 3
    SITE = 4
    BODY = 5

class DynType(_Word):
    """NONE; INTEGRATOR; FILTER; FILTEREXACT; MUSCLE; USER"""

    NONE = 0
    INTEGRATOR = 1
    FILTER = 2
    FILTEREXACT = 3
    MUSCLE = 4
    USER = 5

class GainType(_Word):
    """FIXED; AFFINE; MUSCLE; USER"""

    FIXED = 0
    AFFINE = 1
    MUSCLE = 2
    USER = 3

class BiasType(_Word):
    """NONE; AFFINE; MUSCLE; USER"""

    NONE = 0
    AFFINE = 1
    MUSCLE = 2
    USER = 3

class ObjType(_Word):
    """UNKNOWN; BODY: the body's inertial frame, where MuJoCo distinguishes; XBODY: the body's own frame; JOINT; DOF; GEOM; SITE; CAMERA; LIGHT; MESH; HFIELD; PAIR; EXCLUDE; EQUALITY; TENDON; ACTUATOR; SENSOR; NUMERIC; TEXT; TUPLE; KEY"""

    UNKNOWN = 0
    BODY = 1
    XBODY = 2
    JOINT = 3
    DOF = 4
    GEOM = 5
    SITE = 6
    CAMERA = 7
    LIGHT = 8
    MESH = 9
    HFIELD = 10
    PAIR = 11
    EXCLUDE = 12
    EQUALITY = 13
    TENDON = 14
    ACTUATOR = 15
    SENSOR = 16
    NUMERIC = 17
    TEXT = 18
    TUPLE = 19
    KEY = 20

class SensorType(_Word):
    """TOUCH; ACCELEROMETER; VELOCIMETER; GYRO; FORCE; TORQUE; MAGNETOMETER; RANGEFINDER; CAMPROJECTION; JOINTPOS; JOINTVEL; TENDONPOS; TENDONVEL; ACTUATORPOS; ACTUATORVEL; ACTUATORFRC; JOINTACTFRC; TENDONACTFRC; BALLQUAT; BALLANGVEL; JOINTLIMITPOS; JOINTLIMITVEL; JOINTLIMITFRC; TENDONLIMITPOS; TENDONLIMITVEL; TENDONLIMITFRC; FRAMEPOS; FRAMEQUAT; FRAMEXAXIS; FRAMEYAXIS; FRAMEZAXIS; FRAMELINVEL; FRAMEANGVEL; FRAMELINACC; FRAMEANGACC; SUBTREECOM; SUBTREELINVEL; SUBTREEANGMOM; INSIDESITE; GEOMDIST; GEOMNORMAL; GEOMFROMTO; CONTACT; E_POTENTIAL; E_KINETIC; CLOCK; TACTILE: not supported, nor is the next; values are MuJoCo's; PLUGIN; USER"""

    TOUCH = 0
    ACCELEROMETER = 1
    VELOCIMETER = 2
    GYRO = 3
    FORCE = 4
    TORQUE = 5
    MAGNETOMETER = 6
    RANGEFINDER = 7
    CAMPROJECTION = 8
    JOINTPOS = 9
    JOINTVEL = 10
    TENDONPOS = 11
    TENDONVEL = 12
    ACTUATORPOS = 13
    ACTUATORVEL = 14
    ACTUATORFRC = 15
    JOINTACTFRC = 16
    TENDONACTFRC = 17
    BALLQUAT = 18
    BALLANGVEL = 19
    JOINTLIMITPOS = 20
    JOINTLIMITVEL = 21
    JOINTLIMITFRC = 22
    TENDONLIMITPOS = 23
    TENDONLIMITVEL = 24
    TENDONLIMITFRC = 25
    FRAMEPOS = 26
    FRAMEQUAT = 27
    FRAMEXAXIS = 28
    FRAMEYAXIS = 29
    FRAMEZAXIS = 30
    FRAMELINVEL = 31
    FRAMEANGVEL = 32
    FRAMELINACC = 33
    FRAMEANGACC = 34
    SUBTREECOM = 35
    SUBTREELINVEL = 36
    SUBTREEANGMOM = 37
    INSIDESITE = 38
    GEOMDIST = 39
    GEOMNORMAL = 40
    GEOMFROMTO = 41
    CONTACT = 42
    E_POTENTIAL = 43
    E_KINETIC = 44
    CLOCK = 45
    TACTILE = 46
    PLUGIN = 47
    USER = 48

class ContactDataBit(IntFlag):
    """FOUND: number of matching contacts; FORCE: in the contact's frame; TORQUE: in the contact's frame; DIST: m; POS: m; NORMAL: from the first object to the second; TANGENT: the first tangent"""

    FOUND = 1
    FORCE = 2
    TORQUE = 4
    DIST = 8
    POS = 16
    NORMAL = 32
    TANGENT = 64

class ContactReduce(_Word):
    """NONE: the first ones; MINDIST: the deepest ones; MAXFORCE: those with the largest force; NETFORCE: one equivalent contact with the net force, in world axes"""

    NONE = 0
    MINDIST = 1
    MAXFORCE = 2
    NETFORCE = 3

class CamMode(_Word):
    """FIXED; TRACK; TRACKCOM; TARGETBODY; TARGETBODYCOM"""

    FIXED = 0
    TRACK = 1
    TRACKCOM = 2
    TARGETBODY = 3
    TARGETBODYCOM = 4

class FclibEncoding(_Word):
    """TRIPLET: nz >= 0: row, column, value; CSC: nz = -1: compressed columns; CSR: nz = -2: compressed rows"""

    TRIPLET = 0
    CSC = 1
    CSR = 2

class BlockType(_Word):
    """EQUALITY: lambda free, sigma = 0; ONE_SIDED: each row: 0 <= lambda ⟂ sigma >= 0; BOX: each row: lower <= lambda <= upper, sigma opposes at a bound; CONE: normal row first: sqrt(sum (lambda_Ti / mu_i)^2) <= lambda_N"""

    EQUALITY = 0
    ONE_SIDED = 1
    BOX = 2
    CONE = 3

class DelassusForm(_Word):
    """DENSE: row-major, symmetric; SPARSE: blocks of rows compressed (BSR) over the problem's blocks; PRODUCT: G = B B^T, B = J M^-1/2 in compressed rows (CSR): trees, many bodies"""

    DENSE = 0
    SPARSE = 1
    PRODUCT = 2

class Law(_Word):
    """NCP: exact; CCP: convex: no Gamma (CM eq. 16); LCP: pyramid |lambda_Ti| <= mu_i lambda_N instead of the cone (CM III-A); RAISIM: Signorini and Coulomb without maximum dissipation (CM eq. 23); SOFT: MuJoCo's regularised convex model; COMFREE: complementarity-free: forces in closed form; VISCOELASTIC: springs and dampers with anchor points"""

    NCP = 0
    CCP = 1
    LCP = 2
    RAISIM = 3
    SOFT = 4
    COMFREE = 5
    VISCOELASTIC = 6

class SolveStatus(_Word):
    """CONVERGED; MAX_ITERATIONS; TIME_LIMIT; STALLED: no further progress; lambda is the best iterate found; FAILED: a breakdown (non-finite numbers); lambda is the best iterate found; INFEASIBLE: ncp/auto: proven that no velocity satisfies all constraints; lambda is"""

    CONVERGED = 0
    MAX_ITERATIONS = 1
    TIME_LIMIT = 2
    STALLED = 3
    FAILED = 4
    INFEASIBLE = 5

class PenaltyRule(_Word):
    """SPECTRAL; LINEAR; CONSTANT"""

    SPECTRAL = 0
    LINEAR = 1
    CONSTANT = 2

class SolverKind(_Word):
    """AUTO; PGS; ADMM; NEWTON; STAGGERED; LEMKE; PGS_EXACT; PROX_NEWTON; IPM"""

    AUTO = 0
    PGS = 1
    ADMM = 2
    NEWTON = 3
    STAGGERED = 4
    LEMKE = 5
    PGS_EXACT = 6
    PROX_NEWTON = 7
    IPM = 8

class LengthRangeMode(_Word):
    """NONE; MUSCLE; MUSCLEUSER; ALL"""

    NONE = 0
    MUSCLE = 1
    MUSCLEUSER = 2
    ALL = 3

class Result(_Word):
    """OK; ERROR_ARGUMENT: a caller's argument is out of its documented range; ERROR_MEMORY: an allocation failed or a size limit was exceeded; ERROR_FILE: a file cannot be opened, read or written; ERROR_PARSE: the content of a file is malformed; ERROR_MODEL: a model is well-formed but physically meaningless; ERROR_UNSUPPORTED: a feature Tribo does not have, or was built without; ERROR_NUMERIC: a computation produced a non-finite number or broke down"""

    OK = 0
    ERROR_ARGUMENT = 1
    ERROR_MEMORY = 2
    ERROR_FILE = 3
    ERROR_PARSE = 4
    ERROR_MODEL = 5
    ERROR_UNSUPPORTED = 6
    ERROR_NUMERIC = 7
