// Helpers of the MJCF tests: parse text, or expect a refusal.
#ifndef TRIBO_TEST_IO_MJCF_TEST_H_
#define TRIBO_TEST_IO_MJCF_TEST_H_

#include "common/test.h"
#include "io/flat.h"

// Parse `xml` as the file "model.xml"; the test fails where it is refused.
static inline tbFlat* parse(const char* xml) {
  tbError error;
  tbFlat* spec = tb_flat_parse_mjcf(xml, strlen(xml), "model.xml", NULL, &error);
  if (!spec) fail_msg("%s: %s", tb_result_name(error.code), error.message);
  return spec;
}

// Expect a refusal whose message contains `words`, for instance "model.xml:3: <geom>".
static inline void refuse(const char* xml, tbResult code, const char* words) {
  tbError error;
  tbFlat* spec = tb_flat_parse_mjcf(xml, strlen(xml), "model.xml", NULL, &error);
  if (spec) {
    tb_flat_free(spec);
    fail_msg("accepted, but expected: %s", words);
  }
  if (!strstr(error.message, words)) fail_msg("got '%s', expected '%s'", error.message, words);
  assert_int_equal(error.code, code);
}

// A world with this inside.
#define WORLD(inside) "<mujoco><worldbody>" inside "</worldbody></mujoco>"

// Index of a note that contains `words`; the test fails where there is none.
static inline int find_note(const tbFlat* spec, const char* words) {
  for (int i = 0; i < spec->nnote; i++) {
    if (strstr(spec->note[i].text, words)) return i;
  }
  fail_msg("no note has '%s'", words);
  return -1;
}

// Index of a named element.
#define FIND(spec, kind, name) find_index((spec), TB_FLAT_##kind, (name))
static inline int find_index(const tbFlat* spec, tbFlatKind kind, const char* name) {
  int i = tb_flat_find(spec, kind, name);
  if (i < 0) fail_msg("no element is called '%s'", name);
  return i;
}

#define assert_vec(a, n, ...)                      \
  do {                                             \
    const tbReal expected_[] = {__VA_ARGS__};      \
    assert_near_array((a), expected_, (n), 1e-14); \
  } while (0)

#endif
