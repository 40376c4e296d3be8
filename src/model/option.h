// Options that are enumerations have words: the one list of names of laws, solvers and integrators.
#ifndef TRIBO_MODEL_OPTION_H_
#define TRIBO_MODEL_OPTION_H_

// The word of a value of the option `name` ("law", "solver", ...), or "unknown".
const char* tb_option_word(const char* name, int value);

#endif
