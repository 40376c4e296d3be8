// URDF files as MuJoCo can read them.
#ifndef TRIBO_TEST_URDF_TEXT_H_
#define TRIBO_TEST_URDF_TEXT_H_

// The text of a URDF with a <mujoco> element holding `settings` behind its <robot>, without
// collisions that name a DAE file (MuJoCo reads none), and, where `packages` is not NULL, with
// "package://example-robot-data/robots" replaced by it. The caller frees it.
char* tb_test_urdf_text(const char* path, const char* settings, const char* packages);

#endif
