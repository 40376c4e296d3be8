// Every dynamics result against MuJoCo 2.2.2, on the same compiled model, at random states: robots
// of the shared folder, and files written here for features that no robot has.
#include "common/mujoco_model.h"
#include "common/test.h"

static const tbReal TOLERANCE = 1e-11;

// Fail with the robot's and the field's name.
static void same(const char* robot, const char* field, const tbReal* ours, const tbReal* theirs,
                 size_t n, tbReal tolerance) {
  tbReal scale = 1e-300, worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < n; i++) scale = fmax(scale, fmax(fabs(ours[i]), fabs(theirs[i])));
  for (size_t i = 0; i < n; i++) {
    tbReal e = fabs(ours[i] - theirs[i]) / fmax(scale, 1e-3);
    if (!(e <= worst)) worst = e, where = i;
  }
  if (!(worst <= tolerance)) {
    fail_msg("%s: %s[%zu] is %.17g, MuJoCo's %.17g: relative error %.3g", robot, field, where,
             ours[where], theirs[where], worst);
  }
}

#define SAME(field, n) same(robot, #field, d->field, o->field, (size_t)(n), TOLERANCE)

static tbReal* reals(size_t n) {
  tbReal* x = calloc(n + 1, sizeof *x);
  assert_non_null(x);
  return x;
}

static void compare_positions(const char* robot, const tbModel* m, const tbData* d,
                              const mjData* o) {
  SAME(xpos, 3 * m->nbody);
  SAME(xquat, 4 * m->nbody);
  SAME(xmat, 9 * m->nbody);
  SAME(xipos, 3 * m->nbody);
  SAME(ximat, 9 * m->nbody);
  SAME(xanchor, 3 * m->njnt);
  SAME(xaxis, 3 * m->njnt);
  SAME(geom_xpos, 3 * m->ngeom);
  SAME(geom_xmat, 9 * m->ngeom);
  SAME(site_xpos, 3 * m->nsite);
  SAME(site_xmat, 9 * m->nsite);
  SAME(subtree_com, 3 * m->nbody);
  SAME(cdof, 6 * m->nv);
  SAME(cinert, 10 * m->nbody);
  SAME(crb, 10 * m->nbody);
  SAME(ten_length, m->ntendon);
  SAME(actuator_length, m->nu);
}

static void compare_matrices(const char* robot, const tbModel* m, const tbData* d,
                             const mjModel* om, const mjData* o, tbRng* rng) {
  size_t nv = (size_t)m->nv;
  tbReal *a = reals(nv * nv), *b = reals(nv * nv);
  tb_full_m(m, d, a);
  mj_fullM(om, b, o->qM);
  same(robot, "M", a, b, nv * nv, TOLERANCE);
  tbReal *x = reals(2 * nv), *y = x + nv;
  for (size_t i = 0; i < nv; i++) x[i] = y[i] = tb_rng_normal(rng);
  tb_solve_m(m, d, x, x, 1);
  mj_solveM(om, (mjData*)o, y, y, 1);
  same(robot, "M^-1 x", x, y, nv, 1e-9);

  // Jacobians of a random point of a random body.
  int body = tb_rng_int(rng, m->nbody);
  tbReal point[3];
  tb_rng_normals(rng, 3, point);
  tbReal *J = reals(6 * nv), *K = reals(6 * nv);
  tb_jac(m, d, body, point, J, J + 3 * nv);
  mj_jac(om, o, K, K + 3 * nv, point, body);
  same(robot, "J", J, K, 6 * nv, TOLERANCE);
  tb_jac_subtree_com(m, d, body, J);
  mj_jacSubtreeCom(om, (mjData*)o, K, body);
  if (m->body_subtreemass[body] > 1e-9) same(robot, "J of subtree", J, K, 3 * nv, TOLERANCE);
  free(a), free(b), free(x), free(J), free(K);
}

