// Seconds from a monotonic clock, of which only differences are meaningful.
#ifndef TRIBO_BASE_TIMER_H_
#define TRIBO_BASE_TIMER_H_

// The system's clock.
double tb_seconds_of_system(void);

// A step reads the clock six to eight times, 45 ns each on a virtual PC. Processors have counters
// for this purpose, which take a quarter (aarch64) to a half (x86-64) of that.
#if defined(__aarch64__) && defined(__GNUC__)

static inline double tb_seconds(void) {
  unsigned long long ticks, frequency;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  __asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
  return (double)ticks / (double)frequency;
}

#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__cplusplus)

#include <stdatomic.h>

// Seconds per tick of the processor's counter; 0: not measured yet, negative: the counter is not
// usable as a clock.
extern _Atomic double tb_tick;
double tb_seconds_unmeasured(void);

static inline double tb_seconds(void) {
  double tick = atomic_load_explicit(&tb_tick, memory_order_relaxed);
  return tick > 0 ? tick * (double)(long long)__builtin_ia32_rdtsc() : tb_seconds_unmeasured();
}

#else

static inline double tb_seconds(void) {
  return tb_seconds_of_system();
}

#endif

#endif
