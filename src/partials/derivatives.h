// The linearised step (docs/notebook/derivatives.md, section 3). For every law, with f the
// constraint forces:
//
//     dacc = X + Y^T df                       X = H^-1 (partial forces), Y = J H^-1
//     by_sigma (c J dacc + S + c_R df) + by_force df = E
//     dv+  = dv + h dacc
//
// where by_sigma and by_force linearise the law at its solution. The soft law with implicit damping
// uses a second inertia ("final") in the last line.
#ifndef TRIBO_PARTIALS_DERIVATIVES_H_
#define TRIBO_PARTIALS_DERIVATIVES_H_

#include <stdint.h>

#include "assemble/assemble.h"
#include "linalg/ltdl.h"
#include "tribo/derivatives.h"

enum { TB_MAX_DIM = TB_MAX_BLOCK_DIM };

// A step is not differentiable if, within this distance, m or rad, the geometry of a contact jumps
// or the gap term of a contact or limit has a kink.
#define TB_KINK_REACH 1e-5

// One body of a contact with its chain of dofs.
typedef struct {
  int n;
  tbReal sign;
  int* place;      // of each dof in the contact's support
  int* first;      // first of the chain's dofs whose axis the dof moves
  tbReal* motion;  // n x 6: angular, linear at the contact
} tbMovingSide;

// Derivative of a contact's rows by the configuration, without dJ/dq itself (eq. 28).
typedef struct {
  const tbReal* frame;
  tbMovingSide side[2];
  tbReal* relative;  // nnz x 6: motion of body 2 relative to body 1
  int turns;         // 0: the frame is constant
  tbReal* room;      // 7 (nnz + 1)
} tbMovingContact;

// An active constraint, copied so that it outlives the step's arena.
typedef struct {
  int source, id;  // of the constraint
  int row;         // first row among the active rows
  int island;
  int dim, nnz;
  const int* col;
  const tbReal* J;  // dim x nnz
  tbReal* T;        // dim x nnz x nnz: dJ[r][i]/dq[k]; NULL: J is constant, or a contact's
  tbReal* dpos;     // dim x nnz: dpos[r]/dq[k]
  tbReal* dframe;   // nnz x 9: a contact's frame by q[k]
  tbReal* dpoint;   // nnz x 3: a contact's position by q[k]
  const tbMovingContact* moving;  // contacts: data from which dJ/dq is computed
  int first;                      // offset of the first row within the contact (tb_active_row)
  tbReal force[TB_MAX_DIM], sigma[TB_MAX_DIM];
  tbReal by_sigma[TB_MAX_DIM * TB_MAX_DIM], by_force[TB_MAX_DIM * TB_MAX_DIM];
  tbReal by_friction[TB_MAX_DIM];     // E per unit of the sliding coefficients
  tbReal by_diagonal[2][TB_MAX_DIM];  // S, and E, per unit of the row's J H^-1 J^T
} tbActiveRows;

// An inertia and its responses to forces.
typedef struct {
  tbReal *LD, *inverse;
  tbReal* force;  // nv x ncol: partial forces, replaced by X
  tbReal* Y;      // n x nv
  tbReal* LU;     // factor of a nonsymmetric inertia (MuJoCo's implicit), used instead of LD
  int* pivot;
} tbResponse;

// Response of the velocity that moves the configuration if that has an acceleration of its own
// (expo): v + share h acc.
typedef struct {
  tbReal* acc;    // nv; NULL: that of the velocity
  tbReal* force;  // nv x ncol: partial forces
  tbReal* E;      // n x ncol: df
} tbMoveResponse;

// An island of the exponential integrator: derivatives of its forces by loads and friction, for the
// velocity and for the position.
typedef struct {
  int n, nmember;
  int* row;                // active rows
  int* contact;            // by member: contact or -1
  tbReal* by_load[2];      // n x n: df by J qacc_free
  tbReal* by_friction[2];  // n x nmember
} tbExpoResponse;

typedef struct {
  int n;
  int* row;  // active rows, ascending
  tbReal* LU;
  int* pivot;
} tbIslandSystem;

// Equalities with a system of their own (complementarity-free law): rows, and the factor of c J
// H^-1 J^T + R. Their rows of E are S at the end of the step, those of S are S in the prediction.
typedef struct {
  int n;
  int* row;  // active rows
  tbReal *L, *scratch;
} tbPresolvedSystem;

