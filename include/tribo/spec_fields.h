// The attributes of every kind of element of a spec, declared once. The structs below, their
// initial values, the checks of files and edits, the compiler's tables of attributes, default
// classes, copies and the writer are generated from these lists.
//
//   X(kind, name, least, most, initial, words, what)
//
// kind     REAL: numbers, `least` to `most` of them may be given. INT: the same, whole numbers.
//          ENUM: one of the words in the table `words`. TEXT: a string, NULL where absent.
//          LIST: any number of numbers. SKIP: a known attribute that is not kept; an ENUM word is
//          still checked.
// name     the member, and the attribute of the file
// initial  the value where neither the element nor its default class gives one
#ifndef TRIBO_SPEC_FIELDS_H_
#define TRIBO_SPEC_FIELDS_H_

#include "tribo/enums.h"
#include "tribo/types.h"

// The third value of `limited` and similar flags: the range decides.
enum { TB_AUTO = 2 };

// A list of any length.
typedef struct {
  int n;
  tbReal* v;
} tbSpecList;

#define TB_SPEC_SOLREF (0.02, 1)
#define TB_SPEC_SOLIMP (0.9, 0.95, 0.001, 0.5, 2)

// At most one of these is given. In the flat spec, after parsing, `quat` is the unit quaternion in
// the parent body for every form.
#define TB_SPEC_ORIENTATION(X)                                                        \
  X(REAL, quat, 4, 4, (1, 0, 0, 0), NONE, "orientation, resolved and of unit length") \
  X(REAL, axisangle, 4, 4, (0, 0, 0, 0), NONE, "as given")                            \
  X(REAL, xyaxes, 6, 6, (0, 0, 0, 0, 0, 0), NONE, "as given")                         \
  X(REAL, zaxis, 3, 3, (0, 0, 0), NONE, "as given")                                   \
  X(REAL, euler, 3, 3, (0, 0, 0), NONE, "as given")

#define TB_SPEC_BODY(X)                                                  \
  X(TEXT, childclass, 0, 0, NULL, NONE, "default class of its contents") \
  X(REAL, pos, 3, 3, (0, 0, 0), NONE, "position in the parent, m")       \
  TB_SPEC_ORIENTATION(X)                                                 \
  X(ENUM, mocap, 1, 1, 0, BOOL, "pose set by the user")                  \
  X(REAL, gravcomp, 1, 1, 0, NONE, "fraction of gravity compensated")    \
  X(SKIP, sleep, 0, 0, , SLEEP, "")                                      \
  X(SKIP, simple, 0, 0, , NONE, "")                                      \
  X(LIST, user, 0, 0, , NONE, "user values")

#define TB_SPEC_INERTIAL(X)                                                            \
  X(REAL, pos, 3, 3, (0, 0, 0), NONE, "centre of mass in the body, m")                 \
  TB_SPEC_ORIENTATION(X)                                                               \
  X(REAL, mass, 1, 1, 0, NONE, "kg")                                                   \
  X(REAL, diaginertia, 3, 3, (0, 0, 0), NONE, "moments about the axes of quat, kg m2") \
  X(REAL, fullinertia, 6, 6, (0, 0, 0, 0, 0, 0), NONE, "xx yy zz xy xz yz in the body's axes")

// After parsing, angles are in radians, independent of the file's unit.
#define TB_SPEC_JOINT(X)                                                                        \
  X(ENUM, type, 1, 1, TB_JOINT_HINGE, JOINTTYPE, "tbJointType")                                 \
  X(INT, group, 1, 1, 0, NONE, "group")                                                         \
  X(REAL, pos, 3, 3, (0, 0, 0), NONE, "anchor in the body; zero for a free joint, m")           \
  X(REAL, axis, 3, 3, (0, 0, 1), NONE, "unit axis in the body")                                 \
  X(REAL, springdamper, 2, 2, (0, 0), NONE,                                                     \
    "time constant and damping ratio; both > 0: replaces stiffness, damping")                   \
  X(ENUM, limited, 1, 1, TB_AUTO, TRISTATE, "is range a limit? TB_AUTO: where it is not empty") \
  X(ENUM, actuatorfrclimited, 1, 1, TB_AUTO, TRISTATE, "is actuatorfrcrange a clamp?")          \
  X(REAL, solreflimit, 1, 2, TB_SPEC_SOLREF, NONE, "")                                          \
  X(REAL, solimplimit, 1, 5, TB_SPEC_SOLIMP, NONE, "")                                          \
  X(REAL, solreffriction, 1, 2, TB_SPEC_SOLREF, NONE, "")                                       \
  X(REAL, solimpfriction, 1, 5, TB_SPEC_SOLIMP, NONE, "")                                       \
  X(REAL, stiffness, 1, 3, (0, 0, 0), NONE, "spring; only the first may be non-zero")           \
  X(REAL, range, 2, 2, (0, 0), NONE, "limits")                                                  \
  X(REAL, actuatorfrcrange, 2, 2, (0, 0), NONE, "clamp of the total actuator force")            \
  X(ENUM, actuatorgravcomp, 1, 1, 0, BOOL, "gravity compensation counts as actuator force")     \
  X(REAL, margin, 1, 1, 0, NONE, "distance at which a limit acts")                              \
  X(REAL, ref, 1, 1, 0, NONE, "coordinate in the reference pose")                               \
  X(REAL, springref, 1, 1, 0, NONE, "rest coordinate of the spring")                            \
  X(REAL, armature, 1, 1, 0, NONE, "rotor inertia")                                             \
  X(REAL, damping, 1, 3, (0, 0, 0), NONE, "viscous friction; only the first may be non-zero")   \
  X(REAL, frictionloss, 1, 1, 0, NONE, "dry friction")                                          \
  X(ENUM, align, 1, 1, TB_AUTO, TRISTATE, "free joint: centre the body frame on its inertia")   \
  X(LIST, user, 0, 0, , NONE, "user values")

