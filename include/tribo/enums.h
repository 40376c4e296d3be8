// Kinds of things in a model. Values and order are MuJoCo's where MuJoCo has them.
#ifndef TRIBO_ENUMS_H_
#define TRIBO_ENUMS_H_

#include "tribo/extension.h"

// Sizes: plane (x half, y half, -), hfield (from its data), sphere (radius), capsule (radius, half
// length), ellipsoid (three radii), cylinder (radius, half length), box (three half lengths).
// Capsules and cylinders lie along local z; a plane's normal is local z.
typedef enum {
  TB_GEOM_PLANE,
  TB_GEOM_HFIELD,
  TB_GEOM_SPHERE,
  TB_GEOM_CAPSULE,
  TB_GEOM_ELLIPSOID,
  TB_GEOM_CYLINDER,
  TB_GEOM_BOX,
  TB_GEOM_MESH,
  TB_NGEOMTYPES
} tbGeomType;

typedef enum {
  TB_JOINT_FREE,
  TB_JOINT_BALL,
  TB_JOINT_SLIDE,
  TB_JOINT_HINGE,
#define TB_ENUMERATOR(TYPE, word, nq, nv, translations, limits, flags, function) TB_JOINT_##TYPE,
  TB_EXTENSION_JOINTS(TB_ENUMERATOR)
#undef TB_ENUMERATOR
      TB_NJOINTTYPES
} tbJointType;

typedef enum {
  TB_INTEGRATOR_EULER,
  TB_INTEGRATOR_RK4,
  TB_INTEGRATOR_IMPLICIT,
  TB_INTEGRATOR_IMPLICITFAST,
  // The integrators of the viscoelastic law, which also has RK4. Under this law EULER, IMPLICIT and
  // IMPLICITFAST mean EXPO.
  TB_INTEGRATOR_EXPO,
  TB_INTEGRATOR_EXPO_MIDPOINT,
  TB_INTEGRATOR_EULER_EXPLICIT,
  TB_INTEGRATOR_EULER_IMPLICIT
} tbIntegrator;
typedef enum { TB_CONE_PYRAMIDAL, TB_CONE_ELLIPTIC } tbCone;
typedef enum { TB_JACOBIAN_DENSE, TB_JACOBIAN_SPARSE, TB_JACOBIAN_AUTO } tbJacobian;
typedef enum { TB_MJSOLVER_PGS, TB_MJSOLVER_CG, TB_MJSOLVER_NEWTON } tbMjSolver;

// Bits of option.disableflags, as MuJoCo's `flag` element (a bit set here is a feature disabled).
typedef enum {
  TB_DISABLE_CONSTRAINT = 1 << 0,
  TB_DISABLE_EQUALITY = 1 << 1,
  TB_DISABLE_FRICTIONLOSS = 1 << 2,
  TB_DISABLE_LIMIT = 1 << 3,
  TB_DISABLE_CONTACT = 1 << 4,
  TB_DISABLE_SPRING = 1 << 5,
  TB_DISABLE_DAMPER = 1 << 6,
  TB_DISABLE_GRAVITY = 1 << 7,
  TB_DISABLE_CLAMPCTRL = 1 << 8,
  TB_DISABLE_WARMSTART = 1 << 9,
  TB_DISABLE_FILTERPARENT = 1 << 10,
  TB_DISABLE_ACTUATION = 1 << 11,
  TB_DISABLE_REFSAFE = 1 << 12,
  TB_DISABLE_SENSOR = 1 << 13,
  TB_DISABLE_MIDPHASE = 1 << 14,
  TB_DISABLE_EULERDAMP = 1 << 15,
  TB_DISABLE_AUTORESET = 1 << 16,
  TB_DISABLE_NATIVECCD = 1 << 17,
  TB_DISABLE_ISLAND = 1 << 18,
} tbDisableBit;

