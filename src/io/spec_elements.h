// Every element of an MJCF file that Tribo reads, declared once: where it may stand and which
// attributes it takes. The check of files and edits, and the manual's table, come from these lists.
//
//   TB_SPEC_ELEMENTS(X)  X(parent, tag, inside, list, others, names, what)
//
// parent  the `inside` of the elements that it may stand in
// inside  what may stand in it, "" for nothing, "any" for what Tribo does not look at
// list    its fields: TB_SPEC_<list> of spec_fields.h, in lower case
// others  further attributes: TB_SPEC_<others> of this file, in lower case
// names   the attributes that it takes: words, "*" for all fields, "+" for all others; "any"
//
// Equalities are in model/equality_kinds.h. The other sensors are in model/sensor_kinds.h; their
// attributes are those of TB_SPEC_SENSOR_NAMES
// and, by target, TB_SPEC_TARGET_SITE ... TB_SPEC_TARGET_CONTACT.
#ifndef TRIBO_IO_SPEC_ELEMENTS_H_
#define TRIBO_IO_SPEC_ELEMENTS_H_

#include "tribo/spec_fields.h"

// Names of attributes that several elements take.
#define TB_SPEC_FRAME_NAMES "name childclass pos quat axisangle xyaxes zaxis euler"
#define TB_SPEC_EQUALITY_NAMES "name class active solref solimp "
#define TB_SPEC_ACTUATOR_NAMES "group nsample interp delay ctrlrange user "
#define TB_SPEC_LIMIT_NAMES "ctrllimited forcelimited forcerange "
#define TB_SPEC_DRIVE_NAMES "lengthrange gear damping armature cranklength "
#define TB_SPEC_TRANSMISSION_NAMES "joint jointinparent tendon slidersite cranksite site refsite "
#define TB_SPEC_MOTOR_NAMES \
  TB_SPEC_ACTUATOR_NAMES TB_SPEC_LIMIT_NAMES TB_SPEC_DRIVE_NAMES TB_SPEC_TRANSMISSION_NAMES
#define TB_SPEC_MUSCLE_NAMES "timeconst tausmooth range force scale lmin lmax vmax fpmax fvmax"
#define TB_SPEC_GENERAL_NAMES \
  "actlimited actrange body actdim dyntype gaintype biastype dynprm gainprm biasprm actearly"
#define TB_SPEC_SENSOR_NAMES "name nsample interp delay interval cutoff noise user "

