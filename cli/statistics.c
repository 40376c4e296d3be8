#include "statistics.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

// m; a larger overlap in the first pose is most likely a mistake in the model. Poses with exactly
// this overlap, up to rounding, do not count.
static const tbReal FIRST_OVERLAP = 0.01, ROUNDING = 1e-9;

// s; contacts are detected once per step.
static const tbReal LONG_STEP = 0.05;

// s; contacts as springs of 1e5 N/m are unstable under rk4 with longer steps.
static const tbReal LONG_SPRING_STEP = 2e-4;

// ---- residuals ---------------------------------------------------------------------------------

void residual_add(ResidualRange* range, const tbResidual* r) {
  const tbReal field[4] = {r->primal, r->dual, r->complementarity, r->relative};
  for (int i = 0; i < 4; i++) {
    if (isnan(field[i])) continue;
    range->sum[i] += field[i];
    range->max[i] = range->count[i] ? fmax(range->max[i], field[i]) : field[i];
    range->count[i]++;
  }
}

static tbResidual residual_of(const tbReal field[4]) {
  return (tbResidual){field[0], field[1], field[2], field[3]};
}

tbResidual residual_mean(const ResidualRange* range) {
  tbReal mean[4];
  for (int i = 0; i < 4; i++) {
    mean[i] = range->count[i] ? range->sum[i] / (tbReal)range->count[i] : NAN;
  }
  return residual_of(mean);
}

tbResidual residual_max(const ResidualRange* range) {
  tbReal max[4];
  for (int i = 0; i < 4; i++) max[i] = range->count[i] ? range->max[i] : NAN;
  return residual_of(max);
}

// ---- steps -------------------------------------------------------------------------------------

static void note(Occurrence* o, long step, tbReal value) {
  if (o->count++ == 0) {
    *o = (Occurrence){1, step, step, value};
  } else if (value > o->worst || (isnan(o->worst) && !isnan(value))) {
    o->worst = value;
    o->worst_step = step;
  }
}

static bool any_infinite(const tbResidual* r) {
  return isinf(r->primal) || isinf(r->dual) || isinf(r->complementarity) || isinf(r->relative);
}

// True where all distances are finite.
static bool add_contacts(Statistics* s, const tbData* d) {
  bool finite = true;
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    tbReal depth = fmax(0, -c->dist);
    finite = finite && isfinite(c->dist);
    s->depth_sum += depth;
    s->depth_squares += depth * depth;
    s->depth_max = fmax(s->depth_max, depth);
    if (s->steps > 0 || !(depth > FIRST_OVERLAP + ROUNDING)) continue;
    if (s->first_overlaps++ == 0 || c->dist < s->first_contact.dist) s->first_contact = *c;
  }
  s->contacts += d->ncon;
  return finite;
}

void statistics_add(Statistics* s, const tbData* d) {
  const tbSolveInfo* solve = &d->solve;
  bool finite = add_contacts(s, d);
  if (solve->status != TB_SOLVE_CONVERGED) {
    if (s->unconverged.count == 0) s->offender = d->offender;
    note(&s->unconverged, s->steps, solve->residual.relative);
  }
  if (isnan(solve->residual_exact.relative)) note(&s->uncertified, s->steps, NAN);
  if (!finite || any_infinite(&solve->residual) || any_infinite(&solve->residual_exact)) {
    note(&s->infinite, s->steps, INFINITY);
  }
  s->iterations += solve->iterations;
  residual_add(&s->residual, &solve->residual);
  residual_add(&s->residual_exact, &solve->residual_exact);
  s->seconds.collide += d->seconds.collide;
  s->seconds.assemble += d->seconds.assemble;
  s->seconds.solve += d->seconds.solve;
  s->seconds.dynamics += d->seconds.dynamics;
  s->seconds.total += d->seconds.total;
  s->steps++;
}

// ---- warnings ----------------------------------------------------------------------------------

void warn(Warnings* w, const char* format, ...) {
  if (w->count == MOST_WARNINGS) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(w->text[w->count++], WARNING_TEXT, format, arguments);
  va_end(arguments);
}

// Whether a moving body may come to rest on a geom of the world.
static bool has_ground(const tbModel* m) {
  for (int i = 0; i < m->ngeom; i++) {
    bool collides = m->geom_contype[i] || m->geom_conaffinity[i];
    if (collides && m->body_weldid[m->geom_bodyid[i]] == 0) return true;
  }
  return m->npair > 0;
}

void warn_of_root(Warnings* w, const tbModel* m, const RootLink* root) {
  const tbReal* g = m->opt.gravity;
  if (!root->floating || has_ground(m) || (g[0] == 0 && g[1] == 0 && g[2] == 0)) return;
  warn(w,
       "the floating robot falls for ever: the model has no static geom to land on; attach it to a "
       "scene with a floor (docs/manual/urdf.md)");
}

