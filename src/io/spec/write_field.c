#include "io/spec/write_field.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

size_t tb_field_size(const tbFlatField* field) {
  switch (field->kind) {
    case TB_FIELD_REAL: return sizeof(tbReal) * (size_t)field->most;
    case TB_FIELD_INT: return sizeof(int) * (size_t)field->most;
    case TB_FIELD_ENUM: return sizeof(int);
    default: return 0;
  }
}

void tb_text_reals(tbText* text, const tbReal* values, int n) {
  for (int i = 0; i < n; i++) {
    char number[TB_NUMBER_TEXT];
    tb_print_shortest(number, values[i]);
    if (i) tb_text_put(text, " ");
    tb_text_put(text, number);
  }
}

const char* tb_field_word(const tbFlatWord* words, int value) {
  while (words->word && words->value != value) words++;
  return words->word;
}

bool tb_field_text(const tbFlatField* field, const void* member, tbText* text) {
  char number[16];
  const char* s;
  tbSpecList list;
  switch (field->kind) {
    case TB_FIELD_REAL: tb_text_reals(text, (const tbReal*)member, field->most); return true;
    case TB_FIELD_INT:
      for (int i = 0; i < field->most; i++) {
        snprintf(number, sizeof number, i ? " %d" : "%d", ((const int*)member)[i]);
        tb_text_put(text, number);
      }
      return true;
    case TB_FIELD_ENUM:
      s = tb_field_word(field->words, *(const int*)member);
      // A value without a word is no value of the attribute; the check refuses the number.
      snprintf(number, sizeof number, "%d", *(const int*)member);
      tb_text_put(text, s ? s : number);
      return true;
    case TB_FIELD_TEXT:
      memcpy(&s, member, sizeof s);
      if (s) tb_text_put(text, s);
      return s != NULL;
    case TB_FIELD_LIST:
      memcpy(&list, member, sizeof list);
      tb_text_reals(text, list.v, list.n);
      return list.n > 0;
    case TB_FIELD_SKIP: return false;
  }
  return false;
}
