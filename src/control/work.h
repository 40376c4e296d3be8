// Memory that a controller keeps between calls.
#ifndef TRIBO_CONTROL_WORK_H_
#define TRIBO_CONTROL_WORK_H_

#include "base/arena.h"
#include "tribo/control.h"

struct tbControlWork {
  tbArena arena;
  tbSolveWork* solve;
};

// tb_qp_solve with the remaining memory of the work's arena.
tbResult tb_qp_solve_within(const tbQp* qp, tbReal tolerance, tbReal* x, tbReal* z,
                            tbControlWork* work, tbSolveInfo* info, tbError* error);

#endif