// The parser converts fromto to pos, quat and size.
#define TB_SPEC_GEOM(X)                                                                     \
  X(ENUM, type, 1, 1, TB_GEOM_SPHERE, GEOMTYPE,                                             \
    "tbGeomType; a primitive with `mesh` is fitted to it")                                  \
  X(INT, contype, 1, 1, 1, NONE, "collision bits")                                          \
  X(INT, conaffinity, 1, 1, 1, NONE, "bits of geoms it collides with")                      \
  X(INT, condim, 1, 1, 3, NONE, "1, 3, 4 or 6")                                             \
  X(INT, group, 1, 1, 0, NONE, "group")                                                     \
  X(INT, priority, 1, 1, 0, NONE, "priority")                                               \
  X(REAL, size, 1, 3, (0, 0, 0), NONE, "sizes, see tbGeomType, m")                          \
  X(TEXT, material, 0, 0, NULL, NONE, "material; its colour is in rgba after parsing")      \
  X(REAL, friction, 1, 3, (1, 0.005, 0.0001), NONE, "sliding, torsional, rolling")          \
  X(REAL, mass, 1, 1, 0, NONE, "kg; replaces density if given")                             \
  X(REAL, density, 1, 1, 1000, NONE, "kg/m3, or kg/m2 with shellinertia")                   \
  X(ENUM, shellinertia, 1, 1, 0, BOOL, "mass on the surface")                               \
  X(REAL, solmix, 1, 1, 1, NONE, "")                                                        \
  X(REAL, solref, 1, 2, TB_SPEC_SOLREF, NONE, "")                                           \
  X(REAL, solimp, 1, 5, TB_SPEC_SOLIMP, NONE, "")                                           \
  X(REAL, margin, 1, 1, 0, NONE, "m")                                                       \
  X(REAL, gap, 1, 1, 0, NONE, "m")                                                          \
  X(REAL, surfacevel, 1, 6, (0, 0, 0, 0, 0, 0), NONE, "must be zero")                       \
  X(REAL, adhesion, 1, 1, 0, NONE, "must be zero")                                          \
  X(REAL, fromto, 6, 6, (0, 0, 0, 0, 0, 0), NONE, "as given")                               \
  X(REAL, pos, 3, 3, (0, 0, 0), NONE, "position in the body, m")                            \
  TB_SPEC_ORIENTATION(X)                                                                    \
  X(TEXT, hfield, 0, 0, NULL, NONE, "height field")                                         \
  X(TEXT, mesh, 0, 0, NULL, NONE, "mesh")                                                   \
  X(REAL, fitscale, 1, 1, 1, NONE, "scale of a primitive fitted to a mesh")                 \
  X(REAL, rgba, 4, 4, (0.5, 0.5, 0.5, 1), NONE, "colour")                                   \
  X(ENUM, fluidshape, 1, 1, 0, FLUIDSHAPE, "1: ellipsoid fluid model")                      \
  X(REAL, fluidcoef, 1, 5, (0.5, 0.25, 1.5, 1, 1), NONE, "coefficients of the fluid model") \
  X(REAL, restitution, 1, 1, 0, NONE, "Tribo: coefficient of restitution")                  \
  X(REAL, compliance, 1, 1, 0, NONE, "Tribo: compliance of a contact, m/N")                 \
  X(REAL, tangentcompliance, 1, 1, 0, NONE, "Tribo: the same along the tangents, m/N")      \
  X(REAL, contactdamping, 1, 1, 0, NONE, "Tribo: damping of a compliant contact, N s/m")    \
  X(LIST, user, 0, 0, , NONE, "user values")

