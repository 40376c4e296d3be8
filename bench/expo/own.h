// The four motions on scenes/quadruped_torque.xml and scenes/biped_torque.xml.
#ifndef TRIBO_BENCH_EXPO_OWN_H_
#define TRIBO_BENCH_EXPO_OWN_H_

#include "expo_bench.h"

// Fill robot, start, control and name of a motion whose times are already set.
bool own_open(Motion* motion, int which);

#endif
