#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void page_text_add(PageText* t, const char* format, ...) {
  char piece[1024];
  va_list list;
  va_start(list, format);
  int n = vsnprintf(piece, sizeof piece, format, list);
  va_end(list);
  if (n < 0 || n >= (int)sizeof piece) return;
  if (t->length + (size_t)n + 1 > t->capacity) {
    size_t capacity = 2 * (t->length + (size_t)n) + 4096;
    char* grown = realloc(t->text, capacity);
    if (!grown) return;
    t->text = grown;
    t->capacity = capacity;
  }
  memcpy(t->text + t->length, piece, (size_t)n + 1);
  t->length += (size_t)n;
}

void* page_need(void* pointer) {
  if (!pointer) {
    fprintf(stderr, "out of memory\n");
    exit(3);
  }
  return pointer;
}

char* page_text_copy(const char* text) {
  size_t size = strlen(text) + 1;
  return memcpy(page_need(malloc(size)), text, size);
}