#define TB_SPEC_SITE(X)                                          \
  X(ENUM, type, 1, 1, TB_GEOM_SPHERE, GEOMTYPE, "tbGeomType")    \
  X(INT, group, 1, 1, 0, NONE, "group")                          \
  X(REAL, pos, 3, 3, (0, 0, 0), NONE, "position in the body, m") \
  TB_SPEC_ORIENTATION(X)                                         \
  X(TEXT, material, 0, 0, NULL, NONE, "material")                \
  X(REAL, size, 1, 3, (0.005, 0.005, 0.005), NONE, "sizes, m")   \
  X(REAL, fromto, 6, 6, (0, 0, 0, 0, 0, 0), NONE, "as given")    \
  X(REAL, rgba, 4, 4, (0.5, 0.5, 0.5, 1), NONE, "colour")        \
  X(LIST, user, 0, 0, , NONE, "user values")

#define TB_SPEC_CAMERA(X)                                           \
  X(SKIP, projection, 0, 0, , PROJECTION, "")                       \
  X(SKIP, orthographic, 0, 0, , BOOL, "")                           \
  X(REAL, fovy, 1, 1, 45, NONE, "vertical field of view, degrees")  \
  X(SKIP, ipd, 0, 0, , NONE, "")                                    \
  X(INT, resolution, 2, 2, (1, 1), NONE, "pixels")                  \
  X(SKIP, output, 0, 0, , NONE, "")                                 \
  X(REAL, pos, 3, 3, (0, 0, 0), NONE, "position in the body, m")    \
  TB_SPEC_ORIENTATION(X)                                            \
  X(ENUM, mode, 1, 1, 0, CAMLIGHT, "tracking mode")                 \
  X(TEXT, target, 0, 0, NULL, NONE, "target body")                  \
  X(REAL, focal, 2, 2, (0, 0), NONE, "focal lengths, m")            \
  X(REAL, focalpixel, 2, 2, (0, 0), NONE, "the same in pixels")     \
  X(REAL, principal, 2, 2, (0, 0), NONE, "principal point, m")      \
  X(REAL, principalpixel, 2, 2, (0, 0), NONE, "the same in pixels") \
  X(REAL, sensorsize, 2, 2, (0, 0), NONE, "sensor size, m")         \
  X(LIST, user, 0, 0, , NONE, "user values")

#define TB_SPEC_LIGHT(X)                                             \
  X(SKIP, directional, 0, 0, , BOOL, "")                             \
  X(SKIP, type, 0, 0, , LIGHTTYPE, "")                               \
  X(SKIP, castshadow, 0, 0, , BOOL, "")                              \
  X(SKIP, active, 0, 0, , BOOL, "")                                  \
  X(REAL, pos, 3, 3, (0, 0, 0), NONE, "position in the body, m")     \
  X(REAL, dir, 3, 3, (0, 0, -1), NONE, "unit direction in the body") \
  X(SKIP, bulbradius, 0, 0, , NONE, "")                              \
  X(SKIP, intensity, 0, 0, , NONE, "")                               \
  X(SKIP, range, 0, 0, , NONE, "")                                   \
  X(SKIP, attenuation, 0, 0, , NONE, "")                             \
  X(SKIP, cutoff, 0, 0, , NONE, "")                                  \
  X(SKIP, softness, 0, 0, , NONE, "")                                \
  X(SKIP, exponent, 0, 0, , NONE, "")                                \
  X(SKIP, ambient, 0, 0, , NONE, "")                                 \
  X(SKIP, diffuse, 0, 0, , NONE, "")                                 \
  X(SKIP, specular, 0, 0, , NONE, "")                                \
  X(ENUM, mode, 1, 1, 0, CAMLIGHT, "tracking mode")                  \
  X(TEXT, target, 0, 0, NULL, NONE, "target body")                   \
  X(SKIP, texture, 0, 0, , NONE, "")

#define TB_SPEC_MESH(X)                                                                 \
  X(TEXT, content_type, 0, 0, NULL, NONE, "")                                           \
  X(TEXT, file, 0, 0, NULL, NONE, "as given; `path` is the file to open")               \
  X(LIST, vertex, 0, 0, , NONE, "inline vertices, 3 each")                              \
  X(SKIP, normal, 0, 0, , NONE, "")                                                     \
  X(SKIP, texcoord, 0, 0, , NONE, "")                                                   \
  X(LIST, face, 0, 0, , NONE, "inline triangles, 3 whole numbers each")                 \
  X(REAL, refpos, 3, 3, (0, 0, 0), NONE, "subtracted from the vertices")                \
  X(REAL, refquat, 4, 4, (1, 0, 0, 0), NONE, "unit; its inverse rotates the vertices")  \
  X(REAL, scale, 3, 3, (1, 1, 1), NONE, "scale; may be negative")                       \
  X(REAL, pose, 7, 7, (0, 0, 0, 1, 0, 0, 0), NONE,                                      \
    "Tribo: vertices and geoms are in the compiled frame; its pose in the mesh's file") \
  X(SKIP, smoothnormal, 0, 0, , BOOL, "")                                               \
  X(INT, maxhullvert, 1, 1, -1, NONE, "-1: all, else at least 4")                       \
  X(ENUM, inertia, 1, 1, 2, MESHINERTIA, "tbMeshInertia")                               \
  X(TEXT, builtin, 0, 0, NULL, NONE, "only \"none\"")                                   \
  X(LIST, params, 0, 0, , NONE, "")                                                     \
  X(SKIP, material, 0, 0, , NONE, "")

