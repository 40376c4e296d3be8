// The clock of a step's stages: as fast as the system's, and the same for all threads.
#include "base/timer.h"

#include <pthread.h>

#include "common/test.h"

static double after_waiting(double from, double length) {
  while (tb_seconds_of_system() - from < length) continue;
  return tb_seconds();
}

// The timer's interval is longer than one of the system clock inside it and shorter than one around
// it.
static void seconds_are_the_systems(void** state) {
  (void)state;
  tb_seconds();
  for (int i = 0; i < 5; i++) {
    double outside = tb_seconds_of_system(), start = tb_seconds();
    double inside = tb_seconds_of_system(), end = after_waiting(inside, 0.02);
    double least = 0.02, most = tb_seconds_of_system() - outside;
    assert_true(end - start > least * (1 - 1e-3));
    assert_true(end - start < most * (1 + 1e-3));
  }
}

static void* read_often(void* least) {
  double last = tb_seconds();
  *(double*)least = last;
  for (int i = 0; i < 100000; i++) {
    double now = tb_seconds();
    if (now < last - 1e-6) return least;
    last = now;
  }
  return NULL;
}

// Threads that start together measure its rate together, and all end with the same.
static void threads_share_it(void** state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  double first[THREADS];
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&thread[i], NULL, read_often, &first[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    void* backwards;
    pthread_join(thread[i], &backwards);
    assert_null(backwards);
    assert_true(first[i] < tb_seconds() + 1e-6);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_share_it),
      cmocka_unit_test(seconds_are_the_systems),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
