#include "io/format.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// Finds the name of the root element: the first '<' that starts neither a declaration nor a
// comment.
tbFormat tb_format_detect(const char* text, size_t size) {
  if (size >= 8 && memcmp(text, "TRIBOTBM", 8) == 0) return TB_FORMAT_BINARY;
  size_t i = 0;
  while (i + 4 < size) {
    if (text[i] != '<') {
      i++;
    } else if (memcmp(text + i, "<!--", 4) == 0) {
      for (i += 4; i + 2 < size && memcmp(text + i, "-->", 3) != 0; i++) continue;
    } else if (text[i + 1] == '?' || text[i + 1] == '!') {
      i += 2;
    } else {
      const char* name = text + i + 1;
      size_t left = size - i - 1;
      if (left > 6 && memcmp(name, "mujoco", 6) == 0) return TB_FORMAT_MJCF;
      if (left > 5 && memcmp(name, "robot", 5) == 0) return TB_FORMAT_URDF;
      return TB_FORMAT_UNKNOWN;
    }
  }
  return TB_FORMAT_UNKNOWN;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t skip_blanks(const char* text, size_t size, size_t i) {
  while (i < size && is_blank(text[i])) i++;
  return i;
}

// Whether the declaration in [i, end) has a version that libxml2 rejects. The version is its first
// attribute.
static bool has_odd_version(const char* text, size_t i, size_t end) {
  i = skip_blanks(text, end, i);
  if (i + 7 > end || memcmp(text + i, "version", 7) != 0) return false;
  i = skip_blanks(text, end, i + 7);
  if (i == end || text[i] != '=') return false;
  i = skip_blanks(text, end, i + 1) + 1;
  return i + 2 <= end && memcmp(text + i, "1.", 2) != 0;
}

char* tb_format_without_declaration(const char* text, size_t size) {
  size_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  size_t start = skip_blanks(text, size, mark), end = start;
  if (start + 6 > size || memcmp(text + start, "<?xml", 5) != 0 || !is_blank(text[start + 5])) {
    return NULL;
  }
  while (end + 1 < size && memcmp(text + end, "?>", 2) != 0) end++;
  if (end + 1 >= size || (start == mark && !has_odd_version(text, start + 5, end))) return NULL;
  char* copy = malloc(size);
  if (!copy) return NULL;
  memcpy(copy, text, size);
  // Line ends stay, so that error messages have the line numbers of the file.
  for (size_t i = start; i < end + 2; i++) {
    if (!is_blank(copy[i])) copy[i] = ' ';
  }
  return copy;
}
