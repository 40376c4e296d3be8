#include "measured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "interrupt.h"
#include "message.h"

// Rows of a trace, and states in which internal forces are computed, at most.
enum { MOST_ROWS = 1000, MOST_SPLITS = 200 };

// N: a contact with less normal force does not push.
static const tbReal PUSHES = 1e-9;

// ---- traces ------------------------------------------------------------------------------------

static bool moves(const tbModel* m, int body) {
  return m->body_weldid[body] != 0;
}

static bool make_trace(Trace* t, const tbModel* m, int rows, tbReal interval) {
  *t = (Trace){.room = rows, .interval = interval};
  for (int b = 1; b < m->nbody; b++) t->points += moves(m, b);
  tbReal** columns[] = {&t->time, &t->energy, &t->depth, &t->residual, &t->distance};
  bool ok = true;
  for (int k = 0; k < 5; k++) {
    *columns[k] = calloc((size_t)rows + 1, sizeof(tbReal));
    ok = ok && *columns[k];
  }
  t->position = calloc(3 * (size_t)rows * (size_t)t->points + 1, sizeof(tbReal));
  return ok && t->position;
}

static void free_trace(Trace* t) {
  free(t->time);
  free(t->energy);
  free(t->depth);
  free(t->residual);
  free(t->distance);
  free(t->position);
  *t = (Trace){0};
}

static void add_row(Trace* t, const tbModel* m, const tbData* d, tbReal depth, tbReal residual) {
  if (t->rows == t->room) return;
  tbReal* p = t->position + 3 * (size_t)t->rows * (size_t)t->points;
  for (int b = 1; b < m->nbody; b++) {
    if (!moves(m, b)) continue;
    memcpy(p, d->xipos + 3 * b, 3 * sizeof *p);
    p += 3;
  }
  t->time[t->rows] = d->time;
  t->energy[t->rows] = d->energy[0] + d->energy[1];
  t->depth[t->rows] = depth;
  t->residual[t->rows++] = residual;
}

// ---- a run -------------------------------------------------------------------------------------

// Sums over the steps of a run.
typedef struct {
  Statistics steps;
  tbReal internal, gap, seconds;
  long splits;
  tbReal work;    // J, of actuators and applied forces
  tbReal lowest;  // J: least energy less work so far
  tbReal gain;
  tbReal* speed;  // nv: velocities at the start of a step
} Sums;

static void measure_energy(const tbModel* m, tbData* d) {
  tb_compute_position(m, d);
  tb_compute_velocity(m, d);
  tb_energy_position(m, d);
  tb_energy_velocity(m, d);
}

// The gap that a contact which pushes has when the step ends; the exact law closes it.
static void add_gap(Sums* s, const tbModel* m, const tbData* d) {
  for (int c = 0; c < d->ncon; c++) {
    tbReal velocity[6];
    if (!(d->contact[c].force[0] > PUSHES) ||
        tb_contact_velocity(m, d, c, velocity, NULL) != TB_OK) {
      continue;
    }
    s->gap = fmax(s->gap, d->contact[c].dist + m->opt.timestep * velocity[0]);
  }
}

// Energy that no force from outside brought: its rise above the least value so far.
static void add_energy(Sums* s, const tbModel* m, tbData* d) {
  for (int i = 0; i < m->nv; i++) {
    tbReal force = d->qfrc_actuator[i] + d->qfrc_applied[i];
    s->work += m->opt.timestep * force * 0.5 * (s->speed[i] + d->qvel[i]);
  }
  measure_energy(m, d);
  tbReal own = d->energy[0] + d->energy[1] - s->work;
  s->lowest = fmin(s->lowest, own);
  s->gain = fmax(s->gain, own - s->lowest);
}

static void add_step(Sums* s, const tbModel* m, tbData* d, bool split) {
  tbReal internal;
  statistics_add(&s->steps, d);
  s->seconds += d->seconds.total;
  add_gap(s, m, d);
  if (split && d->ncon && tb_internal_force(m, d, NULL, &internal, NULL) == TB_OK) {
    s->internal += internal;
    s->splits++;
  }
  add_energy(s, m, d);
}

// Deepest overlap of the current contacts.
static tbReal deepest(const tbData* d) {
  tbReal depth = 0;
  for (int c = 0; c < d->ncon; c++) depth = fmax(depth, -d->contact[c].dist);
  return depth;
}