#define TB_SPEC_ELEMENTS(X)                                                                  \
  X("mujoco", "compiler", "compiler", compiler, none, "*", "how the file is read")           \
  X("mujoco", "option", "option", none, option, "+", "options of the simulation")            \
  X("mujoco", "size", "", size, none, "*", "numbers of user values")                         \
  X("mujoco", "statistic", "", statistic, none, "*", "replaces computed statistics")         \
  X("mujoco", "default", "default", none, none, "class", "default classes")                  \
  X("mujoco", "asset", "asset", none, none, "", "meshes and other assets")                   \
  X("mujoco", "worldbody", "tree", none, none, "", "the tree of bodies")                     \
  X("mujoco", "contact", "contact", none, none, "", "explicit pairs, exclusions")            \
  X("mujoco", "equality", "equality", none, none, "", "equality constraints")                \
  X("mujoco", "tendon", "tendons", none, none, "", "tendons")                                \
  X("mujoco", "actuator", "actuator", none, none, "", "actuators")                           \
  X("mujoco", "sensor", "sensor", none, none, "", "sensors")                                 \
  X("mujoco", "keyframe", "keyframe", none, none, "", "keyframes")                           \
  X("mujoco", "custom", "custom", none, none, "", "user data")                               \
  X("mujoco", "visual", "any", none, none, "any", "not used")                                \
  X("mujoco", "extension", "any", none, none, "any", "not used")                             \
  X("mujoco", "deformable", "skin", none, none, "any", "only skins, not used")               \
  X("skin", "skin", "any", none, none, "any", "not used")                                    \
  X("compiler", "lengthrange", "", lengthrange, none, "*", "feasible lengths of muscles")    \
  X("option", "flag", "", none, flag, "+", "features on or off")                             \
  X("tree", "body", "tree", body, none, "name *", "")                                        \
  X("tree", "frame", "tree", body, none, TB_SPEC_FRAME_NAMES, "pose of what is in it")       \
  X("tree", "replicate", "tree", none, replicate, "+", "copies of what is in it")            \
  X("tree", "attach", "", none, attach, "+", "another model")                                \
  X("tree", "inertial", "", inertial, none, "*", "")                                         \
  X("tree", "joint", "", joint, none, "name class *", "")                                    \
  X("tree", "freejoint", "", joint, none, "name group align", "no defaults apply")           \
  X("tree", "geom", "", geom, none, "name class *", "")                                      \
  X("tree", "site", "", site, none, "name class *", "")                                      \
  X("tree", "camera", "", camera, none, "name class *", "")                                  \
  X("tree", "light", "", light, none, "name class *", "")                                    \
  X("default", "default", "default", none, none, "class", "a class that inherits this one")  \
  X("default", "mesh", "", mesh, none, "*", "")                                              \
  X("default", "material", "layer", material, none, "*", "")                                 \
  X("default", "joint", "", joint, none, "*", "")                                            \
  X("default", "geom", "", geom, none, "*", "")                                              \
  X("default", "site", "", site, none, "*", "")                                              \
  X("default", "camera", "", camera, none, "*", "")                                          \
  X("default", "light", "", light, none, "*", "")                                            \
  X("default", "pair", "", pair, none, "*", "")                                              \
  X("default", "equality", "", equality, none, "active solref solimp", "")                   \
  X("default", "tendon", "", tendon, none, "*", "")                                          \
  X("asset", "mesh", "", mesh, none, "name class *", "")                                     \
  X("asset", "hfield", "", hfield, none, "name *", "")                                       \
  X("asset", "material", "layer", material, none, "name class *", "only its colour is used") \
  X("layer", "layer", "any", none, none, "any", "not used")                                  \
  X("asset", "texture", "any", none, texture, "+", "not used")                               \
  X("asset", "model", "", none, model, "+", "a model to attach")                             \
  X("asset", "skin", "any", none, none, "any", "not used")                                   \
  X("contact", "pair", "", pair, none, "name class *", "")                                   \
  X("contact", "exclude", "", exclude, none, "name *", "")                                   \
  X("tendons", "spatial", "spatial", tendon, none, "name class *", "")                       \
  X("tendons", "fixed", "fixed", tendon, none, "name class *", "")                           \
  X("spatial", "site", "", none, wrap, "site", "")                                           \
  X("spatial", "geom", "", none, wrap, "geom sidesite", "")                                  \
  X("spatial", "pulley", "", none, wrap, "divisor", "")                                      \
  X("fixed", "joint", "", none, wrap, "joint coef", "")                                      \
  TB_SPEC_ACTUATORS(X, "actuator", "name class ")                                            \
  TB_SPEC_ACTUATORS(X, "default", "")                                                        \
  X("sensor", "rangefinder", "", sensor, target, TB_SPEC_SENSOR_NAMES "site camera data",    \
    "of a camera or with data: left out")                                                    \
  X("sensor", "tactile", "any", none, none, "any", "left out")                               \
  X("keyframe", "key", "", key, none, "name *", "")                                          \
  X("custom", "numeric", "", numeric, none, "name *", "")                                    \
  X("custom", "text", "", text, none, "name *", "")                                          \
  X("custom", "tuple", "tuple", none, none, "name", "")                                      \
  X("tuple", "element", "", tupleitem, target, "objtype *", "")

