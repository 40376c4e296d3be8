// Comparison of a model's arrays with a peer's, field by field.
#ifndef TRIBO_TEST_MODEL_COMPARE_H_
#define TRIBO_TEST_MODEL_COMPARE_H_

#include "common/oracle.h"
#include "tribo/model.h"

// Differences beyond the tolerance found so far are printed and counted.
typedef struct {
  const char* model;          // what is being compared, for messages
  double tolerance;           // relative
  double mesh;                // relative, for what a mesh's shape decides
  int fields;                 // compared
  int failures;               // fields that differ
  int turned;                 // meshes whose principal axes were chosen otherwise
  const char* const* unlike;  // fields that are not compared, ended by NULL; or NULL
} tbCompare;

// Compare rows of `columns`: |a - b| <= tolerance * (largest entry of the two rows) + 1e-15.
void tb_compare_rows(tbCompare* compare, const char* field, const double* a, const double* b,
                     int rows, int columns, double tolerance);
void tb_compare_ints(tbCompare* compare, const char* field, const int* a, const double* b, int n);

// Quaternions up to their sign.
void tb_compare_quats(tbCompare* compare, const char* field, const double* a, const double* b,
                      int n, double tolerance);

// Inertia of every body as a matrix about the centre of mass in the body's frame, whatever axes
// were chosen.
void tb_compare_inertia(tbCompare* compare, const tbModel* m, const double* iquat,
                        const double* inertia, double tolerance);

// Every field of the model that MuJoCo's model has too.
void tb_compare_model(tbCompare* compare, const tbModel* m, const tbOracle* oracle);

#endif
