"""The functions `mju_...` on numbers, vectors, quaternions and poses. Results go into the first argument."""

import math
from typing import Any

import numpy as np

from .arrays import out, vector
from .data_fields import quaternions
from .enums import mjtObj  # type: ignore[attr-defined]
from .errors import FatalError

__all__ = [
    "mju_Halton",
    "mju_L1",
    "mju_add",
    "mju_add3",
    "mju_addScl",
    "mju_addScl3",
    "mju_addTo",
    "mju_addTo3",
    "mju_addToScl",
    "mju_addToScl3",
    "mju_axisAngle2Quat",
    "mju_clip",
    "mju_copy",
    "mju_copy3",
    "mju_copy4",
    "mju_cross",
    "mju_d2n",
    "mju_derivQuat",
    "mju_dist3",
    "mju_dot",
    "mju_dot3",
    "mju_eig3",
    "mju_euler2Quat",
    "mju_f2n",
    "mju_fill",
    "mju_insertionSort",
    "mju_insertionSortInt",
    "mju_isBad",
    "mju_isZero",
    "mju_mat2Quat",
    "mju_mat2Rot",
    "mju_max",
    "mju_min",
    "mju_mulPose",
    "mju_mulQuat",
    "mju_mulQuatAxis",
    "mju_n2d",
    "mju_n2f",
    "mju_negPose",
    "mju_negQuat",
    "mju_norm",
    "mju_norm3",
    "mju_normalize",
    "mju_normalize3",
    "mju_normalize4",
    "mju_quat2Mat",
    "mju_quat2Vel",
    "mju_quatIntegrate",
    "mju_quatZ2Vec",
    "mju_rotVecQuat",
    "mju_round",
    "mju_scl",
    "mju_scl3",
    "mju_sigmoid",
    "mju_sign",
    "mju_springDamper",
    "mju_standardNormal",
    "mju_str2Type",
    "mju_sub",
    "mju_sub3",
    "mju_subFrom",
    "mju_subFrom3",
    "mju_subQuat",
    "mju_sum",
    "mju_transformSpatial",
    "mju_trnVecPose",
    "mju_type2Str",
    "mju_unit4",
    "mju_warningText",
    "mju_zero",
    "mju_zero3",
    "mju_zero4",
    "mjd_quatIntegrate",
    "mjd_subQuat",
]

_TINY = 1e-15
_random = np.random.default_rng()


def _binary(name: str, size: int | None, function: Any, doc: str) -> Any:
    def call(res: Any, vec1: Any, vec2: Any) -> None:
        n = np.size(res) if size is None else size
        target = out(res, (n,), "res")
        target[...] = function(vector(vec1, n, "vec1"), vector(vec2, n, "vec2")).reshape(target.shape)

    call.__name__, call.__doc__ = name, doc
    return call


def _scaled(name: str, size: int | None, doc: str) -> Any:
    def call(res: Any, vec1: Any, vec2: Any, scl: float) -> None:
        n = np.size(res) if size is None else size
        target = out(res, (n,), "res")
        target[...] = (vector(vec1, n, "vec1") + vector(vec2, n, "vec2") * scl).reshape(target.shape)

    call.__name__, call.__doc__ = name, doc
    return call


def _unary(name: str, size: int | None, function: Any, doc: str) -> Any:
    def call(res: Any, vec: Any) -> None:
        n = np.size(res) if size is None else size
        target = out(res, (n,), "res")
        target[...] = function(target.reshape(-1), vector(vec, n, "vec")).reshape(target.shape)

    call.__name__, call.__doc__ = name, doc
    return call


def _by_scale(name: str, size: int | None, add: bool, doc: str) -> Any:
    def call(res: Any, vec: Any, scl: float) -> None:
        n = np.size(res) if size is None else size
        target = out(res, (n,), "res")
        value = vector(vec, n, "vec").reshape(target.shape) * scl
        target[...] = target + value if add else value

    call.__name__, call.__doc__ = name, doc
    return call


def _constant(name: str, size: int | None, value: Any, doc: str) -> Any:
    def call(res: Any) -> None:
        out(res, (np.size(res) if size is None else size,), "res")[...] = value

    call.__name__, call.__doc__ = name, doc
    return call


