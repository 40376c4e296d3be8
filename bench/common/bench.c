#include "common/bench.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/timer.h"
#include "page/text.h"

typedef enum { CELL_NONE, CELL_TEXT, CELL_REAL, CELL_INT, CELL_BOOL } CellKind;

typedef struct {
  CellKind kind;
  char* text;
  double real;
  long long integer;
} Cell;

struct tbTable {
  char* name;
  char** columns;
  int column_count, column_capacity;
  Cell** rows;     // each with the number of columns known when it was last widened
  int* row_width;  // columns allocated in that row
  int row_count, row_capacity;
};

struct tbBench {
  char* name;
  char* out;
  bool short_run, json;
  int argc;
  char** argv;
  bool* used;
  tbTable** tables;
  int table_count;
  char** notes;
  int note_count;
  char path[1024];
  double progress_shown;
  tbTable* claims;
  int claims_worse;
};

// ---- arguments ---------------------------------------------------------------------------------

// mkdir -p
static bool make_folder(const char* path) {
  char buffer[1024];
  if (strlen(path) >= sizeof buffer) return false;
  strcpy(buffer, path);
  for (char* p = buffer + 1; *p; p++) {
    if (*p != '/') continue;
    *p = 0;
    if (mkdir(buffer, 0777) != 0 && errno != EEXIST) return false;
    *p = '/';
  }
  return mkdir(buffer, 0777) == 0 || errno == EEXIST;
}

tbBench* tb_bench_open(const char* name, int argc, char** argv) {
  tbBench* bench = page_need(calloc(1, sizeof *bench));
  bench->name = page_text_copy(name);
  bench->argc = argc;
  bench->argv = argv;
  bench->used = page_need(calloc((size_t)argc + 1, sizeof(bool)));
  bench->progress_shown = -1;
  if (tb_bench_flag(bench, "help") || tb_bench_flag(bench, "h")) {
    fprintf(stderr, "tribo-bench-%s [--out DIR] [--short] [--json] [options of this benchmark]\n",
            name);
    tb_bench_close(bench);
    return NULL;
  }
  bench->short_run = tb_bench_flag(bench, "short");
  bench->json = tb_bench_flag(bench, "json");
  const char* out = tb_bench_option(bench, "out", NULL);
  if (out && !make_folder(out)) {
    fprintf(stderr, "cannot create the folder %s: %s\n", out, strerror(errno));
    tb_bench_close(bench);
    return NULL;
  }
  if (out) bench->out = page_text_copy(out);
  return bench;
}

bool tb_bench_short(const tbBench* bench) {
  return bench->short_run;
}

bool tb_bench_json(const tbBench* bench) {
  return bench->json;
}

const char* tb_bench_out(const tbBench* bench) {
  return bench->out;
}

const char* tb_bench_path(tbBench* bench, const char* file) {
  if (!bench->out) return NULL;
  snprintf(bench->path, sizeof bench->path, "%s/%s", bench->out, file);
  return bench->path;
}

// Whether argument `i` is `--key` or `-key`.
static bool is_key(const tbBench* bench, int i, const char* key) {
  const char* arg = bench->argv[i];
  if (*arg != '-') return false;
  arg += arg[1] == '-' ? 2 : 1;
  return strcmp(arg, key) == 0;
}

const char* tb_bench_option(tbBench* bench, const char* key, const char* fallback) {
  for (int i = 1; i + 1 < bench->argc; i++) {
    if (!is_key(bench, i, key)) continue;
    bench->used[i] = bench->used[i + 1] = true;
    return bench->argv[i + 1];
  }
  return fallback;
}

bool tb_bench_flag(tbBench* bench, const char* key) {
  for (int i = 1; i < bench->argc; i++) {
    if (!is_key(bench, i, key)) continue;
    bench->used[i] = true;
    return true;
  }
  return false;
}

bool tb_bench_check_arguments(const tbBench* bench) {
  for (int i = 1; i < bench->argc; i++) {
    if (bench->used[i]) continue;
    fprintf(stderr, "tribo-bench-%s: unknown argument %s\n", bench->name, bench->argv[i]);
    return false;
  }
  return true;
}

// ---- tables ------------------------------------------------------------------------------------

tbTable* tb_bench_table(tbBench* bench, const char* name) {
  tbTable* table = page_need(calloc(1, sizeof *table));
  table->name = page_text_copy(name);
  bench->tables =
      page_need(realloc(bench->tables, (size_t)(bench->table_count + 1) * sizeof *bench->tables));
  bench->tables[bench->table_count++] = table;
  return table;
}

