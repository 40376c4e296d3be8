// Golden lines: hashes of results of the library, one line each, stored in lines.txt. Every
// compiler, optimisation level, number of threads and machine must print the same ones.
#ifndef TRIBO_TEST_GOLDEN_H_
#define TRIBO_TEST_GOLDEN_H_

#include "base/hash.h"
#include "base/rng.h"
#include "common/test.h"
#include "tribo/tribo.h"

// Append numbers to a hash; all NaNs count as the same number.
uint64_t golden_reals(uint64_t hash, const tbReal* x, int n);
uint64_t golden_ints(uint64_t hash, const int* x, int n);

// Print one line: section, name, hash.
void golden_line(const char* section, const char* name, uint64_t hash);

// A model from a file of the project, or an end of the program with a message.
tbModel* golden_load(const char* path);
// The name of a file without its folder.
const char* golden_name(const char* path);

// Controls of one step, within their ranges.
void golden_controls(const tbModel* m, tbRng* rng, tbReal* ctrl);

// The sections. Steps are computed once for each number of threads; the number of lines that
// depend on it is returned.
int golden_steps(const int* threads, int nthreads);
void golden_solvers(void);      // every solver on twelve problems
void golden_derivatives(void);  // A and B of a step under every law
void golden_contacts(void);     // every pair of shapes in random poses
void golden_sensors(void);      // every kind of sensor
void golden_models(void);       // compiled models

#endif
