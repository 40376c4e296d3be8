// Parts of tb_model_check. Each returns TB_OK or fills `error`.
#ifndef TRIBO_MODEL_CHECK_H_
#define TRIBO_MODEL_CHECK_H_

#include <stdbool.h>

#include "model/model.h"

// Every entry of a[n] lies within [low, high).
tbResult tb_check_range(const char* field, const int* a, int64_t n, int64_t low, int64_t high,
                        tbError* error);

// Each pair (address, count) spans a piece of [0, total): count >= 0, and address >= 0 where it is
// not zero.
tbResult tb_check_spans(const char* field, const int* address, const int* count, int n, int total,
                        tbError* error);

// start[0..n] is a compressed row index: 0 first, never descending. Its last entry is `entries`.
tbResult tb_check_rows(const char* field, const int* start, int n, int64_t* entries,
                       tbError* error);

// The numbers of an array of the model, or of a world's row of it, are as value_rules.h says.
tbResult tb_check_values(const tbModel* model, const char* field, const tbReal* values, int64_t n,
                         tbError* error);

// The quaternions of a configuration are unit ones; after tb_check_tree.
tbResult tb_check_configuration(const tbModel* model, const char* field, const tbReal* qpos,
                                tbError* error);

tbResult tb_check_tree(const tbModel* model, tbError* error);
tbResult tb_check_shapes(const tbModel* model, tbError* error);
tbResult tb_check_objects(const tbModel* model, tbError* error);
tbResult tb_check_sensors(const tbModel* model, tbError* error);
tbResult tb_check_option(const tbModel* model, tbError* error);

#endif
