// What the certificates of many steps add up to: one struct per world, filled by batches and
// rollouts, or step by step with tb_report_add.
#ifndef TRIBO_REPORT_H_
#define TRIBO_REPORT_H_

#include "tribo/data.h"

typedef struct {
  int64_t steps;              // that were made
  int64_t unconverged_steps;  // whose solver stopped above its tolerance
  int64_t unjudged_steps;     // whose impulses no residual function has seen
  // The first such steps, counted from 0; -1: there is none.
  int64_t first_unconverged;
  int64_t first_unjudged;
  // The worst relative residuals of the judged steps, of the law solved and of the exact law; NaN
  // where no step was judged.
  tbReal residual;
  tbReal residual_exact;
  int64_t worst_step;   // with this residual_exact; -1: no step was judged
  tbReal penetration;   // m, the deepest overlap where a step began
  int status;           // tbResult: TB_OK, or why step number `steps` failed
  tbOffender offender;  // of the first step that did not converge, else of the one that failed
} tbWorldReport;

TB_EXTERN_C_BEGIN

// Of no steps.
TB_API void tb_report_clear(tbWorldReport* report);

// Add the step that a world has just tried to make. Nothing where a pointer is NULL.
TB_API void tb_report_add(tbWorldReport* report, const tbData* data);

// Add the report of the steps that followed: the same as adding them one by one.
TB_API void tb_report_merge(tbWorldReport* report, const tbWorldReport* later);

TB_EXTERN_C_END

#endif
