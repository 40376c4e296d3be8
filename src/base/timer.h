// Seconds from a monotonic clock, of which only differences mean anything.
#ifndef TRIBO_BASE_TIMER_H_
#define TRIBO_BASE_TIMER_H_

#include <time.h>

// A step reads it eight times: 64-bit ARM has a counter with a frequency of its own for it, which
// takes a quarter of the time of the system's clock.
static inline double tb_seconds(void) {
#if defined(__aarch64__) && defined(__GNUC__)
  unsigned long long ticks, frequency;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  __asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
  return (double)ticks / (double)frequency;
#else
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
}

#endif
