// From a model at a state to a contact problem: contacts from the collision detector, Jacobian rows
// from the kinematics, and the problem (docs/step.md) for each island.
//
// This is the one place that sees collision and dynamics. Everything lives in the data's arena.
#ifndef TRIBO_ASSEMBLE_ASSEMBLE_H_
#define TRIBO_ASSEMBLE_ASSEMBLE_H_

#include <stdbool.h>

#include "base/minmax.h"
#include "base/arena.h"
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

// Rows that belong together: one contact, one limit, one equality, one dry friction.
typedef struct {
  int source;      // tbSource
  int id;          // of the source
  int row;         // first row among all rows of the step
  int dim;         // rows
  int nnz;         // dofs that move it
  const int* col;  // those dofs, ascending, closed under ancestors
  int lead;        // the first of them that J is not zero at by its nature
  tbReal* J;       // dim x nnz: velocity of the constraint from qvel; raisim: all of a contact's
  tbReal* half;    // J H^-1/2 where it is known, or NULL
  tbReal pos[6];   // m or rad: gap (limits, contacts: normal row) or violation (equality)
  tbReal margin;   // m or rad: where a soft constraint starts
  tbReal bound;    // dry friction: largest force, N or N m
  uint64_t key;    // the same constraint from step to step
  int island;
  bool known;  // its impulse of the last step is
} tbConstraint;

typedef struct {
  int count;  // constraints
  int nrow;   // rows of all of them
  tbConstraint* list;
} tbConstraints;

// What the collision driver keeps between steps.
typedef struct tbDetector tbDetector;
tbDetector* tb_detector_new(const tbModel* model);
void tb_detector_free(tbDetector* finder);

// The shape of any geom, posed as `data` has it. False where it has none to collide with.
bool tb_detector_shape(const tbDetector* finder, const tbModel* model, const tbData* data, int geom,
                       tbShape* shape);

// Trees that rest (1 per tree, or NULL for none; kept by reference): pairs of two of them, or of
// one and the world, are left out.
void tb_detector_set_resting(tbDetector* finder, const uint8_t* resting);
size_t tb_detector_allocations(const tbDetector* finder);
size_t tb_detector_bytes(const tbDetector* finder);  // memory held

// What the finder remembers of its pairs between steps, as bytes for a snapshot: their number, a
// copy of them, and putting a copy back (TB_ERROR_ARGUMENT where they are not such a copy).
size_t tb_detector_memory_size(const tbDetector* finder);
void tb_detector_memory_save(const tbDetector* finder, void* bytes);
tbResult tb_detector_memory_load(tbDetector* finder, const void* bytes, size_t size);

// The shape of a geom in a contact of the last tb_find_contacts, as it was then; NULL for geoms
// that can touch nothing.
const tbShape* tb_contact_shape(const tbDetector* finder, int geom);

// Parameters of a contact of two geoms, or of explicit pair `pair` >= 0; geometry is left zero.
void tb_contact_parameters(const tbModel* model, int geom1, int geom2, int pair,
                           tbContact* contact);

// In words, which parameter of a contact that the law uses has no meaning, or NULL where all have:
// programs write into models as they are. `rigid` laws use none of the soft ones.
const char* tb_contact_invalid_parameter(const tbContact* contact, bool rigid);

// A gap that counts as touch, m: what rounding leaves of bodies put on each other.
#define TB_TOUCHING 1e-9

// Find all contacts of the current geom poses into data->contact. With `reach` > 0, geoms within
// that distance count even where their margin is smaller; with more than TB_TOUCHING farther ones
// too that will meet within a step at their current velocities (rigid laws see a contact before it
// closes). TB_ERROR_NUMERIC, with data->message, where a contact has a flaw.
tbResult tb_find_contacts(tbDetector* finder, const tbModel* model, tbData* data, tbReal reach);

// How far ahead limits are seen: those that could be reached within `horizon` seconds at the
// velocity of the start, or at speeds `led` of the dofs (NULL: none) that a solve of this step has
// led to; with `near` those within a thousandth of their range, too. What rests at a limit with a
// load is there but for rounding, and hardly moves: its speed alone would lose sight of it.
typedef struct {
  tbReal horizon;
  bool near;
  const tbReal* led;
} tbLookAhead;

// Build all constraint rows in MuJoCo's order: equality, dry friction, limits, contacts.
// `left_out`: 1 per contact that goes without rows, or NULL.
tbResult tb_assemble_rows(const tbModel* model, tbData* data, tbLookAhead sight,
                          const char* left_out, tbConstraints* out);

