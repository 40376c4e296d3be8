// The robots of the shared models, one file each, for tests that run over all of them.
#ifndef TRIBO_TEST_ROBOTS_H_
#define TRIBO_TEST_ROBOTS_H_

#include "tribo/model.h"

enum { TB_TEST_ROBOT_COUNT = 25 };

// File of robot `index`, relative to the shared models.
const char* tb_test_robot_name(int index);

// The robot, or NULL with a message where the file is absent. A URDF gets a floating base.
tbModel* tb_test_robot(int index);

// Where robot `index` lies as a compiled model in `folder`.
void tb_test_robot_compiled(int index, const char* folder, char* path, size_t size);

#endif
