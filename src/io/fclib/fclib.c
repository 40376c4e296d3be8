// FCLIB files (format: Acary, Bremond, Koziara, Perignon, INRIA RT-0444, and libfclib 3.1).
#include "tribo/fclib.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/fclib/file.h"
#include "io/fclib/matrix.h"

void tb_fclib_free(tbFclib* fclib) {
  if (!fclib) return;
  tbFclibMatrix* matrices[] = {&fclib->W, &fclib->V, &fclib->R, &fclib->M, &fclib->H, &fclib->G};
  for (int k = 0; k < 6; k++) tb_fclib_matrix_free(matrices[k]);
  tbReal* vectors[] = {fclib->q, fclib->s, fclib->f, fclib->w, fclib->b, fclib->mu};
  for (int k = 0; k < 6; k++) free(vectors[k]);
  free(fclib->title);
  free(fclib->description);
  free(fclib->math_info);
  free(fclib);
}

void tb_fclib_solution_free(tbFclibSolution* solution) {
  if (!solution) return;
  free(solution->v);
  free(solution->u);
  free(solution->r);
  free(solution->l);
  *solution = (tbFclibSolution){NULL, NULL, NULL, NULL};
}

// ---- reading -----------------------------------------------------------------------------------

// "<group>/<a>" or "<group>/<a>/<b>" in `path`.
static const char* join(char path[128], const char* group, const char* a, const char* b) {
  snprintf(path, 128, b ? "%s/%s/%s" : "%s/%s", group, a, b);
  return path;
}

static tbResult read_matrix(tbH5 file, const char* group, const char* name, tbFclibMatrix* matrix,
                            tbError* error) {
  tbFclibStored stored;
  memset(&stored, 0, sizeof stored);
  char path[128];
  tbResult result = tb_h5_read_int(file, join(path, group, name, "m"), &stored.m, error);
  if (result == TB_OK)
    result = tb_h5_read_int(file, join(path, group, name, "n"), &stored.n, error);
  if (result == TB_OK) {
    result = tb_h5_read_int(file, join(path, group, name, "nz"), &stored.nz, error);
  }
  // The arrays of a matrix without entries may be missing in the file.
  bool empty = result == TB_OK && stored.nz == 0;
  if (result == TB_OK && !empty) {
    result = tb_h5_read_ints(file, join(path, group, name, "p"), &stored.p, &stored.p_count, error);
  }
  if (result == TB_OK && !empty) {
    result = tb_h5_read_ints(file, join(path, group, name, "i"), &stored.i, &stored.i_count, error);
  }
  if (result == TB_OK && !empty) {
    result =
        tb_h5_read_reals(file, join(path, group, name, "x"), &stored.x, &stored.x_count, error);
  }
  if (result == TB_OK) result = tb_fclib_matrix_unpack(&stored, name, matrix, error);
  tb_fclib_stored_free(&stored);
  return result;
}

// A vector of exactly `count` finite numbers.
static tbResult read_vector(tbH5 file, const char* group, const char* name, int count,
                            tbReal** values, tbError* error) {
  char path[128];
  int found = 0;
  join(path, group, "vectors", name);
  if (count == 0 && !tb_h5_exists(file, path)) {
    *values = calloc(1, sizeof(tbReal));
    return *values ? TB_OK : tb_fail(error, TB_ERROR_MEMORY, "no memory for vector %s", name);
  }
  tbResult result = tb_h5_read_reals(file, path, values, &found, error);
  if (result != TB_OK) return result;
  if (found != count) {
    return tb_fail(error, TB_ERROR_PARSE, "vector %s has %d entries, expected %d", name, found,
                   count);
  }
  for (int k = 0; k < count; k++) {
    if (!isfinite((*values)[k])) {
      return tb_fail(error, TB_ERROR_PARSE, "vector %s: entry %d is not a finite number", name, k);
    }
  }
  return TB_OK;
}

static tbResult check_shape(const tbFclibMatrix* matrix, const char* name, int rows, int cols,
                            tbError* error) {
  if (matrix->rows == rows && matrix->cols == cols) return TB_OK;
  return tb_fail(error, TB_ERROR_PARSE, "matrix %s is %d x %d, expected %d x %d", name,
                 matrix->rows, matrix->cols, rows, cols);
}

static tbResult count_contacts(tbFclib* fclib, int rows, const char* what, tbError* error) {
  if (rows % fclib->spacedim != 0) {
    return tb_fail(error, TB_ERROR_PARSE, "the number of %s is %d, not a multiple of spacedim = %d",
                   what, rows, fclib->spacedim);
  }
  fclib->contacts = rows / fclib->spacedim;
  return TB_OK;
}

