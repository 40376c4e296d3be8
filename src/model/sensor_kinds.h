// Every kind of sensor, once:
//
//   X(TYPE, "word", dim, TARGET, STAGE, CLAMP, NEEDS, REQUIRES, function)
//
// TYPE     TB_SENS_TYPE                       "word"  the element of MJCF
// dim      values; 0: the sensor says so itself (contact, user)
// TARGET   tbSensorTarget: what the sensor is attached to, and by which attributes
// STAGE    tbSensorStage: after which half of a step the value is known
// CLAMP    tbSensorClamp: how the cutoff acts
// NEEDS    tbSensorNeeds: what is computed only where such a sensor is there
// REQUIRES tbSensorRequirement: which joints and tendons it may have as target
// function tb_sensor_<function>(context, sensor, out) of sensors/values.h or a file beside it
//
// The loader, the checks of a model, the evaluation and the manual read this list. A sensor is a
// line here, its enumerator in tribo/enums.h and its function; one of an extension is a line in the
// extension's list and its function (tribo/extension.h).
#ifndef TRIBO_MODEL_SENSOR_KINDS_H_
#define TRIBO_MODEL_SENSOR_KINDS_H_

#include "tribo/extension.h"

#define TB_SENSORS(X)                                                                         \
  X(TOUCH, "touch", 1, SITE, ACC, POSITIVE, NOTHING, ANY, touch)                              \
  X(ACCELEROMETER, "accelerometer", 3, SITE, ACC, REAL, ACCELERATION, ANY, accelerometer)     \
  X(VELOCIMETER, "velocimeter", 3, SITE, VEL, REAL, NOTHING, ANY, velocimeter)                \
  X(GYRO, "gyro", 3, SITE, VEL, REAL, NOTHING, ANY, gyro)                                     \
  X(FORCE, "force", 3, SITE, ACC, REAL, REACTION, ANY, force)                                 \
  X(TORQUE, "torque", 3, SITE, ACC, REAL, REACTION, ANY, torque)                              \
  X(MAGNETOMETER, "magnetometer", 3, SITE, POS, REAL, NOTHING, ANY, magnetometer)             \
  X(RANGEFINDER, "rangefinder", 1, SITE, POS, POSITIVE, NOTHING, ANY, rangefinder)            \
  X(CAMPROJECTION, "camprojection", 2, ON_CAMERA, POS, REAL, NOTHING, ANY, camprojection)     \
  X(JOINTPOS, "jointpos", 1, JOINT, POS, REAL, NOTHING, SCALAR, jointpos)                     \
  X(JOINTVEL, "jointvel", 1, JOINT, VEL, REAL, NOTHING, SCALAR, jointvel)                     \
  X(TENDONPOS, "tendonpos", 1, TENDON, POS, REAL, NOTHING, ANY, tendonpos)                    \
  X(TENDONVEL, "tendonvel", 1, TENDON, VEL, REAL, NOTHING, ANY, tendonvel)                    \
  X(ACTUATORPOS, "actuatorpos", 1, ACTUATOR, POS, REAL, NOTHING, ANY, actuatorpos)            \
  X(ACTUATORVEL, "actuatorvel", 1, ACTUATOR, VEL, REAL, NOTHING, ANY, actuatorvel)            \
  X(ACTUATORFRC, "actuatorfrc", 1, ACTUATOR, ACC, REAL, NOTHING, ANY, actuatorfrc)            \
  X(JOINTACTFRC, "jointactuatorfrc", 1, JOINT, ACC, REAL, NOTHING, SCALAR, jointactuatorfrc)  \
  X(TENDONACTFRC, "tendonactuatorfrc", 1, TENDON, ACC, REAL, NOTHING, ANY, tendonactuatorfrc) \
  X(BALLQUAT, "ballquat", 4, JOINT, POS, DIRECTION, NOTHING, BALL, ballquat)                  \
  X(BALLANGVEL, "ballangvel", 3, JOINT, VEL, REAL, NOTHING, BALL, ballangvel)                 \
  X(JOINTLIMITPOS, "jointlimitpos", 1, JOINT, POS, REAL, NOTHING, LIMITED, jointlimitpos)     \
  X(JOINTLIMITVEL, "jointlimitvel", 1, JOINT, VEL, REAL, NOTHING, LIMITED, jointlimitvel)     \
  X(JOINTLIMITFRC, "jointlimitfrc", 1, JOINT, ACC, REAL, NOTHING, LIMITED, jointlimitfrc)     \
  X(TENDONLIMITPOS, "tendonlimitpos", 1, TENDON, POS, REAL, NOTHING, LIMITED, tendonlimitpos) \
  X(TENDONLIMITVEL, "tendonlimitvel", 1, TENDON, VEL, REAL, NOTHING, LIMITED, tendonlimitvel) \
  X(TENDONLIMITFRC, "tendonlimitfrc", 1, TENDON, ACC, REAL, NOTHING, LIMITED, tendonlimitfrc) \
  X(FRAMEPOS, "framepos", 3, REFERENCE, POS, REAL, NOTHING, ANY, framepos)                    \
  X(FRAMEQUAT, "framequat", 4, REFERENCE, POS, DIRECTION, NOTHING, ANY, framequat)            \
  X(FRAMEXAXIS, "framexaxis", 3, REFERENCE, POS, DIRECTION, NOTHING, ANY, framexaxis)         \
  X(FRAMEYAXIS, "frameyaxis", 3, REFERENCE, POS, DIRECTION, NOTHING, ANY, frameyaxis)         \
  X(FRAMEZAXIS, "framezaxis", 3, REFERENCE, POS, DIRECTION, NOTHING, ANY, framezaxis)         \
  X(FRAMELINVEL, "framelinvel", 3, REFERENCE, VEL, REAL, NOTHING, ANY, framelinvel)           \
  X(FRAMEANGVEL, "frameangvel", 3, REFERENCE, VEL, REAL, NOTHING, ANY, frameangvel)           \
  X(FRAMELINACC, "framelinacc", 3, FRAME, ACC, REAL, ACCELERATION, ANY, framelinacc)          \
  X(FRAMEANGACC, "frameangacc", 3, FRAME, ACC, REAL, ACCELERATION, ANY, frameangacc)          \
  X(SUBTREECOM, "subtreecom", 3, BODY, POS, REAL, NOTHING, ANY, subtreecom)                   \
  X(SUBTREELINVEL, "subtreelinvel", 3, BODY, VEL, REAL, SUBTREE, ANY, subtreelinvel)          \
  X(SUBTREEANGMOM, "subtreeangmom", 3, BODY, VEL, REAL, SUBTREE, ANY, subtreeangmom)          \
  X(INSIDESITE, "insidesite", 1, IN_SITE, POS, REAL, NOTHING, ANY, insidesite)                \
  X(GEOMDIST, "distance", 1, PAIR, POS, REAL, NOTHING, ANY, distance)                         \
  X(GEOMNORMAL, "normal", 3, PAIR, POS, NEVER, NOTHING, ANY, distance)                        \
  X(GEOMFROMTO, "fromto", 6, PAIR, POS, NEVER, NOTHING, ANY, distance)                        \
  X(CONTACT, "contact", 0, CONTACT, ACC, NEVER, NOTHING, ANY, contact)                        \
  X(E_POTENTIAL, "e_potential", 1, NONE, POS, REAL, ENERGY, ANY, e_potential)                 \
  X(E_KINETIC, "e_kinetic", 1, NONE, VEL, REAL, ENERGY, ANY, e_kinetic)                       \
  X(CLOCK, "clock", 1, NONE, POS, REAL, NOTHING, ANY, clock)                                  \
  X(USER, "user", 0, USER, ACC, REAL, NOTHING, ANY, user)                                     \
  TB_EXTENSION_SENSORS(X)

