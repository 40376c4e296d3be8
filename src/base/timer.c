#include "base/timer.h"

#include <time.h>

double tb_seconds_of_system(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#include <stdbool.h>

_Atomic double tb_tick;

// Whether the counter runs at a constant rate, independent of the processor's frequency (leaf
// 8000'0007, bit 8 of EDX).
static bool counter_is_clock(void) {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
}

typedef struct {
  double seconds;
  long long ticks;
} Reading;

// Read clock and counter at the same time: the closest pair of some attempts, any of which may be
// interrupted.
static Reading read_both(void) {
  Reading best = {0, 0};
  double closest = 0;
  for (int i = 0; i < 8; i++) {
    double before = tb_seconds_of_system();
    long long ticks = (long long)__builtin_ia32_rdtsc();
    double after = tb_seconds_of_system();
    if (i > 0 && after - before >= closest) continue;
    closest = after - before;
    best = (Reading){0.5 * (before + after), ticks};
  }
  return best;
}

// Measure the rate over a millisecond, which determines it to about 1e-4. Less than 0: the counter
// does not advance.
static double measure_tick(void) {
  const double enough = 1e-3;
  Reading first = read_both(), last = first;
  while (last.seconds - first.seconds < enough) last = read_both();
  if (last.ticks <= first.ticks) return -1;
  return (last.seconds - first.seconds) / (double)(last.ticks - first.ticks);
}

// All threads use the first rate that one of them measures, because times are differences of
// products with that rate.
double tb_seconds_unmeasured(void) {
  if (atomic_load(&tb_tick) == 0) {
    double none = 0, tick = counter_is_clock() ? measure_tick() : -1;
    atomic_compare_exchange_strong(&tb_tick, &none, tick);
  }
  return atomic_load(&tb_tick) > 0 ? tb_seconds() : tb_seconds_of_system();
}

#endif