// Step `steps` times, with a row of the trace every `every` steps.
static void step_all(const Drive* drive, const tbModel* m, tbData* d, long steps, long every,
                     Sums* s, Measured* out) {
  long between = steps / MOST_SPLITS + 1;
  tbReal depth = 0, residual = 0;
  measure_energy(m, d);
  s->lowest = d->energy[0] + d->energy[1];
  out->ok = true;
  for (long i = 0; i < steps && out->ok && !interrupt_signal(); i++) {
    memcpy(s->speed, d->qvel, (size_t)m->nv * sizeof *s->speed);
    drive_set(drive, d);
    if (tb_step(m, d) != TB_OK) {
      out->ok = false;
      snprintf(out->message, sizeof out->message, "step %ld: %s", i, d->message);
      return;
    }
    depth = fmax(depth, deepest(d));
    residual = fmax(residual, d->solve.residual_exact.relative);
    add_step(s, m, d, i % between == 0);
    if ((i + 1) % every == 0) {
      add_row(&out->trace, m, d, depth, residual);
      depth = residual = 0;
    }
  }
  if (interrupt_signal()) {
    out->ok = false;
    snprintf(out->message, sizeof out->message, "interrupted");
  }
}

static void summarise(const Sums* s, Measured* out) {
  const Statistics* t = &s->steps;
  out->steps = t->steps;
  out->unconverged = t->unconverged.count;
  out->energy_gain = s->gain;
  out->internal = s->splits ? s->internal / (tbReal)s->splits : NAN;
  out->depth_mean = t->contacts ? t->depth_sum / (tbReal)t->contacts : 0;
  out->depth_max = t->depth_max;
  out->gap = s->gap;
  out->residual_mean = residual_mean(&t->residual_exact).relative;
  out->residual_max = residual_max(&t->residual_exact).relative;
  out->microseconds = t->steps ? 1e6 * s->seconds / (tbReal)t->steps : 0;
}

// One run with `split` time steps per time step of the model.
static bool run(const Scenario* c, int law, int split, Measured* out) {
  tbModel* m = c->model;
  tbReal h = m->opt.timestep;
  long steps = lround(c->time / h), every = steps / MOST_ROWS + 1;
  Drive drive = {0};
  Sums sums = {.speed = calloc((size_t)m->nv + 1, sizeof(tbReal))};
  tbData* d = tb_data_new(m);
  bool ok = d && sums.speed && make_trace(&out->trace, m, (int)(steps / every), every * h);
  if (!ok) complain(c->command, "out of memory");
  ok = ok && (!c->key || model_args_reset(m, d, c->key, c->command));
  ok = ok && drive_read(&drive, c->ctrl, m, d, c->command);
  if (ok) {
    m->opt.law = law;
    m->opt.timestep = h / split;
    step_all(&drive, m, d, steps * split, every * split, &sums, out);
    m->opt.timestep = h;
    summarise(&sums, out);
  }
  drive_free(&drive);
  tb_data_free(d);
  free(sums.speed);
  return ok;
}

static tbPath path_of(const Trace* t) {
  return (tbPath){t->position, t->rows, t->points, t->interval};
}

bool measure_law(const Scenario* c, int law, Measured* out) {
  *out = (Measured){.law = law, .consistency = NAN, .path = NAN, .end = NAN};
  if (!run(c, law, 1, out)) return false;
  if (!out->ok || c->finer < 2 || interrupt_signal()) return true;
  Measured finer = {.law = law};
  bool ok = run(c, law, c->finer, &finer);
  if (ok && finer.ok) {
    tbPath coarse = path_of(&out->trace), fine = path_of(&finer.trace);
    out->consistency = tb_path_distance(&coarse, &fine, NULL);
  }
  measured_free(&finer);
  return ok;
}

void measure_distances(Measured* all, int count, int reference) {
  const Trace* from = &all[reference].trace;
  tbPath fixed = path_of(from);
  for (int i = 0; i < count; i++) {
    Trace* t = &all[i].trace;
    tbPath path = path_of(t);
    int last = (t->rows < from->rows ? t->rows : from->rows) - 1;
    all[i].path = tb_path_distance(&path, &fixed, &all[i].end);
    if (last >= 0) all[i].energy_end = t->energy[last] - from->energy[last];
    for (int r = 0; r <= last; r++) {
      for (int p = 0; p < t->points; p++) {
        size_t at = 3 * ((size_t)r * (size_t)t->points + (size_t)p);
        const tbReal *a = t->position + at, *b = from->position + at;
        tbReal distance = sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                               (a[2] - b[2]) * (a[2] - b[2]));
        t->distance[r] = fmax(t->distance[r], distance);
        all[i].lift = fmax(all[i].lift, a[2] - b[2]);
      }
    }
  }
}

void measured_free(Measured* m) {
  free_trace(&m->trace);
}