void tb_table_row(tbTable* table) {
  if (table->row_count == table->row_capacity) {
    table->row_capacity = table->row_capacity ? 2 * table->row_capacity : 64;
    size_t n = (size_t)table->row_capacity;
    table->rows = page_need(realloc(table->rows, n * sizeof *table->rows));
    table->row_width = page_need(realloc(table->row_width, n * sizeof *table->row_width));
  }
  table->rows[table->row_count] = NULL;
  table->row_width[table->row_count++] = 0;
}

static int find_column(tbTable* table, const char* column) {
  for (int i = 0; i < table->column_count; i++) {
    if (strcmp(table->columns[i], column) == 0) return i;
  }
  if (table->column_count == table->column_capacity) {
    table->column_capacity = table->column_capacity ? 2 * table->column_capacity : 16;
    table->columns =
        page_need(realloc(table->columns, (size_t)table->column_capacity * sizeof *table->columns));
  }
  table->columns[table->column_count] = page_text_copy(column);
  return table->column_count++;
}

// The cell of `column` in the last row; starts a row if there is none.
static Cell* cell_of(tbTable* table, const char* column) {
  if (table->row_count == 0) tb_table_row(table);
  int c = find_column(table, column), r = table->row_count - 1;
  if (c >= table->row_width[r]) {
    int width = c + 8;
    table->rows[r] = page_need(realloc(table->rows[r], (size_t)width * sizeof(Cell)));
    memset(table->rows[r] + table->row_width[r], 0,
           (size_t)(width - table->row_width[r]) * sizeof(Cell));
    table->row_width[r] = width;
  }
  Cell* cell = &table->rows[r][c];
  free(cell->text);
  cell->text = NULL;
  return cell;
}

void tb_table_text(tbTable* table, const char* column, const char* value) {
  Cell* cell = cell_of(table, column);
  cell->kind = CELL_TEXT;
  cell->text = page_text_copy(value ? value : "");
}

void tb_table_real(tbTable* table, const char* column, double value) {
  Cell* cell = cell_of(table, column);
  cell->kind = CELL_REAL;
  cell->real = value;
}

void tb_table_int(tbTable* table, const char* column, long long value) {
  Cell* cell = cell_of(table, column);
  cell->kind = CELL_INT;
  cell->integer = value;
}

void tb_table_bool(tbTable* table, const char* column, bool value) {
  Cell* cell = cell_of(table, column);
  cell->kind = CELL_BOOL;
  cell->integer = value;
}

static Cell cell_at(const tbTable* table, int row, int column) {
  if (column < table->row_width[row]) return table->rows[row][column];
  return (Cell){CELL_NONE, NULL, 0, 0};
}

// One cell as text; `digits` significant digits for reals.
static const char* cell_text(Cell cell, int digits, char* buffer, size_t size) {
  switch (cell.kind) {
    case CELL_TEXT: return cell.text;
    case CELL_REAL: snprintf(buffer, size, "%.*g", digits, cell.real); return buffer;
    case CELL_INT: snprintf(buffer, size, "%lld", cell.integer); return buffer;
    case CELL_BOOL: return cell.integer ? "true" : "false";
    default: return "";
  }
}

static void print_text(const tbTable* table) {
  char buffer[64];
  printf("\n%s\n", table->name);
  int* widths = page_need(calloc((size_t)table->column_count + 1, sizeof(int)));
  for (int c = 0; c < table->column_count; c++) {
    widths[c] = (int)strlen(table->columns[c]);
    for (int r = 0; r < table->row_count; r++) {
      int length = (int)strlen(cell_text(cell_at(table, r, c), 4, buffer, sizeof buffer));
      if (length > widths[c]) widths[c] = length;
    }
  }
  for (int c = 0; c < table->column_count; c++) printf("%-*s  ", widths[c], table->columns[c]);
  printf("\n");
  for (int r = 0; r < table->row_count; r++) {
    for (int c = 0; c < table->column_count; c++) {
      Cell cell = cell_at(table, r, c);
      const char* text = cell_text(cell, 4, buffer, sizeof buffer);
      bool left = cell.kind == CELL_TEXT;
      if (left) printf("%-*s  ", widths[c], text);
      if (!left) printf("%*s  ", widths[c], text);
    }
    printf("\n");
  }
  free(widths);
}

