// Quantities of `tribo eval` that are derivatives or inverse dynamics.
#ifndef TRIBO_CLI_EVAL_DERIVATIVES_H_
#define TRIBO_CLI_EVAL_DERIVATIVES_H_

#include <stdbool.h>

#include "json.h"
#include "tribo/tribo.h"

// The matrix called `name` at the world's state and at acceleration `qacc`, in memory to be freed
// with its shape; columns -1 means a vector. NULL if there is no such quantity, or after a
// complaint: then *failed is 1 if it could not be computed, 2 if it names an unknown body.
tbReal* eval_derivative(const char* name, const tbModel* m, const tbData* d, const tbReal* qacc,
                        int* rows, int* columns, int* failed);

// The names of these quantities, separated by blanks.
const char* eval_derivative_names(void);

// Report an unknown body name, with the nearest known one. Always returns false.
bool complain_of_body(const tbModel* m, const char* name);

typedef union {
  tbInverseInfo inverse;
  tbDerivativeInfo step;
} EvalInfo;

// Whether `name` is inverse_info or A_info (with or without :hold_contacts); computing its contents
// (false after a complaint); printing it.
int eval_is_derivative_info(const char* name);
bool eval_derivative_info(EvalInfo* info, const char* name, const tbModel* m, const tbData* d,
                          const tbReal* qacc);
void eval_print_info(Json* json, const char* name, const EvalInfo* info);

#endif
