// A small JSON writer. Keys are NULL inside arrays. Numbers that JSON cannot represent become null.
#ifndef TRIBO_CLI_JSON_H_
#define TRIBO_CLI_JSON_H_

#include <stdbool.h>
#include <stdio.h>

#include "tribo/problem.h"
#include "tribo/types.h"

typedef struct {
  FILE* out;
  bool comma;  // the next value needs a comma before it
} Json;

// Whether this program has written anything as JSON.
bool json_started(void);

void json_open(Json* json, const char* key);  // {
void json_close(Json* json);                  // }
void json_open_array(Json* json, const char* key);
void json_close_array(Json* json);
void json_real(Json* json, const char* key, double value);
void json_int(Json* json, const char* key, long value);
void json_bool(Json* json, const char* key, bool value);
void json_string(Json* json, const char* key, const char* value);
void json_reals(Json* json, const char* key, const tbReal* values, long count);
void json_ints(Json* json, const char* key, const int* values, long count);

// {"primal": x, "dual": x, "complementarity": x, "relative": x}
void json_residual(Json* json, const char* key, const tbResidual* residual);

#endif