static bool write_csv(tbBench* bench, const tbTable* table) {
  char file[256], buffer[64];
  snprintf(file, sizeof file, "%s.csv", table->name);
  FILE* f = fopen(tb_bench_path(bench, file), "w");
  if (!f) {
    fprintf(stderr, "cannot write %s: %s\n", bench->path, strerror(errno));
    return false;
  }
  for (int c = 0; c < table->column_count; c++) fprintf(f, "%s%s", c ? "," : "", table->columns[c]);
  fputc('\n', f);
  for (int r = 0; r < table->row_count; r++) {
    for (int c = 0; c < table->column_count; c++) {
      const char* text = cell_text(cell_at(table, r, c), 9, buffer, sizeof buffer);
      if (c) fputc(',', f);
      bool quote = strpbrk(text, ",\"\n") != NULL;
      if (quote) fputc('"', f);
      for (; *text; text++) {
        if (*text == '"') fputc('"', f);
        fputc(*text, f);
      }
      if (quote) fputc('"', f);
    }
    fputc('\n', f);
  }
  return fclose(f) == 0;
}

static void json_string(const char* text) {
  putchar('"');
  for (; *text; text++) {
    unsigned char ch = (unsigned char)*text;
    if (ch == '"' || ch == '\\') putchar('\\');
    if (ch < 0x20) {
      printf("\\u%04x", ch);
    } else {
      putchar(ch);
    }
  }
  putchar('"');
}

// JSON has no NaN or infinity: those become null.
static void json_cell(Cell cell) {
  char buffer[64];
  if (cell.kind == CELL_TEXT) {
    json_string(cell.text);
  } else if (cell.kind == CELL_REAL && !isfinite(cell.real)) {
    printf("null");
  } else {
    printf("%s", cell_text(cell, 17, buffer, sizeof buffer));
  }
}

static void print_json(const tbBench* bench) {
  printf("{\"rows\": [");
  bool first = true;
  for (int t = 0; t < bench->table_count; t++) {
    const tbTable* table = bench->tables[t];
    for (int r = 0; r < table->row_count; r++) {
      printf(first ? "\n{\"table\": " : ",\n{\"table\": ");
      json_string(table->name);
      for (int c = 0; c < table->column_count; c++) {
        Cell cell = cell_at(table, r, c);
        if (cell.kind == CELL_NONE) continue;
        printf(", ");
        json_string(table->columns[c]);
        printf(": ");
        json_cell(cell);
      }
      printf("}");
      first = false;
    }
  }
  printf("\n]}\n");
}

tbVerdict tb_verdict(bool holds) {
  return holds ? TB_VERDICT_REPRODUCED : TB_VERDICT_WORSE;
}

void tb_bench_claim(tbBench* bench, tbClaim claim) {
  static const char* const words[] = {"reproduced", "better", "worse", "differs"};
  if (!bench->claims) bench->claims = tb_bench_table(bench, "claims");
  tbTable* table = bench->claims;
  tb_table_row(table);
  tb_table_text(table, "figure", claim.figure);
  tb_table_text(table, "verdict", words[claim.verdict]);
  tb_table_text(table, "claim", claim.claim);
  tb_table_text(table, "paper", claim.paper);
  tb_table_text(table, "ours", claim.ours);
  tb_table_text(table, "because", claim.because);
  tb_table_text(table, "image", claim.image);
  if (claim.verdict == TB_VERDICT_WORSE) bench->claims_worse++;
}

void tb_bench_note(tbBench* bench, const char* format, ...) {
  char text[2048];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  bench->notes =
      page_need(realloc(bench->notes, (size_t)(bench->note_count + 1) * sizeof *bench->notes));
  bench->notes[bench->note_count++] = page_text_copy(text);
}

void tb_bench_progress(tbBench* bench, int done, int total, const char* what) {
  double now = tb_seconds();
  bool terminal = isatty(2);
  bool last = done >= total;
  if (!last && bench->progress_shown >= 0 && now - bench->progress_shown < (terminal ? 0.1 : 10)) {
    return;
  }
  bench->progress_shown = now;
  int width = 30, filled = total > 0 ? (int)((int64_t)width * done / total) : width;
  char bar[32];
  for (int i = 0; i < width; i++) bar[i] = i < filled ? '#' : '.';
  bar[width] = 0;
  fprintf(stderr, "%s%s [%s] %d/%d %-40.40s%s", terminal ? "\r" : "", bench->name, bar, done, total,
          last ? "" : what, !terminal || last ? "\n" : "");
  fflush(stderr);
}