mju_add = _binary("mju_add", None, np.add, "vec1 + vec2.")
mju_add3 = _binary("mju_add3", 3, np.add, "vec1 + vec2, of length 3.")
mju_sub = _binary("mju_sub", None, np.subtract, "vec1 - vec2.")
mju_sub3 = _binary("mju_sub3", 3, np.subtract, "vec1 - vec2, of length 3.")
mju_addScl = _scaled("mju_addScl", None, "vec1 + vec2 scl.")
mju_addScl3 = _scaled("mju_addScl3", 3, "vec1 + vec2 scl, of length 3.")
mju_addTo = _unary("mju_addTo", None, lambda r, v: r + v, "Add vec to res.")
mju_addTo3 = _unary("mju_addTo3", 3, lambda r, v: r + v, "Add vec to res, of length 3.")
mju_subFrom = _unary("mju_subFrom", None, lambda r, v: r - v, "Subtract vec from res.")
mju_subFrom3 = _unary("mju_subFrom3", 3, lambda r, v: r - v, "Subtract vec from res, of length 3.")
mju_copy = _unary("mju_copy", None, lambda r, v: v, "Copy a vector.")
mju_copy3 = _unary("mju_copy3", 3, lambda r, v: v, "Copy a vector of length 3.")
mju_copy4 = _unary("mju_copy4", 4, lambda r, v: v, "Copy a vector of length 4.")
mju_addToScl = _by_scale("mju_addToScl", None, True, "Add vec scl to res.")
mju_addToScl3 = _by_scale("mju_addToScl3", 3, True, "Add vec scl to res, of length 3.")
mju_scl = _by_scale("mju_scl", None, False, "vec scl.")
mju_scl3 = _by_scale("mju_scl3", 3, False, "vec scl, of length 3.")
mju_zero = _constant("mju_zero", None, 0.0, "Set to zero.")
mju_zero3 = _constant("mju_zero3", 3, 0.0, "Set three numbers to zero.")
mju_zero4 = _constant("mju_zero4", 4, 0.0, "Set four numbers to zero.")
mju_unit4 = _constant("mju_unit4", 4, np.array([1.0, 0, 0, 0]), "Set to the identity quaternion.")


def mju_fill(res: Any, val: float) -> None:
    """Set all numbers to one value."""
    out(res, (np.size(res),), "res")[...] = val


# ---- numbers --------------------------------------------------------------------------------------


def mju_max(a: float, b: float) -> float:
    """The larger one."""
    return max(a, b)


def mju_min(a: float, b: float) -> float:
    """The smaller one."""
    return min(a, b)


def mju_clip(x: float, min: float, max: float) -> float:
    """X within the two bounds."""
    return float(np.clip(x, min, max))


def mju_sign(x: float) -> float:
    """-1, 0 or 1."""
    return float(np.sign(x))


def mju_round(x: float) -> int:
    """The nearest whole number, halves away from zero."""
    return int(math.copysign(math.floor(abs(x) + 0.5), x))


def mju_isBad(x: float) -> int:
    """1 if not finite or larger than mjMAXVAL."""
    return int(not abs(x) <= 1e10)


def mju_isZero(vec: Any) -> int:
    """1 if all numbers are zero."""
    return int(not np.any(vec))


def mju_sigmoid(x: float) -> float:
    """A quintic that rises from 0 at 0 to 1 at 1."""
    x = min(max(x, 0.0), 1.0)
    return x * x * x * (3 * x * (2 * x - 5) + 10)


def mju_Halton(index: int, base: int) -> float:
    """A number of the Halton sequence."""
    result, fraction = 0.0, 1.0
    while index > 0:
        fraction /= base
        index, digit = divmod(index, base)
        result += digit * fraction
    return result


def mju_standardNormal(num2: Any = None) -> float:
    """A random number of the normal distribution; a second one into num2."""
    first, second = _random.standard_normal(2)
    if num2 is not None:
        num2[...] = second
    return float(first)


def mju_springDamper(pos0: float, vel0: float, Kp: float, Kv: float, dt: float) -> float:
    """Position after dt of a unit mass with a spring and a damper."""
    root = np.sqrt(complex(Kv * Kv - 4 * Kp))
    if abs(root) < 1e-9:
        rate = -Kv / 2
        return float((pos0 + (vel0 - rate * pos0) * dt) * math.exp(rate * dt))
    r1, r2 = (-Kv + root) / 2, (-Kv - root) / 2
    c1 = (pos0 * r2 - vel0) / (r2 - r1)
    return float((c1 * np.exp(r1 * dt) + (pos0 - c1) * np.exp(r2 * dt)).real)


# ---- vectors --------------------------------------------------------------------------------------


def mju_dot(vec1: Any, vec2: Any) -> float:
    """Scalar product."""
    a = vector(vec1, None, "vec1")
    return float(a @ vector(vec2, a.size, "vec2"))


