#include "csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char* read_text(const char* path, long* size) {
  FILE* f = fopen(path, "rb");
  if (!f) return NULL;
  char* text = NULL;
  if (fseek(f, 0, SEEK_END) == 0 && (*size = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0) {
    text = malloc((size_t)*size + 1);
    if (text && fread(text, 1, (size_t)*size, f) != (size_t)*size) {
      free(text);
      text = NULL;
    }
    if (text) text[*size] = 0;
  }
  fclose(f);
  return text;
}

// One cell in place: unquotes it, ends it with a zero, and returns what ended it (',', '\n' or 0).
static char take_cell(char** cursor, char** cell) {
  char *in = *cursor, *out = *cursor;
  *cell = out;
  int quoted = *in == '"';
  if (quoted) in++;
  while (*in && (quoted || (*in != ',' && *in != '\n'))) {
    if (quoted && *in == '"') {
      if (in[1] != '"') {
        quoted = 0;
        in++;
        continue;
      }
      in++;
    }
    *out++ = *in++;
  }
  char end = *in;
  *out = 0;
  *cursor = end ? in + 1 : in;
  return end;
}

Csv csv_read(const char* path) {
  Csv csv = {0};
  long size = 0;
  csv.text = read_text(path, &size);
  if (!csv.text) return csv;

  // Commas and lines bound the table's size from above.
  int lines = 1, columns = 1;
  for (char* p = csv.text; *p; p++) lines += *p == '\n';
  for (char* p = csv.text; *p && *p != '\n'; p++) columns += *p == ',';
  csv.columns = columns;
  csv.cell = calloc((size_t)lines * (size_t)columns, sizeof *csv.cell);
  if (!csv.cell) return csv;
  static char empty[] = "";
  for (int i = 0; i < lines * columns; i++) csv.cell[i] = empty;
  char* cursor = csv.text;
  while (*cursor && csv.rows < lines) {
    char end = ',';
    for (int c = 0; end == ','; c++) {
      char* cell;
      end = take_cell(&cursor, &cell);
      if (c < columns) csv.cell[csv.rows * columns + c] = cell;
    }
    csv.rows++;
  }
  return csv;
}

void csv_free(Csv* csv) {
  free(csv->cell);
  free(csv->text);
  *csv = (Csv){0};
}

const char* csv_get(const Csv* csv, int row, const char* name) {
  for (int c = 0; c < csv->columns && row < csv->rows; c++) {
    if (strcmp(csv->cell[c], name) == 0) return csv->cell[row * csv->columns + c];
  }
  return "";
}