static void compare_transmissions(const char* robot, const tbModel* m, const tbData* d,
                                  const mjModel* om, const mjData* o) {
  size_t nv = (size_t)m->nv;
  tbReal *a = reals(nv * (size_t)(m->ntendon + m->nu)), *b = reals(nv * (size_t)m->ntendon);
  tb_full_ten_J(m, d, a);
  for (int t = 0; t < m->ntendon; t++) {
    if (!mj_isSparse(om)) {
      memcpy(b + (size_t)t * nv, o->ten_J + (size_t)t * nv, nv * sizeof *b);
      continue;
    }
    for (int k = 0; k < o->ten_J_rownnz[t]; k++) {
      int at = o->ten_J_rowadr[t] + k;
      b[(size_t)t * nv + (size_t)o->ten_J_colind[at]] = o->ten_J[at];
    }
  }
  same(robot, "ten_J", a, b, nv * (size_t)m->ntendon, 1e-9);
  tb_full_moment(m, d, a);
  same(robot, "actuator_moment", a, o->actuator_moment, nv * (size_t)m->nu, 1e-9);
  free(a), free(b);
}

static void compare_velocities(const char* robot, const tbModel* m, tbData* d, const mjModel* om,
                               mjData* o, tbRng* rng) {
  SAME(cvel, 6 * m->nbody);
  SAME(cdof_dot, 6 * m->nv);
  SAME(qfrc_bias, m->nv);
  SAME(ten_velocity, m->ntendon);
  same(robot, "actuator_velocity", d->actuator_velocity, o->actuator_velocity, (size_t)m->nu, 1e-9);
  mj_subtreeVel(om, o);
  tb_subtree_velocity(m, d);
  SAME(subtree_linvel, 3 * m->nbody);
  SAME(subtree_angmom, 3 * m->nbody);
  mj_energyPos(om, o);
  mj_energyVel(om, o);
  tb_energy_position(m, d);
  tb_energy_velocity(m, d);
  SAME(energy, 2);

  // Inverse dynamics with accelerations.
  tbReal *a = reals((size_t)m->nv), *b = reals((size_t)m->nv);
  for (int i = 0; i < m->nv; i++) d->qacc[i] = o->qacc[i] = tb_rng_normal(rng);
  tb_rne(m, d, d->qacc, NULL, a);
  mj_rne(om, o, 1, b);
  for (int i = 0; i < m->nv; i++) b[i] += m->dof_armature[i] * d->qacc[i];
  same(robot, "inverse dynamics", a, b, (size_t)m->nv, TOLERANCE);
  free(a), free(b);

  // Sensors' quantities: accelerations and forces of bodies, velocities of frames.
  o->nefc = o->ncon = 0;
  memset(o->xfrc_applied, 0, (size_t)(6 * m->nbody) * sizeof(mjtNum));
  mj_rnePostConstraint(om, o);
  tb_body_forces(m, d);
  SAME(cacc, 6 * m->nbody);
  SAME(cfrc_int, 6 * m->nbody);
  for (int i = 0; i < m->nbody; i++) {
    tbReal ours[6], theirs[6];
    tb_object_velocity(m, d, TB_OBJ_XBODY, i, i % 2, ours);
    mj_objectVelocity(om, o, mjOBJ_XBODY, i, theirs, i % 2);
    same(robot, "object velocity", ours, theirs, 6, TOLERANCE);
    tb_object_acceleration(m, d, TB_OBJ_BODY, i, i % 2, ours);
    mj_objectAcceleration(om, o, mjOBJ_BODY, i, theirs, i % 2);
    same(robot, "object acceleration", ours, theirs, 6, TOLERANCE);
  }
}

