// Wall-clock seconds from a monotonic clock.
#ifndef TRIBO_BASE_TIMER_H_
#define TRIBO_BASE_TIMER_H_

#include <time.h>

static inline double tb_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
