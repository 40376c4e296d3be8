// A CSV file as a table of texts.
#ifndef TRIBO_PAGE_CSV_H_
#define TRIBO_PAGE_CSV_H_

typedef struct {
  int rows, columns;  // the first row has the names
  char** cell;        // rows x columns, "" where a row is short
  char* text;         // owns the characters
} Csv;

// Read a file; rows = 0 if there is none or it cannot be read.
Csv csv_read(const char* path);
void csv_free(Csv* csv);

// The cell of a row >= 1 under the column called `name`; "" if there is no such column.
const char* csv_get(const Csv* csv, int row, const char* name);

// A whole file as text that the caller frees; NULL if it cannot be read.
char* read_text(const char* path, long* size);

#endif
