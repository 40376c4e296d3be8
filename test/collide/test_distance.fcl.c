// Signed distance against FCL. Its depths are those of MPR: of a translation that parts the shapes,
// but seldom of the shortest.
#include "collide/peer_check.h"

static void test_against_fcl(void** state) {
  (void)state;
  for (int i = TB_GEOM_SPHERE; i <= TB_GEOM_MESH; i++) {
    for (int j = i; j <= TB_GEOM_MESH; j++) {
      check_peer_pair(peer_fcl_distance, i, j, 1e-4, 0.99, 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_fcl)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
