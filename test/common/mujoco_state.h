// States for comparisons with MuJoCo's steps. Header only, as mujoco_model.h.
#ifndef TRIBO_TEST_MUJOCO_STATE_H_
#define TRIBO_TEST_MUJOCO_STATE_H_

#include <mujoco/mujoco.h>
#include <stdlib.h>

#include "common/test.h"
#include "tribo/tribo.h"

// Robots whose colliding geoms are primitives, so that contacts must agree, and whose inertias do
// not come from meshes, which MuJoCo 2.2.2 computes in another way than newer ones. Cassie is in
// test_newest: its connects have dJ/dt v in their reference since 3.x.
static const char* const TB_PRIMITIVE_ROBOTS[] = {
    "models/mujoco/model/humanoid/humanoid.xml",
    "models/mujoco_menagerie/unitree_go2/scene.xml",
    "models/mujoco_menagerie/anybotics_anymal_c/scene.xml",
};

// A state near the first keyframe (or the reference pose), low enough that things touch.
static inline void tb_mujoco_random_state(tbRng* rng, const mjModel* mj, mjData* mjd) {
  mj_resetData(mj, mjd);
  if (mj->nkey) mj_resetDataKeyframe(mj, mjd, 0);
  double* step = calloc((size_t)mj->nv + 1, sizeof(double));
  assert_non_null(step);
  for (int i = 0; i < mj->nv; i++) {
    step[i] = 0.1 * tb_rng_normal(rng);
    mjd->qvel[i] = 0.3 * tb_rng_normal(rng);
  }
  mj_integratePos(mj, mjd->qpos, step, 1);
  if (mj->njnt && mj->jnt_type[0] == mjJNT_FREE) mjd->qpos[2] -= tb_rng_uniform(rng, 0, 0.15);
  for (int i = 0; i < mj->nu; i++) mjd->ctrl[i] += 0.1 * tb_rng_normal(rng);
  free(step);
}

// The same robot in both engines, under the soft law. False, with a message, where it is skipped.
static inline bool tb_mujoco_pair(const char* robot, mjModel** theirs, tbModel** ours) {
  char path[1024], reason[1000] = "";
  if (!tb_test_shared(robot, path, sizeof path)) return false;
  *theirs = mj_loadXML(path, NULL, reason, sizeof reason);
  if (!*theirs) {
    print_message("skipped: MuJoCo %s cannot load %s: %s\n", mj_versionString(), robot, reason);
    return false;
  }
  tbError error;
  *ours = tb_load(path, NULL, &error);
  if (!*ours) fail_msg("%s", error.message);
  (*ours)->opt.law = TB_LAW_SOFT;
  return true;
}

#endif
