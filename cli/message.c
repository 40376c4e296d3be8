#include "message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

// All complaints of this run, concatenated.
static char messages[4096];

bool complain(const char* command, const char* format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, command ? "tribo %s: %s\n" : "tribo%s: %s\n", command ? command : "", text);
  size_t used = strlen(messages);
  snprintf(messages + used, sizeof messages - used, used ? "; %s" : "%s", text);
  return false;
}

const char* counted(char text[COUNTED_TEXT], long n, const char* one, const char* many) {
  snprintf(text, COUNTED_TEXT, "%ld %s", n, n == 1 ? one : many);
  return text;
}

void message_report(void) {
  if (!messages[0]) return;
  Json json = {stdout, false};
  json_open(&json, NULL);
  json_string(&json, "error", messages);
  json_close(&json);
  putchar('\n');
}
