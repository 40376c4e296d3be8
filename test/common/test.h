// Common header of all tests: cmocka with the headers it needs, and comparisons of arrays.
#ifndef TRIBO_TEST_H_
#define TRIBO_TEST_H_

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// cmocka needs the headers above.
#include <cmocka.h>

#include "base/rng.h"
#include "tribo/types.h"

// Fail unless |a - b| <= tolerance * max(1, |a|, |b|); a NaN fails.
#define assert_near(a, b, tolerance) tb_test_near((a), (b), (tolerance), __FILE__, __LINE__)

// The same for arrays, with the scale of the largest entry of either.
#define assert_near_array(a, b, n, tolerance) \
  tb_test_near_array((a), (b), (n), (tolerance), __FILE__, __LINE__)

void tb_test_near(double a, double b, double tolerance, const char* file, int line);
void tb_test_near_array(const double* a, const double* b, int n, double tolerance, const char* file,
                        int line);

// The number in an environment variable, or `fallback` if it is not set.
int tb_test_setting(const char* name, int fallback);

// True where `path` below the shared data folder exists; prints a skip message where it does not.
bool tb_test_shared(const char* path, char* full, size_t size);

// Go over to a locale whose numbers have a comma, made for the test in a folder of this name below
// the build; NULL goes back. False, with a message, where none can be made.
bool tb_test_comma(const char* name);

#endif