static void compare_configuration(const char* robot, const tbModel* m, tbData* d, const mjModel* om,
                                  mjData* o, tbRng* rng) {
  tbReal *q = reals((size_t)m->nq), *v = reals((size_t)m->nv), *w = reals((size_t)m->nv);
  for (int i = 0; i < m->nv; i++) v[i] = tb_rng_normal(rng);
  memcpy(q, d->qpos, (size_t)m->nq * sizeof *q);
  tb_integrate_pos(m, d->qpos, v, 0.1);
  mj_integratePos(om, o->qpos, v, 0.1);
  same(robot, "integrate", d->qpos, o->qpos, (size_t)m->nq, TOLERANCE);
  tb_differentiate_pos(m, v, 0.1, q, d->qpos);
  mj_differentiatePos(om, w, 0.1, q, o->qpos);
  same(robot, "differentiate", v, w, (size_t)m->nv, TOLERANCE);
  free(q), free(v), free(w);
}

// The constants at qpos0, as mj_setConst left them in the compiled model.
static void compare_constants(const char* robot, const tbModel* m, const mjModel* om) {
#define CONSTANT(field, n) same(robot, #field, m->field, om->field, (size_t)(n), 1e-9)
  CONSTANT(body_subtreemass, m->nbody);
  CONSTANT(body_invweight0, 2 * m->nbody);
  CONSTANT(dof_invweight0, m->nv);
  CONSTANT(dof_M0, m->nv);
  CONSTANT(tendon_length0, m->ntendon);
  CONSTANT(tendon_invweight0, m->ntendon);
  CONSTANT(actuator_length0, m->nu);
  CONSTANT(actuator_acc0, m->nu);
  same(robot, "mean_inertia", &m->mean_inertia, &om->stat.meaninertia, 1, 1e-9);
  // The files of robots may give their own extent.
  if (strncmp(robot, "mujoco", 6) != 0) {
    same(robot, "extent", &m->extent, &om->stat.extent, 1, 1e-9);
  }
}

static void compare(const char* robot, mjModel* om, uint64_t seed) {
  tbModel* m = tb_from_mujoco(om);
  assert_non_null(m);
  compare_constants(robot, m, om);
  tbData* d = tb_data_new(m);
  mjData* o = mj_makeData(om);
  tbRng rng = {seed};
  for (int trial = 0; trial < 20; trial++) {
    for (int i = 0; i < m->nq; i++) d->qpos[i] = m->qpos0[i] + tb_rng_normal(&rng);
    for (int i = 0; i < m->nv; i++) d->qvel[i] = tb_rng_normal(&rng);
    for (int i = 0; i < 3 * m->nmocap; i++) d->mocap_pos[i] = tb_rng_normal(&rng);
    for (int i = 0; i < 4 * m->nmocap; i++) d->mocap_quat[i] = tb_rng_normal(&rng);
    tb_normalize_quat(m, d->qpos);
    memcpy(o->qpos, d->qpos, (size_t)m->nq * sizeof(tbReal));
    memcpy(o->qvel, d->qvel, (size_t)m->nv * sizeof(tbReal));
    memcpy(o->mocap_pos, d->mocap_pos, (size_t)(3 * m->nmocap) * sizeof(tbReal));
    memcpy(o->mocap_quat, d->mocap_quat, (size_t)(4 * m->nmocap) * sizeof(tbReal));
    om->opt.disableflags |= mjDSBL_CONSTRAINT;
    om->opt.enableflags |= mjENBL_ENERGY;
    mj_fwdPosition(om, o);
    mj_fwdVelocity(om, o);
    tb_compute_position(m, d);
    tb_compute_velocity(m, d);
    compare_positions(robot, m, d, o);
    compare_matrices(robot, m, d, om, o, &rng);
    compare_transmissions(robot, m, d, om, o);
    compare_velocities(robot, m, d, om, o, &rng);
    compare_configuration(robot, m, d, om, o, &rng);
  }
  mj_deleteData(o);
  tb_data_free(d);
  tb_model_free(m);
}