static tbResult read_local(tbH5 file, tbFclib* p, tbError* error) {
  const char* group = "fclib_local";
  tbResult result = read_matrix(file, group, "W", &p->W, error);
  if (result == TB_OK) result = check_shape(&p->W, "W", p->W.rows, p->W.rows, error);
  if (result == TB_OK) result = count_contacts(p, p->W.rows, "rows of W", error);
  // Equality constraints consist of V, R and s together.
  bool v = tb_h5_exists(file, "fclib_local/V"), r = tb_h5_exists(file, "fclib_local/R");
  if (result == TB_OK && v != r) {
    result = tb_fail(error, TB_ERROR_PARSE, "matrices V and R must come together");
  }
  if (result == TB_OK && v) result = read_matrix(file, group, "V", &p->V, error);
  if (result == TB_OK && r) result = read_matrix(file, group, "R", &p->R, error);
  if (result == TB_OK && v) {
    result = check_shape(&p->V, "V", p->W.rows, p->V.cols, error);
    if (result == TB_OK) result = check_shape(&p->R, "R", p->V.cols, p->V.cols, error);
    if (result == TB_OK) result = read_vector(file, group, "s", p->V.cols, &p->s, error);
  }
  if (result == TB_OK) result = read_vector(file, group, "q", p->W.rows, &p->q, error);
  return result;
}

static tbResult read_global(tbH5 file, tbFclib* p, tbError* error) {
  const char* group = "fclib_global";
  tbResult result = read_matrix(file, group, "M", &p->M, error);
  if (result == TB_OK) result = check_shape(&p->M, "M", p->M.rows, p->M.rows, error);
  if (result == TB_OK) result = read_matrix(file, group, "H", &p->H, error);
  if (result == TB_OK) result = check_shape(&p->H, "H", p->M.rows, p->H.cols, error);
  if (result == TB_OK) result = count_contacts(p, p->H.cols, "columns of H", error);
  if (result == TB_OK && tb_h5_exists(file, "fclib_global/G")) {
    result = read_matrix(file, group, "G", &p->G, error);
    if (result == TB_OK) result = check_shape(&p->G, "G", p->M.rows, p->G.cols, error);
    if (result == TB_OK) result = read_vector(file, group, "b", p->G.cols, &p->b, error);
  }
  if (result == TB_OK) result = read_vector(file, group, "f", p->M.rows, &p->f, error);
  if (result == TB_OK) result = read_vector(file, group, "w", p->H.cols, &p->w, error);
  return result;
}

static tbResult read_common(tbH5 file, const char* group, tbFclib* p, tbError* error) {
  tbResult result = read_vector(file, group, "mu", p->contacts, &p->mu, error);
  for (int k = 0; result == TB_OK && k < p->contacts; k++) {
    if (p->mu[k] < 0) {
      result =
          tb_fail(error, TB_ERROR_PARSE, "friction coefficient %d is negative: %g", k, p->mu[k]);
    }
  }
  char path[128];
  p->title = tb_h5_read_text(file, join(path, group, "info", "title"));
  p->description = tb_h5_read_text(file, join(path, group, "info", "description"));
  p->math_info = tb_h5_read_text(file, join(path, group, "info", "math_info"));
  return result;
}

// Prepends the file's name to an error message.
static tbResult name_file(tbResult result, const char* path, tbError* error) {
  if (result == TB_OK || !error) return result;
  char message[sizeof error->message];
  snprintf(message, sizeof message, "%s", error->message);
  return tb_fail(error, result, "%s: %s", path, message);
}

tbResult tb_fclib_read(const char* path, tbFclib** fclib, tbError* error) {
  tb_error_clear(error);
  if (!path || !fclib) return tb_fail(error, TB_ERROR_ARGUMENT, "a path and a result are needed");
  *fclib = NULL;
  tbH5 file = -1;
  tbResult result = tb_h5_open(path, false, &file, error);
  if (result != TB_OK) return result;
  tbFclib* p = calloc(1, sizeof *p);
  bool local = tb_h5_exists(file, "fclib_local"), global = tb_h5_exists(file, "fclib_global");
  if (!p) {
    result = tb_fail(error, TB_ERROR_MEMORY, "no memory");
  } else if (!local && !global) {
    result = tb_fail(error, TB_ERROR_PARSE, "neither /fclib_local nor /fclib_global exists");
  } else {
    const char* group = global ? "fclib_global" : "fclib_local";
    char name[128];
    p->global = global;
    result = tb_h5_read_int(file, join(name, group, "spacedim", NULL), &p->spacedim, error);
    if (result == TB_OK && p->spacedim != 2 && p->spacedim != 3) {
      result = tb_fail(error, TB_ERROR_PARSE, "spacedim is %d, expected 2 or 3", p->spacedim);
    }
    if (result == TB_OK) result = global ? read_global(file, p, error) : read_local(file, p, error);
    if (result == TB_OK) result = read_common(file, group, p, error);
  }
  tb_h5_close(file);
  if (result != TB_OK) {
    tb_fclib_free(p);
    return name_file(result, path, error);
  }
  *fclib = p;
  return TB_OK;
}