// The shortcuts set parameters of a general actuator; in a class all of them share one record.
#define TB_SPEC_ACTUATORS(X, parent, own)                                                       \
  X(parent, "general", "", actuator, none, own TB_SPEC_MOTOR_NAMES TB_SPEC_GENERAL_NAMES, "")   \
  X(parent, "motor", "", actuator, none, own TB_SPEC_MOTOR_NAMES, "")                           \
  X(parent, "position", "", actuator, shortcut,                                                 \
    own TB_SPEC_MOTOR_NAMES "inheritrange kp kv dampratio timeconst", "")                       \
  X(parent, "velocity", "", actuator, shortcut, own TB_SPEC_MOTOR_NAMES "kv", "")               \
  X(parent, "intvelocity", "", actuator, shortcut,                                              \
    own TB_SPEC_MOTOR_NAMES "actlimited actrange inheritrange kp kv dampratio", "")             \
  X(parent, "damper", "", actuator, shortcut, own TB_SPEC_MOTOR_NAMES "kv", "")                 \
  X(parent, "cylinder", "", actuator, shortcut,                                                 \
    own TB_SPEC_MOTOR_NAMES "timeconst area diameter bias", "")                                 \
  X(parent, "muscle", "", actuator, shortcut, own TB_SPEC_MOTOR_NAMES TB_SPEC_MUSCLE_NAMES, "") \
  X(parent, "adhesion", "", actuator, shortcut,                                                 \
    own TB_SPEC_ACTUATOR_NAMES TB_SPEC_LIMIT_NAMES "body gain", "")

// Attributes of equalities by what they tie together, tbEqualityEnds; the elements are in
// model/equality_kinds.h.
#define TB_SPEC_ENDS_POINTS TB_SPEC_EQUALITY_NAMES "body1 body2 anchor site1 site2"
#define TB_SPEC_ENDS_FRAMES \
  TB_SPEC_EQUALITY_NAMES "body1 body2 anchor site1 site2 relpose torquescale"
#define TB_SPEC_ENDS_JOINTS TB_SPEC_EQUALITY_NAMES "joint1 joint2 polycoef"
#define TB_SPEC_ENDS_TENDONS TB_SPEC_EQUALITY_NAMES "tendon1 tendon2 polycoef"

// Attributes of sensors by their target, tbSensorTarget.
#define TB_SPEC_TARGET_NONE ""
#define TB_SPEC_TARGET_SITE "site"
#define TB_SPEC_TARGET_JOINT "joint"
#define TB_SPEC_TARGET_TENDON "tendon"
#define TB_SPEC_TARGET_ACTUATOR "actuator"
#define TB_SPEC_TARGET_BODY "body"
#define TB_SPEC_TARGET_FRAME "objtype objname"
#define TB_SPEC_TARGET_REFERENCE "objtype objname reftype refname"
#define TB_SPEC_TARGET_USER "objtype objname dim datatype needstage"
#define TB_SPEC_TARGET_IN_SITE "objtype objname site"
#define TB_SPEC_TARGET_ON_CAMERA "site camera"
#define TB_SPEC_TARGET_PAIR "geom1 body1 geom2 body2"
#define TB_SPEC_TARGET_CONTACT "geom1 body1 subtree1 site geom2 body2 subtree2 data reduce num"

// Elements of MuJoCo that change the motion and that Tribo does not have.
#define TB_SPEC_UNSUPPORTED_ELEMENTS                                                    \
  "composite flexcomp flex plugin extension skin bone flexvert flexstrain pid dcmotor " \
  "deformable orientation distance"

// Attributes of the same sort, X(tag, attribute, value, message); a NULL value stands for any.
#define TB_SPEC_UNSUPPORTED(X)                                                        \
  X("geom", "type", "sdf", "type 'sdf' is not supported")                             \
  X("site", "mesh", NULL, "a mesh is not supported")                                  \
  X("option", "integrator", "discrete", "the integrator 'discrete' is not supported") \
  X("general", "input", NULL, "input is not supported")                               \
  X("general", "velrange", NULL, "velrange is not supported")                         \
  X("general", "ffrange", NULL, "ffrange is not supported")                           \
  X("position", "input", NULL, "input is not supported")                              \
  X("position", "velrange", NULL, "velrange is not supported")                        \
  X("position", "ffrange", NULL, "ffrange is not supported")

// ---- attributes that are not fields of the flat spec: as TB_SPEC_GEOM ... in spec_fields.h
// --------

#define TB_SPEC_REPLICATE(X)                                         \
  X(INT, count, 1, 1, , NONE, "number of copies")                    \
  X(REAL, offset, 3, 3, , NONE, "m, from one copy to the next")      \
  X(REAL, euler, 3, 3, , NONE, "angles from one copy to the next")   \
  X(TEXT, sep, 0, 0, , NONE, "between a name and the copy's number") \
  X(TEXT, childclass, 0, 0, , NONE, "default class of its contents")