// Whether a limit that was not seen is crossed within a step at velocity `v` of the dofs: a force
// or an impact has come since.
bool tb_limits_violated(const tbModel* model, const tbData* data, tbLookAhead sight,
                        const tbReal* v);

// The gap that a limit or contact at `dist` closes: a negative margin sets the limit back, and the
// surfaces that touch into their shapes. A positive one is a row's margin, which the rigid and the
// viscoelastic law leave unused.
static inline tbReal tb_gap_to(tbReal dist, tbReal margin) {
  return dist - tb_min(margin, 0);
}
static inline tbReal tb_contact_gap(const tbContact* contact) {
  return tb_gap_to(contact->dist, contact->includemargin);
}

// The key of a contact's constraint.
uint64_t tb_contact_key(const tbContact* contact);

// The only body of a contact that moves, or -1 where both do; its first `dim` rows as functions of
// that body's twist about the centre of its tree, `P` dim x 6; and that twist by dofs: fills J
// (6 x nnz) and returns nnz, at most the number of dofs.
int tb_contact_body(const tbModel* model, const tbContact* contact);
void tb_contact_rows_of_twist(const tbModel* model, const tbData* data, const tbContact* contact,
                              int body, int dim, tbReal* P);
int tb_body_twist(const tbModel* model, const tbData* data, int body, const int** col, tbReal* J);

// Where eq_data has a weld's torquescale.
enum { TB_EQ_TORQUESCALE = 10 };

// The bodies and points of a connect or weld, and for a weld the orientations that must agree.
void tb_equality_points(const tbModel* model, const tbData* data, int id, int body[2],
                        tbReal point[2][3], tbReal quat[2][4]);

// Add the forces of connect and weld rows (N, by row) to cfrc_ext.
void tb_equality_wrenches(const tbModel* model, tbData* data, const tbConstraints* constraints,
                          const tbReal* row_force);

// Force of the rows of a tendon (limits, dry friction, equalities) along its length, N.
tbReal tb_tendon_row_force(const tbModel* model, const tbData* data,
                           const tbConstraints* constraints, const tbReal* row_force, int tendon);

// The speed at which a violation of a constraint, m or rad, is taken back (Baumgarte), its slope by
// the violation, and its cap: correction_speed, or where a mocap body leads the violation in 0.02
// s, as fast as MuJoCo's default reference, since others must follow it at any speed.
tbReal tb_correction(const tbModel* model, const tbData* data, const tbConstraint* c,
                     tbReal violation, tbReal* slope);
tbReal tb_correction_cap(const tbModel* model, const tbData* data, const tbConstraint* c,
                         tbReal violation);

// Below a millisecond limits that start beyond their range are pushed back by no more than a
// millisecond's step would in the same time: `speed` is held to the row's own and that. A push of
// the full speed in every step, against what a closed loop allows, would make energy without end.
bool tb_push_is_held(const tbModel* model, const tbData* data, const tbConstraint* c,
                     tbReal* speed);

// gamma of a gap that must stay open (contacts and limits), and its slope by the gap. An open gap
// may close within the step, an overlap is pushed out slowly, and between zero and overlap_allowed
// nothing is corrected. Nor is a gap below gap_allowed between bodies that fly free, or one of them
// and a fixed one, while they hardly move: whether a contact of things at rest carries must not
// depend on the last bits of its gap.
tbReal tb_gap_term(const tbModel* model, const tbData* data, const tbConstraint* c, tbReal gap,
                   tbReal* slope);

// gamma of a rigid contact that bounces in this step, e v_n < 0: it closes faster than
// restitution_speed and within the step. 0: it does not bounce.
tbReal tb_restitution_term(const tbModel* model, const tbData* data, const tbConstraint* c);

