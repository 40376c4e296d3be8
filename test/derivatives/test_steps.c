// Derivatives of a step against centred differences of whole steps, in every mode of every law.
#include "common/inertial_differences.h"
#include "common/test.h"
#include "partials/derivatives.h"
#include "forces/forces.h"
#include "tribo/tribo.h"

static const char WORLD[] =
    "<mujoco><option timestep='0.005' cone='%s' integrator='%s'/>"
    "<default><geom friction='%g 0.02 0.01' condim='%d'/></default><worldbody>"
    "<geom type='plane' size='5 5 1' euler='%g %g 0'/>%s</worldbody>%s</mujoco>";

typedef struct {
  const char* name;
  const char* bodies;
  const char* rest;  // after the world
  tbReal friction, slope;
  int condim;
  tbReal velocity[12];
  tbReal springy[2];  // restitution, compliance
} Scene;

// Bodies press into the plane by some tenths of a millimetre, away from every kink.
#define LOOP                                                                                      \
  "<body name='p' pos='0 0 2'><joint type='ball' damping='0.1'/><geom type='capsule' size='.05' " \
  "fromto='0 0 0 .5 0 0'/><body name='q' pos='.5 0 0'><joint type='hinge' axis='0 1 0'/><geom "   \
  "type='capsule' size='.05' fromto='0 0 0 .5 0 0'/></body></body><body name='r' pos='1 0.1 "     \
  "2.3'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
#define LOOP_CLOSED                                                                      \
  "<equality><weld body1='q' body2='r'/><connect body1='p' body2='r' anchor='.7 .1 0'/>" \
  "</equality>"

#define TURNTABLE                                                                \
  "<body pos='0 0 1'><joint axis='.1 .2 1'/><geom type='cylinder' size='1 .05' " \
  "mass='100'/></body>"                                                          \
  "<body pos='.5 0 1.1498'><freejoint/><geom type='sphere' size='.1' mass='2'/></body>"

