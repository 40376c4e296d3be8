// Recording of trajectories. Rows are buffered in memory by groups of columns and written in
// chunks, so that a long run needs little memory and an interrupted one loses at most its last
// chunk.
#include "tribo/trajectory.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "io/hdf5.h"
#include "model/workspace.h"

enum { NGROUPS = 7, ROWS_PER_CHUNK = 256 };
static const char* const GROUP_NAMES[NGROUPS] = {"time",   "qpos", "qvel",          "ctrl",
                                                 "energy", "ncon", "residual_exact"};

struct tbTrajectory {
  FILE* csv;
  tbH5 file, dataset[NGROUPS];
  int width[NGROUPS];       // values per row
  tbReal* buffer[NGROUPS];  // ROWS_PER_CHUNK rows
  long written;             // rows on file
  int buffered;             // rows in the buffers
};

// Number of values per row of each group.
static void widths_of(const tbModel* m, int width[NGROUPS]) {
  const int widths[NGROUPS] = {1, m->nq, m->nv, m->nu, 2, 1, 1};
  memcpy(width, widths, sizeof widths);
}

static void row_of(const tbModel* m, const tbData* d, tbReal* const row[NGROUPS]) {
  row[0][0] = d->time;
  memcpy(row[1], d->qpos, sizeof(tbReal) * (size_t)m->nq);
  memcpy(row[2], d->qvel, sizeof(tbReal) * (size_t)m->nv);
  memcpy(row[3], d->ctrl, sizeof(tbReal) * (size_t)m->nu);
  memcpy(row[4], d->energy, 2 * sizeof(tbReal));
  row[5][0] = d->ncon;
  row[6][0] = d->solve.residual_exact.relative;
}

// ---- CSV ---------------------------------------------------------------------------------------

static void csv_header(tbTrajectory* t) {
  const char* separator = "";
  for (int g = 0; g < NGROUPS; g++) {
    for (int i = 0; i < t->width[g]; i++, separator = ",") {
      fprintf(t->csv, t->width[g] == 1 && g != 1 && g != 2 && g != 3 ? "%s%s" : "%s%s%d", separator,
              GROUP_NAMES[g], i);
    }
  }
  fputc('\n', t->csv);
}

static void csv_rows(tbTrajectory* t) {
  for (int r = 0; r < t->buffered; r++) {
    const char* separator = "";
    for (int g = 0; g < NGROUPS; g++) {
      for (int i = 0; i < t->width[g]; i++, separator = ",") {
        char number[TB_NUMBER_TEXT] = "nan";
        tbReal value = t->buffer[g][r * t->width[g] + i];
        // NAN is written without its sign, which has no meaning.
        if (!isnan(value)) tb_print_real(number, value);
        fprintf(t->csv, "%s%s", separator, number);
      }
    }
    fputc('\n', t->csv);
  }
}

// ---- HDF5 --------------------------------------------------------------------------------------

static int hdf5_create(tbTrajectory* t, const char* path) {
  tbH5Quiet quiet = tb_h5_silence();
  t->file = tb_h5.Fcreate(path, TB_H5_TRUNCATE, TB_H5_DEFAULT, TB_H5_DEFAULT);
  tb_h5_restore(quiet);
  if (t->file < 0) return 0;
  for (int g = 0; g < NGROUPS; g++) t->dataset[g] = -1;
  for (int g = 0; g < NGROUPS; g++) {
    tbH5Size width = (tbH5Size)t->width[g], now[2] = {0, width}, most[2] = {TB_H5_UNLIMITED, width};
    tbH5Size chunk[2] = {ROWS_PER_CHUNK, width ? width : 1};
    if (width == 0) continue;
    tbH5 space = tb_h5.Screate_simple(2, now, most), plist = tb_h5.Pcreate(tb_h5.dataset_create);
    tb_h5.Pset_chunk(plist, 2, chunk);
    t->dataset[g] = tb_h5.Dcreate2(t->file, GROUP_NAMES[g], tb_h5.native_double, space,
                                   TB_H5_DEFAULT, plist, TB_H5_DEFAULT);
    tb_h5.Pclose(plist);
    tb_h5.Sclose(space);
    if (t->dataset[g] < 0) return 0;
  }
  return 1;
}

static int write_rows(tbTrajectory* t) {
  int ok = 1;
  for (int g = 0; g < NGROUPS && ok; g++) {
    if (t->width[g] == 0) continue;
    tbH5Size width = (tbH5Size)t->width[g],
             total[2] = {(tbH5Size)(t->written + t->buffered), width};
    tbH5Size start[2] = {(tbH5Size)t->written, 0}, count[2] = {(tbH5Size)t->buffered, width};
    ok = tb_h5.Dset_extent(t->dataset[g], total) >= 0;
    tbH5 file_space = tb_h5.Dget_space(t->dataset[g]),
         memory = tb_h5.Screate_simple(2, count, NULL);
    tb_h5.Sselect_hyperslab(file_space, TB_H5_SELECT_SET, start, NULL, count, NULL);
    ok = ok && tb_h5.Dwrite(t->dataset[g], tb_h5.native_double, memory, file_space, TB_H5_DEFAULT,
                            t->buffer[g]) >= 0;
    tb_h5.Sclose(memory);
    tb_h5.Sclose(file_space);
  }
  return ok;
}

