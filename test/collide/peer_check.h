// Conditions that a peer's distance must satisfy, given ours: shared by the tests against FCL and
// Bullet.
#ifndef TRIBO_TEST_PEER_CHECK_H_
#define TRIBO_TEST_PEER_CHECK_H_

#include "collide/peer_distance.h"
#include "common/shapes.h"

typedef double (*PeerDistance)(const tbShape* a, const tbShape* b);

// Peers stop at tolerances of their own and sometimes fail, so nearly all answers must agree. An
// answer that proves ours wrong must not happen at all: apart, a peer's distance is that of two
// points of the shapes, so it cannot be below ours; overlapping, a depth that parts them cannot be
// smaller (peers that end early may say so: few must).
static void check_peer_pair(PeerDistance peer, int type_a, int type_b, double tolerance,
                            double share_apart, double share_deep) {
  static const tbTestPlacement placements[] = {TB_TEST_FREE, TB_TEST_SHALLOW, TB_TEST_NEARLY};
  tbRng rng = {(uint64_t)(10 * type_a + type_b)};
  int apart = 0, deep = 0, apart_equal = 0, deep_equal = 0, failed = 0, disagree = 0, below = 0,
      shallower = 0;
  for (int i = 0; i < 1500; i++) {
    tbShape a, b;
    tb_test_random_pair(&rng, type_a, type_b, placements[i % 3], &a, &b);
    double ours = tb_distance(&a, &b, NULL, NULL, NULL, NULL), theirs = peer(&a, &b);
    double scale = tb_test_size(&a) + tb_test_size(&b);
    if (isnan(theirs)) {
      failed++;
      continue;
    }
    // The sign of the distance is unambiguous beyond the tolerance.
    if (fabs(ours) > 10 * tolerance * scale) disagree += (ours > 0) != (theirs > 0);
    if (ours > 10 * tolerance * scale) {
      apart++;
      apart_equal += fabs(theirs - ours) <= tolerance * scale;
      below += theirs > 0 && theirs < ours - tolerance * scale;
    } else if (ours < -10 * tolerance * scale) {
      deep++;
      deep_equal += fabs(theirs - ours) <= tolerance * scale;
      shallower += theirs > ours + tolerance * scale;
    }
  }
  print_message(
      "%s-%s: apart %d of %d equal, overlapping %d of %d, %d without answer, %d disagree "
      "on touching, %d below, %d shallower\n",
      tb_geom_type_name(type_a), tb_geom_type_name(type_b), apart_equal, apart, deep_equal, deep,
      failed, disagree, below, shallower);
  assert_true(apart > 100 && deep > 100);
  assert_true(apart_equal >= share_apart * apart);
  assert_true(deep_equal >= share_deep * deep);
  assert_int_equal(below, 0);
  assert_true(shallower <= 0.01 * deep);
  assert_true(disagree <= 0.01 * (apart + deep));
  assert_true(failed <= 0.05 * 1500);
}

#endif
