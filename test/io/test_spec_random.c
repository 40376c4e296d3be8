// Random edits of the scenes: whatever they are, the text of a spec reads back as an equal spec,
// and both compile to the same bits or not at all.
#include "common/model_difference.h"
#include "common/model_files.h"
#include "common/test.h"
#include "tribo/tribo.h"

static tbRng rng;
static int ncompiled, nrefused;

static tbElement* step_of(tbElement* root, tbElement* e) {
  if (tb_spec_first(e)) return tb_spec_first(e);
  while (e != root && !tb_spec_next(e)) e = tb_spec_parent(e);
  return e == root ? NULL : tb_spec_next(e);
}

// Any element of the spec.
static tbElement* any(tbSpec* spec) {
  tbElement *root = tb_spec_root(spec), *picked = root;
  int n = 0;
  for (tbElement* e = root; e; e = step_of(root, e)) {
    if (tb_rng_int(&rng, ++n) == 0) picked = e;
  }
  return picked;
}

// Changes a little, or sets anew, a few numbers of an attribute.
static void change_numbers(tbElement* e) {
  static const char* const NAMES[] = {
      "pos",  "quat",     "euler",   "size", "axis",      "range", "mass",   "fromto",
      "gear", "friction", "damping", "rgba", "stiffness", "ref",   "solref", "offset"};
  const char* name = NAMES[tb_rng_int(&rng, sizeof NAMES / sizeof *NAMES)];
  tbReal values[8];
  int n = tb_spec_get_reals(e, name, values, 8);
  if (n < 0) n = 1 + tb_rng_int(&rng, 6);
  for (int i = 0; i < n && i < 8; i++) {
    if (tb_spec_get(e, name)) {
      values[i] *= tb_rng_uniform(&rng, 0.9, 1.1);
    } else {
      values[i] = tb_rng_uniform(&rng, -0.2, 1);
    }
  }
  tb_spec_set_reals(e, name, values, n, NULL);
}

static void add_something(tbElement* e) {
  static const char* const XML[] = {
      "<geom size='0.1'/>",
      "<geom type='box' size='.1 .2 .3' euler='10 20 30' mass='1e-3'/>",
      "<joint type='hinge' axis='1 1 0' range='-10 10'/>",
      "<site name='extra' pos='0 0 0.1'/>",
      "<body pos='0 0 0.3'><joint/><geom size='0.05'/></body>",
      "<frame euler='0 0 45'><geom size='0.02 0.1' type='capsule' zaxis='1 1 1'/></frame>",
      "<replicate count='3' offset='0 0 0.2'><geom size='0.05'/></replicate>",
      "<light dir='1 2 3'/>",
      "<camera xyaxes='1 0 0 0 1 0'/>",
      "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>",
      "<joint name='x' armature='1'/>",
      "<default class='fresh'><geom rgba='1 0 0 1'/></default>",
      "<numeric name='n' data='1 2 3'/>",
      "<flag gravity='disable'/>"};
  tb_spec_add_xml(e, XML[tb_rng_int(&rng, sizeof XML / sizeof *XML)], NULL);
}

static void edit(tbSpec* spec) {
  tbElement* e = any(spec);
  char name[32];
  switch (tb_rng_int(&rng, 8)) {
    case 0:
    case 1:
    case 2: change_numbers(e); break;
    case 3:
    case 4: add_something(e); break;
    case 5:
      if (tb_rng_int(&rng, 4) == 0) tb_spec_delete(e, NULL);
      break;
    case 6:
      snprintf(name, sizeof name, "n%d", tb_rng_int(&rng, 1000));
      if (!tb_spec_name(e)) tb_spec_set(e, "name", name, NULL);
      break;
    default:
      if (tb_rng_int(&rng, 6) > 0) break;
      snprintf(name, sizeof name, "a%d_", tb_rng_int(&rng, 1000));
      tb_spec_attach(e, any(spec), name, NULL, NULL);
  }
}

static void check(const char* path, tbSpec* spec, bool attached) {
  tbError error = {0}, other = {0};
  char* text = tb_spec_save_xml(spec, &error);
  tbModel* a = tb_spec_compile(spec, &other);
  // A spec with parts in memory is written resolved, which needs a spec without mistakes.
  if (!text && !attached) fail_msg("%s: %s", path, error.message);
  if (text) {
    tbSpec* again = tb_spec_load_xml(text, TB_SCENES_DIR, NULL, &error);
    if (!again) fail_msg("%s: %s", path, error.message);
    if (!attached) assert_true(tb_spec_equal(spec, again));
    tbModel* b = tb_spec_compile(again, &error);
    if (!attached && !a != !b) fail_msg("%s: '%s', again '%s'", path, other.message, error.message);
    const char* why = a && b ? tb_test_difference(a, b, attached ? 1e-9 : 0) : NULL;
    if (why) fail_msg("%s: %s", path, why);
    if (a && !b) fail_msg("%s: compiles, but as text: %s", path, error.message);
    tb_model_free(b);
    tb_spec_free(again);
  }
  ncompiled += a != NULL;
  nrefused += !a;
  if (a) {
    tbSpec* whole = tb_spec_from_model(a, &error);
    tbModel* b = whole ? tb_spec_compile(whole, &error) : NULL;
    if (!b) fail_msg("%s: from the model: %s", path, error.message);
    const char* why = tb_test_difference(a, b, 1e-9);
    if (why) fail_msg("%s: from the model: %s", path, why);
    tb_model_free(b);
    tb_spec_free(whole);
  }
  tb_model_free(a);
  tb_text_free(text);
}

static bool has_attach(tbSpec* spec) {
  tbElement* root = tb_spec_root(spec);
  for (tbElement* e = root; e; e = step_of(root, e)) {
    if (strcmp(tb_spec_tag(e), "model") == 0 && !tb_spec_get(e, "file")) return true;
  }
  return false;
}

static void test_edits(void** state) {
  (void)state;
  char** paths;
  int n = tb_test_files(TB_SCENES_DIR, ".xml", &paths);
  int rounds = tb_test_setting("TRIBO_EDITS", 4);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < rounds; k++) {
      tbError error;
      tbSpec* spec = tb_spec_load(paths[i], NULL, &error);
      if (!spec) fail_msg("%s", error.message);
      rng = (tbRng){(uint64_t)(1 + i + 1000 * k)};
      int edits = 1 + tb_rng_int(&rng, 12);
      for (int j = 0; j < edits; j++) edit(spec);
      check(paths[i], spec, has_attach(spec));
      tb_spec_free(spec);
    }
  }
  tb_test_files_free(paths, n);
  printf("%d compiled, %d refused\n", ncompiled, nrefused);
  // The edits are small enough that a good part of the specs still compiles.
  assert_true(ncompiled > nrefused / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_edits)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