// ---- writing -----------------------------------------------------------------------------------

static tbResult write_matrix(tbH5 file, const char* group, const char* name,
                             const tbFclibMatrix* matrix, tbFclibEncoding encoding,
                             tbError* error) {
  tbFclibStored s;
  char path[128];
  tbResult result = tb_fclib_matrix_pack(matrix, encoding, &s, error);
  if (result != TB_OK) return result;
  const char* names[] = {"m", "n", "nz", "nzmax"};
  const int values[] = {s.m, s.n, s.nz, s.nzmax};
  for (int k = 0; result == TB_OK && k < 4; k++) {
    result = tb_h5_write_ints(file, join(path, group, name, names[k]), &values[k], 1, error);
  }
  if (result == TB_OK) {
    result = tb_h5_write_ints(file, join(path, group, name, "p"), s.p, s.p_count, error);
  }
  if (result == TB_OK) {
    result = tb_h5_write_ints(file, join(path, group, name, "i"), s.i, s.i_count, error);
  }
  if (result == TB_OK) {
    result = tb_h5_write_reals(file, join(path, group, name, "x"), s.x, s.x_count, error);
  }
  tb_fclib_stored_free(&s);
  return result;
}

static tbResult write_vector(tbH5 file, const char* group, const char* name, const tbReal* values,
                             int count, tbError* error) {
  char path[128];
  return tb_h5_write_reals(file, join(path, group, "vectors", name), values, count, error);
}

static tbResult write_local(tbH5 file, const tbFclib* p, tbFclibEncoding encoding, tbError* error) {
  const char* group = "fclib_local";
  tbResult result = write_matrix(file, group, "W", &p->W, encoding, error);
  if (result == TB_OK && p->V.cols > 0) {
    result = write_matrix(file, group, "V", &p->V, encoding, error);
    if (result == TB_OK) result = write_matrix(file, group, "R", &p->R, encoding, error);
    if (result == TB_OK) result = write_vector(file, group, "s", p->s, p->V.cols, error);
  }
  if (result == TB_OK) result = write_vector(file, group, "q", p->q, p->W.rows, error);
  return result;
}

static tbResult write_global(tbH5 file, const tbFclib* p, tbFclibEncoding encoding,
                             tbError* error) {
  const char* group = "fclib_global";
  tbResult result = write_matrix(file, group, "M", &p->M, encoding, error);
  if (result == TB_OK) result = write_matrix(file, group, "H", &p->H, encoding, error);
  if (result == TB_OK && p->G.cols > 0) {
    result = write_matrix(file, group, "G", &p->G, encoding, error);
    if (result == TB_OK) result = write_vector(file, group, "b", p->b, p->G.cols, error);
  }
  if (result == TB_OK) result = write_vector(file, group, "f", p->f, p->M.rows, error);
  if (result == TB_OK) result = write_vector(file, group, "w", p->w, p->H.cols, error);
  return result;
}

static tbResult write_common(tbH5 file, const char* group, const tbFclib* p, tbError* error) {
  char path[128];
  tbResult result =
      tb_h5_write_ints(file, join(path, group, "spacedim", NULL), &p->spacedim, 1, error);
  if (result == TB_OK) result = write_vector(file, group, "mu", p->mu, p->contacts, error);
  const char* names[] = {"title", "description", "math_info"};
  const char* texts[] = {p->title, p->description, p->math_info};
  for (int k = 0; result == TB_OK && k < 3; k++) {
    if (texts[k]) {
      result = tb_h5_write_text(file, join(path, group, "info", names[k]), texts[k], error);
    }
  }
  return result;
}

tbResult tb_fclib_write(const tbFclib* fclib, tbFclibEncoding encoding, const char* path,
                        tbError* error) {
  tb_error_clear(error);
  if (!fclib || !path) return tb_fail(error, TB_ERROR_ARGUMENT, "a problem and a path are needed");
  if (encoding < TB_FCLIB_TRIPLET || encoding > TB_FCLIB_CSR) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "encoding %d is not a tbFclibEncoding", encoding);
  }
  tbH5 file = -1;
  tbResult result = tb_fclib_check(fclib, error);
  if (result == TB_OK) result = tb_h5_create(path, &file, error);
  if (result != TB_OK) return result;
  result = fclib->global ? write_global(file, fclib, encoding, error)
                         : write_local(file, fclib, encoding, error);
  if (result == TB_OK) {
    result = write_common(file, fclib->global ? "fclib_global" : "fclib_local", fclib, error);
  }
  tb_h5_close(file);
  return name_file(result, path, error);
}

// ---- solutions and guesses ---------------------------------------------------------------------