static const Scene SCENES[] = {
    {"sliding sphere",
     "<body pos='0 0 0.0998'><freejoint/><geom type='sphere' size='0.1' mass='2'/></body>",
     "",
     0.2,
     0,
     3,
     {1, 0.3, -0.2, 0.5, 1, -0.3},
     {0}},
    {"rolling sphere",
     "<body pos='0 0 0.0998'><freejoint/><geom type='sphere' size='0.1' mass='2'/></body>",
     "",
     0.9,
     0,
     3,
     {0.1, 0, 0, 0, 1, 0.2},
     {0}},
    {"flying sphere",
     "<body pos='0 0 1'><freejoint/><geom type='sphere' size='0.1' mass='2'/></body>",
     "",
     0.9,
     0,
     3,
     {1, 0, 1, 3, 4, 5},
     {0}},
    {"rolling friction",
     "<body pos='0 0 0.0998'><freejoint/><geom type='sphere' size='0.1' mass='2'/></body>",
     "",
     0.3,
     3,
     6,
     {1, 0.3, -0.2, 0.5, 1, -0.3},
     {0}},
    {"rolling friction at rest",
     "<body pos='0 0 0.0998'><freejoint/><geom type='sphere' size='0.1' mass='2'/></body>",
     "",
     0.9,
     -1e-9,
     6,
     {1e-4, 2e-4, 0, 2e-3, -1e-3, 3e-3},
     {0}},
    {"sliding ellipsoid",
     "<body pos='0 0 0.099' euler='10 0 0'><freejoint/><geom type='ellipsoid' size='.2 .3 .1' "
     "mass='2'/></body>",
     "",
     0.3,
     0,
     3,
     {1, 0.3, -0.5, 0.5, 1, -0.3},
     {0}},
    {"sliding capsule",
     "<body pos='0 0 0.0995' euler='90 0 20'><freejoint/><geom type='capsule' size='.1 .2' "
     "mass='2'/></body>",
     "",
     0.2,
     0,
     3,
     {1, 0.3, -0.2, 0, 0.1, 0},
     {0}},
    {"sliding box",
     "<body pos='0 0 0.0997'><freejoint/><geom type='box' size='.2 .15 .1' mass='2'/></body>",
     "",
     0.2,
     0,
     3,
     {1, 0.3, -0.1, 0, 0, 0.4},
     {0}},
    {"sticking box",
     "<body pos='0 0 0.0997'><freejoint/><geom type='box' size='.2 .15 .1' mass='2'/></body>",
     "",
     0.8,
     0,
     3,
     {0, 0, 0, 0, 0, 0},
     {0}},
    // A slope below zero means flat: four contacts for three dofs each way.
    {"sliding flat box",
     "<body pos='0 0 0.0997'><freejoint/><geom type='box' size='.2 .15 .1' mass='2'/></body>",
     "",
     0.2,
     -1e-9,
     3,
     {1, 0.3, 0, 0, 0, 0.4},
     {0}},
    {"sticking flat box",
     "<body pos='0 0 0.0997'><freejoint/><geom type='box' size='.2 .15 .1' mass='2'/></body>",
     "",
     0.8,
     -1e-9,
     3,
     {0, 0, 0, 0, 0, 0},
     {0}},
    // Eight contacts where six would do, one body upon the other.
    {"loaded table",
     "<body pos='0 0 0.3997'><freejoint/><geom type='box' size='.4 .3 .02' mass='5'/><geom "
     "type='sphere' size='.02' pos='.35 .25 -.38' mass='.2'/><geom type='sphere' size='.02' "
     "pos='-.35 .25 -.38' mass='.2'/><geom type='sphere' size='.02' pos='.35 -.25 -.38' "
     "mass='.2'/><geom type='sphere' size='.02' pos='-.35 -.25 -.38' mass='.2'/></body>"
     "<body pos='.05 .02 .5194'><freejoint/><geom type='box' size='.1 .1 .1' mass='2'/></body>",
     "",
     0.8,
     -1e-9,
     3,
     {0, 0, -0.05, 0, 0, 0, 0, 0, -0.1},
     {0}},
    {"bouncing sphere",
     "<body pos='0 0 0.0998'><freejoint/><geom type='sphere' size='0.1' mass='2'/></body>",
     "",
     0.2,
     0,
     3,
     {1, 0.3, -2, 0.5, 1, -0.3},
     {0.6, 0}},
    {"landing sphere",
     "<body pos='0 0 0.1045'><freejoint/><geom type='sphere' size='0.1' mass='2'/></body>",
     "",
     0.2,
     0,
     3,
     {1, 0.3, -2, 0.5, 1, -0.3},
     {0}},
    {"compliant sphere",
     "<body pos='0 0 0.0998'><freejoint/><geom type='sphere' size='0.1' mass='2'/></body>",
     "",
     0.2,
     0,
     3,
     {1, 0.3, -0.2, 0.5, 1, -0.3},
     {0, 1e-4}},
    {"two spheres",
     "<body pos='0 0 0.1'><joint type='ball'/><geom type='sphere' size='0.1' mass='2' pos='0 0 "
     ".2'/></body><body pos='0.05 0.02 0.4905'><freejoint/><geom type='sphere' size='0.1' "
     "mass='1'/></body>",
     "",
     0.3,
     0,
     3,
     {0.3, 0.2, 0.1, 0.2, 0.5, -2, 0.1, 0.2, 0.3},
     {0}},
    {"two capsules",
     "<body pos='0 0 1'><joint type='hinge' axis='0 1 0'/><geom type='capsule' size='.1 .3' "
     "euler='90 0 0' mass='2'/></body><body pos='0.02 0.02 1.1985' euler='0 80 "
     "0'><freejoint/><geom type='capsule' size='0.1 .3' mass='1'/></body>",
     "",
     0.3,
     0,
     3,
     {0.3, 0.2, 0.1, -1, 0.5, 0.2, 0.1},
     {0}},
    {"sphere on box",
     "<body pos='0 0 1'><joint type='hinge' axis='0 1 0'/><geom type='box' size='.3 .3 .1' "
     "mass='2'/></body><body pos='0.02 0.02 1.1997'><freejoint/><geom type='sphere' size='0.1' "
     "mass='1'/></body>",
     "",
     0.3,
     0,
     3,
     {0.3, 0.2, 0.1, -1, 0.5, 0.2, 0.1},
     {0}},
    {"chain at its limits",
     "<body pos='0 0 2'><joint name='a' type='hinge' axis='0 1 0' range='-10 -0.01' limited='true' "
     "damping='0.1'/><geom type='capsule' size='.05' fromto='0 0 0 .5 0 0'/><body pos='.5 0 "
     "0'><joint name='b' type='hinge' axis='0 1 1' stiffness='3' frictionloss='0.4'/><geom "
     "type='capsule' size='.05' fromto='0 0 0 .5 0 0'/></body></body>",
     "<actuator><general joint='b' gaintype='affine' gainprm='20 1 -0.3' biastype='affine' "
     "biasprm='0 -20 -1' dyntype='filter' dynprm='0.05'/><motor joint='a'/></actuator>",
     0.3,
     0,
     3,
     {0.7, 2},
     {0}},
    {"closed loop",
     LOOP,
     LOOP_CLOSED,
     0.3,
     0,
     3,
     {0.3, -0.2, 0.4, 1, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6},
     {0}},
    // Where what turns with the links (dJ/dt v) counts.
    {"fast arm on the floor",
     "<body pos='0 0 0.4'><joint type='ball'/><geom type='capsule' size='.03' fromto='0 0 0 .4 0 "
     "0'/><body pos='.4 0 0'><joint type='hinge' axis='0 1 0'/><geom type='capsule' size='.03' "
     "fromto='0 0 0 .1 0 -.3'/><geom type='sphere' pos='.1 0 -.3' size='.1008'/></body></body>",
     "",
     0.3,
     -1e-9,
     3,
     {3, 8, 9, -20},
     {0}},
    // Damping that follows the input changes the inertia that contacts feel.
    {"servo on the floor",
     "<body pos='0 0 0.4'><joint type='ball'/><geom type='capsule' size='.03' fromto='0 0 0 .4 0 "
     "0'/><body pos='.4 0 0'><joint name='b' type='hinge' axis='0 1 0'/><geom type='capsule' "
     "size='.03' fromto='0 0 0 .1 0 -.3'/><geom type='sphere' pos='.1 0 -.3' "
     "size='.1008'/></body></body>",
     "<actuator><general joint='b' gaintype='affine' gainprm='20 1 -900' biastype='affine' "
     "biasprm='0 -20 -1'/></actuator>",
     0.3,
     -1e-9,
     3,
     {0.3, 0.4, 0.2, -1},
     {0}},
    // A law's prediction for a closed loop counts only if the loop has contacts.
    {"linkage on the floor",
     "<body name='p' pos='0 0 0.4'><joint type='ball'/><geom type='capsule' size='.03' fromto='0 0 "
     "0 .4 0 0'/><body name='q' pos='.4 0 0'><joint type='hinge' axis='0 1 0'/><geom "
     "type='capsule' size='.03' fromto='0 0 0 .1 0 -.3'/><geom type='sphere' pos='.1 0 -.3' "
     "size='.1008'/></body></body><body name='r' pos='1 0 0.4'><joint type='ball'/><geom "
     "type='capsule' size='.03' fromto='0 0 0 -.5 0 -.3' contype='0' conaffinity='0'/></body>",
     "<equality><connect body1='q' body2='r' anchor='.1 0 -.3'/></equality>",
     0.3,
     -1e-9,
     3,
     {0.3, 0.4, 0.2, -1, 0.1, 0.4, -0.2},
     {0}},
    {"fast closed loop", LOOP, LOOP_CLOSED, 0.3, 0, 3, {6, -4, 8, 10, 2, 3, -5, 7, -9, 8}, {0}},
    // So fast that dJ/dt v fades.
    {"whirling closed loop",
     LOOP,
     LOOP_CLOSED,
     0.3,
     0,
     3,
     {60, -40, 80, 100, 20, 30, -50, 70, -90, 80},
     {0}},
    // What lies on a turntable and turns with it, nearly: its rows know of drift.
    {.name = "ball that sticks to a turntable",
     .bodies = TURNTABLE,
     .rest = "",
     .friction = 0.9,
     .condim = 3,
     .velocity = {2, 0.01, 1.02, -0.02, 0.15, 0.35, 1.96},
     {0}},
    {.name = "ball that slides on a turntable",
     .bodies = TURNTABLE,
     .rest = "",
     .friction = 0.2,
     .condim = 4,
     .velocity = {2, 0.5, 1.3, -0.1, 0.16, 0.36, 1.97},
     {0}},
    {.name = "yielding turntable",
     .bodies = TURNTABLE,
     .rest = "",
     .friction = 0.9,
     .condim = 3,
     .velocity = {2, 0.01, 1.02, -0.02, 0.15, 0.35, 1.96},
     .springy = {0, 1e-4}},
};