#define TB_SPEC_HFIELD(X)                                                 \
  X(TEXT, content_type, 0, 0, NULL, NONE, "")                             \
  X(TEXT, file, 0, 0, NULL, NONE, "as given; `path` is the file to open") \
  X(INT, nrow, 1, 1, 0, NONE, "rows, if there is no file")                \
  X(INT, ncol, 1, 1, 0, NONE, "columns, if there is no file")             \
  X(REAL, size, 4, 4, (0, 0, 0, 0), NONE, "x half, y half, top, base, m") \
  X(LIST, elevation, 0, 0, , NONE, "inline samples, the first row at +y; none: flat")

#define TB_SPEC_MATERIAL(X)                         \
  X(REAL, rgba, 4, 4, (1, 1, 1, 1), NONE, "colour") \
  X(SKIP, texture, 0, 0, , NONE, "")                \
  X(SKIP, texrepeat, 0, 0, , NONE, "")              \
  X(SKIP, texuniform, 0, 0, , BOOL, "")             \
  X(SKIP, emission, 0, 0, , NONE, "")               \
  X(SKIP, specular, 0, 0, , NONE, "")               \
  X(SKIP, shininess, 0, 0, , NONE, "")              \
  X(SKIP, reflectance, 0, 0, , NONE, "")            \
  X(SKIP, metallic, 0, 0, , NONE, "")               \
  X(SKIP, roughness, 0, 0, , NONE, "")

// As in MuJoCo, omitted values are these constants and are not derived from the two geoms.
#define TB_SPEC_PAIR(X)                                                   \
  X(TEXT, geom1, 0, 0, NULL, NONE, "geom")                                \
  X(TEXT, geom2, 0, 0, NULL, NONE, "geom")                                \
  X(INT, condim, 1, 1, 3, NONE, "1, 3, 4 or 6")                           \
  X(REAL, friction, 1, 5, (1, 1, 0.005, 0.0001, 0.0001), NONE,            \
    "two sliding, torsional, two rolling")                                \
  X(REAL, solref, 1, 2, TB_SPEC_SOLREF, NONE, "")                         \
  X(REAL, solreffriction, 1, 2, (0, 0), NONE, "zero: as solref")          \
  X(REAL, solimp, 1, 5, TB_SPEC_SOLIMP, NONE, "")                         \
  X(REAL, gap, 1, 1, 0, NONE, "m")                                        \
  X(REAL, margin, 1, 1, 0, NONE, "m")                                     \
  X(REAL, adhesion, 1, 1, 0, NONE, "must be zero")                        \
  X(REAL, restitution, 1, 1, -1, NONE, "Tribo: -1: from the geoms")       \
  X(REAL, compliance, 1, 1, -1, NONE, "Tribo: -1: from the geoms")        \
  X(REAL, tangentcompliance, 1, 1, -1, NONE, "Tribo: -1: from the geoms") \
  X(REAL, contactdamping, 1, 1, -1, NONE, "Tribo: -1: from the geoms")    \
  X(REAL, comfree, 1, 2, (-1, -1), NONE, "Tribo: k_user, d_user; -1: from the options")

#define TB_SPEC_EXCLUDE(X)                 \
  X(TEXT, body1, 0, 0, NULL, NONE, "body") \
  X(TEXT, body2, 0, 0, NULL, NONE, "body")

#define TB_SPEC_EQUALITY(X)                                                      \
  X(ENUM, active, 1, 1, 1, BOOL, "active at the start")                          \
  X(REAL, solref, 1, 2, TB_SPEC_SOLREF, NONE, "")                                \
  X(REAL, solimp, 1, 5, TB_SPEC_SOLIMP, NONE, "")                                \
  X(TEXT, body1, 0, 0, NULL, NONE, "connect, weld: body")                        \
  X(TEXT, body2, 0, 0, NULL, NONE, "connect, weld: body; NULL: the world")       \
  X(REAL, anchor, 3, 3, (0, 0, 0), NONE, "connect: in body 1; weld: in body 2")  \
  X(TEXT, site1, 0, 0, NULL, NONE, "connect, weld: site, instead of the bodies") \
  X(TEXT, site2, 0, 0, NULL, NONE, "connect, weld: site")                        \
  X(REAL, relpose, 7, 7, (0, 1, 0, 0, 0, 0, 0), NONE,                            \
    "weld: pose of body 2 in body 1; zero quaternion: from qpos0")               \
  X(REAL, torquescale, 1, 1, 1, NONE, "weld: weight of rotation")                \
  X(TEXT, joint1, 0, 0, NULL, NONE, "joint")                                     \
  X(TEXT, joint2, 0, 0, NULL, NONE, "joint; NULL: joint1 = polycoef[0]")         \
  X(REAL, polycoef, 1, 5, (0, 1, 0, 0, 0), NONE, "quartic")                      \
  X(TEXT, tendon1, 0, 0, NULL, NONE, "tendon")                                   \
  X(TEXT, tendon2, 0, 0, NULL, NONE, "tendon or NULL")

