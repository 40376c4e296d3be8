// Fields of the data by world: what a batch copies after each call, and what rollouts record.
#ifndef TRIBO_BATCH_REQUEST_H_
#define TRIBO_BATCH_REQUEST_H_

#include <stdbool.h>

#include "tribo/batch.h"

typedef struct {
  const char* name;
  const char* type;  // "real" or "int"
  size_t offset;     // in tbData: of the pointer, or of the value
  int count;         // values of a row
  size_t bytes;      // of a row
  bool by_value;
  bool derived;      // not of the state, the inputs and the sensors
  bool second_half;  // known after the law only
  int needs;         // bits of tbSensorNeeds
  // Computes the row; NULL: it is in the data.
  void (*compute)(const tbModel* model, tbData* data, void* row);
} tbField;

// The field called `name`. False, and a hint for the message, if there is none.
bool tb_field_find(const tbModel* model, const char* name, tbField* field, char hint[96]);

// Copy a field of a world to `row`, after a step or an evaluation.
void tb_field_copy(const tbField* field, const tbModel* model, tbData* data, void* row);

typedef struct {
  tbField field;
  char* rows;  // nworld rows
} tbRequest;

typedef struct {
  tbRequest* list;
  int count;
  int needs;  // of all of them
} tbRequests;

void tb_requests_free(tbRequests* requests);
size_t tb_requests_bytes(const tbRequests* requests, int nworld);

// Copy the requested fields of world w; only those of the first half of a step unless
// `second_half`.
void tb_requests_copy(const tbRequests* requests, const tbModel* model, tbData* data, int w,
                      bool second_half);

#endif