typedef struct {
  tbModel* m;
  tbData* d;
  tbDerivatives* x;
  int nx;
} World;

static World world_new(const Scene* s, const char* cone, const char* integrator) {
  char xml[4096];
  snprintf(xml, sizeof xml, WORLD, cone, integrator, s->friction, s->condim, s->slope,
           s->slope < 0 ? 0.0 : 7.0, s->bodies, s->rest);
  tbError error;
  World w = {.m = tb_load_string(xml, NULL, NULL, &error)};
  if (!w.m) fail_msg("%s: %s", s->name, error.message);
  w.d = tb_data_new(w.m);
  w.x = tb_derivatives_new(w.m);
  assert_true(w.d && w.x);
  for (int i = 0; i < w.m->nv && i < 12; i++) w.d->qvel[i] = s->velocity[i];
  for (int i = 0; i < w.m->nu; i++) w.d->ctrl[i] = 0.3;
  for (int g = 0; g < w.m->ngeom; g++) {
    w.m->geom_restitution[g] = s->springy[0];
    w.m->geom_compliance[g] = s->springy[1];
    w.m->geom_contactdamping[g] = 30;
  }
  w.m->opt.contact_margin = 0.02;
  w.nx = 2 * w.m->nv + w.m->na;
  w.m->opt.solve_tolerance = 1e-13;
  w.m->opt.warmstart = 0;
  // Compliance of equalities that shows.
  w.m->opt.equality_softness = 0.1;
  return w;
}