#define TB_SPEC_ATTACH(X)                                            \
  X(TEXT, model, 0, 0, , NONE, "asset")                              \
  X(TEXT, body, 0, 0, , NONE, "body of that model; none: its world") \
  X(TEXT, frame, 0, 0, , NONE, "not supported")                      \
  X(TEXT, prefix, 0, 0, , NONE, "before every name")                 \
  X(TEXT, suffix, 0, 0, , NONE, "Tribo: after every name")

#define TB_SPEC_MODEL(X)                      \
  X(TEXT, name, 0, 0, , NONE, "")             \
  X(TEXT, file, 0, 0, , NONE, "MJCF or URDF") \
  X(TEXT, content_type, 0, 0, , NONE, "")

#define TB_SPEC_TEXTURE(X)                \
  X(TEXT, name, 0, 0, , NONE, "")         \
  X(TEXT, class, 0, 0, , NONE, "")        \
  X(TEXT, type, 0, 0, , NONE, "")         \
  X(TEXT, colorspace, 0, 0, , NONE, "")   \
  X(TEXT, content_type, 0, 0, , NONE, "") \
  X(TEXT, file, 0, 0, , NONE, "")         \
  X(TEXT, gridsize, 0, 0, , NONE, "")     \
  X(TEXT, gridlayout, 0, 0, , NONE, "")   \
  X(TEXT, fileright, 0, 0, , NONE, "")    \
  X(TEXT, fileleft, 0, 0, , NONE, "")     \
  X(TEXT, fileup, 0, 0, , NONE, "")       \
  X(TEXT, filedown, 0, 0, , NONE, "")     \
  X(TEXT, filefront, 0, 0, , NONE, "")    \
  X(TEXT, fileback, 0, 0, , NONE, "")     \
  X(TEXT, builtin, 0, 0, , NONE, "")      \
  X(TEXT, rgb1, 0, 0, , NONE, "")         \
  X(TEXT, rgb2, 0, 0, , NONE, "")         \
  X(TEXT, mark, 0, 0, , NONE, "")         \
  X(TEXT, markrgb, 0, 0, , NONE, "")      \
  X(TEXT, random, 0, 0, , NONE, "")       \
  X(TEXT, width, 0, 0, , NONE, "")        \
  X(TEXT, height, 0, 0, , NONE, "")       \
  X(TEXT, hflip, 0, 0, , NONE, "")        \
  X(TEXT, vflip, 0, 0, , NONE, "")        \
  X(TEXT, nchannel, 0, 0, , NONE, "")

// Elements of a tendon's path.
#define TB_SPEC_WRAP(X)                                   \
  X(TEXT, site, 0, 0, , NONE, "")                         \
  X(TEXT, geom, 0, 0, , NONE, "a sphere or a cylinder")   \
  X(TEXT, sidesite, 0, 0, , NONE, "side of the wrapping") \
  X(TEXT, joint, 0, 0, , NONE, "")                        \
  X(REAL, coef, 1, 1, , NONE, "coefficient of the joint") \
  X(REAL, divisor, 1, 1, , NONE, "of a pulley")

#define TB_SPEC_SHORTCUT(X)                                                             \
  X(REAL, kp, 1, 1, , NONE, "position gain")                                            \
  X(REAL, kv, 1, 1, , NONE, "velocity gain")                                            \
  X(REAL, dampratio, 1, 1, , NONE, "damping ratio, instead of kv")                      \
  X(REAL, timeconst, 1, 2, , NONE, "s; muscle: activation, deactivation")               \
  X(REAL, area, 1, 1, , NONE, "of a cylinder, m2")                                      \
  X(REAL, diameter, 1, 1, , NONE, "of a cylinder, m, instead of area")                  \
  X(REAL, bias, 3, 3, , NONE, "of a cylinder")                                          \
  X(REAL, tausmooth, 1, 1, , NONE, "muscle: width of the switch of time constants")     \
  X(REAL, range, 2, 2, , NONE, "muscle: operating lengths, in units of L0")             \
  X(REAL, force, 1, 1, , NONE, "muscle: peak force, N")                                 \
  X(REAL, scale, 1, 1, , NONE, "muscle: peak force is scale / acc0 where force is < 0") \
  X(REAL, lmin, 1, 1, , NONE, "")                                                       \
  X(REAL, lmax, 1, 1, , NONE, "")                                                       \
  X(REAL, vmax, 1, 1, , NONE, "")                                                       \
  X(REAL, fpmax, 1, 1, , NONE, "")                                                      \
  X(REAL, fvmax, 1, 1, , NONE, "")                                                      \
  X(REAL, gain, 1, 1, , NONE, "of adhesion")

