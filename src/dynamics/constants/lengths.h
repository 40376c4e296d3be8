// Constants of tendons and actuators at the reference pose.
#ifndef TRIBO_DYNAMICS_CONSTANTS_LENGTHS_H_
#define TRIBO_DYNAMICS_CONSTANTS_LENGTHS_H_

#include "tribo/data.h"

// Sets lengths, inverse weights of tendons, accelerations of actuators and damping ratios, from the
// lengths, Jacobians and the factor of M in `d`. The only error is TB_ERROR_MEMORY.
tbResult tb_set_lengths(tbModel* m, const tbData* d);

#endif