#define TB_SPEC_TENDON(X)                                                                     \
  X(INT, group, 1, 1, 0, NONE, "group")                                                       \
  X(ENUM, limited, 1, 1, TB_AUTO, TRISTATE, "is range a limit?")                              \
  X(ENUM, actuatorfrclimited, 1, 1, TB_AUTO, TRISTATE, "is actuatorfrcrange a clamp?")        \
  X(REAL, range, 2, 2, (0, 0), NONE, "limits of the length")                                  \
  X(REAL, actuatorfrcrange, 2, 2, (0, 0), NONE, "clamp of the total actuator force")          \
  X(REAL, solreflimit, 1, 2, TB_SPEC_SOLREF, NONE, "")                                        \
  X(REAL, solimplimit, 1, 5, TB_SPEC_SOLIMP, NONE, "")                                        \
  X(REAL, solreffriction, 1, 2, TB_SPEC_SOLREF, NONE, "")                                     \
  X(REAL, solimpfriction, 1, 5, TB_SPEC_SOLIMP, NONE, "")                                     \
  X(REAL, frictionloss, 1, 1, 0, NONE, "dry friction")                                        \
  X(REAL, springlength, 1, 2, (-1, -1), NONE, "dead band of the spring; -1: length at qpos0") \
  X(SKIP, width, 0, 0, , NONE, "")                                                            \
  X(TEXT, material, 0, 0, NULL, NONE, "material")                                             \
  X(REAL, margin, 1, 1, 0, NONE, "distance at which a limit acts")                            \
  X(REAL, stiffness, 1, 3, (0, 0, 0), NONE, "spring; only the first may be non-zero")         \
  X(REAL, damping, 1, 3, (0, 0, 0), NONE, "damping; only the first may be non-zero")          \
  X(REAL, armature, 1, 1, 0, NONE, "inertia along the tendon")                                \
  X(REAL, rgba, 4, 4, (0.5, 0.5, 0.5, 1), NONE, "colour")                                     \
  X(LIST, user, 0, 0, , NONE, "user values")

// The parser converts the shortcuts (motor, position, ...) to these fields. For a position-like
// actuator (fixed gain, affine bias, gainprm[0] = -biasprm[1]), biasprm[2] > 0 is a damping ratio.
#define TB_SPEC_ACTUATOR(X)                                                                   \
  X(INT, group, 1, 1, 0, NONE, "group")                                                       \
  X(INT, nsample, 1, 1, 0, NONE, "must be zero: delayed controls")                            \
  X(SKIP, interp, 0, 0, , NONE, "")                                                           \
  X(REAL, delay, 1, 1, 0, NONE, "must be zero")                                               \
  X(ENUM, ctrllimited, 1, 1, TB_AUTO, TRISTATE,                                               \
    "is ctrlrange a clamp? TB_AUTO: where it is not empty")                                   \
  X(ENUM, forcelimited, 1, 1, TB_AUTO, TRISTATE, "is forcerange a clamp?")                    \
  X(ENUM, actlimited, 1, 1, TB_AUTO, TRISTATE, "is actrange a clamp?")                        \
  X(REAL, ctrlrange, 2, 2, (0, 0), NONE, "")                                                  \
  X(REAL, forcerange, 2, 2, (0, 0), NONE, "")                                                 \
  X(REAL, actrange, 2, 2, (0, 0), NONE, "")                                                   \
  X(REAL, lengthrange, 2, 2, (0, 0), NONE, "")                                                \
  X(REAL, gear, 1, 6, (1, 0, 0, 0, 0, 0), NONE, "")                                           \
  X(REAL, damping, 1, 3, (0, 0, 0), NONE, "must be zero")                                     \
  X(REAL, armature, 1, 1, 0, NONE, "must be zero")                                            \
  X(REAL, cranklength, 1, 1, 0, NONE, "slider-crank rod, m")                                  \
  X(REAL, inheritrange, 1, 1, 0, NONE,                                                        \
    "> 0: ctrlrange (actrange for integrators) is the target's range scaled by it about its " \
    "centre")                                                                                 \
  X(TEXT, joint, 0, 0, NULL, NONE, "transmission")                                            \
  X(TEXT, jointinparent, 0, 0, NULL, NONE, "transmission")                                    \
  X(TEXT, tendon, 0, 0, NULL, NONE, "transmission")                                           \
  X(TEXT, slidersite, 0, 0, NULL, NONE, "transmission, with cranksite")                       \
  X(TEXT, cranksite, 0, 0, NULL, NONE, "transmission")                                        \
  X(TEXT, site, 0, 0, NULL, NONE, "transmission")                                             \
  X(TEXT, refsite, 0, 0, NULL, NONE, "reference of a site transmission")                      \
  X(TEXT, body, 0, 0, NULL, NONE, "adhesion")                                                 \
  X(INT, actdim, 1, 1, -1, NONE, "activation states; -1: from dyntype")                       \
  X(ENUM, dyntype, 1, 1, TB_DYN_NONE, DYNTYPE, "tbDynType")                                   \
  X(ENUM, gaintype, 1, 1, TB_GAIN_FIXED, GAINTYPE, "tbGainType")                              \
  X(ENUM, biastype, 1, 1, TB_BIAS_NONE, BIASTYPE, "tbBiasType")                               \
  X(REAL, dynprm, 1, 10, (1, 0, 0, 0, 0, 0, 0, 0, 0, 0), NONE, "")                            \
  X(REAL, gainprm, 1, 10, (1, 0, 0, 0, 0, 0, 0, 0, 0, 0), NONE, "")                           \
  X(REAL, biasprm, 1, 10, (0, 0, 0, 0, 0, 0, 0, 0, 0, 0), NONE, "")                           \
  X(ENUM, actearly, 1, 1, 0, BOOL, "force uses the next activation")                          \
  X(LIST, user, 0, 0, , NONE, "user values")

