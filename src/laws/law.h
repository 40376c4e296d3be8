// A law of a step: what src/laws/<family>/law.c fills in. The table of all laws is
// step/law_table.c; model/law_kinds.h lists them.
#ifndef TRIBO_LAWS_LAW_H_
#define TRIBO_LAWS_LAW_H_

#include "partials/derivatives.h"
#include "tribo/inverse.h"
#include "world/state.h"

// Memory of a law between steps: the first `size` bytes of its state, which can be moved. It
// belongs to snapshots and to every world of a batch.
typedef struct {
  size_t size;
  void (*free)(void* memory);
  void (*clear)(void* memory);  // keeps the allocation
  size_t (*bytes)(const void* memory);
  // A copy as bytes, the same for the same values, and back. TB_ERROR_PARSE if they are no copy.
  size_t (*saved_size)(const void* memory);
  void (*save)(const void* memory, unsigned char* to);
  tbResult (*load)(void* memory, const unsigned char* from, size_t size, tbError* error);
} tbLawMemory;

// NULL operations: none, or the default in brackets.
struct tbLawType {
  unsigned solvers;  // bit 1 << TB_SOLVER_X: tbOption.solver may be X

  // ---- a step, in this order ----
  tbLookAhead (*look_ahead)(const tbModel* model);  // for limits [rows of violated limits]
  tbReal (*reach)(const tbStep* step);              // gap up to which contacts are detected, m [0]
  tbResult (*prune)(const tbStep* step);            // select contacts without rows (state->pruned)
  tbResult (*prepare)(const tbStep* step);          // when all rows are known
  // From the smooth forces to the next velocity: fills qacc, qfrc_constraint, the forces of rows
  // and contacts and data->solve.
  tbResult (*velocity)(const tbStep* step, tbReal* v_next);
  tbResult (*keep)(const tbStep* step);  // before the motion: what the next step needs
  void (*undo)(const tbStep* step);      // the motion failed: what `keep` replaced

  // ---- derivatives and inverse dynamics ----
  // Whether `linearize` covers this step, or with `forces_only` the forces at its state
  // [differences].
  bool (*has_partials)(const tbStep* step, bool forces_only);
  tbResult (*linearize)(tbDerivatives* x, const tbStep* step, const tbDerivativeSettings* settings);
  tbResult (*inverse)(const tbStep* step, const tbReal* qacc, const tbInverseSettings* settings,
                      tbReal* qfrc, tbInverseInfo* info);

  // ---- its own state in a world (tbStepState.law), zeroed before `open`, which
  // is called again when sizes or places of geoms have changed ----
  size_t state_size;
  void (*open)(void* own, const tbModel* model);
  void (*close)(void* own);                                            // frees the state [free]
  void (*count)(const void* own, size_t* bytes, size_t* allocations);  // adds what the state owns
  const tbLawMemory* memory;
};

#endif
