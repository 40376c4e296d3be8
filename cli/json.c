#include "json.h"

#include <math.h>

static bool started;

bool json_started(void) {
  return started;
}

// Bytes of the UTF-8 character at p, 0 if it is invalid.
static int character_length(const unsigned char* p) {
  int length = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 : 4;
  if (*p >= 0xf5 || (*p >= 0x80 && *p < 0xc2)) return 0;
  for (int i = 1; i < length; i++) {
    if ((p[i] & 0xc0) != 0x80) return 0;
  }
  // An overlong encoding, a surrogate, or beyond the last character.
  bool bad = (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0) ||
             (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] >= 0x90);
  return bad ? 0 : length;
}

static void print_string(FILE* out, const char* text) {
  fputc('"', out);
  for (const unsigned char* p = (const unsigned char*)text; *p;) {
    int length = character_length(p);
    if (*p == '"' || *p == '\\') {
      fprintf(out, "\\%c", *p);
    } else if (*p < 0x20) {
      fprintf(out, "\\u%04x", *p);
    } else if (length) {
      fwrite(p, 1, (size_t)length, out);
    } else {
      // File names may contain any bytes.
      fputs("\\ufffd", out);
    }
    p += length ? length : 1;
  }
  fputc('"', out);
}

// Comma and key before a value.
static void lead(Json* json, const char* key) {
  if (json->comma) fputs(", ", json->out);
  json->comma = true;
  if (key) {
    print_string(json->out, key);
    fputs(": ", json->out);
  }
}

static void print_real(FILE* out, double value) {
  if (isfinite(value)) {
    fprintf(out, "%.17g", value);
  } else {
    fputs("null", out);
  }
}

void json_open(Json* json, const char* key) {
  started = true;
  lead(json, key);
  fputc('{', json->out);
  json->comma = false;
}

void json_close(Json* json) {
  fputc('}', json->out);
  json->comma = true;
}

void json_open_array(Json* json, const char* key) {
  lead(json, key);
  fputc('[', json->out);
  json->comma = false;
}

void json_close_array(Json* json) {
  fputc(']', json->out);
  json->comma = true;
}

void json_real(Json* json, const char* key, double value) {
  lead(json, key);
  print_real(json->out, value);
}

void json_int(Json* json, const char* key, long value) {
  lead(json, key);
  fprintf(json->out, "%ld", value);
}

void json_bool(Json* json, const char* key, bool value) {
  lead(json, key);
  fputs(value ? "true" : "false", json->out);
}

void json_string(Json* json, const char* key, const char* value) {
  lead(json, key);
  print_string(json->out, value);
}

void json_reals(Json* json, const char* key, const tbReal* values, long count) {
  json_open_array(json, key);
  for (long i = 0; i < count; i++) json_real(json, NULL, values[i]);
  json_close_array(json);
}

void json_ints(Json* json, const char* key, const int* values, long count) {
  json_open_array(json, key);
  for (long i = 0; i < count; i++) json_int(json, NULL, values[i]);
  json_close_array(json);
}

void json_residual(Json* json, const char* key, const tbResidual* residual) {
  json_open(json, key);
  json_real(json, "primal", residual->primal);
  json_real(json, "dual", residual->dual);
  json_real(json, "complementarity", residual->complementarity);
  json_real(json, "relative", residual->relative);
  json_close(json);
}