static void world_free(World* w) {
  tb_derivatives_free(w->x);
  tb_data_free(w->d);
  tb_model_free(w->m);
}

static int failures, differenced, exact_gains;

static tbReal compare(const char* what, const tbReal* found, const tbReal* expected, int n) {
  tbReal scale = 1, worst = 0;
  int at = 0;
  for (int i = 0; i < n; i++) scale = fmax(scale, fabs(expected[i]));
  for (int i = 0; i < n; i++) {
    tbReal error = fabs(found[i] - expected[i]) / scale;
    if (!(error <= worst)) {
      worst = error;
      at = i;
    }
  }
  if (what && !(worst < 1e-5)) {
    print_message("%s: entry %d is %.9g, expected %.9g\n", what, at, found[at], expected[at]);
  }
  return worst;
}

// A, B against differences; products against A and B.
static void check(World* w, const char* what) {
  int nx = w->nx, nu = w->m->nu;
  size_t na = (size_t)(nx * nx), nb = (size_t)(nx * nu);
  tbReal* room = calloc(2 * (na + nb) + (size_t)(6 * nx + 4 * nu) + 1, sizeof(tbReal));
  tbReal *A = room, *B = A + na, *FA = B + nb, *FB = FA + na, *dx = FB + nb, *du = dx + nx;
  tbReal *next = du + nu, *y = next + nx, *by_x = y + nx, *by_u = by_x + nx;
  tbDerivativeInfo info;
  assert_int_equal(tb_step_linearize(w->m, w->d, NULL, w->x, &info), TB_OK);
  tb_derivatives_dense(w->x, A, B);
  differenced += info.finite_differences;
  // Stiff springs bend within 1e-6 of their tangents.
  tbReal increment = w->m->opt.law == TB_LAW_VISCOELASTIC ? 1e-7 : 1e-6;
  assert_int_equal(tb_step_differences(w->m, w->d, increment, 1, FA, FB), TB_OK);
  if (info.differentiable) {
    // Differences that cross a kink: closer to the state once more.
    if (!(compare(NULL, A, FA, (int)na) < 1e-5)) {
      assert_int_equal(tb_step_differences(w->m, w->d, 0.1 * increment, 1, FA, FB), TB_OK);
    }
    failures += !(compare(what, A, FA, (int)na) < 1e-5);
    failures += !(compare(what, B, FB, (int)nb) < 1e-5);
  } else {
    print_message("%s: not differentiable (%s)\n", what, info.reason);
  }
  for (size_t i = 0; i < na; i++) assert_true(isfinite(A[i]));
  // Where forces are not unique and the step is not differentiable, rounding shows more.
  tbReal tolerance = info.differentiable ? 1e-8 : 1e-5;
  tbRng rng = {7};
  for (int i = 0; i < nx; i++) dx[i] = tb_rng_normal(&rng), y[i] = tb_rng_normal(&rng);
  for (int i = 0; i < nu; i++) du[i] = tb_rng_normal(&rng);
  tb_derivatives_apply(w->x, dx, du, next);
  tb_derivatives_apply_transposed(w->x, y, by_x, by_u, NULL, NULL);
  for (int i = 0; i < nx; i++) {
    tbReal sum = 0, back = 0;
    for (int k = 0; k < nx; k++) sum += A[i * nx + k] * dx[k], back += A[k * nx + i] * y[k];
    for (int k = 0; k < nu; k++) sum += B[i * nu + k] * du[k];
    assert_near(next[i], sum, tolerance);
    assert_near(by_x[i], back, tolerance);
  }
  for (int i = 0; i < nu; i++) {
    tbReal back = 0;
    for (int k = 0; k < nx; k++) back += B[k * nu + i] * y[k];
    assert_near(by_u[i], back, tolerance);
  }
  free(room);
}

// The step's end by (q, v) as a displacement from `from`, with the sliding friction of all geoms
// moved by e.
static void step_with_friction(const World* w, tbReal e, const void* start, size_t size,
                               tbData* to) {
  for (int g = 0; g < w->m->ngeom; g++) w->m->geom_friction[3 * g] += e;
  assert_int_equal(tb_snapshot_load(w->m, to, start, size, NULL), TB_OK);
  assert_int_equal(tb_step(w->m, to), TB_OK);
  for (int g = 0; g < w->m->ngeom; g++) w->m->geom_friction[3 * g] -= e;
}