tbResult tb_fclib_guess_count(const char* path, int* count, tbError* error) {
  tb_error_clear(error);
  if (!path || !count) return tb_fail(error, TB_ERROR_ARGUMENT, "a path and a result are needed");
  *count = 0;
  tbH5 file = -1;
  tbResult result = tb_h5_open(path, false, &file, error);
  if (result != TB_OK) return result;
  if (tb_h5_exists(file, "guesses/number_of_guesses")) {
    result = tb_h5_read_int(file, "guesses/number_of_guesses", count, error);
    if (result == TB_OK && *count < 0) {
      result = tb_fail(error, TB_ERROR_PARSE, "number_of_guesses is %d", *count);
    }
  }
  tb_h5_close(file);
  return name_file(result, path, error);
}

// The vectors of a solution, their names and lengths.
typedef struct {
  const char* name;
  int count;
  tbReal** values;
} SolutionPart;

static void solution_parts(const tbFclib* p, tbFclibSolution* solution, SolutionPart part[4]) {
  int rows = p->spacedim * p->contacts;
  part[0] = (SolutionPart){"v", p->M.rows, &solution->v};
  part[1] = (SolutionPart){"u", rows, &solution->u};
  part[2] = (SolutionPart){"r", rows, &solution->r};
  part[3] = (SolutionPart){"l", p->global ? p->G.cols : p->V.cols, &solution->l};
}

// Checks the sizes of a problem that a caller has filled.
static tbResult check_parts(const tbFclib* p, tbError* error) {
  const int most = 1 << 28;
  if ((p->spacedim != 2 && p->spacedim != 3) || p->contacts < 0 || p->contacts > most ||
      p->M.rows < 0 || p->G.cols < 0 || p->V.cols < 0) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "invalid problem sizes: %d contacts of %d rows, %d velocities, %d or %d "
                   "multipliers",
                   p->contacts, p->spacedim, p->M.rows, p->V.cols, p->G.cols);
  }
  return TB_OK;
}

static tbResult read_part(tbH5 file, const char* group, SolutionPart part, tbError* error) {
  char path[128];
  int count = 0;
  join(path, group, part.name, NULL);
  if (!tb_h5_exists(file, path)) return TB_OK;
  tbResult result = tb_h5_read_reals(file, path, part.values, &count, error);
  if (result == TB_OK && count != part.count) {
    result =
        tb_fail(error, TB_ERROR_PARSE, "%s has %d entries, expected %d", path, count, part.count);
  }
  for (int k = 0; result == TB_OK && k < count; k++) {
    if (!isfinite((*part.values)[k])) {
      result = tb_fail(error, TB_ERROR_PARSE, "%s: entry %d is not a finite number", path, k);
    }
  }
  return result;
}

tbResult tb_fclib_read_solution(const char* path, const tbFclib* fclib, int guess,
                                tbFclibSolution* solution, tbError* error) {
  tb_error_clear(error);
  if (!path || !fclib || !solution || guess < 0) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "a path, its problem, a guess >= 0 and a result are needed");
  }
  *solution = (tbFclibSolution){NULL, NULL, NULL, NULL};
  tbH5 file = -1;
  tbResult result = check_parts(fclib, error);
  if (result == TB_OK) result = tb_h5_open(path, false, &file, error);
  if (result != TB_OK) return result;
  char group[64] = "solution";
  if (guess > 0) snprintf(group, sizeof group, "guesses/%d", guess);
  if (!tb_h5_exists(file, group)) {
    result = tb_fail(error, TB_ERROR_PARSE, "/%s does not exist", group);
  }
  SolutionPart part[4];
  solution_parts(fclib, solution, part);
  for (int k = 0; result == TB_OK && k < 4; k++) result = read_part(file, group, part[k], error);
  tb_h5_close(file);
  if (result != TB_OK) tb_fclib_solution_free(solution);
  return name_file(result, path, error);
}

tbResult tb_fclib_write_solution(const char* path, const tbFclib* fclib,
                                 const tbFclibSolution* solution, tbError* error) {
  tb_error_clear(error);
  if (!path || !fclib || !solution) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "a path, its problem and a solution are needed");
  }
  tbH5 file = -1;
  tbResult result = check_parts(fclib, error);
  if (result == TB_OK) result = tb_h5_open(path, true, &file, error);
  if (result != TB_OK) return result;
  SolutionPart part[4];
  tbFclibSolution view = *solution;
  solution_parts(fclib, &view, part);
  for (int k = 0; result == TB_OK && k < 4; k++) {
    char name[128];
    if (!*part[k].values || part[k].count == 0) continue;
    result = tb_h5_write_reals(file, join(name, "solution", part[k].name, NULL), *part[k].values,
                               part[k].count, error);
  }
  tb_h5_close(file);
  return name_file(result, path, error);
}