// What the drift of a contact between bodies that turn together adds to gamma: share times `along`.
typedef struct {
  tbReal drift[2][3];  // dJ/dt v of both bodies' points, m/s2
  tbReal fade[2];      // how much of them counts: not all where a body turns fast
  int fastest[2];      // that body: it, or one that it hangs on
  tbReal spin[3];      // angular velocity of body 2 against body 1
  tbReal velocity[3];  // and velocity of its point
  tbReal common[3];    // angular velocity that both have: (1 - between) w1 + between w2
  tbReal between;
  tbReal along[3];  // drift as seen from what turns so, along normal and tangents; 0 along the
                    // normal of compliant contacts
  tbReal share;     // s: h/2 (1 - |spin|^2 / (TB_TOGETHER |common|)^2)
} tbCorotation;
// Bodies turn together while they turn against each other by less than this share of the turn that
// they have in common.
#define TB_TOGETHER 0.1
// False: they do not, and nothing is added.
bool tb_contact_corotation(const tbModel* model, const tbData* data, const tbConstraint* c,
                           tbCorotation* out);

// MuJoCo's estimate of the diagonal of J M^-1 J^T at row r of a constraint: what it would be if
// nothing but the bodies' weights at the reference pose resisted.
tbReal tb_row_weight(const tbModel* model, const tbData* data, const tbConstraint* c, int r);

// The same for the push apart of a contact or limit: where a joint's axis goes through its body's
// centre of mass the estimate is zero, or rounding. What the bodies yield at the point of contact
// in this pose, the mean of three directions, takes its place. 0 where memory ran out.
int tb_push_weight(const tbModel* model, const tbData* data, tbInertiaFactor factor, tbArena* arena,
                   const tbConstraint* c, tbReal* weight);

// What the softness of row r of an equality is relative to, and its slope by y, the diagonal of G
// there: y itself, except near a singular pose (an outstretched arm), where it vanishes and a share
// of the estimate takes its place.
tbReal tb_equality_scale(const tbModel* model, const tbConstraint* c, int r, tbReal y,
                         tbReal* slope);

// Constraints that are coupled through the bodies they act on, as one problem.
typedef struct {
  int nmember;
  const int* member;  // indices into tbConstraints.list, ascending
  tbProblem problem;  // rows in the order of the members
  tbReal *g, *R;      // problem.g and problem.R
  tbReal* rho;        // per row: estimate of the diagonal of G, > 0
  tbReal* lambda;     // N s
  tbReal* sigma;      // m/s: velocity that the first lambda leads to, where it was computed
  tbReal measure;     // its relative residual under the law, or NAN where nobody asked
  tbReal inherited;   // relative residual that the last step left
  tbReal residual;    // and this one
  tbReal* rest;       // where the next step starts, or NULL: from lambda
  int solved;         // 1: lambda is good enough as it is, G is not needed
  int applied;        // 1: the velocity that lambda leads to has been computed
} tbIsland;

typedef struct {
  int count;
  tbIsland* island;
  int bounces;  // contacts that bounce, of those whose terms were assembled
} tbIslands;

// Split the constraints into islands: members only.
tbResult tb_assemble_groups(const tbModel* model, tbData* data, tbConstraints* constraints,
                            tbIslands* out);

// How much of the velocities of n dofs, or of anything made of them, is rounding, m/s or rad/s.
tbReal tb_velocity_noise(int n, const tbReal* v);

// Give every island the blocks, g = J v_free + gamma (gap, correction, restitution) and R (physical
// compliance, softness) of the rigid laws, and lambda = 0; all but G. Without a factor (LD NULL)
// neither softness nor rho: for judging answers of other laws.
tbResult tb_assemble_terms(const tbModel* model, tbData* data, const tbConstraints* constraints,
                           tbInertiaFactor factor, const tbReal* v_free, tbIslands* islands);

// The same where J v_free is known by row, and the answer is only to be judged: without the
// compliance that keeps a solver's problem solvable.
tbResult tb_assemble_judged(const tbModel* model, tbData* data, const tbConstraints* constraints,
                            const tbReal* row_velocity_free, tbIslands* islands);

// Give every island that is not solved yet G = J H^-1 J^T over the factor of H. After
// tb_assemble_terms.
tbResult tb_assemble_delassus(const tbModel* model, tbData* data, const tbConstraints* constraints,
                              tbInertiaFactor factor, tbIslands* islands);

// sigma = g + J (v - v_free) + R lambda of an island, where v is the velocity that lambda leads to.
void tb_assembled_velocity(const tbConstraints* constraints, const tbIsland* island,
                           const tbReal* v_free, const tbReal* v, tbReal* sigma);

// impulse += J^T lambda over all islands, or over one.
void tb_gather_impulse(const tbConstraints* constraints, const tbIslands* islands, tbReal* impulse);
void tb_gather_island(const tbConstraints* constraints, const tbIsland* island, tbReal* impulse);

#endif
