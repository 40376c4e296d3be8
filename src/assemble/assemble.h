// Builds a contact problem from a model at a state: contacts from the collision detector, Jacobian
// rows from the kinematics, and the problem (docs/manual/step.md) for each island.
//
// Only this folder uses both collision and dynamics. All results live in the data's arena.
#ifndef TRIBO_ASSEMBLE_ASSEMBLE_H_
#define TRIBO_ASSEMBLE_ASSEMBLE_H_

#include <stdbool.h>

#include "base/minmax.h"
#include "base/arena.h"
#include "dynamics/equality/equality.h"
#include "dynamics/mass.h"
#include "tribo/collide.h"
#include "tribo/data.h"
#include "tribo/model.h"
#include "tribo/problem.h"

typedef enum {
  TB_SOURCE_EQUALITY,         // id: equality constraint
  TB_SOURCE_FRICTION_DOF,     // id: dof
  TB_SOURCE_FRICTION_TENDON,  // id: tendon
  TB_SOURCE_LIMIT_JOINT,      // id: joint
  TB_SOURCE_LIMIT_TENDON,     // id: tendon
  TB_SOURCE_CONTACT,          // id: contact
} tbSource;

// A group of rows: those of one contact, one limit, one equality or one dry friction.
typedef struct {
  int source;      // tbSource
  int id;          // of the source
  int row;         // first row among all rows of the step
  int dim;         // rows
  int nnz;         // dofs that move the constraint
  const int* col;  // these dofs, ascending, closed under ancestors
  int lead;        // index of the first of them at which J is not structurally zero
  tbReal* J;       // dim x nnz: velocity of the constraint from qvel; raisim: with all rows of a
                   // contact
  tbReal* half;    // J H^-1/2 if already computed, or NULL
  tbReal pos[6];   // m or rad: gap (limits, contacts: normal row) or violation (equality)
  tbReal margin;   // m or rad: margin of a soft constraint
  tbReal bound;    // dry friction: largest force, N or N m
  uint64_t key;    // identifies the constraint across steps
  int island;
  bool known;  // its impulse of the last step is known
} tbConstraint;

typedef struct {
  int count;  // constraints
  int nrow;   // rows of all of them
  tbConstraint* list;
} tbConstraints;

// State that the collision detector keeps between steps.
typedef struct tbDetector tbDetector;
tbDetector* tb_detector_new(const tbModel* model);
void tb_detector_free(tbDetector* detector);

// Sizes, places, margins or height fields of the model have changed, its structure and meshes have
// not.
void tb_detector_reshape(tbDetector* detector, const tbModel* model);

// The shape of a geom at its pose in `data`. False if the geom cannot collide.
bool tb_detector_shape(const tbDetector* detector, const tbModel* model, const tbData* data,
                       int geom, tbShape* shape);

// Set the resting trees (1 per tree, or NULL for none; kept by reference): pairs of two of them, or
// of one and the world, are skipped.
void tb_detector_set_resting(tbDetector* detector, const uint8_t* resting);
size_t tb_detector_allocations(const tbDetector* detector);
size_t tb_detector_bytes(const tbDetector* detector);  // memory held

// The detector's memory of its pairs between steps, as bytes for a snapshot: their number, a copy,
// and restoring a copy (TB_ERROR_ARGUMENT if the bytes are not such a copy).
size_t tb_detector_memory_size(const tbDetector* detector);
void tb_detector_memory_save(const tbDetector* detector, void* bytes);
tbResult tb_detector_memory_load(tbDetector* detector, const void* bytes, size_t size);

// Parameters of a contact of two geoms, or of explicit pair `pair` >= 0; the geometry is left zero.
void tb_contact_parameters(const tbModel* model, int geom1, int geom2, int pair,
                           tbContact* contact);

// Bring the coefficients of friction, times `scale`, into the range that the law takes.
void tb_contact_bound_friction(const tbModel* model, tbReal scale, tbContact* contact);

// A message about the first invalid parameter among those that the law uses, or NULL if all are
// valid; programs may write any values into models. `rigid` laws use none of the soft parameters.
const char* tb_contact_invalid_parameter(const tbContact* contact, bool rigid);

// A gap up to this counts as touching, m: the rounding error of bodies placed on each other.
#define TB_TOUCHING 1e-9

// Find all contacts of the current geom poses and store them in data->contact. With `reach` > 0,
// geoms within that distance count even if their margin is smaller; with `reach` above TB_TOUCHING,
// also farther geoms that will meet within a step at their current velocities (speculative contacts
// of rigid laws). TB_ERROR_NUMERIC, with data->message, if a contact has an invalid parameter.
tbResult tb_detect_contacts(tbDetector* detector, const tbModel* model, tbData* data, tbReal reach);

