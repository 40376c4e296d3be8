// All options of a simulation, declared once. `--option name=value` and the binary model file are
// generated from this list.
#ifndef TRIBO_OPTION_H_
#define TRIBO_OPTION_H_

#include "tribo/enums.h"
#include "tribo/types.h"

// X(type, name, count, default, allowed, unit, what); `allowed` is the condition on finite values x
// that algorithms support. A step with any other value returns TB_ERROR_ARGUMENT.
#define TB_OPTION_FIELDS(X)                                                                       \
  X(tbReal, timestep, 1, 0.002, x > 0, "s", "time step")                                          \
  X(tbReal, gravity, 3, (0, 0, -9.81), true, "m/s2", "gravity")                                   \
  X(tbReal, wind, 3, (0, 0, 0), true, "m/s", "velocity of the medium")                            \
  X(tbReal, magnetic, 3, (0, -0.5, 0), true, "", "magnetic flux, for magnetometers")              \
  X(tbReal, density, 1, 0, x >= 0, "kg/m3", "density of the medium")                              \
  X(tbReal, viscosity, 1, 0, x >= 0, "Pa s", "viscosity of the medium")                           \
  X(tbReal, impratio, 1, 1, x > 0, "", "soft law: frictional over normal impedance")              \
  X(tbReal, tolerance, 1, 1e-8, x >= 0, "", "soft law: solver tolerance, as MuJoCo's")            \
  X(tbReal, ls_tolerance, 1, 0.01, x >= 0, "",                                                    \
    "parsed from the file, for reference: the line search is exact")                              \
  X(tbReal, noslip_tolerance, 1, 1e-6, x >= 0, "", "soft law: noslip tolerance")                  \
  X(tbReal, ccd_tolerance, 1, 1e-6, x >= 0, "", "parsed from the file, for reference")            \
  X(tbReal, o_margin, 1, 0, true, "m", "overrides all margins when the override flag is set")     \
  X(tbReal, o_solref, 2, (0.02, 1), true, "", "overrides all solref")                             \
  X(tbReal, o_solimp, 5, (0.9, 0.95, 0.001, 0.5, 2), true, "", "overrides all solimp")            \
  X(tbReal, o_friction, 5, (1, 1, 0.005, 0.0001, 0.0001), x >= 0, "", "overrides all friction")   \
  X(int, integrator, 1, TB_INTEGRATOR_EULER, x >= 0 && x <= TB_INTEGRATOR_EULER_IMPLICIT, "",     \
    "euler, rk4, implicit, implicitfast, or the viscoelastic law's (tbIntegrator)")               \
  X(int, cone, 1, TB_CONE_PYRAMIDAL, x >= 0 && x <= TB_CONE_ELLIPTIC, "",                         \
    "soft law: pyramidal or elliptic (tbCone)")                                                   \
  X(int, jacobian, 1, TB_JACOBIAN_AUTO, x >= 0 && x <= TB_JACOBIAN_AUTO, "",                      \
    "parsed from the file, for reference")                                                        \
  X(int, mjsolver, 1, TB_MJSOLVER_NEWTON, x >= 0 && x <= TB_MJSOLVER_NEWTON, "",                  \
    "soft law: newton, cg or pgs (tbMjSolver)")                                                   \
  X(int, iterations, 1, 100, x >= 0, "", "soft law: solver iterations")                           \
  X(int, ls_iterations, 1, 50, x >= 0, "",                                                        \
    "parsed from the file, for reference: the line search is exact")                              \
  X(int, noslip_iterations, 1, 0, x >= 0, "", "soft law: noslip iterations")                      \
  X(int, ccd_iterations, 1, 35, x >= 0, "", "parsed from the file, for reference")                \
  X(int, sdf_iterations, 1, 10, x >= 0, "", "parsed from the file, for reference")                \
  X(int, sdf_initpoints, 1, 40, x >= 0, "", "parsed from the file, for reference")                \
  X(int, disableflags, 1, 0, x >= 0, "", "bits of features that are off (tbDisableBit)")          \
  X(int, enableflags, 1, 0, x >= 0, "", "bits of extra features that are on (tbEnableBit)")       \
  X(int, disableactuator, 1, 0, x >= 0, "", "bits of actuator groups that are off")               \
  X(int, law, 1, TB_LAW_NCP, x >= 0 && x < TB_STEP_LAW_COUNT, "",                                 \
    "contact law of a step: ncp, ... (tbLaw, TB_LAW_SOFT, ...)")                                  \
  X(int, solver, 1, TB_SOLVER_AUTO, x >= 0 && x < TB_SOLVER_COUNT, "",                            \
    "auto, the law's choice, or a solver that it has (tbSolverKind)")                             \
  X(tbReal, solve_tolerance, 1, 1e-6, x >= 0, "", "relative residual at which a solver stops")    \
  X(tbReal, solve_absolute, 1, 0, x >= 0, "",                                                     \
    "absolute residual at which a solver stops; 0: relative")                                     \
  X(int, solve_iterations, 1, 1000, x >= 0, "", "iterations of a solver")                         \
  X(tbReal, baumgarte, 1, 0.2, x >= 0 && x <= 1, "",                                              \
    "rigid laws: share of an overlap corrected per step")                                         \
  X(tbReal, correction_speed, 1, 0.3, x >= 0, "m/s",                                              \
    "rigid laws, comfree: cap of the correction's speed")                                         \
  X(tbReal, correction_softness, 1, 1e-3, x >= 0, "",                                             \
    "rigid laws: compliance of overlaps over 1/mass")                                             \
  X(tbReal, overlap_allowed, 1, 1e-5, x >= 0, "m", "rigid laws: overlap that is not corrected")   \
  X(tbReal, gap_allowed, 1, 1e-6, x >= 0, "m",                                                    \
    "rigid laws: gap of a resting contact that is closed")                                        \
  X(tbReal, equality_softness, 1, 1e-4, x >= 0, "",                                               \
    "rigid laws: compliance of equalities over diag G")                                           \
  X(tbReal, restitution_speed, 1, 0.01, x >= 0, "m/s",                                            \
    "rigid laws: no restitution below this impact speed")                                         \
  X(tbReal, contact_margin, 1, 1e-3, x >= 0, "m",                                                 \
    "rigid laws: detection distance of contacts; less for small grains")                          \
  X(tbReal, friction_scale, 1, 1, x >= 0, "", "times every friction coefficient of a contact")    \
  X(tbReal, comfree_stiffness, 1, 0.2, x >= 0, "1/s", "comfree: k_user")                          \
  X(tbReal, comfree_damping, 1, 0.001, x >= 0, "", "comfree: d_user")                             \
  X(int, comfree_facets, 1, 4, x >= 4 && x <= 32 && x % 2 == 0, "",                               \
    "comfree: facets of the sliding and of the rolling cone")                                     \
  X(int, comfree_exact, 1, 0, x == 0 || x == 1, "",                                               \
    "comfree: 1: gains from the diagonal of G instead of k, d")                                   \
  X(tbReal, contact_stiffness, 1, 1e5, x >= 0, "N/m",                                             \
    "viscoelastic: stiffness of contacts without compliance")                                     \
  X(tbReal, contact_damping, 1, 300, x >= 0, "N s/m",                                             \
    "viscoelastic: damping of contacts without their own")                                        \
  X(int, contact_bilateral, 1, 0, x == 0 || x == 1, "",                                           \
    "viscoelastic: 1: contacts are bilateral (also pull)")                                        \
  X(int, contact_anchor_normal, 1, 0, x == 0 || x == 1, "",                                       \
    "viscoelastic: 1: the normal spring starts where the contact was first detected (EXP), 0: "   \
    "overlap")                                                                                    \
  X(int, expm_order, 1, 0, x == 0 || x == 1 || x == 2 || x == 3 || x == 5 || x == 7 || x == 13,   \
    "", "expo: Padé order 1, 2, 3, 5, 7, 13; 0: from the accuracy")                               \
  X(tbReal, expm_accuracy, 1, 0.03, x >= 0, "", "expo: relative error of the matrix exponential") \
  X(int, warmstart, 1, 1, x == 0 || x == 1, "", "1: start from the last step's impulses")         \
  X(int, sleep, 1, 0, x == 0 || x == 1, "", "1: islands at rest are skipped")                     \
  X(int, threads, 1, 1, x >= 0, "", "threads over islands; results do not depend on it")

// A parenthesised default, (a, b, ...), initialises a field of several values.
typedef struct {
#define TB_OPTION_MEMBER(type, name, count, value, allowed, unit, what) \
  type name TB_OPTION_SHAPE_##count;
#define TB_OPTION_SHAPE_1
#define TB_OPTION_SHAPE_2 [2]
#define TB_OPTION_SHAPE_3 [3]
#define TB_OPTION_SHAPE_5 [5]
  TB_OPTION_FIELDS(TB_OPTION_MEMBER)
#undef TB_OPTION_MEMBER
} tbOption;

TB_EXTERN_C_BEGIN

// Every option at its default.
TB_API tbOption tbDefaultOption(void);

// Set one option from text: numbers separated by spaces or commas, or a word where the option is an
// enumeration ("ncp", "implicitfast"). An unknown name or a bad value is TB_ERROR_ARGUMENT, with
// the nearest known name in `error`.
TB_API tbResult tb_option_set(tbOption* option, const char* name, const char* value,
                              tbError* error);

TB_EXTERN_C_END

#endif
