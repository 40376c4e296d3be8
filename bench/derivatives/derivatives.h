// The parts of the benchmark.
#ifndef TRIBO_BENCH_DERIVATIVES_H_
#define TRIBO_BENCH_DERIVATIVES_H_

#include "common/bench.h"

// A and B of robots on their floors: ours, our differences, MuJoCo's differences.
void bench_steps(tbBench* bench);

// Partials of the rigid-body algorithms against differences of them.
void bench_rigid_bodies(tbBench* bench);

// ADMM fig. 8: inverse dynamics of an arm that slides on a wall.
void bench_wall(tbBench* bench);

#endif
