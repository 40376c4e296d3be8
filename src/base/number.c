#include "base/number.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 200 };

static int is_digit(char c) {
  return c >= '0' && c <= '9';
}

const char* tb_skip_space(const char* at, const char* end) {
  while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r'))) at++;
  return at;
}

// The value of strtod on [at, end), with the decimal point of the current locale.
static const char* parse_slow(const char* at, const char* end, tbReal* value) {
  char text[LONGEST + 16];
  const char* point = localeconv()->decimal_point;
  size_t length = 0, width = strlen(point);
  if (end - at > LONGEST || width > 8) return NULL;
  for (const char* c = at; c < end; c++) {
    if (*c == '.') {
      memcpy(text + length, point, width);
      length += width;
    } else {
      text[length++] = *c;
    }
  }
  text[length] = 0;
  char* stop;
  *value = strtod(text, &stop);
  return *stop == 0 && isfinite(*value) ? end : NULL;
}

const char* tb_parse_real(const char* at, const char* end, tbReal* value) {
  static const double POWER[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  const char *start = at, *digits;
  int negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) at++;

  // Digits with at most one point; the mantissa is exact while it stays below 2^53.
  uint64_t mantissa = 0;
  int significant = 0, point_digits = 0, seen = 0;
  digits = at;
  for (int point = 0; at < end; at++) {
    if (*at == '.' && !point) {
      point = 1;
      continue;
    }
    if (!is_digit(*at)) break;
    seen = 1;
    if (significant < 19) mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    if (mantissa) significant++;
    point_digits += point;
  }
  if (!seen || at - digits > LONGEST) return NULL;

  // Exponent; an 'e' without digits behind it is not part of the number.
  int exponent = 0;
  if (at < end && (*at == 'e' || *at == 'E')) {
    const char* e = at + 1;
    int minus = e < end && *e == '-';
    if (e < end && (*e == '-' || *e == '+')) e++;
    if (e < end && is_digit(*e)) {
      for (; e < end && is_digit(*e); e++) {
        if (exponent < 10000) exponent = 10 * exponent + (*e - '0');
      }
      if (minus) exponent = -exponent;
      at = e;
    }
  }

  // One correctly rounded operation on exact operands (Clinger), else the slow method.
  int scale = exponent - point_digits;
  if (significant <= 19 && mantissa < (UINT64_C(1) << 53) && scale >= -22 && scale <= 22) {
    double v = (double)mantissa;
    v = scale < 0 ? v / POWER[-scale] : v * POWER[scale];
    *value = negative ? -v : v;
    return at;
  }
  return parse_slow(start, at, value);
}

const char* tb_parse_int(const char* at, const char* end, int* value) {
  int negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) at++;
  if (at >= end || !is_digit(*at)) return NULL;
  int64_t v = 0;
  for (; at < end && is_digit(*at); at++) {
    v = 10 * v + (*at - '0');
    if (v > INT32_MAX) return NULL;
  }
  *value = (int)(negative ? -v : v);
  return at;
}

// The value with a number of significant digits, and a point in any locale.
static void print_digits(char text[TB_NUMBER_TEXT], tbReal value, int digits) {
  snprintf(text, TB_NUMBER_TEXT, "%.*g", digits, value);
  const char* point = localeconv()->decimal_point;
  size_t width = strlen(point);
  char* at = width ? strstr(text, point) : NULL;
  if (!at) return;
  *at = '.';
  memmove(at + 1, at + width, strlen(at + width) + 1);
}

void tb_print_real(char text[TB_NUMBER_TEXT], tbReal value) {
  print_digits(text, value, 17);
}

void tb_print_shortest(char text[TB_NUMBER_TEXT], tbReal value) {
  // If 15 digits suffice for a normal number, they are its shortest text, without their trailing
  // zeros; denormal numbers have fewer digits.
  tbReal back;
  int digits = fabs(value) < 1e-300 ? 1 : 15;
  for (; digits < 17; digits++) {
    print_digits(text, value, digits);
    const char* end = text + strlen(text);
    if (tb_parse_real(text, end, &back) == end && back == value) return;
    if (isinf(value)) return;
  }
  print_digits(text, value, 17);
}