// Derivatives by the generalised force and by friction, against differences; adjoints against them.
static void check_inputs(World* w, const char* what) {
  const tbModel* m = w->m;
  int nx = w->nx, nv = m->nv;
  tbDerivativeInfo info;
  assert_int_equal(tb_step_linearize(m, w->d, NULL, w->x, &info), TB_OK);
  int ncon = w->d->ncon;
  tbReal* room = calloc((size_t)(2 * nx * nv + 7 * nx + ncon + 1), sizeof(tbReal));
  tbReal *F = room, *FF = F + nx * nv, *column = FF + nx * nv, *mu = column + nx, *fmu = mu + nx;
  tbReal *y = fmu + nx, *dforce = y + nx, *dfriction = dforce + nv, *unit = dfriction + ncon;
  tbRng rng = {13};
  for (int i = 0; i < nx; i++) y[i] = tb_rng_normal(&rng);
  tb_derivatives_apply_transposed(w->x, y, NULL, NULL, dforce, dfriction);
  for (int k = 0; k < nv; k++) {
    tbReal back = 0;
    unit[k] = 1;
    tb_derivatives_force(w->x, unit, column);
    unit[k] = 0;
    for (int i = 0; i < nx; i++) F[i * nv + k] = column[i], back += y[i] * column[i];
    assert_near(dforce[k], back, 1e-7 * fmax(1, fabs(back)));
  }
  for (int c = 0; c < ncon; c++) {
    tbReal back = 0;
    assert_int_equal(tb_derivatives_friction(w->x, c, column), TB_OK);
    for (int i = 0; i < nx; i++) mu[i] += column[i], back += y[i] * column[i];
    assert_near(dfriction[c], back, 1e-7 * fmax(1, fabs(back)));
  }
  size_t size = tb_snapshot_size(m, w->d);
  void* start = malloc(size);
  assert_int_equal(tb_snapshot_save(m, w->d, start, size), TB_OK);
  if (info.differentiable) {
    assert_int_equal(tb_deriv_differences(m, w->d, 1e-6, 1, NULL, NULL, FF), TB_OK);
    failures += !(compare(what, F, FF, nx * nv) < 1e-5);
  }
  // Contacts that only later stages of the step detect, or its end, have no derivatives.
  int sees_later = w->m->opt.integrator == TB_INTEGRATOR_RK4 ||
                   w->m->opt.integrator == TB_INTEGRATOR_EULER_IMPLICIT;
  if (info.differentiable && (ncon > 0 || !sees_later)) {
    tbData *low = tb_data_new(m), *high = tb_data_new(m);
    step_with_friction(w, -1e-6, start, size, low);
    step_with_friction(w, 1e-6, start, size, high);
    tb_differentiate_pos(m, fmu, 2e-6, low->qpos, high->qpos);
    for (int i = 0; i < nv; i++) fmu[nv + i] = (high->qvel[i] - low->qvel[i]) / 2e-6;
    char name[160];
    snprintf(name, sizeof name, "%s, by friction", what);
    failures += !(compare(name, mu, fmu, nx) < 1e-5);
    tb_data_free(low);
    tb_data_free(high);
  }
  free(start);
  free(room);
}

// Partials of qacc against differences of tb_forward.
static void check_acceleration(World* w, const char* what, tbReal increment) {
  const tbModel* m = w->m;
  int nv = m->nv;
  tbReal* room = calloc((size_t)(4 * nv * nv + nv + 1), sizeof(tbReal));
  tbReal *dq = room, *dtau = dq + nv * nv, *fq = dtau + nv * nv, *ftau = fq + nv * nv;
  tbReal* unit = ftau + nv * nv;
  tbDerivativeInfo info;
  assert_int_equal(tb_step_linearize(m, w->d, NULL, w->x, &info), TB_OK);
  assert_int_equal(tb_derivatives_acceleration(w->x, dq, NULL, dtau), TB_OK);
  // Springs remember: a snapshot brings their anchors along.
  tbData* other = tb_data_new(m);
  size_t size = tb_snapshot_size(m, w->d);
  void* bytes = malloc(size);
  assert_int_equal(tb_snapshot_save(m, w->d, bytes, size), TB_OK);
  assert_int_equal(tb_snapshot_load(m, other, bytes, size, NULL), TB_OK);
  free(bytes);
  for (int k = 0; k < 2 * nv; k++) {
    tbReal e = k < nv ? increment : 1e3 * increment;
    for (int side = -1; side <= 1; side += 2) {
      memcpy(other->qpos, w->d->qpos, sizeof(tbReal) * (size_t)m->nq);
      memcpy(other->qfrc_applied, w->d->qfrc_applied, sizeof(tbReal) * (size_t)nv);
      memset(unit, 0, sizeof(tbReal) * (size_t)nv);
      unit[k % nv] = 1;
      if (k < nv) tb_integrate_pos(m, other->qpos, unit, side * e);
      if (k >= nv) other->qfrc_applied[k - nv] += side * e;
      assert_int_equal(tb_forward(m, other), TB_OK);
      tbReal* to = k < nv ? fq : ftau;
      for (int i = 0; i < nv; i++) to[i * nv + k % nv] += side * other->qacc[i] / (2 * e);
    }
  }
  if (info.differentiable) {
    failures += !(compare(what, dq, fq, nv * nv) < 1e-5);
    failures += !(compare(what, dtau, ftau, nv * nv) < 1e-5);
  }
  tb_data_free(other);
  free(room);
}