// Targets of sensors and tuples.
#define TB_SPEC_TARGET(X)                                                            \
  X(TEXT, site, 0, 0, , NONE, "")                                                    \
  X(TEXT, joint, 0, 0, , NONE, "")                                                   \
  X(TEXT, tendon, 0, 0, , NONE, "")                                                  \
  X(TEXT, actuator, 0, 0, , NONE, "")                                                \
  X(TEXT, body, 0, 0, , NONE, "")                                                    \
  X(TEXT, camera, 0, 0, , NONE, "")                                                  \
  X(ENUM, objtype, 1, 1, , OBJECT, "kind of the object")                             \
  X(TEXT, objname, 0, 0, , NONE, "the object")                                       \
  X(ENUM, reftype, 1, 1, , OBJECT, "kind of the frame of reference")                 \
  X(TEXT, refname, 0, 0, , NONE, "the frame of reference; none: the world")          \
  X(TEXT, geom1, 0, 0, , NONE, "")                                                   \
  X(TEXT, geom2, 0, 0, , NONE, "")                                                   \
  X(TEXT, body1, 0, 0, , NONE, "")                                                   \
  X(TEXT, body2, 0, 0, , NONE, "")                                                   \
  X(TEXT, subtree1, 0, 0, , NONE, "")                                                \
  X(TEXT, subtree2, 0, 0, , NONE, "")                                                \
  X(TEXT, data, 0, 0, , NONE, "contact: found force torque dist pos normal tangent") \
  X(ENUM, reduce, 1, 1, , REDUCE, "contact: which ones")                             \
  X(INT, num, 1, 1, , NONE, "contact: most contacts")

// Options by MuJoCo's names; `initial` is the member of tbOption. Tribo's own options are those of
// TB_OPTION_FIELDS. SKIP: accepted, but not used.
#define TB_SPEC_OPTION(X)                                                               \
  X(REAL, timestep, 1, 1, timestep, NONE, "s")                                          \
  X(REAL, impratio, 1, 1, impratio, NONE, "")                                           \
  X(REAL, tolerance, 1, 1, tolerance, NONE, "")                                         \
  X(REAL, ls_tolerance, 1, 1, ls_tolerance, NONE, "not used")                           \
  X(REAL, noslip_tolerance, 1, 1, noslip_tolerance, NONE, "")                           \
  X(REAL, ccd_tolerance, 1, 1, ccd_tolerance, NONE, "not used")                         \
  X(REAL, mpr_tolerance, 1, 1, ccd_tolerance, NONE, "older name of ccd_tolerance")      \
  X(REAL, gravity, 3, 3, gravity, NONE, "m/s2")                                         \
  X(REAL, wind, 3, 3, wind, NONE, "m/s")                                                \
  X(REAL, magnetic, 3, 3, magnetic, NONE, "")                                           \
  X(REAL, density, 1, 1, density, NONE, "kg/m3")                                        \
  X(REAL, viscosity, 1, 1, viscosity, NONE, "Pa s")                                     \
  X(REAL, o_margin, 1, 1, o_margin, NONE, "m")                                          \
  X(REAL, o_solref, 1, 2, o_solref, NONE, "")                                           \
  X(REAL, o_solimp, 1, 5, o_solimp, NONE, "")                                           \
  X(REAL, o_friction, 1, 5, o_friction, NONE, "")                                       \
  X(ENUM, integrator, 1, 1, integrator, INTEGRATOR, "")                                 \
  X(ENUM, cone, 1, 1, cone, CONE, "soft law")                                           \
  X(ENUM, jacobian, 1, 1, jacobian, JACOBIAN, "not used")                               \
  X(ENUM, solver, 1, 1, mjsolver, SOLVER, "of the soft law")                            \
  X(INT, iterations, 1, 1, iterations, NONE, "")                                        \
  X(INT, ls_iterations, 1, 1, ls_iterations, NONE, "not used")                          \
  X(INT, noslip_iterations, 1, 1, noslip_iterations, NONE, "")                          \
  X(INT, ccd_iterations, 1, 1, ccd_iterations, NONE, "not used")                        \
  X(INT, mpr_iterations, 1, 1, ccd_iterations, NONE, "older name of ccd_iterations")    \
  X(INT, sdf_iterations, 1, 1, sdf_iterations, NONE, "not used")                        \
  X(INT, sdf_initpoints, 1, 1, sdf_initpoints, NONE, "not used")                        \
  X(TEXT, law_solver, 1, 1, solver, NONE, "Tribo: solver of the law")                   \
  X(SKIP, sleep_tolerance, 0, 0, , NONE, "")                                            \
  X(SKIP, apirate, 0, 0, , NONE, "")                                                    \
  X(ENUM, collision, 1, 1, disableflags, COLLISION, "older files: which pairs collide") \
  X(LIST, actuatorgroupdisable, 0, 0, disableactuator, NONE, "groups, 0 to 30")

