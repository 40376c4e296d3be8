// A reader of JSON, just strict enough to refuse what is not JSON.
#ifndef TRIBO_TEST_CLI_JSON_READER_H_
#define TRIBO_TEST_CLI_JSON_READER_H_

#include "common/test.h"

static const char* skip_space(const char* p) {
  while (*p == ' ' || *p == '\n' || *p == '\t') p++;
  return p;
}

static const char* skip_value(const char* p);

// Members or elements up to `end`; NULL where malformed.
static const char* skip_list(const char* p, char end, bool keys) {
  p = skip_space(p);
  if (*p == end) return p + 1;
  while (p) {
    if (keys) {
      p = *skip_space(p) == '"' ? skip_value(p) : NULL;
      if (!p || *(p = skip_space(p)) != ':') return NULL;
      p++;
    }
    p = skip_value(p);
    if (!p) return NULL;
    p = skip_space(p);
    if (*p == end) return p + 1;
    if (*p++ != ',') return NULL;
  }
  return NULL;
}

static const char* skip_value(const char* p) {
  p = skip_space(p);
  if (*p == '{') return skip_list(p + 1, '}', true);
  if (*p == '[') return skip_list(p + 1, ']', false);
  if (*p == '"') {
    for (p++; *p && *p != '"'; p++) p += *p == '\\';
    return *p ? p + 1 : NULL;
  }
  static const char* const words[] = {"true", "false", "null"};
  for (int i = 0; i < 3; i++) {
    if (strncmp(p, words[i], strlen(words[i])) == 0) return p + strlen(words[i]);
  }
  // No infinities and no NaN.
  const char* digit = p + (*p == '-');
  if (*digit < '0' || *digit > '9') return NULL;
  char* end;
  strtod(p, &end);
  return end;
}

// Fail unless `text` is one JSON value and nothing else.
static inline void assert_json(const char* text) {
  const char* end = skip_value(text);
  assert_non_null(end);
  assert_int_equal(*skip_space(end), 0);
}

#endif
