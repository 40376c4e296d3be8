// The report's list of figures and tables, and how claims find their place in it.
#include <stdio.h>
#include <string.h>

#include "../../bench/papers/checklist.c"
#include "common/test.h"

static const Item* find(const char* paper, const char* item) {
  for (int i = 0; i < CHECKLIST_COUNT; i++) {
    if (strcmp(CHECKLIST[i].paper, paper) == 0 && strcmp(CHECKLIST[i].item, item) == 0)
      return &CHECKLIST[i];
  }
  fail_msg("no %s %s in the list", paper, item);
  return NULL;
}

static void test_claims_find_their_items(void** state) {
  (void)state;
  assert_true(claim_is_about("CM fig. 9", find("CM", "fig. 9")));
  assert_true(claim_is_about("CM fig. 6, 9", find("CM", "fig. 6")));
  assert_true(claim_is_about("CM fig. 6, 9", find("CM", "fig. 9")));
  assert_true(claim_is_about("CM fig. 4, 11 right", find("CM", "fig. 11")));
  assert_true(claim_is_about("ADMM fig. 2, table I", find("ADMM", "table I")));
  assert_true(
      claim_is_about("CM fig. 14, table III (preprint)", find("CM", "table III (preprint)")));
}

static void test_claims_find_no_other_items(void** state) {
  (void)state;
  assert_false(claim_is_about("CM fig. 19", find("CM", "fig. 9")));
  assert_false(claim_is_about("CM fig. 1", find("CM", "fig. 19")));
  assert_false(claim_is_about("EXP fig. 2", find("ADMM", "fig. 2")));
  assert_false(claim_is_about("CM table II", find("CM", "table III")));
  assert_false(claim_is_about("CM table III (preprint)", find("CM", "table III")));
  assert_false(claim_is_about("CM table III", find("CM", "table III (preprint)")));
  assert_false(claim_is_about("ADMM fig. 2, table I", find("ADMM", "fig. 1")));
  assert_false(claim_is_about("", find("CM", "fig. 9")));
  assert_false(claim_is_about("CM", find("CM", "fig. 9")));
}

// Figures 1 to `figures` and tables I to `tables` of a paper, without gaps.
static void expect_all(const char* paper, int figures, int tables) {
  static const char* const roman[] = {"I", "II", "III", "IV"};
  char item[32];
  for (int i = 1; i <= figures; i++) {
    snprintf(item, sizeof item, "fig. %d", i);
    find(paper, item);
  }
  for (int i = 0; i < tables; i++) {
    snprintf(item, sizeof item, "table %s", roman[i]);
    find(paper, item);
  }
}

static void test_nothing_is_left_out(void** state) {
  (void)state;
  expect_all("CM", 19, 3);
  expect_all("EXP", 6, 3);
  expect_all("CF", 9, 2);
  expect_all("ADMM", 8, 4);
  for (int i = 0; i < CHECKLIST_COUNT; i++) {
    // Measured with a table of numbers, or a note that says why not.
    assert_true((CHECKLIST[i].part != NULL) == (CHECKLIST[i].table != NULL));
    assert_true((CHECKLIST[i].part == NULL) == (CHECKLIST[i].note != NULL));
  }
}

static void test_leave_to_be_worse_has_reasons(void** state) {
  (void)state;
  for (int i = 0; i < ALLOWED_COUNT; i++) {
    assert_true(strlen(ALLOWED[i].reason) > 20);
    assert_ptr_equal(allowed_worse(ALLOWED[i].figure, ALLOWED[i].claim), &ALLOWED[i]);
  }
  assert_null(allowed_worse("CM fig. 9", "anything"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_claims_find_their_items),
      cmocka_unit_test(test_claims_find_no_other_items),
      cmocka_unit_test(test_nothing_is_left_out),
      cmocka_unit_test(test_leave_to_be_worse_has_reasons),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