def mju_dot3(vec1: Any, vec2: Any) -> float:
    """Scalar product, of length 3."""
    return float(vector(vec1, 3, "vec1") @ vector(vec2, 3, "vec2"))


def mju_norm(vec: Any) -> float:
    """Euclidean length."""
    return float(np.linalg.norm(vector(vec, None, "vec")))


def mju_norm3(vec: Any) -> float:
    """Euclidean length, of length 3."""
    return float(np.linalg.norm(vector(vec, 3, "vec")))


def mju_L1(vec: Any) -> float:
    """Sum of magnitudes."""
    return float(np.sum(np.abs(vec)))


def mju_sum(vec: Any) -> float:
    """Sum."""
    return float(np.sum(vec))


def mju_dist3(pos1: Any, pos2: Any) -> float:
    """Distance of two points."""
    return float(np.linalg.norm(vector(pos1, 3, "pos1") - vector(pos2, 3, "pos2")))


def mju_cross(res: Any, a: Any, b: Any) -> None:
    """Vector product."""
    target = out(res, (3,), "res")
    target[...] = np.cross(vector(a, 3, "a"), vector(b, 3, "b")).reshape(target.shape)


def _normalize(vec: Any, unit: Any) -> float:
    target = out(vec, (np.size(vec),), "vec")
    length = float(np.linalg.norm(target))
    if length < _TINY:
        target[...] = np.asarray(unit).reshape(target.shape)
    else:
        target[...] /= length
    return length


def mju_normalize(res: Any) -> float:
    """Scale to unit length; returns the length before."""
    return _normalize(res, np.eye(1, np.size(res))[0])


def mju_normalize3(vec: Any) -> float:
    """Scale to unit length; returns the length before."""
    out(vec, (3,), "vec")
    return _normalize(vec, [1, 0, 0])


def mju_normalize4(vec: Any) -> float:
    """Scale to unit length; returns the length before."""
    out(vec, (4,), "vec")
    return _normalize(vec, [1, 0, 0, 0])


def mju_insertionSort(list: Any) -> None:
    """Sort in place."""
    list.sort()


def mju_insertionSortInt(list: Any) -> None:
    """Sort in place."""
    list.sort()


def mju_f2n(res: Any, vec: Any) -> None:
    """Convert numbers."""
    res[...] = vec


mju_n2f = mju_d2n = mju_n2d = mju_f2n


# ---- quaternions ----------------------------------------------------------------------------------


def _product(a: Any, b: Any) -> Any:
    w, v = a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.concatenate([[w], v])


def _matrix(q: Any) -> Any:
    w, x, y, z = q
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def _exponential(velocity: Any, dt: float) -> Any:
    speed = float(np.linalg.norm(velocity))
    axis = velocity / speed if speed >= _TINY else np.array([1.0, 0, 0])
    return np.concatenate([[math.cos(speed * dt / 2)], axis * math.sin(speed * dt / 2)])


def _quat(value: Any, name: str = "quat") -> Any:
    return vector(value, 4, name)


def _put(res: Any, shape: tuple[int, ...], value: Any) -> None:
    target = out(res, (int(np.prod(shape)),), "res") if np.ndim(res) == 1 else out(res, shape, "res")
    target[...] = np.asarray(value).reshape(target.shape)


def mju_rotVecQuat(res: Any, vec: Any, quat: Any) -> None:
    """Rotate a vector."""
    target = out(res, (3,), "res")
    q, v = _quat(quat), vector(vec, 3, "vec")
    target[...] = (v + 2 * np.cross(q[1:], q[0] * v + np.cross(q[1:], v))).reshape(target.shape)


def mju_negQuat(res: Any, quat: Any) -> None:
    """The opposite rotation."""
    _put(res, (4,), _quat(quat) * (1, -1, -1, -1))


def mju_mulQuat(res: Any, quat1: Any, quat2: Any) -> None:
    """Product of quaternions."""
    _put(res, (4,), _product(_quat(quat1, "quat1"), _quat(quat2, "quat2")))


def mju_mulQuatAxis(res: Any, quat: Any, axis: Any) -> None:
    """Quaternion times (0, axis)."""
    _put(res, (4,), _product(_quat(quat), np.concatenate([[0.0], vector(axis, 3, "axis")])))


def mju_axisAngle2Quat(res: Any, axis: Any, angle: float) -> None:
    """Quaternion of a rotation about an axis."""
    _put(res, (4,), np.concatenate([[math.cos(angle / 2)], vector(axis, 3, "axis") * math.sin(angle / 2)]))


