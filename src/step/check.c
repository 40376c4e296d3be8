// Checks of a step's inputs: invalid options, and states, inputs and results that are not finite,
// reported by quantity and body.
#include "step/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/kernel.h"
#include "model/law_kinds.h"
#include "model/model.h"
#include "model/option.h"
#include "model/transmission_kinds.h"
#include "model/workspace.h"
#include "tribo/step.h"

tbResult tb_step_fail(tbData* d, tbResult status, const char* message) {
  d->status = status;
  d->offender.reason = TB_OFFENCE_FAILED;
  // TB_ERROR_MEMORY always reports missing memory, whatever the caller's message.
  if (status == TB_ERROR_MEMORY && message && !strstr(message, "memory")) message = "out of memory";
  if (message) snprintf(d->message, sizeof d->message, "%.250s", message);
  return status;
}

// ---- options -----------------------------------------------------------------------------------

static bool same_options(const tbOption* a, const tbOption* b) {
  uint64_t differ = 0, x, y;
  for (size_t i = 0; i < sizeof *a; i += sizeof x) {
    memcpy(&x, (const char*)a + i, sizeof x);
    memcpy(&y, (const char*)b + i, sizeof y);
    differ |= x ^ y;
  }
  return differ == 0;
}

static tbResult validate_options(const tbModel* m, tbData* d, tbStepState* state) {
  tbError error;
  tbResult result = tb_option_check(&m->opt, &error);
  if (result != TB_OK) return tb_step_fail(d, result, error.message);
  state->checked = m->opt;
  return TB_OK;
}

// Debug builds check a model again if its integers differ from those that passed the check at load.
// Models that a step derives from others, as views of their arrays, are not checked.
static tbResult check_structure(const tbModel* m, tbData* d, tbStepState* state) {
#ifdef NDEBUG
  (void)m, (void)d, (void)state;
#else
  if (!tb_data_fits(m, d))
    return tb_step_fail(d, TB_ERROR_ARGUMENT, "this world is of another model");
  if (!tb_model_is_laid_out(m) || !tb_model_passed(m)) return TB_OK;
  uint64_t structure = tb_model_structure(m);
  if (structure == tb_model_passed(m) || structure == state->structure) return TB_OK;
  tbError error;
  tbResult result = tb_model_check_only(m, &error);
  if (result != TB_OK) return tb_step_fail(d, result, error.message);
  state->structure = structure;
#endif
  return TB_OK;
}

// Comparing the options with the last valid ones is faster than checking each of them.
tbResult tb_check_options(const tbModel* m, tbData* d, tbStepState* state, bool substep) {
  if (!substep && check_structure(m, d, state) != TB_OK) return d->status;
  return same_options(&state->checked, &m->opt) ? TB_OK : validate_options(m, d, state);
}

// The methods of a law, as a list of words.
static void list_solvers(const tbLawType* law, char* out, size_t size) {
  for (int solver = 0, n = 0; solver < TB_SOLVER_COUNT; solver++) {
    if (!(law->solvers >> solver & 1)) continue;
    n += snprintf(out + n, size - (size_t)n, "%s%s", n ? ", " : "",
                  tb_option_word("solver", solver));
  }
}

// Some laws support only one or two methods. (tb_solve makes the same check for the rigid laws.)
tbResult tb_check_method(const tbStep* s) {
  const tbOption* opt = &s->m->opt;
  if (opt->integrator >= TB_INTEGRATOR_EXPO && !tb_law_has(opt, TB_TRAIT_ANCHORS)) {
    return tb_step_fail(
        s->d, TB_ERROR_ARGUMENT,
        "this integrator requires the viscoelastic law; set law viscoelastic, or integrator euler, "
        "implicitfast, implicit or rk4");
  }
  if (s->law->solvers >> opt->solver & 1) return TB_OK;
  char has[128];
  list_solvers(s->law, has, sizeof has);
  snprintf(s->d->message, sizeof s->d->message,
           "law %s does not support solver \"%s\"; it supports %s", tb_step_law_name(opt->law),
           tb_option_word("solver", opt->solver), has);
  return tb_step_fail(s->d, TB_ERROR_UNSUPPORTED, NULL);
}

// ---- numbers -----------------------------------------------------------------------------------

// Whether all of x is finite. The product of a finite number with 0 is 0, any other is NaN; four
// independent sums shorten the dependency chain.
static bool all_finite(const tbReal* x, int n) {
  tbReal sum[4] = {0, 0, 0, 0};
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int k = 0; k < 4; k++) sum[k] += 0 * x[i + k];
  }
  for (; i < n; i++) sum[0] += 0 * x[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]) == 0;
}

static tbResult refuse(const tbModel* m, tbData* d, const char* what, int index, int body) {
  snprintf(d->message, sizeof d->message, "%s %d (body %d '%s') is not finite", what, index, body,
           tb_id2name(m, TB_OBJ_BODY, body));
  d->offender.body = body;
  return tb_step_fail(d, TB_ERROR_NUMERIC, NULL);
}

TB_COLD tbResult refuse_dof(const tbModel* m, tbData* d, const tbReal* x, const char* what) {
  for (int i = 0; i < m->nv; i++) {
    if (!isfinite(x[i])) return refuse(m, d, what, i, m->dof_bodyid[i]);
  }
  return TB_OK;
}

tbResult tb_check_dofs(const tbModel* m, tbData* d, const tbReal* x, const char* what) {
  return all_finite(x, m->nv) ? TB_OK : refuse_dof(m, d, x, what);
}

