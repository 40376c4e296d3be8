// Recordings. Rows are buffered by field and written in chunks, so that a long run needs little
// memory and an interrupted one loses at most its last chunk.
#include "tribo/record.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "io/fclib/file.h"
#include "io/hdf5.h"
#include "model/workspace.h"
#include "record/columns.h"
#include "tribo/contact.h"

enum { MOST_FIELDS = 64, ROWS_PER_CHUNK = 256 };

typedef enum { ARRAY, TIME, ENERGY, NCON, RESIDUAL, CONTACTS } Kind;

// Fields that are no arrays of tbData.
static const struct {
  const char* name;
  Kind kind;
  int width;
} SPECIAL[] = {{"time", TIME, 1},
               {"energy", ENERGY, 2},
               {"ncon", NCON, 1},
               {"residual_exact", RESIDUAL, 1},
               {"contacts", CONTACTS, TB_RECORD_CONTACT_WIDTH}};
enum { SPECIALS = sizeof SPECIAL / sizeof *SPECIAL };

typedef struct {
  tbField field;
  Kind kind;
  tbReal* buffer;
  int rows, room;  // in the buffer
  long written;    // rows in the file
  tbH5 dataset;
} Column;

struct tbRecording {
  FILE* csv;
  tbH5 file;
  Column column[MOST_FIELDS];
  int count;
  // Names of all geoms, a line each, for contacts: the model may be freed before the file is
  // written.
  char* geom_names;
};

// ---- what is recorded --------------------------------------------------------------------------

static tbResult add_field(tbRecording* r, const tbModel* m, const char* name, tbError* error) {
  Column c = {.kind = ARRAY, .dataset = -1};
  bool found = tb_record_field_find(m, name, &c.field);
  for (int k = 0; k < SPECIALS; k++) {
    if (strcmp(name, SPECIAL[k].name) != 0) continue;
    c.kind = SPECIAL[k].kind;
    c.field = (tbField){.width = SPECIAL[k].width, .part = "", .per_part = SPECIAL[k].width};
    snprintf(c.field.name, sizeof c.field.name, "%.31s", name);
    found = true;
  }
  if (!found) {
    const char* near = tb_field_nearest(name);
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "'%.60s' cannot be recorded%s%s%s; expected time, energy, ncon, residual_exact, "
                   "contacts or an array of tbData, as qpos or sensordata",
                   name, *near ? ", did you mean '" : "", near, *near ? "'?" : "");
  }
  for (int k = 0; k < r->count; k++) {
    if (strcmp(r->column[k].field.name, name) == 0) return TB_OK;
  }
  if (r->count == MOST_FIELDS) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "more than %d fields to record", MOST_FIELDS);
  }
  r->column[r->count++] = c;
  return TB_OK;
}

static tbResult add_fields(tbRecording* r, const tbModel* m, const char* what, tbError* error) {
  tbResult result = TB_OK;
  while (*what && result == TB_OK) {
    char name[128];
    size_t n = strcspn(what, ",");
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), what);
    result = add_field(r, m, name, error);
    what += n + (what[n] == ',');
  }
  if (result == TB_OK && r->count == 0) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "no fields to record: expected '" TB_RECORD_DEFAULT "'");
  }
  return result;
}

// ---- values ------------------------------------------------------------------------------------

static bool make_room(Column* c, int rows) {
  if (c->rows + rows <= c->room) return true;
  int room = c->rows + rows + ROWS_PER_CHUNK;
  tbReal* buffer = realloc(c->buffer, sizeof(tbReal) * (size_t)room * ((size_t)c->field.width + 1));
  if (!buffer) return false;
  c->buffer = buffer;
  c->room = room;
  return true;
}

static void contact_row(const tbModel* m, const tbData* d, int i, tbReal* row) {
  const tbContact* c = &d->contact[i];
  tbReal wrench[6] = {0};
  tbContactState state = TB_CONTACT_OPEN;
  tb_contact_wrench(m, d, i, c->geom[1], wrench, NULL);
  tb_contact_state(m, d, i, &state, NULL, NULL);
  const tbReal values[TB_RECORD_CONTACT_WIDTH] = {
      d->time,     c->geom[0],  c->geom[1],  c->pos[0], c->pos[1],   c->pos[2],
      c->frame[0], c->frame[1], c->frame[2], c->dist,   c->force[0], c->force[1],
      c->force[2], wrench[0],   wrench[1],   wrench[2], state};
  memcpy(row, values, sizeof values);
}