// Look-ahead of limits: a limit gets a row if it could be reached within `horizon` seconds at the
// velocity of the start, or at the speed bounds `speed_bound` of the dofs (NULL: none) from earlier
// solves of this step; with `near` also if it is within a thousandth of its range. A joint that
// rests on its limit under a load is at the limit up to rounding and hardly moves: the speed alone
// would not detect it.
typedef struct {
  tbReal horizon;
  bool near;
  const tbReal* speed_bound;
} tbLookAhead;

// Build all constraint rows in MuJoCo's order: equality, dry friction, limits, contacts.
// `pruned`: 1 per pruned contact, which gets no rows, or NULL.
tbResult tb_assemble_rows(const tbModel* model, tbData* data, tbLookAhead look_ahead,
                          const char* pruned, tbConstraints* out);

// Whether a limit without a row is violated within a step at velocity `v` of the dofs, because of a
// sudden force or an impact.
bool tb_limits_violated(const tbModel* model, const tbData* data, tbLookAhead look_ahead,
                        const tbReal* v);

// The gap of a limit or contact at distance `dist`. A negative margin adds to it: the limit shifts
// outward, the contact surfaces inward. A positive margin is for soft rows only; the rigid and the
// viscoelastic laws ignore it.
static inline tbReal tb_gap_to(tbReal dist, tbReal margin) {
  return dist - tb_min(margin, 0);
}
static inline tbReal tb_contact_gap(const tbContact* contact) {
  return tb_gap_to(contact->dist, contact->includemargin);
}

// The key of a contact's constraint.
uint64_t tb_contact_key(const tbContact* contact);

// tb_contact_body: the moving body of a contact with a fixed body, or -1 if both bodies move.
// tb_contact_rows_of_twist: the matrix P (dim x 6) from the twist of `body` about the centre of
// mass of its tree to the first `dim` rows of the contact.
// tb_body_twist: the Jacobian J (6 x nnz) of that twist; returns nnz, at most the number of dofs.
int tb_contact_body(const tbModel* model, const tbContact* contact);
void tb_contact_rows_of_twist(const tbModel* model, const tbData* data, const tbContact* contact,
                              int body, int dim, tbReal* P);
int tb_body_twist(const tbModel* model, const tbData* data, int body, const int** col, tbReal* J);

// Add the forces of connect and weld rows (N, by row) to cfrc_ext.
void tb_equality_wrenches(const tbModel* model, tbData* data, const tbConstraints* constraints,
                          const tbReal* row_force);

// Force of the rows of a tendon (limits, dry friction, equalities) along its length, N.
tbReal tb_tendon_row_force(const tbModel* model, const tbData* data,
                           const tbConstraints* constraints, const tbReal* row_force, int tendon);

// The speed at which a violation of a constraint, m or rad, is corrected (Baumgarte), its slope by
// the violation, and its upper bound: correction_speed or, if a mocap body is involved, the
// violation over 0.02 s, as fast as MuJoCo's default reference, since other bodies must follow a
// mocap body at any speed.
tbReal tb_correction(const tbModel* model, const tbData* data, const tbConstraint* c,
                     tbReal violation, tbReal* slope);
tbReal tb_correction_cap(const tbModel* model, const tbData* data, const tbConstraint* c,
                         tbReal violation);

// For time steps below a millisecond, a joint or tendon that starts beyond its limit is pushed back
// no faster than a step of a millisecond would in the same time: `speed` is bounded by the row's
// own speed plus that. The full correction speed in every step, against a closed loop that does not
// allow it, would add energy without bound.
bool tb_push_is_held(const tbModel* model, const tbData* data, const tbConstraint* c,
                     tbReal* speed);

// gamma of a gap that must stay open (contacts and limits), and its slope by the gap. An open gap
// may close within the step, an overlap is corrected slowly, and between zero and overlap_allowed
// nothing is corrected. A gap below gap_allowed counts as closed between free-floating bodies, or
// one of them and a fixed body, while they hardly move: whether a contact at rest carries a force
// must not depend on the last bits of its gap.
tbReal tb_gap_term(const tbModel* model, const tbData* data, const tbConstraint* c, tbReal gap,
                   tbReal* slope);

// R of row r >= 1 of a contact (ADMM section IV: R = diag(R_N, R_T, R_T)): an impulse lambda of
// friction lets the surfaces slip by e lambda / h in the step, without memory of earlier steps.
// Torsion and rolling act at the arm of their coefficient, which is a length.
tbReal tb_tangent_compliance(const tbModel* model, const tbContact* contact, int r);

// gamma of a rigid contact with restitution, e v_n < 0, if it closes faster than restitution_speed
// and within the step; otherwise 0.
tbReal tb_restitution_term(const tbModel* model, const tbData* data, const tbConstraint* c);