struct tbDerivatives {
  tbArena arena;
  tbData* probe;                // a second world, for finite differences; made on first use
  struct tbDerivatives* stage;  // derivatives at another state within the step; made on first use
  int is_stage;                 // 1: derivatives of the forces at a state, whatever the integrator
  const tbModel* m;
  int nv, na, nu, nx, ncol;     // nx = 2 nv + na states, ncol = nx + nu columns
  struct tbDetector* detector;  // of the world
  int ready;                    // 0: empty, 1: linearised, 2: dense A and B only
  tbReal h;
  tbReal c;           // factor of J dacc in sigma: h for rigid laws, 1 for soft
  tbReal move_share;  // the configuration moves with (1 - share) v + share v+
  int n, nactive, ncon;
  tbActiveRows* active;
  tbResponse law, final;  // final.force is NULL if it equals the law's
  const tbReal* law_acc;  // acceleration for which the law's forces were computed; NULL: qacc
  int input_damps;        // 1: H depends on the input of servos
  int explicit_law;       // 1: df follows from dacc without a solve
  int is_compliant;       // 1: every row is (R > 0), so that the law needs no proximal term
  int by_responses;       // 1: forces depend on G in ways without partials by the inertia
  tbReal* final_acc;      // if there is a second inertia
  tbReal* S;              // n x ncol
  tbReal* E;              // n x ncol, or NULL
  tbReal* R;              // n: factor of df in sigma
  tbReal* drift;          // velocity-product terms of all bodies and dofs (dynamics/drift.h), or
                          // NULL
  tbMoveResponse move;
  int nexpo;
  tbExpoResponse* expo;
  int nisland;
  tbIslandSystem* island;
  tbPresolvedSystem* presolved;        // or NULL
  tbReal* primal;                      // soft law: Cholesky factor of M + J^T by_sigma J, or NULL
  const tbReal* M;                     // with `primal`: by rows of the forest
  tbReal* Jt;                          // J transposed, nv x n
  tbReal *act_by_act, *act_by_ctrl;    // na: next activation by activation and by its control
  tbReal *rate_by_act, *rate_by_ctrl;  // na: the same of act_dot
  int* act_ctrl;                       // na: index of the control of each activation
  tbReal *turn_q, *turn_v;             // njnt x 9: dq+ of rotations by dq and by h dv+
  tbReal *dense_A, *dense_B;           // if ready is 2
  tbReal* dense_F;                     // by the generalised force (nx x nv)
  tbReal* dense_mu;                    // by friction (nx x ncon), computed on first use
  tbReal* dense_acc;                   // qacc by q, v and force (nv x nv each); NULL: differences
  void* start;                         // if ready is 2: the snapshot from which differences start
  size_t start_size;
  uint64_t* contact_key;         // ncon: keys of the contacts
  tbDerivativeSettings sampled;  // samples > 1: the settings of the mean
  tbReal* scratch;               // one right-hand side (deriv_products.c)
  tbDerivativeInfo info;
};

// Partial forces by columns q, v, act, ctrl (nv x ncol, row-major).
typedef struct {
  tbReal* value;
  int stride;
} tbPartials;

static inline tbReal* tb_partial(const tbPartials* p, int dof, int column) {
  return p->value + (size_t)dof * (size_t)p->stride + (size_t)column;
}

// ---- smooth forces (smooth.c) ------------------------------------------------------------------

// Implicit damping with every derivative by velocity, whatever its sign (in addition to
// tbImplicit's values).
enum { TB_IMPLICIT_FULL = 100 };

// Add the partials of passive, applied and actuator forces, and fill act_by_act, act_by_ctrl. `acc`
// and `damping` (a tbImplicit): the part - h D acc of implicit damping is differentiated too.
// Called after tb_forward.
tbResult tb_deriv_smooth(tbDerivatives* x, tbData* d, const tbReal* acc, int damping,
                         tbPartials* out);

// Whether tb_deriv_smooth uses differences, for Coriolis forces too; otherwise tb_deriv_inertia
// adds the latter.
bool tb_deriv_smooth_differs(const tbModel* m, tbData* d);

// 1 if every smooth force of the model has partials in closed form.
int tb_deriv_is_plain(const tbModel* m);

// 1 if gravity compensation acts at all, and if it acts on a dof: it may count as actuation, which
// may be clamped or off.
int tb_deriv_compensates(const tbModel* m);
int tb_deriv_is_compensated(const tbModel* m, const tbData* d, int dof);

// 1 if the damping of a servo depends on its input.
int tb_deriv_input_damps(const tbModel* m);

// out += scale (-u_r^T dH u_s) over the columns of act and ctrl, if such damping is implicit
// (x->input_damps).
void tb_deriv_damping_change(const tbDerivatives* x, const tbData* d, const tbReal* ur,
                             const tbReal* us, tbReal scale, tbReal* out);

// Subtract the partials of M acc + b - J^T xfrc.
tbResult tb_deriv_inertia(tbDerivatives* x, tbData* d, const tbReal* acc, tbPartials* out);

