#include "replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "message.h"

// Contents of each column of a file: 0 is time, 1 + i coordinate i, -1 anything else.
typedef struct {
  int n;
  int* holds;
} Columns;

// Parse the names of the first line; returns an error, or NULL.
static const char* find_columns(const char* line, int nq, Columns* c) {
  int found = 0;
  bool* seen = calloc((size_t)nq + 1, sizeof *seen);
  c->n = 1;
  for (const char* at = line; *at; at++) c->n += *at == ',';
  c->holds = malloc((size_t)c->n * sizeof *c->holds);
  const char* wrong = seen && c->holds ? NULL : "out of memory";
  for (int column = 0; !wrong && column < c->n; column++) {
    // A copy of the name, since sscanf searches for the end of its input, here a long line.
    char name[32] = "", rest;
    size_t length = strcspn(line, ",\r\n");
    memcpy(name, line, length < sizeof name ? length : 0);
    int number = -1;
    if (sscanf(name, "qpos%d%c", &number, &rest) == 1 && number >= nq) {
      wrong = "has more coordinates than the model: it belongs to another one";
    }
    int index = strcmp(name, "time") == 0 ? 0 : number >= 0 && number < nq ? number + 1 : -1;
    if (index >= 0 && seen[index]) index = -1;
    if (index >= 0) seen[index] = true;
    found += index >= 0;
    c->holds[column] = index;
    line += strcspn(line, ",");
    if (*line) line++;
  }
  free(seen);
  if (!wrong && found != nq + 1) {
    wrong = "has no columns time and qpos0, qpos1, ... for every coordinate of the model";
  }
  return wrong;
}

// Read one row of numbers into `row` (time, then qpos); false if one is missing or not finite.
static bool read_row(const char* line, const Columns* c, int nq, tbReal* row) {
  int found = 0;
  const char* at = line;
  for (int column = 0; column < c->n && *at && *at != '\n'; column++) {
    char* end;
    double value = strtod(at, &end);
    int index = c->holds[column];
    if (index >= 0) {
      if (end == at || !isfinite(value)) return false;
      row[index] = value;
      found++;
    }
    at = end + strcspn(end, ",\n");
    if (*at == ',') at++;
  }
  return found == nq + 1;
}

static bool add_row(Replay* r, int* room, const tbReal* row) {
  if (r->rows == *room) {
    *room = *room ? 2 * *room : 256;
    tbReal* time = realloc(r->time, (size_t)*room * sizeof *time);
    if (time) r->time = time;
    tbReal* qpos = realloc(r->qpos, (size_t)*room * (size_t)(r->nq + 1) * sizeof *qpos);
    if (qpos) r->qpos = qpos;
    if (!time || !qpos) return false;
  }
  r->time[r->rows] = row[0];
  memcpy(r->qpos + (size_t)r->rows * (size_t)r->nq, row + 1, (size_t)r->nq * sizeof *row);
  r->rows++;
  return true;
}

bool replay_read(Replay* r, const char* path, const tbModel* m, const char* command) {
  *r = (Replay){.nq = m->nq};
  FILE* f = fopen(path, "r");
  char* line = NULL;
  size_t size = 0;
  Columns columns = {0};
  int room = 0, number = 1;
  tbReal* row = calloc((size_t)m->nq + 1, sizeof *row);
  const char* wrong = NULL;
  if (!f || !row) {
    wrong = f ? "out of memory" : "cannot be read";
  } else {
    wrong = find_columns(getline(&line, &size, f) > 0 ? line : "", m->nq, &columns);
  }
  while (!wrong && getline(&line, &size, f) > 0) {
    number++;
    if (!read_row(line, &columns, m->nq, row)) {
      wrong = "has a line that is not finite numbers";
    } else if (r->rows && row[0] < r->time[r->rows - 1]) {
      wrong = "has times that decrease";
    } else if (joint_without_rotation(m, row + 1) >= 0) {
      wrong = "has a quaternion that is not a rotation: expected length 1";
    } else if (!add_row(r, &room, row)) {
      wrong = "is too long";
    }
  }
  if (!wrong && r->rows == 0) wrong = "has no states";
  if (wrong) complain(command, "%s:%d: %s", path, number, wrong);
  if (f) fclose(f);
  free(line);
  free(columns.holds);
  free(row);
  return !wrong;
}

void replay_free(Replay* r) {
  free(r->time);
  free(r->qpos);
  *r = (Replay){0};
}

void replay_pose(const Replay* r, tbReal time, tbData* d) {
  int i = 0;
  while (i + 1 < r->rows && r->time[i + 1] <= time) i++;
  memcpy(d->qpos, r->qpos + (size_t)i * (size_t)r->nq, (size_t)r->nq * sizeof *d->qpos);
  d->time = r->time[i];
}
