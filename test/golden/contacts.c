// Contacts and distances of every pair of shapes in random poses.
#include <stdio.h>

#include "common/shapes.h"
#include "golden/golden.h"

enum { POSES = 25 };

static uint64_t collide(uint64_t hash, const tbShape* a, const tbShape* b) {
  tbContactPoint contact[TB_MAX_PAIR_CONTACTS];
  tbReal margin = 0.02, point[2][3], normal[3];
  int n = tb_collide(a, b, margin, contact, NULL);
  hash = golden_ints(hash, &n, 1);
  for (int i = 0; i < n; i++) {
    int feature = (int)contact[i].feature;
    hash = golden_reals(hash, contact[i].pos, 3);
    hash = golden_reals(hash, contact[i].frame, 9);
    hash = golden_reals(hash, &contact[i].dist, 1);
    hash = golden_ints(hash, &feature, 1);
  }
  tbReal distance = tb_distance(a, b, point[0], point[1], normal, NULL);
  hash = golden_reals(hash, &distance, 1);
  return distance > 0 ? golden_reals(golden_reals(hash, point[0], 6), normal, 3) : hash;
}

void golden_contacts(void) {
  for (int a = 0; a < TB_NGEOMTYPES; a++) {
    for (int b = 0; b < TB_NGEOMTYPES; b++) {
      if (!tb_collide_supported(a, b) || a == TB_GEOM_HFIELD || b == TB_GEOM_HFIELD) continue;
      uint64_t hash = TB_HASH_SEED;
      tbRng rng = {(uint64_t)(100 * a + b)};
      for (int placement = 0; placement < TB_TEST_NPLACEMENTS; placement++) {
        for (int i = 0; i < POSES; i++) {
          tbShape one, two;
          tb_test_random_pair(&rng, a, b, (tbTestPlacement)placement, &one, &two);
          hash = collide(hash, &one, &two);
        }
      }
      char name[64];
      snprintf(name, sizeof name, "%s %s", tb_geom_type_name(a), tb_geom_type_name(b));
      golden_line("contact", name, hash);
    }
  }
}