// One object of a fixed kind, named by an attribute of that kind's name (SITE to BODY); any frame
// by objtype and objname (FRAME), and a reference frame by reftype and refname (REFERENCE); such an
// object and a site (IN_SITE); a site and a camera (ON_CAMERA); two geoms or bodies (PAIR); sites,
// geoms, bodies or subtrees, or nothing (CONTACT); any object or none (USER); nothing (NONE).
typedef enum {
  TB_SENSOR_NONE,
  TB_SENSOR_SITE,
  TB_SENSOR_JOINT,
  TB_SENSOR_TENDON,
  TB_SENSOR_ACTUATOR,
  TB_SENSOR_BODY,
  TB_SENSOR_FRAME,
  TB_SENSOR_REFERENCE,
  TB_SENSOR_USER,
  TB_SENSOR_IN_SITE,
  TB_SENSOR_ON_CAMERA,
  TB_SENSOR_PAIR,
  TB_SENSOR_CONTACT
} tbSensorTarget;

// Stage at which a sensor's value is known: it depends on positions, velocities (both known after
// the first half of a step), or accelerations and forces.
typedef enum { TB_STAGE_POS, TB_STAGE_VEL, TB_STAGE_ACC } tbSensorStage;

// The cutoff clamps from both sides, from above only, is refused at load, or does nothing.
typedef enum { TB_CLAMP_REAL, TB_CLAMP_POSITIVE, TB_CLAMP_DIRECTION, TB_CLAMP_NEVER } tbSensorClamp;

typedef enum {
  TB_NEEDS_NOTHING = 0,
  TB_NEEDS_SUBTREE = 1 << 0,       // velocities and momenta of subtrees
  TB_NEEDS_ENERGY = 1 << 1,        // energies
  TB_NEEDS_ACCELERATION = 1 << 2,  // accelerations of bodies
  TB_NEEDS_REACTION = 1 << 3,      // forces between bodies and their parents
} tbSensorNeeds;

typedef enum {
  TB_REQUIRES_ANY,
  TB_REQUIRES_SCALAR,  // a slide or a hinge
  TB_REQUIRES_BALL,
  TB_REQUIRES_LIMITED
} tbSensorRequirement;

typedef struct {
  const char* word;  // NULL: a type that Tribo does not have
  int dim, target, stage, clamp, needs, requires;
} tbSensorKind;

// By tbSensorType, TB_NSENSORTYPES of them.
extern const tbSensorKind tb_sensor_kinds[];

// The kind of object that a target names: TB_OBJ_UNKNOWN for none or several, TB_NOBJTYPES for any
// frame.
int tb_sensor_object(int target);

#endif