static void array_row(const tbField* f, const tbData* d, tbReal* row) {
  const char* at = (const char*)d + f->offset;
  if (f->integers) {
    const int* values = *(int* const*)(const void*)at;
    for (int i = 0; i < f->width; i++) row[i] = values[i];
  } else {
    const tbReal* values = *(tbReal* const*)(const void*)at;
    memcpy(row, values, sizeof(tbReal) * (size_t)f->width);
  }
}

static void take_values(Column* c, const tbModel* m, const tbData* d) {
  int rows = c->kind == CONTACTS ? d->ncon : 1;
  for (int i = 0; i < rows; i++, c->rows++) {
    tbReal* row = c->buffer + (size_t)c->rows * (size_t)c->field.width;
    switch (c->kind) {
      case ARRAY: array_row(&c->field, d, row); break;
      case TIME: row[0] = d->time; break;
      case ENERGY: memcpy(row, d->energy, 2 * sizeof *row); break;
      case NCON: row[0] = d->ncon; break;
      case RESIDUAL: row[0] = d->solve.residual_exact.relative; break;
      case CONTACTS: contact_row(m, d, i, row); break;
    }
  }
}

// ---- names of geoms ----------------------------------------------------------------------------

// The names of all geoms, a line each; NULL when out of memory. The caller frees it.
static char* list_geoms(const tbModel* m) {
  size_t size = 1, used = 0;
  for (int i = 0; i < m->ngeom; i++) size += strlen(tb_id2name(m, TB_OBJ_GEOM, i)) + 1;
  char* list = malloc(size);
  if (!list) return NULL;
  list[0] = 0;
  for (int i = 0; i < m->ngeom; i++) {
    char* name = list + used;
    used += (size_t)snprintf(name, size - used, "%s\n", tb_id2name(m, TB_OBJ_GEOM, i));
    for (char* c = name; c + 1 < list + used; c++) *c = *c == '\n' ? ' ' : *c;
  }
  return list;
}

// Copy the name of a geom into `name`, cut at `size`.
static void geom_name(const char* list, int geom, char* name, size_t size) {
  for (int i = 0; i < geom && *list; i++) list += strcspn(list, "\n") + 1;
  snprintf(name, size, "%.*s", (int)strcspn(list, "\n"), list);
}

// ---- CSV ---------------------------------------------------------------------------------------

// Names with separators or quotes are quoted.
static void csv_name(FILE* f, const char* name) {
  if (!name[strcspn(name, ",\"\r\n")]) {
    fputs(name, f);
    return;
  }
  fputc('"', f);
  for (; *name; name++) {
    if (*name == '"') fputc('"', f);
    fputc(*name == '\n' || *name == '\r' ? ' ' : *name, f);
  }
  fputc('"', f);
}

static void csv_header(tbRecording* r, const tbModel* m) {
  char name[TB_COLUMN_TEXT];
  const char* separator = "";
  for (int k = 0; k < r->count; k++) {
    Column* c = &r->column[k];
    if (c->kind == CONTACTS) fputs(TB_RECORD_CONTACT "," TB_RECORD_CONTACT_NAMES, r->csv);
    for (int i = 0; i < c->field.width && c->kind != CONTACTS; i++, separator = ",") {
      tb_field_column(m, &c->field, i, name);
      fputs(separator, r->csv);
      csv_name(r->csv, name);
    }
  }
  fputc('\n', r->csv);
}

// All fields have the same number of rows, since contacts are alone in their file.
static void csv_rows(tbRecording* r) {
  for (int row = 0; row < r->column[0].rows; row++) {
    const char* separator = "";
    for (int k = 0; k < r->count; k++) {
      const Column* c = &r->column[k];
      for (int i = 0; i < c->field.width; i++, separator = ",") {
        char number[TB_NUMBER_TEXT] = "nan";
        tbReal value = c->buffer[(size_t)row * (size_t)c->field.width + (size_t)i];
        // NAN is written without its sign, which has no meaning.
        if (!isnan(value)) tb_print_real(number, value);
        fprintf(r->csv, "%s%s", separator, number);
      }
      for (int side = 0; side < 2 && c->kind == CONTACTS; side++) {
        char name[TB_COLUMN_TEXT];
        tbReal geom = c->buffer[(size_t)row * (size_t)c->field.width + 1 + (size_t)side];
        geom_name(r->geom_names, (int)geom, name, sizeof name);
        fputc(',', r->csv);
        csv_name(r->csv, name);
      }
    }
    fputc('\n', r->csv);
  }
}