static void robots_agree(void** state) {
  (void)state;
  static const char* const ROBOTS[][2] = {
      {"mujoco/model/humanoid/humanoid.xml", NULL},
      {"mujoco/model/slider_crank/slider_crank.xml", NULL},
      {"mujoco/model/tendon_arm/arm26.xml", NULL},
      {"mujoco/model/car/car.xml", NULL},
      {"mujoco/model/cube/cube_3x3x3.xml", NULL},
      {"mujoco_menagerie/agility_cassie/scene.xml", NULL},
      {"mujoco_menagerie/anybotics_anymal_c/scene.xml", NULL},
      {"mujoco_menagerie/leap_hand/scene_right.xml", "right_hand.xml"},
      {"mujoco_menagerie/pal_talos/talos_motor.xml", "talos.xml"},
      {"mujoco_menagerie/unitree_g1/g1.xml", NULL},
      {"mujoco_menagerie/unitree_go2/scene.xml", NULL},
      {"mujoco_menagerie/universal_robots_ur5e/scene.xml", "ur5e.xml"},
      {"mujoco_menagerie/wonik_allegro/scene_right.xml", NULL},
  };
  int compared = 0;
  for (size_t i = 0; i < sizeof ROBOTS / sizeof *ROBOTS; i++) {
    char relative[512], path[1024], error[1000] = "";
    snprintf(relative, sizeof relative, "models/%s", ROBOTS[i][0]);
    if (!tb_test_shared(relative, path, sizeof path)) continue;
    mjModel* om = tb_mujoco_load(path, ROBOTS[i][1], error);
    if (!om) {
      print_message("skipped: MuJoCo 2.2.2 cannot load %s: %s\n", ROBOTS[i][0], error);
      continue;
    }
    compare(ROBOTS[i][0], om, i + 1);
    mj_deleteModel(om);
    compared++;
  }
  print_message("%d robots compared\n", compared);
}

// A file from text, through the virtual file system.
static mjModel* load_text(const char* xml) {
  char error[1000] = "";
  mjVFS* vfs = malloc(sizeof *vfs);
  mj_defaultVFS(vfs);
  mj_makeEmptyFileVFS(vfs, "test.xml", (int)strlen(xml));
  memcpy(vfs->filedata[0], xml, strlen(xml));
  mjModel* model = mj_loadXML("test.xml", vfs, error, sizeof error);
  mj_deleteVFS(vfs);
  free(vfs);
  if (!model) fail_msg("%s", error);
  return model;
}

// Every joint type, several per body, welded and mocap bodies, every transmission.
static void every_transmission_agrees(void** state) {
  (void)state;
  static const char XML[] =
      "<mujoco><worldbody>"
      "<body name='hand' mocap='true' pos='1 0 0'><geom size='.1'/><site name='m' pos='.1 .2 "
      "0'/></body>"
      "<body name='a' pos='0 0 1' euler='10 20 30'><freejoint name='free'/>"
      "<geom type='box' size='.1 .2 .3' pos='.1 0 0' euler='40 0 10'/><site name='a' pos='.3 0 "
      ".1'/>"
      "<body name='b' pos='.3 .1 0'><joint name='ball' type='ball' pos='0 .1 0' stiffness='2'/>"
      "<geom type='capsule' size='.05 .2'/><site name='b' pos='.1 .1 .2' euler='30 20 10'/>"
      "<body name='w' pos='0 0 .2' euler='0 10 0'><geom size='.05' mass='.3'/><site "
      "name='w'/></body>"
      "<body name='c' pos='.2 0 .3' euler='50 0 0'><joint name='s' type='slide' axis='1 2 3' "
      "ref='.2'/>"
      "<joint name='h' axis='0 1 1' pos='.1 0 0' ref='30'/><geom type='cylinder' size='.1 .1'/>"
      "<site name='c' pos='0 .2 .1' euler='0 0 40'/></body></body></body>"
      "<body name='d' pos='2 0 0'><joint type='hinge' axis='0 0 1'/><joint name='x' axis='1 0 0'/>"
      "<geom size='.1' pos='.1 .1 0'/><site name='d' pos='.4 .3 0' euler='20 0 50'/></body>"
      "</worldbody><tendon>"
      "<fixed name='f' stiffness='3'><joint joint='s' coef='2'/><joint joint='h' "
      "coef='-1'/></fixed>"
      "<spatial name='p' springlength='.1' stiffness='2'><site site='a'/><site site='b'/>"
      "<pulley divisor='2'/><site site='b'/><site site='c'/><site site='d'/><pulley divisor='3'/>"
      "<site site='w'/><site site='m'/></spatial></tendon><actuator>"
      "<motor joint='free' gear='1 2 3 4 5 6'/><motor joint='ball' gear='1 -2 3'/>"
      "<motor jointinparent='ball' gear='1 2 3'/><motor jointinparent='free' gear='1 2 3 4 5 6'/>"
      "<motor joint='h' gear='7'/><motor tendon='f' gear='2'/><motor tendon='p' gear='3'/>"
      "<motor site='c' gear='1 2 3 4 5 6'/>"
      "<motor site='b' refsite='d' gear='1 2 3 0 0 0'/><motor site='b' refsite='d' gear='0 0 0 1 2 "
      "3'/>"
      "<motor cranksite='c' slidersite='a' cranklength='2' gear='2'/>"
      "<motor cranksite='d' slidersite='b' cranklength='.01' gear='2'/>"
      "</actuator></mujoco>";
  mjModel* om = load_text(XML);
  compare("transmissions", om, 99);
  mj_deleteModel(om);
}