// Difference between the Coriolis forces of the middle of the step and those of its start,
// differentiated by the inertial parameters of a body (nv x TB_NINERTIAL).
tbResult tb_deriv_middle_by_inertia(tbDerivatives* x, tbData* d, int body, tbReal* slope);

// ---- constraint rows (rows.c, contact.c, geometry.c) -------------------------------------------

// Motion of a contact with its two bodies: partials by the motion of body 2 relative to body 1,
// (angular, linear) about the contact's position in world axes.
typedef struct {
  tbReal dist[6], pos[18], normal[18];  // 1 x 6, 3 x 6, 3 x 6
  int follows_axis;                     // 1: t1 follows `axis`, fixed to body 2
  tbReal axis[3];
  int lost;  // 1: the contact did not persist under a small motion
} tbContactMotion;

void tb_contact_motion(const tbModel* m, const tbData* d, const tbDetector* detector,
                       const tbContact* contact, tbContactMotion* motion);

// Fill T and dpos of an active constraint from its constraint `c`. Needs x->probe for spatial
// tendons.
tbResult tb_deriv_rows(tbDerivatives* x, tbData* d, const tbConstraint* c, tbActiveRows* a);

// The same for a contact (contact.c): fills moving, dframe, dpoint and dpos.
tbResult tb_deriv_contact(tbDerivatives* x, tbData* d, const tbConstraint* c, tbActiveRows* a);
void tb_moving_velocity(const tbActiveRows* a, const tbReal* x, tbReal scale, tbReal* out,
                        int stride);
void tb_moving_force(const tbActiveRows* a, tbPartials* out);

// out[r * stride + k] += scale * d(J x)[r]/dq_k.
void tb_active_velocity(const tbActiveRows* a, const tbReal* x, tbReal scale, tbReal* out,
                        int stride);

// A view of one row of an active constraint.
tbActiveRows tb_active_row(const tbActiveRows* a, int r);

// Adjoint of a constraint's rows: sigma = -by_sigma^T law, and c J^T sigma added to `force`.
void tb_active_pull(const tbDerivatives* x, const tbActiveRows* a, const tbReal* law, tbReal* sigma,
                    tbReal* force);

// out (nv x ncol) += d(J^T f)/dq over the columns of q.
void tb_active_force(const tbActiveRows* a, tbPartials* out);

// ---- for the laws (laws/rigid/linearize.c, laws/soft/linearize.c, ...) ------------------------
// They find the active constraints, their modes and law matrices; and fill x->n, active, S, R, E,
// and the partials of J^T f in x->law.force (and final).

// dJ/dt v of a connect or weld into S (corotation.c); `prepare` fills x->drift once.
tbResult tb_deriv_drift_prepare(tbDerivatives* x, const tbData* d);
tbResult tb_deriv_drift(tbDerivatives* x, const tbData* d, const tbConstraint* c, tbActiveRows* a);

// Called after `prepare`: the same for a contact's first rows, with each body's part times its
// share, added by q and v to `out` (rows of `width`).
tbResult tb_contact_drift(tbDerivatives* x, const tbData* d, const tbConstraint* c,
                          const tbActiveRows* a, const tbReal share[2], int width, int rows,
                          tbReal* out);

// Derivative of the co-rotation term in gamma of a contact (tb_contact_corotation), into S
// (slip.c).
tbResult tb_deriv_slip(tbDerivatives* x, const tbData* d, const tbConstraint* c,
                       const tbActiveRows* a);

// out += scale d(J_r H^-1 J_r^T)/dq over the columns of q. `room`: 2 nv + 12 nbody.
void tb_deriv_diagonal(const tbDerivatives* x, const tbData* d, const tbConstraint* c,
                       const tbActiveRows* a, int r, tbReal scale, tbReal* out, tbReal* room);

// Memory for E, for laws whose forces have partials besides those through sigma. Before the first
// constraint. False when out of memory.
bool tb_deriv_reserve_sources(tbDerivatives* x, const tbConstraints* constraints);

// Memory for the next active constraint and its rows.
tbActiveRows* tb_deriv_activate(tbDerivatives* x, const tbConstraint* c);

// ---- the linear system (law_system.c) ----------------------------------------------------------

// X <- H^-1 X for `width` right-hand sides, and x <- H^-T x.
void tb_response_solve(const tbDerivatives* x, const tbResponse* r, tbReal* X, int width);
void tb_response_solve_transposed(const tbDerivatives* x, const tbResponse* r, tbReal* z);

// x->law.Y of the active rows.
tbResult tb_deriv_responses(tbDerivatives* x);

// Y, and the factor of the law's system of every island.
tbResult tb_deriv_factor(tbDerivatives* x, const tbData* d, tbReal proximal);