static tbResult check_qpos(const tbModel* m, tbData* d) {
  if (all_finite(d->qpos, m->nq)) return TB_OK;
  for (int i = 0; i < m->nq; i++) {
    if (isfinite(d->qpos[i])) continue;
    int joint = 0;
    while (joint + 1 < m->njnt && m->jnt_qposadr[joint + 1] <= i) joint++;
    return refuse(m, d, "qpos", i, m->jnt_bodyid[joint]);
  }
  return TB_OK;
}

// Check poses of mocap bodies, `width` numbers each.
static tbResult check_mocap(const tbModel* m, tbData* d, const tbReal* x, int width,
                            const char* what) {
  for (int i = 0; i < width * m->nmocap; i++) {
    if (isfinite(x[i])) continue;
    int body = 0;
    while (body + 1 < m->nbody && m->body_mocapid[body] != i / width) body++;
    return refuse(m, d, what, i, body);
  }
  return TB_OK;
}

tbResult tb_check_state(const tbModel* m, tbData* d) {
  if (check_qpos(m, d) != TB_OK) return d->status;
  if (check_mocap(m, d, d->mocap_pos, 3, "mocap_pos") != TB_OK) return d->status;
  if (check_mocap(m, d, d->mocap_quat, 4, "mocap_quat") != TB_OK) return d->status;
  return tb_check_dofs(m, d, d->qvel, "qvel of dof");
}

// A body that actuator i acts on.
static int actuated_body(const tbModel* m, int i) {
  int id = m->actuator_trnid[2 * i];
  switch (tb_transmission_kinds[m->actuator_trntype[i]].first) {
    case TB_OBJ_BODY: return id;
    case TB_OBJ_SITE: return m->site_bodyid[id];
    case TB_OBJ_TENDON:
      return m->actuator_Jnnz[i] ? m->dof_bodyid[m->Jmom_colind[m->actuator_Jadr[i]]] : 0;
    default: return m->jnt_bodyid[id];
  }
}

tbResult tb_check_inputs(const tbModel* m, tbData* d) {
  bool driven = all_finite(d->ctrl, m->nu), pushed = all_finite(d->xfrc_applied, 6 * m->nbody);
  for (int i = 0; !driven && i < m->nu; i++) {
    if (!isfinite(d->ctrl[i])) return refuse(m, d, "ctrl of actuator", i, actuated_body(m, i));
  }
  if (tb_check_activations(m, d, d->act) != TB_OK) return d->status;
  for (int i = 0; !pushed && i < 6 * m->nbody; i++) {
    if (!isfinite(d->xfrc_applied[i])) return refuse(m, d, "applied force", i, i / 6);
  }
  return tb_check_dofs(m, d, d->qfrc_applied, "applied force of dof");
}

TB_COLD tbResult refuse_force(const tbModel* m, tbData* d) {
  for (int i = 0; i < m->nu; i++) {
    if (isfinite(d->actuator_force[i])) continue;
    return refuse(m, d, "force of actuator", i, actuated_body(m, i));
  }
  return refuse_dof(m, d, d->qfrc_smooth, "force of dof");
}

tbResult tb_check_forces(const tbModel* m, tbData* d) {
  return all_finite(d->qfrc_smooth, m->nv) ? TB_OK : refuse_force(m, d);
}

tbResult tb_check_activations(const tbModel* m, tbData* d, const tbReal* act) {
  if (all_finite(act, m->na)) return TB_OK;
  for (int i = 0; i < m->nu; i++) {
    int adr = m->actuator_actadr[i];
    for (int k = 0; adr >= 0 && k < m->actuator_actnum[i]; k++) {
      if (!isfinite(act[adr + k])) return refuse(m, d, "act", adr + k, actuated_body(m, i));
    }
  }
  return TB_OK;
}

// No robot moves this fast, in m/s or rad/s; MuJoCo uses the same limit.
static const tbReal SPEED_LIMIT = 1e10;

// Whether contact springs and dampers are explicit: files written for MuJoCo often select
// Runge-Kutta, which MuJoCo combines with other springs.
static bool is_explicit(const tbOption* opt) {
  return tb_law_has(opt, TB_TRAIT_ANCHORS) &&
         (opt->integrator == TB_INTEGRATOR_RK4 || opt->integrator == TB_INTEGRATOR_EULER_EXPLICIT);
}

tbResult tb_check_motion(const tbModel* m, tbData* d, const tbReal* v, tbReal timestep) {
  if (tb_check_dofs(m, d, v, "velocity of dof") != TB_OK) return d->status;
  tbReal most = 0;
  for (int i = 0; i < m->nv; i++) most = fabs(v[i]) > most ? fabs(v[i]) : most;
  for (int i = 0; most > SPEED_LIMIT && i < m->nv; i++) {
    if (fabs(v[i]) <= SPEED_LIMIT) continue;
    int body = m->dof_bodyid[i];
    snprintf(d->message, sizeof d->message,
             "velocity of dof %d (body %d '%.60s') is %.1e: the motion is unstable, %sa smaller "
             "timestep (now %g s) or softer springs and gains may help",
             i, body, tb_id2name(m, TB_OBJ_BODY, body), v[i],
             is_explicit(&m->opt) ? "integrator expo (now an explicit one), " : "", timestep);
    d->offender.body = body;
    return tb_step_fail(d, TB_ERROR_NUMERIC, NULL);
  }
  return TB_OK;
}
