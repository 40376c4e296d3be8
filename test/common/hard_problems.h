// Contact problems of many bodies, made at random in families that are hard for solvers, for tests
// and benchmarks: columns with mass ratios, pyramids, walls, many-legged tables, arches, chains,
// piles, plank towers, random graphs; small and huge friction; cones of 3 to 6 rows beside limits
// and equalities. They are not files, so nothing can be tuned to a fixed set of them: every seed is
// another problem.
#ifndef TRIBO_TEST_HARD_PROBLEMS_H_
#define TRIBO_TEST_HARD_PROBLEMS_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "tribo/problem.h"

// ---- a scene of free bodies --------------------------------------------------------------------

typedef struct {
  tbReal mass, inertia[3];  // about the world's axes
  tbReal position[3];
  tbReal velocity[6];  // linear, angular (world)
} tbHardBody;

typedef struct {
  int a, b;  // bodies; -1: the ground. The normal points from a to b.
  tbReal point[3], normal[3];
  tbReal gap_speed;  // gap / dt, or the speed of a correction
  int type, dim;     // a tbBlockType
  tbReal mu[TB_MAX_BLOCK_DIM - 1];
} tbHardContact;

typedef struct {
  tbHardBody* body;
  tbHardContact* contact;
  int body_count, contact_count, body_room, contact_room;
  tbReal dt, gravity;
  tbRng* rng;
  bool failed;
} tbHardScene;

int tb_hard_add_body(tbHardScene* s, tbReal mass, const tbReal size[3], const tbReal position[3]);
void tb_hard_add_contact(tbHardScene* s, int a, int b, const tbReal point[3],
                         const tbReal normal[3], tbReal mu);

// ---- problems ----------------------------------------------------------------------------------

int tb_hard_family_count(void);
const char* tb_hard_family_name(int family);

// Problem `seed` of a family. size: 0 small (up to some 30 contacts), 1 medium (some hundred),
// 2 large (up to 3000). G comes as a product, or, for some seeds of small problems, dense or in
// blocks. NULL when out of memory.
tbProblem* tb_hard_problem(int family, int size, uint64_t seed);

// In hard_scenes.c: fill the scene.
typedef void (*tbHardFill)(tbHardScene* s, int size);
typedef struct {
  const char* name;
  tbHardFill fill;
} tbHardFamily;
extern const tbHardFamily tb_hard_families[];
extern const int tb_hard_families_count;

#endif