typedef enum {
  TB_ENABLE_OVERRIDE = 1 << 0,
  TB_ENABLE_ENERGY = 1 << 1,
  TB_ENABLE_FWDINV = 1 << 2,
  TB_ENABLE_INVDISCRETE = 1 << 3,
  TB_ENABLE_MULTICCD = 1 << 4,
  TB_ENABLE_SLEEP = 1 << 5,
} tbEnableBit;

typedef enum {
  TB_EQ_CONNECT,
  TB_EQ_WELD,
  TB_EQ_JOINT,
  TB_EQ_TENDON,
#define TB_ENUMERATOR(TYPE, word, ends, function) TB_EQ_##TYPE,
  TB_EXTENSION_EQUALITIES(TB_ENUMERATOR)
#undef TB_ENUMERATOR
      TB_NEQTYPES
} tbEqualityType;

typedef enum {
  TB_WRAP_NONE,
  TB_WRAP_JOINT,
  TB_WRAP_PULLEY,
  TB_WRAP_SITE,
  TB_WRAP_SPHERE,
  TB_WRAP_CYLINDER
} tbWrapType;

typedef enum {
  TB_TRN_JOINT,
  TB_TRN_JOINTINPARENT,
  TB_TRN_SLIDERCRANK,
  TB_TRN_TENDON,
  TB_TRN_SITE,
  TB_TRN_BODY,
#define TB_ENUMERATOR(TYPE, word, first, second, second_word, arm, function) TB_TRN_##TYPE,
  TB_EXTENSION_TRANSMISSIONS(TB_ENUMERATOR)
#undef TB_ENUMERATOR
      TB_NTRNTYPES
} tbTransmission;
typedef enum {
  TB_DYN_NONE,
  TB_DYN_INTEGRATOR,
  TB_DYN_FILTER,
  TB_DYN_FILTEREXACT,
  TB_DYN_MUSCLE,
  TB_DYN_USER,
#define TB_ENUMERATOR(TYPE, word, affine, function) TB_DYN_##TYPE,
  TB_EXTENSION_DYNAMICS(TB_ENUMERATOR)
#undef TB_ENUMERATOR
      TB_NDYNTYPES
} tbDynType;
typedef enum {
  TB_GAIN_FIXED,
  TB_GAIN_AFFINE,
  TB_GAIN_MUSCLE,
  TB_GAIN_USER,
#define TB_ENUMERATOR(TYPE, word, affine, function) TB_GAIN_##TYPE,
  TB_EXTENSION_GAINS(TB_ENUMERATOR)
#undef TB_ENUMERATOR
      TB_NGAINTYPES
} tbGainType;
typedef enum {
  TB_BIAS_NONE,
  TB_BIAS_AFFINE,
  TB_BIAS_MUSCLE,
  TB_BIAS_USER,
#define TB_ENUMERATOR(TYPE, word, affine, function) TB_BIAS_##TYPE,
  TB_EXTENSION_BIASES(TB_ENUMERATOR)
#undef TB_ENUMERATOR
      TB_NBIASTYPES
} tbBiasType;

// Type of object that a sensor, a name or a frame refers to.
typedef enum {
  TB_OBJ_UNKNOWN,
  TB_OBJ_BODY,   // the body's inertial frame, where MuJoCo distinguishes
  TB_OBJ_XBODY,  // the body's own frame
  TB_OBJ_JOINT,
  TB_OBJ_DOF,
  TB_OBJ_GEOM,
  TB_OBJ_SITE,
  TB_OBJ_CAMERA,
  TB_OBJ_LIGHT,
  TB_OBJ_MESH,
  TB_OBJ_HFIELD,
  TB_OBJ_PAIR,
  TB_OBJ_EXCLUDE,
  TB_OBJ_EQUALITY,
  TB_OBJ_TENDON,
  TB_OBJ_ACTUATOR,
  TB_OBJ_SENSOR,
  TB_OBJ_NUMERIC,
  TB_OBJ_TEXT,
  TB_OBJ_TUPLE,
  TB_OBJ_KEY,
  TB_NOBJTYPES
} tbObjType;