// The inertial parameters of the last body, against differences.
static void check_inertial(World* w, const char* what) {
  const tbModel* m = w->m;
  int nx = w->nx, body = m->nbody - 1, count = TB_NINERTIAL * 2 * m->nv;
  tbReal* room = calloc((size_t)(2 * TB_NINERTIAL * nx), sizeof(tbReal));
  tbReal *found = room, *expected = room + TB_NINERTIAL * nx, best = INFINITY;
  tbDerivativeInfo info;
  assert_int_equal(tb_step_linearize(m, w->d, NULL, w->x, &info), TB_OK);
  assert_int_equal(tb_derivatives_inertial(w->x, m, w->d, body, found), TB_OK);
  for (int i = 0; i < TB_NINERTIAL * nx; i++) assert_true(isfinite(found[i]));
  size_t size = tb_snapshot_size(m, w->d);
  void* start = malloc(size);
  assert_int_equal(tb_snapshot_save(m, w->d, start, size), TB_OK);
  // Large increments cross kinks, small ones show the solver's tolerance.
  char name[160];
  snprintf(name, sizeof name, "%s, by inertia", what);
  for (tbReal share = 1e-5; info.differentiable && share < 1e-3 && !(best < 1e-5); share *= 10) {
    tb_test_inertial_differences(m, body, share, start, size, expected);
    best = fmin(best, compare(share > 5e-5 ? name : NULL, found, expected, count));
  }
  failures += info.differentiable && !(best < 1e-5);
  free(start);
  free(room);
}

static void run_law(int law, const char* cone, const char* integrator) {
  failures = differenced = 0;
  for (size_t s = 0; s < sizeof SCENES / sizeof *SCENES; s++) {
    const Scene* scene = &SCENES[s];
    if (law == TB_LAW_RAISIM && scene->condim != 3) continue;
    World w = world_new(scene, cone, integrator);
    w.m->opt.law = law;
    w.m->opt.comfree_exact = exact_gains;
    char what[128];
    snprintf(what, sizeof what, "%s, %s", tb_step_law_name(law), scene->name);
    check(&w, what);
    check_acceleration(&w, what, 1e-6);
    check_inputs(&w, what);
    check_inertial(&w, what);
    world_free(&w);
  }
  assert_int_equal(failures, 0);
}

static void test_ncp(void** state) {
  (void)state;
  run_law(TB_LAW_NCP, "elliptic", "Euler");
}

static void test_ccp(void** state) {
  (void)state;
  run_law(TB_LAW_CCP, "elliptic", "Euler");
}

static void test_lcp(void** state) {
  (void)state;
  run_law(TB_LAW_LCP, "elliptic", "Euler");
}

static void test_raisim(void** state) {
  (void)state;
  run_law(TB_LAW_RAISIM, "elliptic", "Euler");
}

static void test_comfree(void** state) {
  (void)state;
  for (exact_gains = 0; exact_gains < 2; exact_gains++) {
    run_law(TB_LAW_COMFREE, "elliptic", "Euler");
    run_law(TB_LAW_COMFREE, "elliptic", "implicitfast");
    // Only steps that soften an island against overshoot are differenced, the whirling loop, and a
    // leg that turns with an actuator whose damping depends on its input.
    assert_true(differenced <= 5);
  }
  exact_gains = 0;
}

// One integrator of the viscoelastic law over all scenes, after some steps, so that its springs
// have anchors.
static void run_springs(int integrator, tbReal timestep, int order, int steps, const char* name) {
  for (size_t s = 0; s < sizeof SCENES / sizeof *SCENES; s++) {
    int before = differenced;
    // At a radian in a step differences of a step no
    // longer know its slope.
    if (timestep > 5e-3 && strstr(SCENES[s].name, "whirling")) continue;
    World w = world_new(&SCENES[s], "elliptic", "Euler");
    w.m->opt.law = TB_LAW_VISCOELASTIC;
    w.m->opt.integrator = integrator;
    w.m->opt.timestep = timestep;
    w.m->opt.expm_order = order;
    w.m->opt.contact_anchor_normal = steps < 7;
    for (int i = 0; i < steps; i++) assert_int_equal(tb_step(w.m, w.d), TB_OK);
    char what[128];
    snprintf(what, sizeof what, "viscoelastic %s %g (%d), %s", name, timestep, steps,
             SCENES[s].name);
    check(&w, what);
    check_acceleration(&w, what, 1e-7);
    check_inputs(&w, what);
    check_inertial(&w, what);
    // Coriolis forces of what turns fast are bounded, and that is differenced.
    if (tb_turning(w.m, w.d) == TB_TURNS_FAST) differenced = before;
    world_free(&w);
  }
}