// X(name, disable, enable, unused): flags, the bits of the options that are set when the flag is
// disabled or enabled (TB_FLAG_REJECTED: enabling is an error), and whether the bits have no
// effect.
enum { TB_FLAG_REJECTED = -1 };
#define TB_SPEC_FLAGS(X)                                  \
  X(constraint, TB_DISABLE_CONSTRAINT, 0, 0)              \
  X(equality, TB_DISABLE_EQUALITY, 0, 0)                  \
  X(frictionloss, TB_DISABLE_FRICTIONLOSS, 0, 0)          \
  X(limit, TB_DISABLE_LIMIT, 0, 0)                        \
  X(contact, TB_DISABLE_CONTACT, 0, 0)                    \
  X(spring, TB_DISABLE_SPRING, 0, 0)                      \
  X(damper, TB_DISABLE_DAMPER, 0, 0)                      \
  /* older files */                                       \
  X(passive, TB_DISABLE_SPRING | TB_DISABLE_DAMPER, 0, 0) \
  X(gravity, TB_DISABLE_GRAVITY, 0, 0)                    \
  X(clampctrl, TB_DISABLE_CLAMPCTRL, 0, 0)                \
  X(warmstart, TB_DISABLE_WARMSTART, 0, 0)                \
  X(filterparent, TB_DISABLE_FILTERPARENT, 0, 0)          \
  X(actuation, TB_DISABLE_ACTUATION, 0, 0)                \
  X(refsafe, TB_DISABLE_REFSAFE, 0, 0)                    \
  X(sensor, TB_DISABLE_SENSOR, 0, 0)                      \
  X(midphase, TB_DISABLE_MIDPHASE, 0, 1)                  \
  X(eulerdamp, TB_DISABLE_EULERDAMP, 0, 0)                \
  X(autoreset, TB_DISABLE_AUTORESET, 0, 1)                \
  X(nativeccd, TB_DISABLE_NATIVECCD, 0, 1)                \
  X(island, TB_DISABLE_ISLAND, 0, 1)                      \
  X(override, 0, TB_ENABLE_OVERRIDE, 0)                   \
  X(energy, 0, TB_ENABLE_ENERGY, 0)                       \
  X(fwdinv, 0, TB_ENABLE_FWDINV, 1)                       \
  X(invdiscrete, 0, TB_ENABLE_INVDISCRETE, 1)             \
  X(multiccd, 0, TB_ENABLE_MULTICCD, 1)                   \
  X(sleep, 0, TB_ENABLE_SLEEP, 1)                         \
  X(diagexact, 0, TB_FLAG_REJECTED, 0)                    \
  X(ipc, 0, TB_FLAG_REJECTED, 0)                          \
  /* older files */                                       \
  X(sensornoise, 0, 0, 1)

#endif