void warn_of_options(Warnings* w, const tbModel* m) {
  tbReal dt = m->opt.timestep;
  if (dt > LONG_STEP) {
    warn(w,
         "the time step of %g s is above %g s: bodies may pass through each other within a step; "
         "use --dt 0.01 or less",
         dt, LONG_STEP);
  }
  // Files made for MuJoCo often select rk4, which is unstable for contact springs at their time
  // steps.
  bool springs = m->opt.law == TB_LAW_VISCOELASTIC && m->opt.integrator == TB_INTEGRATOR_RK4;
  if (springs && dt > LONG_SPRING_STEP) {
    warn(
        w,
        "contacts are stiff springs, for which rk4 may be unstable at %g ms; use --integrator expo",
        1e3 * dt);
  }
}

// "geom 3 'foot' of body 1 'leg'", with the names that exist.
static const char* geom_text(const tbModel* m, int geom, char text[192]) {
  const char* name = tb_id2name(m, TB_OBJ_GEOM, geom);
  const char* body = tb_id2name(m, TB_OBJ_BODY, m->geom_bodyid[geom]);
  int n = snprintf(text, 192, "geom %d", geom);
  if (*name) n += snprintf(text + n, 192 - (size_t)n, " '%.50s'", name);
  n += snprintf(text + n, 192 - (size_t)n, " of body %d", m->geom_bodyid[geom]);
  if (*body) snprintf(text + n, 192 - (size_t)n, " '%.50s'", body);
  return text;
}

static void warn_of_overlap(Warnings* w, const Statistics* s, const tbModel* m,
                            const RootLink* root) {
  const tbContact* c = &s->first_contact;
  char one[192], other[192];
  bool fused = root->fused && (!m->geom_bodyid[c->geom[0]] || !m->geom_bodyid[c->geom[1]]);
  if (fused) {
    warn(w,
         "the first pose overlaps: %d contact%s deeper than %g m, the deepest %.3g m between %s "
         "and %s; the root link is fixed and fused into the world: exclude the pair, use "
         "--floating, or --srdf with its disabled collisions",
         s->first_overlaps, s->first_overlaps > 1 ? "s" : "", FIRST_OVERLAP, -c->dist,
         geom_text(m, c->geom[0], one), geom_text(m, c->geom[1], other));
    return;
  }
  warn(w,
       "the first pose overlaps: %d contact%s deeper than %g m, the deepest %.3g m between %s and "
       "%s; move them apart in the model, or start elsewhere by --key or --state",
       s->first_overlaps, s->first_overlaps > 1 ? "s" : "", FIRST_OVERLAP, -c->dist,
       geom_text(m, c->geom[0], one), geom_text(m, c->geom[1], other));
}

// " between two geoms" or " at a body"; empty if unknown.
static const char* offender_text(const tbModel* m, const tbOffender* o, char text[448]) {
  char one[192], other[192];
  text[0] = 0;
  if (o->reason == TB_OFFENCE_NONE) return text;
  if (o->geom[0] >= 0) {
    snprintf(text, 448, " between %s and %s", geom_text(m, o->geom[0], one),
             geom_text(m, o->geom[1], other));
  } else if (o->body >= 0) {
    snprintf(text, 448, " at body %d '%.50s'", o->body, tb_id2name(m, TB_OBJ_BODY, o->body));
  }
  return text;
}

static void warn_of_unconverged(Warnings* w, const Statistics* s, const tbModel* m) {
  const Occurrence* o = &s->unconverged;
  char worst[128] = "", where[448];
  if (!isnan(o->worst)) {
    snprintf(worst, sizeof worst, ", the worst at step %ld with a relative residual of %.1e",
             o->worst_step, o->worst);
  }
  warn(w,
       "%ld of %ld steps did not converge, the first at step %ld%s%s; try a smaller --dt, more "
       "iterations or another --solver",
       o->count, s->steps, o->first, offender_text(m, &s->offender, where), worst);
}

void warn_of_steps(Warnings* w, const Statistics* s, const tbModel* m, const RootLink* root) {
  const Occurrence *uncertified = &s->uncertified, *infinite = &s->infinite;
  if (s->first_overlaps) warn_of_overlap(w, s, m, root);
  if (s->unconverged.count) warn_of_unconverged(w, s, m);
  if (uncertified->count) {
    warn(w,
         "%ld of %ld steps have no certificate (residual of the exact law), the first at step %ld: "
         "their error is "
         "unknown; compare with a run under --law ncp",
         uncertified->count, s->steps, uncertified->first);
  }
  if (infinite->count) {
    warn(w,
         "%ld of %ld steps have values that are not finite (residuals or distances of contacts), "
         "the first at step %ld; try a smaller --dt",
         infinite->count, s->steps, infinite->first);
  }
}
