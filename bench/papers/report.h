// One page with every claim, figure and table of a run.
#ifndef TRIBO_BENCH_PAPERS_REPORT_H_
#define TRIBO_BENCH_PAPERS_REPORT_H_

#include <stdbool.h>

// One benchmark of the report.
typedef struct {
  const char* name;               // of tribo-bench-<name>, and of its folder
  const char* title;              // heading
  const char* intro;              // one sentence
  double seconds, seconds_short;  // about how long it takes
} Part;

typedef struct {
  int reproduced, better, worse, differs;
} Verdicts;

// Write "<folder>/index.html" from the files the benchmarks left in "<folder>/<part>/". Returns the
// count of each verdict.
Verdicts write_report(const char* folder, const Part* parts, int count, bool short_run);

#endif
