// The page of `tribo compare`: table, figures and a picture, in a folder.
#ifndef TRIBO_CLI_COMPARE_PAGE_H_
#define TRIBO_CLI_COMPARE_PAGE_H_

#include "measured.h"

// A column of the comparison, in the table, the page and JSON.
typedef struct {
  const char *key, *head;  // in JSON; over the column, with its unit
  double scale;            // from SI to the column's unit
  const char* format;
  const char* what;
} MeasuredColumn;

enum { MEASURED_COLUMNS = 14 };
extern const MeasuredColumn MEASURED_COLUMN[MEASURED_COLUMNS];

// Value of column `c` in SI units; NaN: not measured.
double measured_value(const Measured* measured, int c);

// Text of column `c`: "-" where it was not measured.
const char* measured_text(const Measured* measured, int c, char text[32]);

// Write FOLDER/index.html, compare.svg and compare.png. False after a complaint.
bool compare_page(const char* folder, const char* model_path, const Scenario* scenario,
                  const Measured* measured, int count, int reference);

#endif