typedef enum {
  TB_SENS_TOUCH,
  TB_SENS_ACCELEROMETER,
  TB_SENS_VELOCIMETER,
  TB_SENS_GYRO,
  TB_SENS_FORCE,
  TB_SENS_TORQUE,
  TB_SENS_MAGNETOMETER,
  TB_SENS_RANGEFINDER,
  TB_SENS_CAMPROJECTION,
  TB_SENS_JOINTPOS,
  TB_SENS_JOINTVEL,
  TB_SENS_TENDONPOS,
  TB_SENS_TENDONVEL,
  TB_SENS_ACTUATORPOS,
  TB_SENS_ACTUATORVEL,
  TB_SENS_ACTUATORFRC,
  TB_SENS_JOINTACTFRC,
  TB_SENS_TENDONACTFRC,
  TB_SENS_BALLQUAT,
  TB_SENS_BALLANGVEL,
  TB_SENS_JOINTLIMITPOS,
  TB_SENS_JOINTLIMITVEL,
  TB_SENS_JOINTLIMITFRC,
  TB_SENS_TENDONLIMITPOS,
  TB_SENS_TENDONLIMITVEL,
  TB_SENS_TENDONLIMITFRC,
  TB_SENS_FRAMEPOS,
  TB_SENS_FRAMEQUAT,
  TB_SENS_FRAMEXAXIS,
  TB_SENS_FRAMEYAXIS,
  TB_SENS_FRAMEZAXIS,
  TB_SENS_FRAMELINVEL,
  TB_SENS_FRAMEANGVEL,
  TB_SENS_FRAMELINACC,
  TB_SENS_FRAMEANGACC,
  TB_SENS_SUBTREECOM,
  TB_SENS_SUBTREELINVEL,
  TB_SENS_SUBTREEANGMOM,
  TB_SENS_INSIDESITE,
  TB_SENS_GEOMDIST,
  TB_SENS_GEOMNORMAL,
  TB_SENS_GEOMFROMTO,
  TB_SENS_CONTACT,
  TB_SENS_E_POTENTIAL,
  TB_SENS_E_KINETIC,
  TB_SENS_CLOCK,
  TB_SENS_TACTILE,  // not supported, nor is the next; values are MuJoCo's
  TB_SENS_PLUGIN,
  TB_SENS_USER,
#define TB_ENUMERATOR(TYPE, word, dim, target, stage, clamp, needs, requires, function) \
  TB_SENS_##TYPE,
  TB_EXTENSION_SENSORS(TB_ENUMERATOR)
#undef TB_ENUMERATOR
      TB_NSENSORTYPES
} tbSensorType;

// Quantities that a contact sensor reports for each contact: bits of sensor_intprm[0]; one or three
// values each.
typedef enum {
  TB_CONTACT_FOUND = 1 << 0,    // number of matching contacts
  TB_CONTACT_FORCE = 1 << 1,    // in the contact's frame
  TB_CONTACT_TORQUE = 1 << 2,   // in the contact's frame
  TB_CONTACT_DIST = 1 << 3,     // m
  TB_CONTACT_POS = 1 << 4,      // m
  TB_CONTACT_NORMAL = 1 << 5,   // from the first object to the second
  TB_CONTACT_TANGENT = 1 << 6,  // the first tangent
} tbContactDataBit;

// Which of the matching contacts are reported: sensor_intprm[1].
typedef enum {
  TB_REDUCE_NONE,      // the first ones
  TB_REDUCE_MINDIST,   // the deepest ones
  TB_REDUCE_MAXFORCE,  // those with the largest force
  TB_REDUCE_NETFORCE   // one equivalent contact with the net force, in world axes
} tbContactReduce;

// Tracking mode of a camera or light.
typedef enum {
  TB_CAM_FIXED,
  TB_CAM_TRACK,
  TB_CAM_TRACKCOM,
  TB_CAM_TARGETBODY,
  TB_CAM_TARGETBODYCOM
} tbCamMode;

#endif
