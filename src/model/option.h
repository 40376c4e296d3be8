// Valid values of options. Enumerations have words, all of them in one list: names of laws (the
// rigid ones are also in solvers/settings.c), solvers and integrators.
#ifndef TRIBO_MODEL_OPTION_H_
#define TRIBO_MODEL_OPTION_H_

#include "tribo/option.h"

// The word of a value of the option `name` ("law", "solver", ...), or "unknown".
const char* tb_option_word(const char* name, int value);

// Checks options, since programs may write any values into a model: TB_ERROR_ARGUMENT for one that
// is not finite or not allowed (TB_OPTION_FIELDS).
tbResult tb_option_check(const tbOption* option, tbError* error);

#endif
