// Statistics of `tribo sim` over the steps of a run, and the warnings that follow from them.
#ifndef TRIBO_CLI_STATISTICS_H_
#define TRIBO_CLI_STATISTICS_H_

#include <stdbool.h>

#include "tribo/tribo.h"

// The four fields of residuals, each over the steps where it is not NaN.
typedef struct {
  tbReal sum[4], max[4];
  long count[4];
} ResidualRange;

void residual_add(ResidualRange* range, const tbResidual* residual);

// NaN if no step has the field.
tbResidual residual_mean(const ResidualRange* range);
tbResidual residual_max(const ResidualRange* range);

// Steps with a common property.
typedef struct {
  long count, first, worst_step;
  tbReal worst;
} Occurrence;

typedef struct {
  long steps, contacts, iterations;
  tbReal depth_sum, depth_squares, depth_max;
  Occurrence unconverged;   // worst: relative residual of the law solved, NaN if there is none
  tbOffender offender;      // of the first of these steps
  Occurrence uncertified;   // the residual of the exact law is NaN
  Occurrence infinite;      // a residual or a contact's distance is not finite
  int first_overlaps;       // contacts of the first step that are deeper than 1 cm
  tbContact first_contact;  // the deepest of them
  ResidualRange residual, residual_exact;
  tbStepTimes seconds;
} Statistics;

// Add a completed step with the values of the data.
void statistics_add(Statistics* statistics, const tbData* data);

// How a URDF was loaded: its root link as part of the world, or with a free joint. Both false for
// other models.
typedef struct {
  bool fused, floating;
} RootLink;

enum { MOST_WARNINGS = 12, WARNING_TEXT = 512 };

typedef struct {
  int count;
  char text[MOST_WARNINGS][WARNING_TEXT];
} Warnings;

__attribute__((format(printf, 2, 3))) void warn(Warnings* warnings, const char* format, ...);

// Warnings about the options before the run, and about its steps after it: one text per kind.
void warn_of_options(Warnings* warnings, const tbModel* model);
void warn_of_steps(Warnings* warnings, const Statistics* statistics, const tbModel* model,
                   const RootLink* root);

// A warning of a floating robot without ground, before the run.
void warn_of_root(Warnings* warnings, const tbModel* model, const RootLink* root);

#endif
