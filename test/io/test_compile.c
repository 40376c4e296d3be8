// The compiler on small models whose numbers are known, and the errors it must give.
#include "common/test.h"
#include "model/model.h"
#include "tribo/model.h"

static tbModel* load(const char* body) {
  char text[8192];
  snprintf(text, sizeof text, "<mujoco>%s</mujoco>", body);
  tbError error = {0};
  tbModel* m = tb_load_string(text, NULL, NULL, &error);
  if (!m) print_error("%s\n", error.message);
  assert_non_null(m);
  assert_int_equal(tb_model_check(m, &error), TB_OK);
  return m;
}

static void test_tree(void** state) {
  (void)state;
  tbModel* m = load(
      "<worldbody><body name='a' pos='1 2 3'><freejoint/><geom size='.1' mass='2'/>"
      "<body name='b' pos='0 0 1'><joint name='j' ref='90' type='hinge' armature='1' axis='0 2 0'/>"
      "<joint type='ball'/><geom type='box' size='.1 .2 .3' mass='3'/></body></body>"
      "<body name='c'><joint type='slide'/><geom size='.1'/></body></worldbody>");
  assert_int_equal(m->nq, 7 + 1 + 4 + 1);
  assert_int_equal(m->nv, 6 + 1 + 3 + 1);
  assert_int_equal(m->ntree, 2);
  assert_int_equal(m->dof_parentid[6], 5);
  assert_int_equal(m->dof_parentid[10], -1);
  assert_int_equal(m->dof_subtreenum[0], 10);
  assert_int_equal(m->body_subtreenum[1], 2);
  assert_int_equal(m->tree_dofnum[0], 10);
  assert_near(m->qpos0[2], 3, 0);
  assert_near(m->qpos0[7], 1.5707963267948966, 1e-15);
  assert_near(m->jnt_axis[3 * 1 + 1], 1, 0);
  // A box about x: m (y^2 + z^2) / 3.
  assert_near(m->body_inertia[6], 3 * (0.04 + 0.09) / 3, 1e-15);
  assert_near(m->total_mass, 2 + 3 + 4000 * 3.14159265358979323846 / 3 * 1e-3, 1e-14);
  assert_int_equal(tb_name2id(m, TB_OBJ_BODY, "c"), 3);
  tb_model_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
