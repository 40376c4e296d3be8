// Series of states or controls from CSV, numpy and HDF5 files.
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"
#include "io/fclib/file.h"
#include "io/npy.h"
#include "record/columns.h"
#include "tribo/record.h"

void tb_series_free(tbSeries* s) {
  if (!s) return;
  free(s->value);
  free(s->time);
  *s = (tbSeries){0};
}

int tb_series_row(const tbSeries* s, tbReal elapsed, tbReal timestep) {
  if (!s || s->rows < 1) return -1;
  // Times are sums of steps: rounding must not delay a row by a step.
  tbReal slack = 1e-3 * timestep;
  if (!s->time) {
    tbReal row = floor(elapsed / timestep + 1e-3);
    return row < 0 || !(timestep > 0) ? 0 : row < s->rows ? (int)row : s->rows - 1;
  }
  int low = 0, high = s->rows;
  while (high - low > 1) {
    int middle = low + (high - low) / 2;
    if (s->time[middle] - s->time[0] <= elapsed + slack) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

// ---- CSV ---------------------------------------------------------------------------------------

enum { OTHER = -1 };  // a column that is not read

// Contents of the columns of a file: 0 is time, 1 + i value i of the field.
typedef struct {
  int count;
  int* holds;
  bool timed;
} Columns;

// One cell of a line, without quotes and blanks around it; empty if it is too long. Returns what
// follows its separator, or NULL at the end of the line.
static const char* take_cell(const char* at, char* cell, size_t size) {
  size_t used = 0;
  bool quoted = false;
  while (*at == ' ') at++;
  for (; *at && *at != '\n' && *at != '\r' && (quoted || *at != ','); at++) {
    if (*at == '"' && quoted && at[1] == '"')
      at++;
    else if (*at == '"') {
      quoted = !quoted;
      continue;
    }
    if (used + 1 < size) cell[used] = *at;
    used++;
  }
  if (used + 1 > size) used = 0;
  while (used > 0 && cell[used - 1] == ' ') used--;
  cell[used] = 0;
  return *at == ',' ? at + 1 : NULL;
}

// The index of the value that a column of this name holds, OTHER if it is none; -2 if it is one of
// the field beyond those that the model has. Columns mostly follow each other: the search starts at
// `next`.
static int find_value(const tbModel* m, const tbField* f, const char* name, int next) {
  char text[TB_COLUMN_TEXT], rest;
  int number = -1;
  size_t n = strlen(f->name);
  bool prefixed = strncmp(name, f->name, n) == 0;
  if (prefixed && sscanf(name + n, "%d%c", &number, &rest) == 1 && number >= 0) {
    return number < f->width ? number : -2;
  }
  prefixed = prefixed && name[n] == ':';
  bool bare = strcmp(f->name, "ctrl") == 0;
  for (int k = 0; k < f->width && *name && (prefixed || bare); k++) {
    int component, i = (next + k) % f->width;
    bool only;
    const char* part = tb_field_part(m, f, i, &component, &only);
    if (bare && only && *part && strcmp(name, part) == 0) return i;
    if (!prefixed) continue;
    tb_field_column(m, f, i, text);
    if (strcmp(name, text) == 0) return i;
  }
  return OTHER;
}

// Parse the names of the first line; returns an error, or NULL. `missing` gets the first column
// that is not there, *absent the number of its value.
static const char* find_columns(const char* line, const tbModel* m, const tbField* f, Columns* c,
                                char missing[TB_COLUMN_TEXT], int* absent) {
  bool* seen = calloc((size_t)f->width + 2, sizeof *seen);
  const char *wrong = seen ? NULL : "out of memory", *at = line;
  int room = 1, next = 0;
  for (const char* p = line; *p; p++) room += *p == ',';
  c->holds = malloc((size_t)room * sizeof *c->holds);
  if (!c->holds) wrong = "out of memory";
  for (c->count = 0; at && !wrong; c->count++) {
    char name[TB_COLUMN_TEXT];
    at = take_cell(at, name, sizeof name);
    int value = find_value(m, f, name, next);
    if (value >= 0) next = value + 1;
    if (value == -2) wrong = "has more columns of this field than the model: it belongs to another";
    int index = strcmp(name, "time") == 0 ? 0 : value >= 0 ? 1 + value : OTHER;
    if (index >= 0 && seen[index]) index = OTHER;
    if (index >= 0) seen[index] = true;
    c->holds[c->count] = index;
  }
  c->timed = seen && seen[0];
  for (int i = 0; i < f->width && !wrong; i++) {
    if (seen[1 + i]) continue;
    tb_field_column(m, f, i, missing);
    *absent = i;
    wrong = "has no column for";
  }
  free(seen);
  return wrong;
}

// The unused column that is most like a missing one, by its name with or without the field: "" if
// none is.
static void find_similar(const char* line, const Columns* c, const char* missing,
                         char similar[TB_COLUMN_TEXT]) {
  const char* part = strchr(missing, ':');
  tbNearest nearest[2] = {{.name = missing}, {.name = part ? part + 1 : missing}};
  int least = INT_MAX;
  const char* at = line;
  for (int column = 0; at && column < c->count; column++) {
    char name[TB_COLUMN_TEXT];
    at = take_cell(at, name, sizeof name);
    for (int k = 0; k < 2 && c->holds[column] < 0; k++) {
      nearest[k].best = NULL;
      tb_nearest_offer(&nearest[k], name);
      if (!*name || !nearest[k].best || nearest[k].distance >= least) continue;
      least = nearest[k].distance;
      memcpy(similar, name, sizeof name);
    }
  }
}

// All names that the column of value `i` may have: "actuator 2: ctrl:hip, hip or ctrl2".
static void list_columns(const tbModel* m, const tbField* f, int i, char list[3 * TB_COLUMN_TEXT]) {
  char name[TB_COLUMN_TEXT], bare[TB_COLUMN_TEXT] = "", numbered[TB_FIELD_TEXT + 16];
  int component;
  bool only, is_ctrl = strcmp(f->name, "ctrl") == 0;
  const char* part = tb_field_part(m, f, i, &component, &only);
  tb_field_column(m, f, i, name);
  snprintf(numbered, sizeof numbered, "%s%d", f->name, i);
  if (is_ctrl && *part) snprintf(bare, sizeof bare, ", %.200s", part);
  bool named = strcmp(name, numbered) != 0;
  snprintf(list, 3 * TB_COLUMN_TEXT, "%s %d: %s%s%s%s", is_ctrl ? "actuator" : f->name, i, name,
           bare, named ? " or " : "", named ? numbered : "");
}

// A first line of numbers only: one column per value.
static bool is_row_of_numbers(const char* line, int* cells) {
  char cell[TB_COLUMN_TEXT];
  bool numbers = true;
  *cells = 0;
  for (const char* at = line; at; (*cells)++) {
    char* end;
    at = take_cell(at, cell, sizeof cell);
    strtod(cell, &end);
    numbers = numbers && end != cell && !*end;
  }
  return numbers;
}

// Read one row into `row` (time, then the values); false if a number is missing or not finite.
static bool read_row(const char* line, const Columns* c, int width, tbReal* row) {
  int found = 0;
  const char* at = line;
  for (int column = 0; column < c->count && at; column++) {
    char cell[128], *end;
    at = take_cell(at, cell, sizeof cell);
    double value = strtod(cell, &end);
    int index = c->holds[column];
    if (index < 0) continue;
    if (end == cell || *end || !isfinite(value)) return false;
    row[index] = value;
    found++;
  }
  return found == width + c->timed;
}

static bool add_row(tbSeries* s, int* room, bool timed, const tbReal* row) {
  if (s->rows == *room) {
    if (*room > 1 << 28) return false;
    *room = *room ? 2 * *room : 256;
    tbReal* value = realloc(s->value, (size_t)*room * ((size_t)s->width + 1) * sizeof *value);
    if (value) s->value = value;
    tbReal* time = timed ? realloc(s->time, (size_t)*room * sizeof *time) : s->time;
    if (time) s->time = time;
    if (!value || (timed && !time)) return false;
  }
  if (timed) s->time[s->rows] = row[0];
  memcpy(s->value + (size_t)s->rows * (size_t)s->width, row + 1, (size_t)s->width * sizeof *row);
  s->rows++;
  return true;
}

static bool is_blank(const char* line) {
  return !line[strspn(line, " \t\r\n")];
}

// The rows after the first line; returns an error, or NULL. `line` holds the first one, which is
// read again where `headless`.
static const char* read_rows(FILE* f, char** line, size_t* size, const Columns* c, bool headless,
                             tbSeries* s, int* number) {
  int room = 0;
  tbReal* row = calloc((size_t)s->width + 1, sizeof *row);
  const char* wrong = row ? NULL : "out of memory";
  bool more = headless || getline(line, size, f) > 0;
  for (*number = headless ? 1 : 2; more && !wrong; more = getline(line, size, f) > 0, ++*number) {
    if (is_blank(*line)) continue;
    if (!read_row(*line, c, s->width, row)) {
      wrong = "has a line that is not finite numbers, one for each column";
    } else if (c->timed && s->rows && row[0] < s->time[s->rows - 1]) {
      wrong = "has times that decrease";
    } else if (!add_row(s, &room, c->timed, row)) {
      wrong = "is too long";
    }
    if (wrong) break;
  }
  free(row);
  return wrong;
}

static tbResult read_csv(const char* path, const tbModel* m, const tbField* f, tbSeries* s,
                         tbError* error) {
  struct stat status;
  FILE* file = stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? NULL : fopen(path, "r");
  if (!file) {
    return tb_fail(error, TB_ERROR_FILE, "%s: cannot be read: %s", path,
                   errno ? strerror(errno) : "a folder");
  }
  char *line = NULL, missing[TB_COLUMN_TEXT] = "";
  size_t size = 0;
  int cells = 0, number = 1, absent = 0;
  Columns c = {0};
  const char* wrong = NULL;
  bool any = getline(&line, &size, file) > 0;
  bool headless = any && is_row_of_numbers(line, &cells);
  if (!any) wrong = "is empty";
  if (headless && cells != f->width) {
    snprintf(missing, sizeof missing, "%d columns of numbers, expected %d%s", cells, f->width,
             cells == f->width + 1 ? " (or a first line with the names of columns)" : "");
    wrong = "has";
  } else if (headless) {
    c = (Columns){cells, malloc((size_t)cells * sizeof(int)), false};
    for (int i = 0; i < cells && c.holds; i++) c.holds[i] = 1 + i;
    if (!c.holds) wrong = "out of memory";
  } else if (any) {
    wrong = find_columns(line, m, f, &c, missing, &absent);
  }
  if (!wrong) wrong = read_rows(file, &line, &size, &c, headless, s, &number);
  if (!wrong && s->rows == 0) wrong = "has no rows";
  char similar[TB_COLUMN_TEXT] = "", names[3 * TB_COLUMN_TEXT];
  snprintf(names, sizeof names, "%s", missing);
  if (wrong && *missing && !headless) {
    find_similar(line, &c, missing, similar);
    list_columns(m, f, absent, names);
  }
  free(line);
  free(c.holds);
  fclose(file);
  if (!wrong) return TB_OK;
  return tb_fail(error, TB_ERROR_PARSE, "%s:%d: %s%s%s%s%s%s", path, number, wrong,
                 *missing ? " " : "", names, *similar ? " (nearest: '" : "", similar,
                 *similar                ? "')"
                 : *missing && !headless ? " (every value needs one)"
                                         : "");
}

// ---- other formats -----------------------------------------------------------------------------

static tbResult check_values(const char* path, const tbField* f, const tbSeries* s,
                             tbError* error) {
  for (size_t i = 0; i < (size_t)s->rows * (size_t)s->width; i++) {
    if (isfinite(s->value[i])) continue;
    return tb_fail(error, TB_ERROR_PARSE, "%s: value %d of %s in row %d is not finite", path,
                   (int)(i % (size_t)s->width), f->name, (int)(i / (size_t)s->width));
  }
  for (int i = 0; i < s->rows && s->time; i++) {
    if (isfinite(s->time[i]) && (i == 0 || s->time[i] >= s->time[i - 1])) continue;
    return tb_fail(error, TB_ERROR_PARSE, "%s: the time of row %d is not finite or decreases", path,
                   i);
  }
  if (s->rows > 0) return TB_OK;
  return tb_fail(error, TB_ERROR_PARSE, "%s: no rows of %s", path, f->name);
}

static tbResult read_npy(const char* path, const tbField* f, tbSeries* s, tbError* error) {
  tbNpy array = {0};
  tbResult result = tb_npy_read(path, NULL, &array, error);
  if (result != TB_OK) return result;
  int columns = array.ndim == 2 ? array.shape[1] : 1;
  if (array.ndim < 1 || array.ndim > 2 || columns != f->width) {
    result = tb_fail(error, TB_ERROR_PARSE, "%s: expected an array of rows x %d (%s), not of %d%s",
                     path, f->width, f->name, columns,
                     array.ndim == 2 ? " columns" : " columns: it must have two dimensions");
  } else {
    s->rows = array.shape[0];
    s->value = malloc((array.count + 1) * sizeof *s->value);
    if (!s->value) result = tb_fail(error, TB_ERROR_MEMORY, "out of memory for %s", path);
    for (size_t i = 0; i < array.count && s->value; i++) s->value[i] = array.data[i];
  }
  tb_npy_free(&array);
  return result;
}

static tbResult read_hdf5(const char* path, const tbField* f, tbSeries* s, tbError* error) {
  tbH5 file;
  int count = 0, times = 0;
  tbResult result = tb_h5_load(path, error);
  if (result == TB_OK) result = tb_h5_open(path, false, &file, error);
  if (result != TB_OK) return result;
  if (!tb_h5_exists(file, f->name)) {
    result = tb_fail(error, TB_ERROR_PARSE, "%s: expected a dataset '%s' of rows x %d", path,
                     f->name, f->width);
  }
  if (result == TB_OK) result = tb_h5_read_reals(file, f->name, &s->value, &count, error);
  if (result == TB_OK && (f->width == 0 || count % f->width != 0)) {
    result = tb_fail(error, TB_ERROR_PARSE, "%s: '%s' has %d values, expected rows of %d", path,
                     f->name, count, f->width);
  }
  if (result == TB_OK) s->rows = count / f->width;
  if (result == TB_OK && tb_h5_exists(file, "time")) {
    result = tb_h5_read_reals(file, "time", &s->time, &times, error);
    if (result == TB_OK && times != s->rows) {
      result = tb_fail(error, TB_ERROR_PARSE, "%s: %d times, but %d rows of %s", path, times,
                       s->rows, f->name);
    }
  }
  tb_h5_close(file);
  return result;
}

tbResult tb_series_read(const char* path, const tbModel* m, const char* field, tbSeries* s,
                        tbError* error) {
  tbField f;
  tb_error_clear(error);
  if (s) *s = (tbSeries){0};
  if (!path || !m || !field || !s) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "tb_series_read: path, model, field and series must not be NULL");
  }
  // Fields that may be read, and of what a model without their values has none.
  static const char* const FIELDS[][2] = {
      {"qpos", "joints"}, {"qvel", "joints"}, {"ctrl", "actuators"}, {"act", "activations"}};
  enum { KNOWN = sizeof FIELDS / sizeof *FIELDS };
  int known = 0;
  while (known < KNOWN && strcmp(field, FIELDS[known][0]) != 0) known++;
  if (known == KNOWN || !tb_record_field_find(m, field, &f)) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "tb_series_read: expected the field qpos, qvel, ctrl or act, not '%.60s'",
                   field);
  }
  if (f.width == 0) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "%s: the model has no %s", path, FIELDS[known][1]);
  }
  s->width = f.width;
  tbResult result;
  if (tb_ends_with(path, ".npy")) {
    result = read_npy(path, &f, s, error);
  } else if (tb_ends_with(path, ".h5") || tb_ends_with(path, ".hdf5")) {
    result = read_hdf5(path, &f, s, error);
  } else if (tb_ends_with(path, ".csv") || tb_ends_with(path, ".txt")) {
    result = read_csv(path, m, &f, s, error);
  } else {
    result =
        tb_fail(error, TB_ERROR_ARGUMENT, "'%s': expected a file .csv, .npy, .h5 or .hdf5", path);
  }
  if (result == TB_OK) result = check_values(path, &f, s, error);
  if (result != TB_OK) tb_series_free(s);
  return result;
}