#define TB_SPEC_SENSOR(X)                                                               \
  X(INT, nsample, 1, 1, 0, NONE, "must be zero: delayed sensors")                       \
  X(SKIP, interp, 0, 0, , NONE, "")                                                     \
  X(REAL, delay, 1, 1, 0, NONE, "must be zero")                                         \
  X(REAL, interval, 1, 2, (0, 0), NONE, "must be zero")                                 \
  X(REAL, cutoff, 1, 1, 0, NONE, "clamp; 0: none")                                      \
  X(REAL, noise, 1, 1, 0, NONE, "standard deviation, for the user")                     \
  X(INT, dim, 1, 1, 0, NONE, "user sensor: values")                                     \
  X(ENUM, datatype, 1, 1, 0, DATATYPE, "user sensor: real, positive, axis, quaternion") \
  X(ENUM, needstage, 1, 1, 3, STAGE, "user sensor: stage")                              \
  X(LIST, user, 0, 0, , NONE, "user values")

#define TB_SPEC_NUMERIC(X)                                            \
  X(INT, size, 1, 1, -1, NONE, "values, zeros appended; -1: as data") \
  X(LIST, data, 0, 0, , NONE, "values")

#define TB_SPEC_TEXTFIELD(X) X(TEXT, data, 0, 0, NULL, NONE, "text")

#define TB_SPEC_TUPLEITEM(X)                   \
  X(TEXT, objname, 0, 0, NULL, NONE, "object") \
  X(REAL, prm, 1, 1, 0, NONE, "value")

#define TB_SPEC_KEY(X)                                      \
  X(REAL, time, 1, 1, 0, NONE, "s")                         \
  X(LIST, qpos, 0, 0, , NONE, "nq values, or none: qpos0")  \
  X(LIST, qvel, 0, 0, , NONE, "nv values, or none: zero")   \
  X(LIST, act, 0, 0, , NONE, "na values, or none: zero")    \
  X(LIST, mpos, 0, 0, , NONE, "3 per mocap body, or none")  \
  X(LIST, mquat, 0, 0, , NONE, "4 per mocap body, or none") \
  X(LIST, ctrl, 0, 0, , NONE, "nu values, or none: zero")

