// A growing text, and the elements of a tree as XML.
#ifndef TRIBO_IO_SPEC_WRITE_H_
#define TRIBO_IO_SPEC_WRITE_H_

#include "io/spec/tree.h"

// Starts as zero; `s` is allocated by malloc.
typedef struct {
  char* s;
  size_t n, room;
  bool failed;  // out of memory
} tbText;

void tb_text_add(tbText* text, const char* s, size_t n);
void tb_text_put(tbText* text, const char* s);
// A value between quotes, with the characters escaped that XML requires.
void tb_text_quoted(tbText* text, const char* s);
// An element with its contents.
void tb_write_element(tbText* text, const tbElement* root);
// Writes the text to a file and frees it.
tbResult tb_text_save(tbText* text, const char* path, tbError* error);

#endif
