// Quantities of `tribo eval` that are derivatives or inverse dynamics.
#ifndef TRIBO_CLI_EVAL_DERIVATIVES_H_
#define TRIBO_CLI_EVAL_DERIVATIVES_H_

#include "json.h"
#include "tribo/tribo.h"

// The matrix called `name` at the world's state and at acceleration `qacc`, as memory to be freed
// with its shape; columns -1 means a vector. NULL where there is no such quantity, or (with *failed
// set) where it could not be computed.
tbReal* eval_derivative(const char* name, const tbModel* m, const tbData* d, const tbReal* qacc,
                        int* rows, int* columns, int* failed);

// Whether `name` is inverse_info or A_info (with or without :hold_contacts), and printing them.
int eval_is_derivative_info(const char* name);
void eval_derivative_info(Json* json, const char* name, const tbModel* m, const tbData* d,
                          const tbReal* qacc);

#endif
