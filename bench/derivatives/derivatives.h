// The parts of the benchmark.
#ifndef TRIBO_BENCH_DERIVATIVES_H_
#define TRIBO_BENCH_DERIVATIVES_H_

#include "common/bench.h"

// A and B of robots on their floors: ours, our differences, MuJoCo's differences.
void bench_steps(tbBench* bench);

// Partials of the rigid-body algorithms against differences of them.
void bench_rigid_bodies(tbBench* bench);

#endif
