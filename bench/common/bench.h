// What every benchmark shares: arguments, tables (text, CSV, JSON rows), progress, median timing.
//
//   int main(int argc, char** argv) {
//     tbBench* bench = tb_bench_open("name", argc, argv);       // --out DIR --short --json --help
//     if (!bench) return 2;
//     tbTable* table = tb_bench_table(bench, "timings");
//     tb_table_row(table);
//     tb_table_text(table, "solver", "admm");
//     tb_table_real(table, "seconds", 1.2e-3);
//     return tb_bench_close(bench);                             // prints, writes CSV, frees
//   }
#ifndef TRIBO_BENCH_BENCH_H_
#define TRIBO_BENCH_BENCH_H_

#include <stdbool.h>

typedef struct tbBench tbBench;
typedef struct tbTable tbTable;

// Parse the arguments that all benchmarks take. NULL (after a message on stderr) if they are wrong
// or help was requested. Unknown arguments are left to `tb_bench_option`.
tbBench* tb_bench_open(const char* name, int argc, char** argv);

bool tb_bench_short(const tbBench* bench);  // --short: a subset that takes about a minute
bool tb_bench_json(const tbBench* bench);   // --json: rows on standard output, the rest on stderr

// The folder of --out, created if needed; NULL without --out.
const char* tb_bench_out(const tbBench* bench);

// "<out>/<file>" in a buffer that the benchmark owns until close; NULL without --out.
const char* tb_bench_path(tbBench* bench, const char* file);

// The value after --<key>, or `fallback`. A flag without value: tb_bench_flag.
const char* tb_bench_option(tbBench* bench, const char* key, const char* fallback);
bool tb_bench_flag(tbBench* bench, const char* key);

// Call after all tb_bench_option/flag: false (with a message) if an argument was never asked for.
bool tb_bench_check_arguments(const tbBench* bench);

// A table, freed by close. Every row may have its own columns; a column appears where it was first
// used. In JSON each row is one object with "table" first.
tbTable* tb_bench_table(tbBench* bench, const char* name);
void tb_table_row(tbTable* table);
void tb_table_text(tbTable* table, const char* column, const char* value);
void tb_table_real(tbTable* table, const char* column, double value);
void tb_table_int(tbTable* table, const char* column, long long value);
void tb_table_bool(tbTable* table, const char* column, bool value);

// A statement of a paper, next to the measurement. Claims are rows of the table "claims", from
// which `tribo bench papers` makes its report.
typedef enum {
  TB_VERDICT_REPRODUCED,
  TB_VERDICT_BETTER,
  TB_VERDICT_WORSE,    // the claim does not hold here: the benchmark fails
  TB_VERDICT_DIFFERS,  // holds in another way than in the paper; `because` says why
} tbVerdict;

typedef struct {
  const char* figure;  // "CM fig. 9"
  const char* claim;   // one sentence
  const char* paper;   // its number or statement
  const char* ours;
  tbVerdict verdict;
  const char* because;  // may be NULL
  const char* image;    // file in the folder of --out, or NULL
} tbClaim;
void tb_bench_claim(tbBench* bench, tbClaim claim);
// REPRODUCED where it holds, else WORSE.
tbVerdict tb_verdict(bool holds);

// A line of prose: standard output after the tables, or stderr with --json.
void tb_bench_note(tbBench* bench, const char* format, ...) __attribute__((format(printf, 2, 3)));

// A bar on stderr (a line now and then where stderr is not a terminal).
void tb_bench_progress(tbBench* bench, int done, int total, const char* what);

// Print the tables, write "<out>/<table>.csv", free everything. Returns the exit status: 0 unless a
// file could not be written or a claim is worse than its paper's.
int tb_bench_close(tbBench* bench);

// Median seconds of one call of `run(context)` over `repeats` measurements. Each measurement
// repeats the call until `min_seconds` have passed, so that microsecond calls are timed reliably.
// `reset` (may be NULL) runs before every call, outside the timed region: with it each call is
// timed alone.
double tb_bench_seconds(void (*run)(void*), void (*reset)(void*), void* context, int repeats,
                        double min_seconds);

// Seconds since some start, of the wall and of this process' processor time. On a machine that
// others use too, the smaller of both differences is the better measure of one call.
typedef struct {
  double wall, cpu;
} tbClock;
tbClock tb_bench_clock(void);
double tb_bench_since(tbClock start);

// Statistics of an array (not modified): median, geometric mean of positive entries, mean, standard
// deviation (population). NaN for n = 0.
double tb_bench_median(const double* x, int n);
double tb_bench_geomean(const double* x, int n);
double tb_bench_mean(const double* x, int n);
double tb_bench_stddev(const double* x, int n);

// Slope of log y over log x by least squares, of the points that have logarithms; NAN for fewer
// than two.
double tb_bench_exponent(const double* x, const double* y, int n);

#endif