static tbResult open_csv(tbRecording* r, const char* path, const tbModel* m, tbError* error) {
  for (int k = 0; k < r->count && r->count > 1; k++) {
    if (r->column[k].kind != CONTACTS) continue;
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "contacts have a row each and need a CSV file of their own, or a .h5 file");
  }
  r->csv = fopen(path, "w");
  if (!r->csv) {
    return tb_fail(error, TB_ERROR_FILE, "cannot write '%s': %s", path, strerror(errno));
  }
  csv_header(r, m);
  return TB_OK;
}

// ---- HDF5 --------------------------------------------------------------------------------------

// The names of a field's columns, as one text with commas.
static tbResult write_names(tbRecording* r, const tbModel* m, const Column* c, tbError* error) {
  size_t size = (size_t)(c->field.width + 1) * TB_COLUMN_TEXT + sizeof TB_RECORD_CONTACT;
  char *text = malloc(size), path[TB_FIELD_TEXT + 8];
  if (!text) return tb_fail(error, TB_ERROR_MEMORY, "out of memory for the names of columns");
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < c->field.width && c->kind != CONTACTS; i++) {
    char name[TB_COLUMN_TEXT];
    tb_field_column(m, &c->field, i, name);
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "," : "", name);
  }
  if (c->kind == CONTACTS) snprintf(text, size, "%s", TB_RECORD_CONTACT);
  snprintf(path, sizeof path, "names/%s", c->field.name);
  tbResult result = tb_h5_write_text(r->file, path, text, error);
  free(text);
  if (result != TB_OK || c->kind != CONTACTS) return result;
  return tb_h5_write_text(r->file, "names/geom", r->geom_names, error);
}

static bool make_dataset(tbRecording* r, Column* c) {
  tbH5Size width = (tbH5Size)c->field.width, now[2] = {0, width};
  tbH5Size most[2] = {TB_H5_UNLIMITED, width}, chunk[2] = {ROWS_PER_CHUNK, width};
  tbH5 space = tb_h5.Screate_simple(2, now, most), list = tb_h5.Pcreate(tb_h5.dataset_create);
  tb_h5.Pset_chunk(list, 2, chunk);
  c->dataset = tb_h5.Dcreate2(r->file, c->field.name, tb_h5.native_double, space, TB_H5_DEFAULT,
                              list, TB_H5_DEFAULT);
  tb_h5.Pclose(list);
  tb_h5.Sclose(space);
  return c->dataset >= 0;
}

static tbResult open_hdf5(tbRecording* r, const char* path, const tbModel* m, tbError* error) {
  tbResult result = tb_h5_load(path, error);
  if (result != TB_OK) return result;
  tbH5Quiet quiet = tb_h5_silence();
  r->file = tb_h5.Fcreate(path, TB_H5_TRUNCATE, TB_H5_DEFAULT, TB_H5_DEFAULT);
  bool ok = r->file >= 0;
  for (int k = 0; k < r->count && ok; k++) {
    if (r->column[k].field.width > 0) ok = make_dataset(r, &r->column[k]);
  }
  tb_h5_restore(quiet);
  if (!ok) return tb_fail(error, TB_ERROR_FILE, "cannot write '%s'", path);
  for (int k = 0; k < r->count && result == TB_OK; k++) {
    if (r->column[k].field.width > 0) result = write_names(r, m, &r->column[k], error);
  }
  return result;
}

static bool hdf5_append(Column* c) {
  tbH5Size width = (tbH5Size)c->field.width, count[2] = {(tbH5Size)c->rows, width};
  tbH5Size total[2] = {(tbH5Size)(c->written + c->rows), width};
  tbH5Size start[2] = {(tbH5Size)c->written, 0};
  bool ok = tb_h5.Dset_extent(c->dataset, total) >= 0;
  tbH5 file = tb_h5.Dget_space(c->dataset), memory = tb_h5.Screate_simple(2, count, NULL);
  tb_h5.Sselect_hyperslab(file, TB_H5_SELECT_SET, start, NULL, count, NULL);
  ok = ok &&
       tb_h5.Dwrite(c->dataset, tb_h5.native_double, memory, file, TB_H5_DEFAULT, c->buffer) >= 0;
  tb_h5.Sclose(memory);
  tb_h5.Sclose(file);
  return ok;
}