// The caller reports failures; HDF5's own output on standard error is suppressed.
static int hdf5_rows(tbTrajectory* t) {
  int ok;
  tbH5Quiet quiet = tb_h5_silence();
  ok = write_rows(t);
  tb_h5_restore(quiet);
  return ok;
}

static int hdf5_close(tbTrajectory* t) {
  int ok = 1;
  tbH5Quiet quiet = tb_h5_silence();
  for (int g = 0; g < NGROUPS; g++) {
    if (t->dataset[g] >= 0 && tb_h5.Dclose(t->dataset[g]) < 0) ok = 0;
  }
  if (tb_h5.Fclose(t->file) < 0) ok = 0;
  tb_h5_restore(quiet);
  return ok;
}

// ---- both --------------------------------------------------------------------------------------

static void free_all(tbTrajectory* t) {
  for (int g = 0; g < NGROUPS; g++) free(t->buffer[g]);
  free(t);
}

// Whether a name ends in `ending`, or in `ending` followed by ".part".
static int has_ending(const char* path, const char* ending) {
  char part[16];
  snprintf(part, sizeof part, "%s.part", ending);
  return tb_ends_with(path, ending) || tb_ends_with(path, part);
}

static int open_file(tbTrajectory* t, const char* path, tbError* error) {
  if (has_ending(path, ".csv")) {
    t->csv = fopen(path, "w");
    if (t->csv) csv_header(t);
    if (t->csv) return 1;
    tb_fail(error, TB_ERROR_FILE, "cannot write '%s': %s", path, strerror(errno));
    return 0;
  }
  if (!has_ending(path, ".h5") && !has_ending(path, ".hdf5")) {
    int length = (int)strlen(path) - (tb_ends_with(path, ".part") ? 5 : 0);
    tb_fail(error, TB_ERROR_ARGUMENT, "'%.*s': a trajectory ends in .csv, .h5 or .hdf5", length,
            path);
    return 0;
  }
  if (tb_h5_load(path, error) != TB_OK) return 0;
  if (hdf5_create(t, path)) return 1;
  if (t->file >= 0) hdf5_close(t);
  tb_fail(error, TB_ERROR_FILE, "cannot write '%s'", path);
  return 0;
}

tbTrajectory* tb_trajectory_open(const char* path, const tbModel* model, tbError* error) {
  if (!path || !model) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_trajectory_open: path and model must not be NULL");
    return NULL;
  }
  tbTrajectory* t = calloc(1, sizeof *t);
  if (!t) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  widths_of(model, t->width);
  for (int g = 0; g < NGROUPS; g++) {
    t->buffer[g] = calloc((size_t)ROWS_PER_CHUNK * (size_t)(t->width[g] + 1), sizeof(tbReal));
    if (!t->buffer[g]) {
      tb_fail(error, TB_ERROR_MEMORY, "out of memory");
      free_all(t);
      return NULL;
    }
  }
  if (!open_file(t, path, error)) {
    free_all(t);
    return NULL;
  }
  return t;
}

static int flush_rows(tbTrajectory* t) {
  int ok = 1;
  if (t->csv) {
    csv_rows(t);
    ok = !ferror(t->csv);
  }
  if (!t->csv && t->buffered) ok = hdf5_rows(t);
  t->written += t->buffered;
  t->buffered = 0;
  return ok;
}

tbResult tb_trajectory_append(tbTrajectory* t, const tbModel* model, const tbData* data,
                              tbError* error) {
  if (!t || !model || !data) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "tb_trajectory_append: trajectory, model and data must not be NULL");
  }
  int width[NGROUPS];
  widths_of(model, width);
  if (memcmp(width, t->width, sizeof width) != 0 || !tb_data_fits(model, data)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "the trajectory was opened for another model");
  }
  tbReal* row[NGROUPS];
  for (int g = 0; g < NGROUPS; g++) row[g] = t->buffer[g] + t->buffered * t->width[g];
  row_of(model, data, row);
  t->buffered++;
  if (t->buffered < ROWS_PER_CHUNK || flush_rows(t)) return TB_OK;
  return tb_fail(error, TB_ERROR_FILE, "the trajectory could not be written: disk full?");
}

tbResult tb_trajectory_close(tbTrajectory* t, tbError* error) {
  if (!t) return TB_OK;
  int ok = flush_rows(t);
  if (t->csv) ok = fclose(t->csv) == 0 && ok;
  if (!t->csv) ok = hdf5_close(t) && ok;
  free_all(t);
  if (ok) return TB_OK;
  return tb_fail(error, TB_ERROR_FILE, "the trajectory could not be written: disk full?");
}
