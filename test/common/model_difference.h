// Comparison of two compiled models, field by field.
#ifndef TRIBO_TEST_MODEL_DIFFERENCE_H_
#define TRIBO_TEST_MODEL_DIFFERENCE_H_

#include "tribo/model.h"

// The first difference of two models, or NULL. A tolerance of zero means equal bits; with a
// tolerance, a primitive that was fitted to a mesh may have lost it. Names are compared where the
// first model has them, notes not at all.
const char* tb_test_difference(const tbModel* model, const tbModel* other, double tolerance);

#endif
