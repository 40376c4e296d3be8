// Summary of the certificates of many steps: one struct per world, filled by batches and rollouts,
// or step by step with tb_report_add.
#ifndef TRIBO_REPORT_H_
#define TRIBO_REPORT_H_

#include "tribo/data.h"

typedef struct {
  int64_t steps;              // steps made
  int64_t unconverged_steps;  // steps whose solver stopped above its tolerance
  int64_t uncertified_steps;  // steps without a certificate (exact-law residual not computed)
  // The first such steps, counted from 0; -1: there is none.
  int64_t first_unconverged;
  int64_t first_uncertified;
  // The largest relative residuals of the steps with a certificate, of the law solved and of the
  // exact law; NaN if there was none.
  tbReal residual;
  tbReal residual_exact;
  int64_t worst_step;   // step of this residual_exact; -1: no step has a certificate
  tbReal penetration;   // m, the deepest overlap at the start of a step
  int status;           // tbResult: TB_OK, or why step number `steps` failed
  tbOffender offender;  // of the first step that did not converge, else of the failed one
} tbWorldReport;

TB_EXTERN_C_BEGIN

// Reset to the report of zero steps.
TB_API void tb_report_clear(tbWorldReport* report);

// Add the step that a world has just tried to make. Does nothing if a pointer is NULL.
TB_API void tb_report_add(tbWorldReport* report, const tbData* data);

// Add the report of the following steps: the result is the same as adding them one by one.
TB_API void tb_report_merge(tbWorldReport* report, const tbWorldReport* later);

TB_EXTERN_C_END

#endif