def mju_quat2Vel(res: Any, quat: Any, dt: float) -> None:
    """Angular velocity that gives the rotation in time dt."""
    q = _quat(quat)
    length = float(np.linalg.norm(q[1:]))
    angle = 2 * math.atan2(length, q[0])
    if angle > math.pi:
        angle -= 2 * math.pi
    axis = q[1:] / length if length >= _TINY else np.zeros(3)
    _put(res, (3,), axis * angle / dt)


def mju_subQuat(res: Any, qa: Any, qb: Any) -> None:
    """The rotation vector from qb to qa, in the frame of qb."""
    target = out(res, (3,), "res")
    mju_quat2Vel(target, _product(_quat(qb, "qb") * (1, -1, -1, -1), _quat(qa, "qa")), 1.0)


def mju_quat2Mat(res: Any, quat: Any) -> None:
    """Rotation matrix."""
    _put(res, (3, 3), _matrix(_quat(quat)))


def mju_mat2Quat(quat: Any, mat: Any) -> None:
    """Quaternion of a rotation matrix."""
    _put(quat, (4,), quaternions(vector(mat, 9, "mat"))[0])


def mju_derivQuat(res: Any, quat: Any, vel: Any) -> None:
    """Derivative of a quaternion with angular velocity `vel` in the world."""
    _put(res, (4,), 0.5 * _product(np.concatenate([[0.0], vector(vel, 3, "vel")]), _quat(quat)))


def mju_quatIntegrate(quat: Any, vel: Any, scale: float) -> None:
    """Turn a quaternion by an angular velocity in its frame, in place."""
    target = out(quat, (4,), "quat")
    q = _product(_quat(target), _exponential(vector(vel, 3, "vel"), scale))
    target[...] = (q / np.linalg.norm(q)).reshape(target.shape)


def mju_quatZ2Vec(quat: Any, vec: Any) -> None:
    """The shortest rotation of the z axis onto a vector."""
    v = vector(vec, 3, "vec")
    length = float(np.linalg.norm(v))
    if length < _TINY:
        _put(quat, (4,), [1, 0, 0, 0])
        return
    v = v / length
    axis = np.array([-v[1], v[0], 0.0])
    sine = float(np.linalg.norm(axis))
    if sine < 1e-10:
        _put(quat, (4,), [1, 0, 0, 0] if v[2] > 0 else [0, 1, 0, 0])
        return
    angle = math.atan2(sine, v[2])
    _put(quat, (4,), np.concatenate([[math.cos(angle / 2)], axis / sine * math.sin(angle / 2)]))


def mju_euler2Quat(quat: Any, euler: Any, seq: str) -> None:
    """Quaternion of three rotations: lower-case axes move, upper-case axes are fixed."""
    if len(seq) != 3:
        raise FatalError("mju_euler2Quat: seq must contain exactly 3 characters")
    angles, q = vector(euler, 3, "euler"), np.array([1.0, 0, 0, 0])
    for i, letter in enumerate(seq):
        if letter not in "xyzXYZ":
            raise FatalError(f"mju_euler2Quat: seq[{i}] is '{letter}', should be one of x, y, z, X, Y, Z")
        turn = np.zeros(4)
        turn[0] = math.cos(angles[i] / 2)
        turn["xyz".index(letter.lower()) + 1] = math.sin(angles[i] / 2)
        q = _product(q, turn) if letter.islower() else _product(turn, q)
    _put(quat, (4,), q)


def mju_mat2Rot(quat: Any, mat: Any) -> int:
    """The rotation nearest to a matrix, as a quaternion; returns the iterations."""
    u, _, vt = np.linalg.svd(vector(mat, 9, "mat").reshape(3, 3))
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt
    _put(quat, (4,), quaternions(turn.reshape(1, 9))[0])
    return 1


def mju_eig3(eigval: Any, eigvec: Any, quat: Any, mat: Any) -> int:
    """Eigenvalues, descending, and eigenvectors of a symmetric matrix."""
    values, vectors = np.linalg.eigh(vector(mat, 9, "mat").reshape(3, 3))
    values, vectors = values[::-1], vectors[:, ::-1].copy()
    if np.linalg.det(vectors) < 0:
        vectors[:, 2] *= -1
    _put(eigval, (3,), values)
    _put(eigvec, (3, 3), vectors)
    _put(quat, (4,), quaternions(vectors.reshape(1, 9))[0])
    return 1