// Contribution of the co-rotation of two bodies in contact to gamma: share times `along`.
typedef struct {
  tbReal drift[2][3];  // velocity-product term dJ/dt v of both bodies' points, m/s2
  tbReal fade[2];      // factor of the term: below 1 if a body turns fast
  int fastest[2];      // the fastest turning one among the body and its ancestors
  tbReal spin[3];      // angular velocity of body 2 relative to body 1
  tbReal velocity[3];  // relative velocity of its point
  tbReal common[3];    // common angular velocity: (1 - between) w1 + between w2
  tbReal between;
  tbReal along[3];  // velocity-product term in the co-rotating frame, along normal and tangents; 0
                    // along the normal of compliant contacts
  tbReal share;     // s: h/2 (1 - |spin|^2 / (TB_TOGETHER |common|)^2)
} tbCorotation;
// Bodies co-rotate while their relative angular velocity is below this fraction of their common
// angular velocity.
#define TB_TOGETHER 0.1
// False: the bodies do not co-rotate, and nothing is added.
bool tb_contact_corotation(const tbModel* model, const tbData* data, const tbConstraint* c,
                           tbCorotation* out);

// MuJoCo's estimate of the diagonal of J M^-1 J^T at row r of a constraint, from the inverse
// weights of the bodies at the reference pose alone.
tbReal tb_row_weight(const tbModel* model, const tbData* data, const tbConstraint* c, int r);

// The same for the normal row of a contact or limit. If a joint's axis passes through its body's
// centre of mass the estimate is zero, or a rounding error; then it is replaced by the inverse
// inertia of the bodies at the contact point in this pose, the mean of three directions. Returns 0
// when out of memory.
int tb_push_weight(const tbModel* model, const tbData* data, tbInertiaFactor factor, tbArena* arena,
                   const tbConstraint* c, tbReal* weight);

// Reference value of the compliance of row r of an equality, and its slope by y, the diagonal of G
// there: y itself, except near a singular pose (an outstretched arm), where y vanishes and a share
// of the estimate replaces it.
tbReal tb_equality_scale(const tbModel* model, const tbConstraint* c, int r, tbReal y,
                         tbReal* slope);

// An island: constraints that are coupled through the bodies they act on, as one problem.
typedef struct {
  int nmember;
  const int* member;        // indices into tbConstraints.list, ascending
  tbProblem problem;        // rows in the order of the members
  tbReal *g, *R;            // problem.g and problem.R
  tbReal* rho;              // per row: estimate of the diagonal of G, > 0
  tbReal* lambda;           // N s
  tbReal* sigma;            // m/s: velocity that the first lambda causes, if it was computed
  tbReal start_residual;    // relative residual of the first lambda under the law, or NAN if not
                            // evaluated
  tbReal carried_residual;  // relative residual at the end of the last step
  tbReal residual;          // relative residual of this step
  tbReal* resting_start;    // warm start of the next step, or NULL: lambda
  int solved;               // 1: lambda is accepted, G is not needed
  int applied;              // 1: the velocity that lambda causes has been computed
} tbIsland;

typedef struct {
  int count;
  tbIsland* island;
  int bounces;  // contacts with restitution among those whose terms were assembled
} tbIslands;

// Split the constraints into islands: members only.
tbResult tb_assemble_groups(const tbModel* model, tbData* data, tbConstraints* constraints,
                            tbIslands* out);

// Rounding level of the velocities of n dofs, or of combinations of them, m/s or rad/s.
tbReal tb_velocity_rounding(int n, const tbReal* v);

// Give every island the blocks, g = J v_free + gamma (gap, correction, restitution) and R (physical
// compliance, softness) of the rigid laws, and lambda = 0; everything except G. Without a factor
// (LD NULL) neither softness nor rho are set: for certificates of other laws' answers.
tbResult tb_assemble_terms(const tbModel* model, tbData* data, const tbConstraints* constraints,
                           tbInertiaFactor factor, const tbReal* v_free, tbIslands* islands);

// The same if J v_free is known by row and the answer is only to be evaluated: without the
// compliance that makes a problem solvable.
tbResult tb_assemble_evaluated(const tbModel* model, tbData* data, const tbConstraints* constraints,
                               const tbReal* row_velocity_free, tbIslands* islands);

// Give every island that is not solved yet G = J H^-1 J^T by the factor of H. Called after
// tb_assemble_terms.
tbResult tb_assemble_delassus(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              tbInertiaFactor factor, tbIslands* islands);

// sigma = g + J (v - v_free) + R lambda of an island, where v is the velocity that lambda causes.
void tb_assembled_velocity(const tbConstraints* constraints, const tbIsland* island,
                           const tbReal* v_free, const tbReal* v, tbReal* sigma);

// impulse += J^T lambda over all islands, or over one.
void tb_gather_impulse(const tbConstraints* constraints, const tbIslands* islands, tbReal* impulse);
void tb_gather_island(const tbConstraints* constraints, const tbIsland* island, tbReal* impulse);

#endif