// Strings around spheres and cylinders: free, with a side, from inside, over many random
// geometries. Side sites are far away or within the radius: to MuJoCo 2.2.2 those are inside too
// that only project into the circle (the newest: wrap_side.xml of test/oracle/cases).
static void wraps_agree(void** state) {
  (void)state;
  tbRng rng = {5};
  int wrapped = 0;
  for (int trial = 0; trial < 300; trial++) {
    char xml[2048], side[32] = "";
    int kind = trial % 3, cylinder = trial / 3 % 2;
    double radius = tb_rng_uniform(&rng, 0.1, 0.6), reach = radius * (kind == 2 ? 0.5 : 40);
    double b = tb_rng_uniform(&rng, -.5, .5), a = tb_rng_uniform(&rng, -.5, .5), site[3];
    for (int k = 2; k >= 0; k--) {
      site[k] = reach * tb_rng_uniform(&rng, -1, 1) + (cylinder && k < 2 ? 0.05 * (k + 1) : 0);
    }
    if (kind) snprintf(side, sizeof side, "sidesite='s'");
    snprintf(xml, sizeof xml,
             "<mujoco><worldbody><body pos='0 0 0'><joint type='ball'/><geom name='g' type='%s' "
             "size='%g .3'/><site name='s' pos='%g %g %g'/></body>"
             "<body pos='0 -1 0'><joint type='slide' axis='1 1 0'/><joint axis='1 0 1'/>"
             "<geom size='.1'/><site name='a' pos='%g %g %g'/></body>"
             "<body pos='0 1 0'><joint type='slide' axis='0 1 1'/><joint axis='0 0 1'/>"
             "<geom size='.1'/><site name='b' pos='%g %g %g'/></body></worldbody><tendon><spatial>"
             "<site site='a'/><geom geom='g' %s/><site site='b'/></spatial></tendon></mujoco>",
             cylinder ? "cylinder' fromto='0 0 -.3 .1 .2 .3" : "sphere", radius, site[0], site[1],
             site[2], a, 0.1, 0.2, 0.1, b, 0.1, side);
    mjModel* om = load_text(xml);
    mjData* o = mj_makeData(om);
    mj_forward(om, o);
    wrapped += o->ten_wrapnum[0] > 2;
    mj_deleteData(o);
    char name[64];
    snprintf(name, 64, "wrap %d kind %d cylinder %d", trial, kind, cylinder);
    compare(name, om, (uint64_t)trial + 1);
    mj_deleteModel(om);
  }
  assert_true(wrapped > 50);
  print_message("%d of 300 strings touch their geom at the reference pose\n", wrapped);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_transmission_agrees),
      cmocka_unit_test(wraps_agree),
      cmocka_unit_test(robots_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
