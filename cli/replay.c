#include "replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 100000, MOST_LINE = 1 << 22 };

// Which column of the file holds time (place[0]) and each coordinate (place[1 + i]); false where
// one is missing. `line` is taken apart.
static bool find_columns(char* line, int nq, int* place) {
  int found = 0, column = 0;
  for (int i = 0; i <= nq; i++) place[i] = -1;
  for (char* name = strtok(line, ",\r\n"); name; name = strtok(NULL, ",\r\n"), column++) {
    int index = strcmp(name, "time") == 0 ? 0 : -1, number;
    char rest;
    if (sscanf(name, "qpos%d%c", &number, &rest) == 1 && number >= 0 && number < nq)
      index = number + 1;
    if (index < 0 || place[index] >= 0) continue;
    place[index] = column;
    found++;
  }
  return found == nq + 1;
}

// One row of numbers into `row` (time, then qpos); false where one is missing or not finite.
static bool read_row(char* line, const int* place, int nq, tbReal* row) {
  int found = 0, column = 0;
  for (char* at = line; *at && *at != '\n' && column < MOST_COLUMNS; column++) {
    char* end;
    double value = strtod(at, &end);
    for (int i = 0; i <= nq; i++) {
      if (place[i] != column) continue;
      if (end == at || !isfinite(value)) return false;
      row[i] = value;
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
  char* line = malloc(MOST_LINE);
  int *place = calloc((size_t)m->nq + 1, sizeof *place), room = 0, number = 1;
  tbReal* row = calloc((size_t)m->nq + 1, sizeof *row);
  const char* wrong = NULL;
  if (!f || !line || !place || !row) {
    wrong = f ? "out of memory" : "cannot be read";
  } else if (!fgets(line, MOST_LINE, f) || !find_columns(line, m->nq, place)) {
    wrong = "has no columns time and qpos0, qpos1, ... for every coordinate of the model";
  }
  while (!wrong && fgets(line, MOST_LINE, f)) {
    number++;
    if (!read_row(line, place, m->nq, row)) {
      wrong = "has a line that is not finite numbers";
    } else if (r->rows && row[0] < r->time[r->rows - 1]) {
      wrong = "goes back in time";
    } else if (!add_row(r, &room, row)) {
      wrong = "is too long";
    }
  }
  if (!wrong && r->rows == 0) wrong = "has no states";
  if (wrong) fprintf(stderr, "tribo %s: %s:%d: %s\n", command, path, number, wrong);
  if (f) fclose(f);
  free(line);
  free(place);
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
