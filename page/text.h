// Text that grows, for scenes written on the fly; memory that must be there.
#ifndef TRIBO_PAGE_TEXT_H_
#define TRIBO_PAGE_TEXT_H_

#include <stddef.h>

typedef struct {
  char* text;  // NULL while empty; the caller frees it
  size_t length, capacity;
} PageText;

// Append what printf would write, at most 1023 characters. Out of memory leaves the text as it is.
void page_text_add(PageText* t, const char* format, ...) __attribute__((format(printf, 2, 3)));

// `pointer`; out of memory in a benchmark ends the program: nothing sensible is left to measure.
void* page_need(void* pointer);

// A copy that the caller frees.
char* page_text_copy(const char* text);

#endif
