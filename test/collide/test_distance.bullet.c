// Signed distance against Bullet's GJK and EPA.
#include "collide/peer_check.h"

static void test_against_bullet(void** state) {
  (void)state;
  for (int i = TB_GEOM_CYLINDER; i <= TB_GEOM_MESH; i++) {
    for (int j = i; j <= TB_GEOM_MESH; j++) {
      check_peer_pair(peer_bullet_distance, i, j, 1e-4, 0.99, 0.98);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_bullet)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