// The compiler element. Each element points to the settings of its file.
#define TB_SPEC_COMPILER(X)                                                                        \
  X(ENUM, autolimits, 1, 1, 1, BOOL, "a range implies a limit")                                    \
  X(REAL, boundmass, 1, 1, 0, NONE, "minimum mass of a body except the world, kg")                 \
  X(REAL, boundinertia, 1, 1, 0, NONE, "minimum moment of inertia, kg m2")                         \
  X(REAL, settotalmass, 1, 1, -1, NONE, "> 0: scale all masses and inertias")                      \
  X(ENUM, balanceinertia, 1, 1, 0, BOOL, "repair moments that break the triangle inequality")      \
  X(ENUM, strippath, 1, 1, 0, BOOL, "drop folders from file names")                                \
  X(ENUM, coordinate, 1, 1, 0, COORDINATE, "0 local, 1 global (older files)")                      \
  X(ENUM, angle, 1, 1, 1, ANGLE, "the file's unit: 0 radian, 1 degree; parsed values are radians") \
  X(ENUM, fitaabb, 1, 1, 0, BOOL, "fit primitives to a mesh's bounding box")                       \
  X(TEXT, eulerseq, 0, 0, NULL, NONE, "three of xyzXYZ; NULL: xyz")                                \
  X(TEXT, meshdir, 0, 0, NULL, NONE, "folder of meshes and height fields")                         \
  X(TEXT, texturedir, 0, 0, NULL, NONE, "folder of textures")                                      \
  X(TEXT, assetdir, 0, 0, NULL, NONE, "sets both")                                                 \
  X(ENUM, discardvisual, 1, 1, 0, BOOL, "drop geoms without collisions and references")            \
  X(SKIP, convexhull, 0, 0, , BOOL, "")                                                            \
  X(SKIP, usethread, 0, 0, , BOOL, "")                                                             \
  X(ENUM, fusestatic, 1, 1, 0, BOOL, "merge bodies without joints into their parents")             \
  X(ENUM, inertiafromgeom, 1, 1, TB_AUTO, TRISTATE, "auto: only where no inertial is given")       \
  X(INT, inertiagrouprange, 2, 2, (0, 5), NONE, "groups whose geoms have mass")                    \
  X(ENUM, exactmeshinertia, 1, 1, 0, BOOL, "older files: inertia=\"exact\" for all meshes")        \
  X(SKIP, saveinertial, 0, 0, , BOOL, "")                                                          \
  X(ENUM, alignfree, 1, 1, 0, BOOL, "align of free joints with align=\"auto\"")                    \
  X(ENUM, keepmoments, 1, 1, 0, BOOL, "Tribo: keep moments that break A + B >= C, as of a URDF")   \
  X(SKIP, conflict, 0, 0, , NONE, "")

#define TB_SPEC_LENGTHRANGE(X)                                            \
  X(ENUM, mode, 1, 1, 1, LRMODE, "0 none, 1 muscle, 2 muscleuser, 3 all") \
  X(ENUM, useexisting, 1, 1, 1, BOOL, "keep a lengthrange that is given") \
  X(ENUM, uselimit, 1, 1, 0, BOOL, "use limits of joints and tendons")    \
  X(REAL, accel, 1, 1, 20, NONE, "")                                      \
  X(REAL, maxforce, 1, 1, 0, NONE, "")                                    \
  X(REAL, timeconst, 1, 1, 1, NONE, "")                                   \
  X(REAL, timestep, 1, 1, 0.01, NONE, "")                                 \
  X(REAL, inttotal, 1, 1, 10, NONE, "")                                   \
  X(REAL, interval, 1, 1, 2, NONE, "")                                    \
  X(SKIP, inteval, 0, 0, , NONE, "")                                      \
  X(REAL, tolrange, 1, 1, 0.05, NONE, "")

#define TB_SPEC_SIZE(X)                                           \
  X(SKIP, memory, 0, 0, , NONE, "")                               \
  X(SKIP, njmax, 0, 0, , NONE, "")                                \
  X(SKIP, nconmax, 0, 0, , NONE, "")                              \
  X(SKIP, nstack, 0, 0, , NONE, "")                               \
  X(INT, nuserdata, 1, 1, 0, NONE, "user values per world")       \
  X(INT, nkey, 1, 1, 0, NONE, "minimum number of keyframes")      \
  X(INT, nuser_body, 1, 1, -1, NONE, "-1: the longest user list") \
  X(INT, nuser_jnt, 1, 1, -1, NONE, "")                           \
  X(INT, nuser_geom, 1, 1, -1, NONE, "")                          \
  X(INT, nuser_site, 1, 1, -1, NONE, "")                          \
  X(SKIP, nuser_cam, 0, 0, , NONE, "")                            \
  X(INT, nuser_tendon, 1, 1, -1, NONE, "")                        \
  X(INT, nuser_actuator, 1, 1, -1, NONE, "")                      \
  X(INT, nuser_sensor, 1, 1, -1, NONE, "")

#define TB_SPEC_STATISTIC(X)                                                  \
  X(REAL, meaninertia, 1, 1, 0, NONE, "replaces the computed value if given") \
  X(REAL, meanmass, 1, 1, 0, NONE, "")                                        \
  X(REAL, meansize, 1, 1, 0, NONE, "")                                        \
  X(REAL, extent, 1, 1, 0, NONE, "")                                          \
  X(REAL, center, 3, 3, (0, 0, 0), NONE, "")

// ---- structs ------------------------------------------------------------------------------------

