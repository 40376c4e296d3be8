// Values of fields as text.
#ifndef TRIBO_IO_SPEC_WRITE_FIELD_H_
#define TRIBO_IO_SPEC_WRITE_FIELD_H_

#include "io/flat_tables.h"
#include "io/spec/write.h"

// The bytes of a field's values; 0 for texts, lists and what is not kept.
size_t tb_field_size(const tbFlatField* field);

// Numbers with blanks between them, each with the fewest digits.
void tb_text_reals(tbText* text, const tbReal* values, int n);

// The value of a member as the attribute's text. False for none: a NULL text or an empty list.
bool tb_field_text(const tbFlatField* field, const void* member, tbText* text);

// The word of a value, or NULL.
const char* tb_field_word(const tbFlatWord* words, int value);

#endif