# ---- poses ----------------------------------------------------------------------------------------


def _turned(vec: Any, quat: Any) -> Any:
    result = np.zeros(3)
    mju_rotVecQuat(result, vec, quat)
    return result


def mju_mulPose(posres: Any, quatres: Any, pos1: Any, quat1: Any, pos2: Any, quat2: Any) -> None:
    """Product of poses."""
    position = _turned(pos2, quat1) + vector(pos1, 3, "pos1")
    _put(quatres, (4,), _product(_quat(quat1, "quat1"), _quat(quat2, "quat2")))
    _put(posres, (3,), position)


def mju_negPose(posres: Any, quatres: Any, pos: Any, quat: Any) -> None:
    """The opposite pose."""
    back = _quat(quat) * (1, -1, -1, -1)
    _put(posres, (3,), -_turned(pos, back))
    _put(quatres, (4,), back)


def mju_trnVecPose(res: Any, pos: Any, quat: Any, vec: Any) -> None:
    """A point given in a pose."""
    _put(res, (3,), _turned(vec, quat) + vector(pos, 3, "pos"))


def mju_transformSpatial(
    res: Any, vec: Any, flg_force: int, newpos: Any, oldpos: Any, rotnew2old: Any
) -> None:
    """Move a spatial vector (angular, linear) to another point and, with a rotation, to other axes."""
    v = vector(vec, 6, "vec").copy()
    arm = vector(newpos, 3, "newpos") - vector(oldpos, 3, "oldpos")
    if flg_force:
        v[:3] -= np.cross(arm, v[3:])
    else:
        v[3:] -= np.cross(arm, v[:3])
    if rotnew2old is not None:
        turn = vector(rotnew2old, 9, "rotnew2old").reshape(3, 3)
        v = np.concatenate([turn.T @ v[:3], turn.T @ v[3:]])
    _put(res, (6,), v)


# ---- derivatives of quaternions -------------------------------------------------------------------


def mjd_subQuat(qa: Any, qb: Any, Da: Any, Db: Any) -> None:
    """Jacobians of mju_subQuat by rotations of qa and of qb in their frames."""
    v = np.zeros(3)
    mju_subQuat(v, qa, qb)
    half = float(np.linalg.norm(v)) / 2
    x = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    c = (1 - half / math.tan(half)) / (4 * half * half) if half > 1e-9 else 1 / 12
    jacobian = np.eye(3) + x / 2 + c * (x @ x)
    if Da is not None:
        _put(Da, (3, 3), jacobian)
    if Db is not None:
        _put(Db, (3, 3), -jacobian.T)


def mjd_quatIntegrate(vel: Any, scale: float, Dquat: Any, Dvel: Any, Dscale: Any) -> None:
    """Jacobians of mju_quatIntegrate by the quaternion, by scale times the velocity, and by the scale."""
    v = vector(vel, 3, "vel") * scale
    angle = float(np.linalg.norm(v))
    x = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    small = angle < 1e-6
    a = 1 - angle * angle / 6 if small else math.sin(angle) / angle
    b = 0.5 if small else (1 - math.cos(angle)) / angle**2
    c = 1 / 6 if small else (angle - math.sin(angle)) / angle**3
    if Dquat is not None:
        _put(Dquat, (3, 3), np.eye(3) - a * x + b * (x @ x))
    if Dvel is not None:
        _put(Dvel, (3, 3), np.eye(3) - b * x + c * (x @ x))
    if Dscale is not None:
        _put(Dscale, (3,), vector(vel, 3, "vel"))


# ---- words ----------------------------------------------------------------------------------------


def mju_type2Str(type: int) -> str | None:
    """Word of a kind of objects."""
    try:
        name = mjtObj(int(type)).name
    except ValueError:
        return None
    return name[6:].lower() if name.startswith("mjOBJ_") and int(type) else None


def mju_str2Type(str: str) -> int:
    """Kind of objects of a word; 0 if there is none."""
    for kind in mjtObj:
        if mju_type2Str(kind) == str:
            return int(kind)
    return 0


def mju_warningText(warning: int, info: int) -> str:
    """What a warning of a world means."""
    what = {
        0: "the inertia matrix is too close to singular",
        3: "nan, inf or huge value in QPOS",
        4: "nan, inf or huge value in QVEL",
        5: "nan, inf or huge value in QACC",
        6: "nan, inf or huge value in CTRL",
    }.get(int(warning), "does not occur in Tribo")
    return f"{what} (at {info})"