// Members of one field: numbers, int, the value of a word, const char*, tbSpecList.
#define TB_SPEC_SHAPE_1
#define TB_SPEC_SHAPE_2 [2]
#define TB_SPEC_SHAPE_3 [3]
#define TB_SPEC_SHAPE_4 [4]
#define TB_SPEC_SHAPE_5 [5]
#define TB_SPEC_SHAPE_6 [6]
#define TB_SPEC_SHAPE_7 [7]
#define TB_SPEC_SHAPE_10 [10]
#define TB_SPEC_MEMBER_REAL(name, most) tbReal name TB_SPEC_SHAPE_##most;
#define TB_SPEC_MEMBER_INT(name, most) int name TB_SPEC_SHAPE_##most;
#define TB_SPEC_MEMBER_ENUM(name, most) int name;
#define TB_SPEC_MEMBER_TEXT(name, most) const char* name;
#define TB_SPEC_MEMBER_LIST(name, most) tbSpecList name;
#define TB_SPEC_MEMBER_SKIP(name, most)
#define TB_SPEC_MEMBER(kind, name, least, most, initial, words, what) \
  TB_SPEC_MEMBER_##kind(name, most)

typedef struct {
  TB_SPEC_BODY(TB_SPEC_MEMBER)
} tbSpecBody;

typedef struct {
  TB_SPEC_INERTIAL(TB_SPEC_MEMBER)
} tbSpecInertial;

typedef struct {
  TB_SPEC_JOINT(TB_SPEC_MEMBER)
} tbSpecJoint;

typedef struct {
  TB_SPEC_GEOM(TB_SPEC_MEMBER)
} tbSpecGeom;

typedef struct {
  TB_SPEC_SITE(TB_SPEC_MEMBER)
} tbSpecSite;

typedef struct {
  TB_SPEC_CAMERA(TB_SPEC_MEMBER)
} tbSpecCamera;

typedef struct {
  TB_SPEC_LIGHT(TB_SPEC_MEMBER)
} tbSpecLight;

typedef struct {
  TB_SPEC_MESH(TB_SPEC_MEMBER)
} tbSpecMesh;

typedef struct {
  TB_SPEC_HFIELD(TB_SPEC_MEMBER)
} tbSpecHField;

typedef struct {
  TB_SPEC_MATERIAL(TB_SPEC_MEMBER)
} tbSpecMaterial;

typedef struct {
  TB_SPEC_PAIR(TB_SPEC_MEMBER)
} tbSpecPair;

typedef struct {
  TB_SPEC_EXCLUDE(TB_SPEC_MEMBER)
} tbSpecExclude;

typedef struct {
  TB_SPEC_EQUALITY(TB_SPEC_MEMBER)
} tbSpecEquality;

typedef struct {
  TB_SPEC_TENDON(TB_SPEC_MEMBER)
} tbSpecTendon;

typedef struct {
  TB_SPEC_ACTUATOR(TB_SPEC_MEMBER)
} tbSpecActuator;

typedef struct {
  TB_SPEC_SENSOR(TB_SPEC_MEMBER)
} tbSpecSensor;

typedef struct {
  TB_SPEC_NUMERIC(TB_SPEC_MEMBER)
} tbSpecNumeric;

typedef struct {
  TB_SPEC_TEXTFIELD(TB_SPEC_MEMBER)
} tbSpecTextField;

typedef struct {
  TB_SPEC_KEY(TB_SPEC_MEMBER)
} tbSpecKey;

typedef struct {
  TB_SPEC_COMPILER(TB_SPEC_MEMBER)
} tbSpecCompiler;

typedef struct {
  TB_SPEC_SIZE(TB_SPEC_MEMBER)
} tbSpecSize;

typedef struct {
  TB_SPEC_STATISTIC(TB_SPEC_MEMBER)
} tbSpecStatistic;

// X(kind, Type): the structs, for tb_spec_set_<kind> and the like.
#define TB_SPEC_STRUCTS(X)    \
  X(body, tbSpecBody)         \
  X(inertial, tbSpecInertial) \
  X(joint, tbSpecJoint)       \
  X(geom, tbSpecGeom)         \
  X(site, tbSpecSite)         \
  X(camera, tbSpecCamera)     \
  X(light, tbSpecLight)       \
  X(mesh, tbSpecMesh)         \
  X(hfield, tbSpecHField)     \
  X(material, tbSpecMaterial) \
  X(pair, tbSpecPair)         \
  X(exclude, tbSpecExclude)   \
  X(equality, tbSpecEquality) \
  X(tendon, tbSpecTendon)     \
  X(actuator, tbSpecActuator) \
  X(sensor, tbSpecSensor)     \
  X(numeric, tbSpecNumeric)   \
  X(text, tbSpecTextField)    \
  X(key, tbSpecKey)           \
  X(compiler, tbSpecCompiler) \
  X(size, tbSpecSize)         \
  X(statistic, tbSpecStatistic)

#endif
