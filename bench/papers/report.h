// One page with every claim, figure and table of a run.
#ifndef TRIBO_BENCH_PAPERS_REPORT_H_
#define TRIBO_BENCH_PAPERS_REPORT_H_

#include <stdbool.h>
#include <stdio.h>

// One benchmark of the report.
typedef struct {
  const char* name;               // of tribo-bench-<name>, and of its folder
  const char* title;              // heading
  const char* intro;              // one sentence
  double seconds, seconds_short;  // about how much processor time it takes
  const char* arguments[6];       // of the whole report, up to NULL: cheaper than its own defaults
} Part;

typedef struct {
  int reproduced, better, differs;
  int worse;    // worse than the paper without leave to be
  int allowed;  // worse, with a reason in the list of checklist.c
  int stale;    // in that list, but no longer worse
  int missing;  // figures and tables that should have a claim and have none
} Verdicts;

// Arguments of the report.
typedef struct {
  const char* folder;
  bool brief;    // --short
  bool partial;  // not everything: nothing is missing
} Wanted;

// Write "<folder>/index.html" from the files of the benchmarks in "<folder>/<part>/". Returns the
// count of each verdict; names of worse, stale or missing entries go to stderr.
Verdicts write_report(const Wanted* wanted, const Part* parts, int count);

#endif