static bool hdf5_close(tbRecording* r) {
  bool ok = true;
  tbH5Quiet quiet = tb_h5_silence();
  for (int k = 0; k < r->count; k++) {
    if (r->column[k].dataset >= 0 && tb_h5.Dclose(r->column[k].dataset) < 0) ok = false;
  }
  if (tb_h5.Fclose(r->file) < 0) ok = false;
  tb_h5_restore(quiet);
  return ok;
}

// ---- both --------------------------------------------------------------------------------------

static bool flush(tbRecording* r) {
  bool ok = true;
  if (r->csv) {
    csv_rows(r);
    ok = !ferror(r->csv);
  } else {
    tbH5Quiet quiet = tb_h5_silence();
    for (int k = 0; k < r->count && ok; k++) {
      Column* c = &r->column[k];
      if (c->dataset >= 0 && c->rows > 0) ok = hdf5_append(c);
    }
    tb_h5_restore(quiet);
  }
  for (int k = 0; k < r->count; k++) {
    r->column[k].written += r->column[k].rows;
    r->column[k].rows = 0;
  }
  return ok;
}

static void free_all(tbRecording* r) {
  for (int k = 0; k < r->count; k++) free(r->column[k].buffer);
  free(r->geom_names);
  free(r);
}

static bool has_ending(const char* path, const char* ending) {
  char part[16];
  snprintf(part, sizeof part, "%s.part", ending);
  return tb_ends_with(path, ending) || tb_ends_with(path, part);
}

static tbResult open_file(tbRecording* r, const char* path, const tbModel* m, tbError* error) {
  if (has_ending(path, ".csv")) return open_csv(r, path, m, error);
  if (has_ending(path, ".h5") || has_ending(path, ".hdf5")) return open_hdf5(r, path, m, error);
  int length = (int)strlen(path) - (tb_ends_with(path, ".part") ? 5 : 0);
  return tb_fail(error, TB_ERROR_ARGUMENT, "'%.*s': a trajectory ends in .csv, .h5 or .hdf5",
                 length, path);
}

tbRecording* tb_record_open(const char* path, const tbModel* model, const char* what,
                            tbError* error) {
  tb_error_clear(error);
  if (!path || !model) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_record_open: path and model must not be NULL");
    return NULL;
  }
  tbRecording* r = calloc(1, sizeof *r);
  if (!r) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  r->file = -1;
  tbResult result = add_fields(r, model, what ? what : TB_RECORD_DEFAULT, error);
  r->geom_names = list_geoms(model);
  if (result == TB_OK && !r->geom_names) result = tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  if (result == TB_OK) result = open_file(r, path, model, error);
  if (result == TB_OK) return r;
  if (r->csv) fclose(r->csv);
  if (r->file >= 0) hdf5_close(r);
  free_all(r);
  return NULL;
}

tbResult tb_record_append(tbRecording* r, const tbModel* model, const tbData* data,
                          tbError* error) {
  if (!r || !model || !data) {
    return tb_fail(error, TB_ERROR_ARGUMENT,
                   "tb_record_append: record, model and data must not be NULL");
  }
  if (!tb_data_fits(model, data)) {
    return tb_fail(error, TB_ERROR_ARGUMENT, "the world is not of the model");
  }
  // First what may fail, so that all fields keep the same number of rows.
  for (int k = 0; k < r->count; k++) {
    Column* c = &r->column[k];
    tbField now;
    if (c->kind == ARRAY &&
        (!tb_record_field_find(model, c->field.name, &now) || now.width != c->field.width)) {
      return tb_fail(error, TB_ERROR_ARGUMENT, "the recording was opened for another model");
    }
    if (!make_room(c, c->kind == CONTACTS ? data->ncon : 1)) {
      return tb_fail(error, TB_ERROR_MEMORY, "out of memory for the recording");
    }
  }
  bool full = false;
  for (int k = 0; k < r->count; k++) {
    take_values(&r->column[k], model, data);
    full = full || r->column[k].rows >= ROWS_PER_CHUNK;
  }
  if (!full || flush(r)) return TB_OK;
  return tb_fail(error, TB_ERROR_FILE, "the recording could not be written: disk full?");
}

tbResult tb_record_close(tbRecording* r, tbError* error) {
  if (!r) return TB_OK;
  bool ok = flush(r);
  if (r->csv) ok = fclose(r->csv) == 0 && ok;
  if (!r->csv) ok = hdf5_close(r) && ok;
  free_all(r);
  if (ok) return TB_OK;
  return tb_fail(error, TB_ERROR_FILE, "the recording could not be written: disk full?");
}
