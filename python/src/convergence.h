// The first step of a call that did not converge, for the one warning of a world.
#ifndef TRIBO_PYTHON_CONVERGENCE_H_
#define TRIBO_PYTHON_CONVERGENCE_H_

#include <cstdio>

#include "error.h"
#include "memory.h"

struct FirstUnconverged {
  bool found = false;
  double time = 0;
  tbSolveInfo solve = {};

  // Called after each step.
  void note(const tbData* d) {
    if (found || d->offender.reason != TB_OFFENCE_UNCONVERGED) return;
    found = true;
    time = d->time;
    solve = d->solve;
  }

  // Warns once per world; `hint` ends the message.
  void warn(Data& d, const char* hint) const {
    if (!found || d.warned) return;
    d.warned = true;
    char text[240];
    snprintf(text, sizeof text,
             "the step to t = %g s did not converge: %s of %s/%s after %d iterations, relative "
             "residual %.1e (%s)",
             time, tb_solve_status_name((tbSolveStatus)solve.status), solve.law ? solve.law : "?",
             solve.solver ? solve.solver : "?", solve.iterations, solve.residual.relative, hint);
    warn_unconverged(text);
  }
};

#endif