static void free_table(tbTable* table) {
  for (int r = 0; r < table->row_count; r++) {
    for (int c = 0; c < table->row_width[r]; c++) free(table->rows[r][c].text);
    free(table->rows[r]);
  }
  for (int c = 0; c < table->column_count; c++) free(table->columns[c]);
  free(table->rows);
  free(table->row_width);
  free(table->columns);
  free(table->name);
  free(table);
}

int tb_bench_close(tbBench* bench) {
  bool ok = bench->claims_worse == 0;
  // Rows go to standard output, prose beside them or, with --json, to stderr.
  if (bench->json) print_json(bench);
  for (int t = 0; t < bench->table_count; t++) {
    if (!bench->json) print_text(bench->tables[t]);
    if (bench->out) ok = write_csv(bench, bench->tables[t]) && ok;
  }
  FILE* prose = bench->json ? stderr : stdout;
  for (int i = 0; i < bench->note_count; i++) {
    fprintf(prose, "%s%s\n", i ? "" : "\n", bench->notes[i]);
    free(bench->notes[i]);
  }
  for (int t = 0; t < bench->table_count; t++) free_table(bench->tables[t]);
  free(bench->tables);
  free(bench->notes);
  free(bench->used);
  free(bench->out);
  free(bench->name);
  free(bench);
  return ok ? 0 : 1;
}

// ---- timing and statistics ---------------------------------------------------------------------

double tb_bench_seconds(void (*run)(void*), void (*reset)(void*), void* context, int repeats,
                        double min_seconds) {
  if (repeats < 1) repeats = 1;
  double* samples = page_need(malloc((size_t)repeats * sizeof(double)));
  for (int i = 0; i < repeats; i++) {
    // Accumulate whole calls until the measurement is long against the clock.
    double total = 0;
    long calls = 0;
    do {
      if (reset) reset(context);
      double start = tb_seconds();
      long burst = reset ? 1 : calls + 1;
      for (long k = 0; k < burst; k++) run(context);
      total += tb_seconds() - start;
      calls += burst;
    } while (total < min_seconds);
    samples[i] = total / (double)calls;
  }
  double median = tb_bench_median(samples, repeats);
  free(samples);
  return median;
}

static double read_clock(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

tbClock tb_bench_clock(void) {
  // Reading the wall clock takes less time, so it is read next to the timed call.
  tbClock now;
  now.cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  now.wall = read_clock(CLOCK_MONOTONIC);
  return now;
}

double tb_bench_since(tbClock start) {
  double wall = read_clock(CLOCK_MONOTONIC) - start.wall;
  double cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID) - start.cpu;
  return wall < cpu ? wall : cpu;
}

static int compare_reals(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

double tb_bench_median(const double* x, int n) {
  if (n <= 0) return NAN;
  double* sorted = page_need(malloc((size_t)n * sizeof(double)));
  memcpy(sorted, x, (size_t)n * sizeof(double));
  qsort(sorted, (size_t)n, sizeof(double), compare_reals);
  double median = n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
  free(sorted);
  return median;
}

double tb_bench_geomean(const double* x, int n) {
  double sum = 0;
  int count = 0;
  for (int i = 0; i < n; i++) {
    if (!(x[i] > 0)) continue;
    sum += log(x[i]);
    count++;
  }
  return count ? exp(sum / count) : NAN;
}

double tb_bench_mean(const double* x, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += x[i];
  return n > 0 ? sum / n : NAN;
}

double tb_bench_stddev(const double* x, int n) {
  double mean = tb_bench_mean(x, n), sum = 0;
  for (int i = 0; i < n; i++) sum += (x[i] - mean) * (x[i] - mean);
  return n > 0 ? sqrt(sum / n) : NAN;
}

double tb_bench_exponent(const double* x, const double* y, int n) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0, count = 0;
  for (int i = 0; i < n; i++) {
    if (!(x[i] > 0) || !(y[i] > 0)) continue;
    double u = log(x[i]), v = log(y[i]);
    sx += u;
    sy += v;
    sxx += u * u;
    sxy += u * v;
    count++;
  }
  double spread = count * sxx - sx * sx;
  return spread > 0 ? (count * sxy - sx * sy) / spread : NAN;
}
