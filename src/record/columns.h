// Fields of a recording: where their values are, and what their columns are called.
#ifndef TRIBO_RECORD_COLUMNS_H_
#define TRIBO_RECORD_COLUMNS_H_

#include <stdbool.h>
#include <stddef.h>

#include "tribo/data.h"

enum { TB_COLUMN_TEXT = 256, TB_FIELD_TEXT = 32 };

typedef struct {
  char name[TB_FIELD_TEXT];
  int width;         // values
  size_t offset;     // of the array's pointer in tbData; the special fields have none
  bool integers;     // the array has int
  const char* part;  // size of the model that counts the rows of the array: "nq", "nbody"; ""
  int per_part;      // values of each row
} tbField;

// The array of tbData of that name. False if there is none, or if it is scratch memory.
bool tb_record_field_find(const tbModel* model, const char* name, tbField* field);

// Name of column `i`, as record.h describes it. A long name is cut.
void tb_field_column(const tbModel* model, const tbField* field, int i, char text[TB_COLUMN_TEXT]);

// Name of the part that column `i` belongs to, "" if it has none; *only (may be NULL): whether the
// part has no other values in this field.
const char* tb_field_part(const tbModel* model, const tbField* field, int i, int* component,
                          bool* only);

// All names of fields that are known and near to a wrong one are offered here, for a hint.
const char* tb_field_nearest(const char* wrong);

#endif