// A sphere first seen 2 cm deep, now or some steps ago: its spring ends a fixed way above that, and
// comes up.
static void run_deep(int integrator, tbReal timestep, int steps, const char* name) {
  World w = world_new(&SCENES[0], "elliptic", "Euler");
  w.m->opt.law = TB_LAW_VISCOELASTIC;
  w.m->opt.integrator = integrator;
  w.m->opt.timestep = timestep;
  w.d->qpos[2] -= 0.02;
  for (int i = 0; i < steps; i++) assert_int_equal(tb_step(w.m, w.d), TB_OK);
  char what[128];
  snprintf(what, sizeof what, "viscoelastic %s %g (%d), deep sphere", name, timestep, steps);
  check(&w, what);
  world_free(&w);
}

// The same of a hinge that starts 0.3 rad beyond its limit.
static void run_beyond(int integrator, tbReal timestep, int steps, const char* name) {
  static const Scene SCENE = {
      .name = "hinge beyond its limit",
      .bodies =
          "<body pos='0 0 2'><joint type='hinge' axis='0 1 0' limited='true' range='0 60'/>"
          "<geom type='capsule' size='.05' fromto='0 0 0 .5 0 0' mass='2'/>"
          "<body pos='.5 0 0'><joint type='hinge' axis='0 1 0'/>"
          "<geom type='capsule' size='.05' fromto='0 0 0 .4 0 0' mass='1'/></body></body>",
      .rest = "",
      .friction = 0.5,
      .condim = 3};
  World w = world_new(&SCENE, "elliptic", "Euler");
  w.m->opt.law = TB_LAW_VISCOELASTIC;
  w.m->opt.integrator = integrator;
  w.m->opt.timestep = timestep;
  w.d->qpos[0] = -0.3;
  for (int i = 0; i < steps; i++) assert_int_equal(tb_step(w.m, w.d), TB_OK);
  char what[128];
  snprintf(what, sizeof what, "viscoelastic %s %g (%d), beyond a limit", name, timestep, steps);
  check(&w, what);
  world_free(&w);
}

// Every integrator with derivatives in closed form, anchors included.
static void test_viscoelastic(void** state) {
  (void)state;
  failures = differenced = 0;
  run_springs(TB_INTEGRATOR_EULER_EXPLICIT, 1e-4, 0, 7, "explicit");
  run_springs(TB_INTEGRATOR_EULER_IMPLICIT, 1e-4, 0, 7, "implicit");
  run_springs(TB_INTEGRATOR_EULER_IMPLICIT, 2e-3, 0, 7, "implicit");
  run_springs(TB_INTEGRATOR_EXPO, 1e-4, 0, 7, "expo");
  // Normal springs that start where the contact is first seen, which is now or some steps ago.
  for (int steps = 0; steps < 6; steps += 5) {
    run_springs(TB_INTEGRATOR_EULER_EXPLICIT, 1e-4, 0, steps, "explicit anchored");
    run_springs(TB_INTEGRATOR_EULER_IMPLICIT, 2e-3, 0, steps, "implicit anchored");
    run_springs(TB_INTEGRATOR_EXPO, 2e-3, 0, steps, "expo anchored");
  }
  run_springs(TB_INTEGRATOR_EXPO, 2e-3, 0, 7, "expo");
  run_springs(TB_INTEGRATOR_EXPO, 2e-3, 3, 7, "expo order 3");
  for (int steps = 0; steps < 3; steps += 2) {
    run_deep(TB_INTEGRATOR_EULER_EXPLICIT, 1e-4, steps, "explicit");
    run_beyond(TB_INTEGRATOR_EULER_EXPLICIT, 1e-4, steps, "explicit");
    run_deep(TB_INTEGRATOR_EULER_IMPLICIT, 1e-3, steps, "implicit");
    run_beyond(TB_INTEGRATOR_EULER_IMPLICIT, 1e-3, steps, "implicit");
    run_deep(TB_INTEGRATOR_EXPO, 1e-3, steps, "expo");
    run_beyond(TB_INTEGRATOR_EXPO, 1e-3, steps, "expo");
    run_deep(TB_INTEGRATOR_RK4, 1e-4, steps, "rk4");
    run_beyond(TB_INTEGRATOR_RK4, 1e-4, steps, "rk4");
  }
  run_springs(TB_INTEGRATOR_EXPO, 1e-2, 0, 7, "expo");
  assert_int_equal(differenced, 0);
  assert_int_equal(failures, 0);
}