// The same system in velocity space, for the soft law (law_system_velocity.c): (M + J^T W J) da =
// force + J^T (E - W S). It is smaller if there are more rows than dofs.
tbResult tb_primal_factor(tbDerivatives* x, const tbReal* M);
void tb_primal_solve(tbDerivatives* x, tbReal* force, tbReal* final_force, tbReal* rhs,
                     tbReal* gathered, const tbReal* E, int width);
void tb_primal_solve_transposed(tbDerivatives* x, const tbReal* z, tbReal* force,
                                tbReal* final_force, tbReal* sigma, tbReal* law);

// The same with equalities satisfied before and after the law (laws/comfree/equality_linearize.c).
tbResult tb_presolved_factor(tbDerivatives* x);
void tb_presolved_solve(tbDerivatives* x, tbReal* force, tbReal* final_force, tbReal* rhs,
                        tbReal* gathered, const tbReal* E, int width);
void tb_presolved_solve_transposed(tbDerivatives* x, const tbReal* z, tbReal* force,
                                   tbReal* final_force, tbReal* sigma, tbReal* law);

// rows <- E - by_sigma rows of every active constraint except presolved ones, `width` numbers each.
// `room`: TB_MAX_DIM rows.
void tb_deriv_apply_law(const tbDerivatives* x, tbReal* rows, const tbReal* E, tbReal* room,
                        int width);

// Solve for `width` right-hand sides side by side. In: partial forces (nv x width; final_force
// equals force if there is no second inertia), S in rhs (n x width), E or NULL. Out: dacc in
// final_force, df in rhs. `gathered`: n x width.
void tb_deriv_solve(tbDerivatives* x, tbReal* force, tbReal* final_force, tbReal* rhs,
                    tbReal* gathered, const tbReal* E, int width);

// The adjoint: from z, the adjoint of dacc (nv), to those of the forces, of S and of E (n each).
void tb_deriv_solve_transposed(tbDerivatives* x, const tbReal* z, tbReal* force,
                               tbReal* final_force, tbReal* sigma, tbReal* law);

// ---- the next state (derivatives/products.c) ---------------------------------------------------

// Rows of q+ from rows of the velocity that moves it: dq+ = turn_q dq + h turn_v dv. `width`
// columns; with `dq` NULL, dq is the identity on the first nv columns.
void tb_next_position(const tbDerivatives* x, const tbReal* dv, const tbReal* dq, tbReal* out,
                      int width);

// Forces of the exponential integrator caused by loads on the active rows, for the velocity or for
// the position (`second`); rows of both are `stride` apart.
void tb_expo_loads(const tbDerivatives* x, const tbReal* load, int stride, int second, tbReal* law);

// ---- one state, or many (derivatives/derivatives.c, differences.c) -----------------------------

tbResult tb_deriv_linearize(const tbModel* m, tbData* d, const tbDerivativeSettings* settings,
                            tbDerivatives* x);

// Partials of qacc by all columns (nv x ncol) and by the generalised force (nv x nv, or NULL).
tbResult tb_deriv_acceleration(tbDerivatives* x, tbReal* columns, tbReal* by_force);

// Derivatives of the rotations in q+ = q exp(h v) by q and v, into turn_q and turn_v (eq. 18-19).
void tb_deriv_integration(tbDerivatives* x, const tbReal* v);

// Allocate dense A, B and F in the arena, which hold the derivatives from now on, and the snapshot
// from which further differences at the data's state start.
tbResult tb_deriv_keep_dense(tbDerivatives* x, const tbData* d);

// Store the start's acceleration as dense_acc, from its partials (nv x ncol, nv x nv).
tbResult tb_deriv_keep_acceleration(tbDerivatives* x, const tbReal* columns,
                                    const tbReal* by_force);

// Differences from that snapshot: dense_mu, and partials of qacc (any may be NULL).
tbResult tb_deriv_friction_differences(tbDerivatives* x);
tbResult tb_deriv_acceleration_differences(tbDerivatives* x, tbReal* dq, tbReal* dv, tbReal* dtau);

// tb_derivatives_inertial by differences, or as a mean over samples.
tbResult tb_deriv_inertial_differences(const tbModel* m, const tbData* d, int body, tbReal* out);
tbResult tb_deriv_inertial_samples(tbDerivatives* x, const tbModel* m, tbData* d, int body,
                                   tbReal* out);

// tb_step_differences, and F by the generalised force (nx x nv); any may be NULL.
tbResult tb_deriv_differences(const tbModel* m, tbData* d, tbReal eps, int centred, tbReal* A,
                              tbReal* B, tbReal* F);
tbResult tb_deriv_samples(const tbModel* m, tbData* d, const tbDerivativeSettings* settings,
                          tbDerivatives* x);

#endif