// Runge-Kutta's stages: springs with their anchors, the soft law, and what flies under the others.
static void test_rk4(void** state) {
  (void)state;
  failures = differenced = 0;
  run_springs(TB_INTEGRATOR_RK4, 1e-4, 0, 7, "rk4");
  run_springs(TB_INTEGRATOR_RK4, 1e-4, 0, 0, "rk4 anchored");
  run_springs(TB_INTEGRATOR_RK4, 1e-4, 0, 5, "rk4 anchored");
  assert_int_equal(differenced, 0);
  assert_int_equal(failures, 0);
  run_law(TB_LAW_SOFT, "elliptic", "RK4");
  run_law(TB_LAW_SOFT, "pyramidal", "RK4");
  assert_int_equal(differenced, 0);
  run_law(TB_LAW_NCP, "elliptic", "RK4");
  run_law(TB_LAW_COMFREE, "elliptic", "RK4");
}

// Differences start every step from the same anchors: the result must not depend on the order of
// steps.
static void test_differenced(void** state) {
  (void)state;
  World w = world_new(&SCENES[0], "elliptic", "Euler");
  w.m->opt.law = TB_LAW_VISCOELASTIC;
  w.m->opt.integrator = TB_INTEGRATOR_EXPO_MIDPOINT;
  for (int s = 0; s < 5; s++) assert_int_equal(tb_step(w.m, w.d), TB_OK);
  tbReal A[144], again[144];
  tbDerivativeInfo info;
  assert_int_equal(tb_step_linearize(w.m, w.d, NULL, w.x, &info), TB_OK);
  assert_true(info.finite_differences);
  tb_derivatives_dense(w.x, A, NULL);
  assert_int_equal(tb_step_differences(w.m, w.d, 1e-7, 1, again, NULL), TB_OK);
  assert_true(compare("viscoelastic", A, again, 144) < 1e-4);
  for (int i = 0; i < 144; i++) assert_true(isfinite(A[i]));
  // A sliding ball: its height follows its speed.
  assert_true(A[12 * 2 + 8] > 0);
  world_free(&w);
}

static void test_soft(void** state) {
  (void)state;
  run_law(TB_LAW_SOFT, "elliptic", "Euler");
  run_law(TB_LAW_SOFT, "pyramidal", "Euler");
  run_law(TB_LAW_SOFT, "elliptic", "implicitfast");
  run_law(TB_LAW_SOFT, "elliptic", "implicit");
  assert_int_equal(differenced, 0);
}

// Once warm, linearising allocates nothing; bad arguments are errors; NaN states stay where they
// are.
static void test_contract(void** state) {
  (void)state;
  World w = world_new(&SCENES[6], "elliptic", "Euler");
  tbReal* A = calloc((size_t)(w.nx * w.nx), sizeof(tbReal));
  for (int law = 0; law <= TB_LAW_VISCOELASTIC + 1; law++) {
    w.m->opt.law = law <= TB_LAW_VISCOELASTIC ? law : TB_LAW_VISCOELASTIC;
    if (law > TB_LAW_VISCOELASTIC) w.m->opt.integrator = TB_INTEGRATOR_EULER_IMPLICIT;
    for (int i = 0; i < 4; i++) {
      assert_int_equal(tb_step_linearize(w.m, w.d, NULL, w.x, NULL), TB_OK);
      tb_derivatives_dense(w.x, A, NULL);
    }
    size_t before = w.x->arena.allocations + tb_step_allocations(w.d);
    for (int i = 0; i < 3 && law != TB_LAW_COMFREE; i++) {
      assert_int_equal(tb_step_linearize(w.m, w.d, NULL, w.x, NULL), TB_OK);
      tb_derivatives_dense(w.x, A, NULL);
      assert_int_equal(w.x->arena.allocations + tb_step_allocations(w.d), before);
    }
  }
  w.m->opt.law = TB_LAW_NCP;
  w.m->opt.integrator = TB_INTEGRATOR_EULER;
  World other = world_new(&SCENES[sizeof SCENES / sizeof *SCENES - 1], "elliptic", "Euler");
  assert_int_equal(tb_step_linearize(other.m, other.d, NULL, w.x, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_step_linearize(NULL, w.d, NULL, w.x, NULL), TB_ERROR_ARGUMENT);
  assert_int_equal(tb_step_differences(w.m, w.d, -1, 1, A, NULL), TB_ERROR_ARGUMENT);
  w.d->qvel[2] = NAN;
  assert_int_equal(tb_step_linearize(w.m, w.d, NULL, w.x, NULL), TB_ERROR_NUMERIC);
  tb_derivatives_dense(w.x, A, NULL);
  assert_true(isnan(A[0]));
  free(A);
  world_free(&w);
  world_free(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ncp),         cmocka_unit_test(test_ccp),
      cmocka_unit_test(test_lcp),         cmocka_unit_test(test_raisim),
      cmocka_unit_test(test_comfree),     cmocka_unit_test(test_viscoelastic),
      cmocka_unit_test(test_differenced), cmocka_unit_test(test_soft),
      cmocka_unit_test(test_rk4),         cmocka_unit_test(test_contract)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
