#include "eval_derivatives.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "message.h"
#include "nearest.h"

typedef struct {
  const tbModel* m;
  tbData* d;  // a copy, so that the other printed quantities do not change
  const tbReal* qacc;
  tbReal* out;
  tbDerivativeSettings settings;
} Context;

// Conditions that the numbers alone do not show are reported on standard error.
static void warn_step(const tbDerivativeInfo* info) {
  if (info->differentiable) return;
  fprintf(stderr, "tribo eval: the step is not differentiable here: %s (see A_info)\n",
          info->reason[0] ? info->reason : "it changes mode");
}

static tbResult step_partials(const Context* x, tbReal* A, tbReal* B) {
  tbDerivatives* derivatives = tb_derivatives_new(x->m);
  if (!derivatives) return TB_ERROR_MEMORY;
  tbDerivativeInfo info;
  tbResult result = tb_step_linearize(x->m, x->d, &x->settings, derivatives, &info);
  if (result == TB_OK) tb_derivatives_dense(derivatives, A, B);
  if (result == TB_OK && A) warn_step(&info);
  tb_derivatives_free(derivatives);
  return result;
}

static tbResult get_inverse(const Context* x) {
  tbInverseInfo info;
  tbResult result = tb_inverse(x->m, x->d, x->qacc, NULL, x->out, &info);
  if (result == TB_OK && !info.feasible) {
    fprintf(stderr, "tribo eval: inverse: the motion is not feasible, %s (see inverse_info)\n",
            info.reason);
  }
  return result;
}

static tbResult get_dtau_dq(const Context* x) {
  return tb_rne_derivatives(x->m, x->d, x->qacc, NULL, x->out, NULL);
}

static tbResult get_dtau_dv(const Context* x) {
  return tb_rne_derivatives(x->m, x->d, x->qacc, NULL, NULL, x->out);
}

static tbResult get_dtau_dqacc(const Context* x) {
  tb_full_m(x->m, x->d, x->out);
  return TB_OK;
}

static tbResult acceleration_partials(const Context* x, tbReal* dq, tbReal* dv, tbReal* dtau) {
  tbDerivatives* derivatives = tb_derivatives_new(x->m);
  if (!derivatives) return TB_ERROR_MEMORY;
  tbDerivativeInfo info;
  tbResult result = tb_step_linearize(x->m, x->d, &x->settings, derivatives, &info);
  if (result == TB_OK) result = tb_derivatives_acceleration(derivatives, dq, dv, dtau);
  if (result == TB_OK && dq) warn_step(&info);
  tb_derivatives_free(derivatives);
  return result;
}

static tbResult get_dqacc_dq(const Context* x) {
  return acceleration_partials(x, x->out, NULL, NULL);
}

static tbResult get_dqacc_dv(const Context* x) {
  return acceleration_partials(x, NULL, x->out, NULL);
}

static tbResult get_dqacc_dtau(const Context* x) {
  return acceleration_partials(x, NULL, NULL, x->out);
}

static tbResult get_daba_dq(const Context* x) {
  return tb_forward_derivatives(x->m, x->d, x->qacc, NULL, x->out, NULL, NULL);
}

static tbResult get_daba_dv(const Context* x) {
  return tb_forward_derivatives(x->m, x->d, x->qacc, NULL, NULL, x->out, NULL);
}

static tbResult get_regressor(const Context* x) {
  tb_rne_regressor(x->m, x->d, x->qacc, x->out);
  return TB_OK;
}

static tbResult get_A(const Context* x) {
  return step_partials(x, x->out, NULL);
}

static tbResult get_B(const Context* x) {
  return step_partials(x, NULL, x->out);
}

// Units of shapes: v nv, x 2 nv + na, u nu, b ten parameters per body, - none (a vector).
typedef struct {
  const char *name, *shape;
  tbResult (*get)(const Context* x);
} Quantity;

static const Quantity QUANTITIES[] = {
    {"inverse", "v-", get_inverse},
    {"dtau_dq", "vv", get_dtau_dq},
    {"dtau_dv", "vv", get_dtau_dv},
    {"dtau_dqacc", "vv", get_dtau_dqacc},
    {"dqacc_dq", "vv", get_dqacc_dq},
    {"dqacc_dv", "vv", get_dqacc_dv},
    {"dqacc_dtau", "vv", get_dqacc_dtau},
    {"daba_dq", "vv", get_daba_dq},
    {"daba_dv", "vv", get_daba_dv},
    {"regressor", "vb", get_regressor},
    {"A", "xx", get_A},
    {"B", "xu", get_B},
};

static int size_of(const tbModel* m, char unit) {
  switch (unit) {
    case 'v': return m->nv;
    case 'x': return 2 * m->nv + m->na;
    case 'u': return m->nu;
    case 'b': return TB_NINERTIAL * m->nbody;
    default: return -1;
  }
}

// Whether `name` is `base`, alone or, for derivatives of a step, with the suffix :hold_contacts.
static bool is_named(const char* name, const char* base, int of_step,
                     tbDerivativeSettings* settings) {
  static const char HOLD[] = ":hold_contacts";
  size_t length = strlen(base);
  *settings = tbDefaultDerivativeSettings();
  if (strncmp(name, base, length) != 0) return false;
  settings->hold_contacts = of_step && strcmp(name + length, HOLD) == 0;
  return settings->hold_contacts || name[length] == 0;
}

static const Quantity* find(const char* name, tbDerivativeSettings* settings) {
  for (size_t i = 0; i < sizeof QUANTITIES / sizeof *QUANTITIES; i++) {
    const Quantity* q = &QUANTITIES[i];
    int of_step = q->get == get_A || q->get == get_B || strncmp(q->name, "dqacc_", 6) == 0;
    if (is_named(name, q->name, of_step, settings)) return q;
  }
  return NULL;
}

static tbReal* run(const char* name, Context* x, tbResult (*get)(const Context*), int rows,
                   int columns, int* failed) {
  size_t count = (size_t)rows * (size_t)(columns < 0 ? 1 : columns);
  x->d = tb_data_copy(x->m, x->d);
  x->out = calloc(count + 1, sizeof(tbReal));
  tbResult result = x->d && x->out ? TB_OK : TB_ERROR_MEMORY;
  if (result == TB_OK) {
    tb_compute_position(x->m, x->d);
    tb_compute_velocity(x->m, x->d);
    result = get(x);
  }
  if (result != TB_OK) {
    const char* why = x->d && x->d->message[0] ? x->d->message : tb_result_name(result);
    complain("eval", "%s: %s", name, why);
  }
  tb_data_free(x->d);
  if (result == TB_OK) return x->out;
  free(x->out);
  *failed = 1;
  return NULL;
}

bool complain_of_body(const tbModel* m, const char* name) {
  Nearest nearest = {.word = name};
  for (int i = 0; i < m->nbody; i++) nearest_offer(&nearest, tb_id2name(m, TB_OBJ_BODY, i));
  return complain("eval", "unknown body '%s'%s (see --help)", name, nearest_hint(&nearest));
}

static tbReal* body_partials(const char* body_name, const tbModel* m, const tbData* d,
                             int* failed) {
  int body = tb_name2id(m, TB_OBJ_BODY, body_name);
  size_t n = (size_t)m->nv * (size_t)m->nv;
  tbReal* out = body >= 0 ? calloc(6 * n + 1, sizeof(tbReal)) : NULL;
  *failed = out ? 0 : body < 0 ? 2 : 1;
  if (out) tb_jac_derivative(m, d, body, d->xpos + 3 * body, out, out + 3 * n);
  if (*failed == 2) complain_of_body(m, body_name);
  if (*failed == 1) complain("eval", "out of memory at djac:%s", body_name);
  return out;
}

const char* eval_derivative_names(void) {
  static char names[512];
  size_t used = 0;
  for (size_t i = 0; i < sizeof QUANTITIES / sizeof *QUANTITIES && used < sizeof names; i++) {
    used += (size_t)snprintf(names + used, sizeof names - used, "%s ", QUANTITIES[i].name);
  }
  return names;
}

tbReal* eval_derivative(const char* name, const tbModel* m, const tbData* d, const tbReal* qacc,
                        int* rows, int* columns, int* failed) {
  *failed = 0;
  if (strncmp(name, "djac:", 5) == 0) {
    *rows = 6 * m->nv;
    *columns = m->nv;
    return body_partials(name + 5, m, d, failed);
  }
  Context x = {.m = m, .d = (tbData*)d, .qacc = qacc};  // run works on a copy of the world
  const Quantity* quantity = find(name, &x.settings);
  if (!quantity) return NULL;
  *rows = size_of(m, quantity->shape[0]);
  *columns = size_of(m, quantity->shape[1]);
  return run(name, &x, quantity->get, *rows, *columns, failed);
}

// ---- infos --------------------------------------------------------------------------------------

static void print_inverse_info(Json* json, const tbInverseInfo* info) {
  if (!json) {
    printf("inverse: %s%s%s (motion %.3g m/s, unactuated dofs %.3g N or N m)\n",
           info->feasible ? "feasible" : "infeasible", info->reason[0] ? ": " : "", info->reason,
           info->velocity_residual, info->base_residual);
    return;
  }
  json_open(json, "inverse_info");
  json_bool(json, "feasible", info->feasible);
  json_string(json, "reason", info->reason);
  json_real(json, "velocity_residual", info->velocity_residual);
  json_real(json, "base_residual", info->base_residual);
  json_int(json, "worst_constraint", info->worst_constraint);
  json_int(json, "worst_dof", info->worst_dof);
  json_int(json, "iterations", info->iterations);
  json_close(json);
}

static void print_step_info(Json* json, const char* name, const tbDerivativeInfo* info) {
  if (!json) {
    printf("%s: %s%s%s; contacts separated %d, sticking %d, sliding %d\n",
           strcmp(name, "A_info") == 0 ? "A" : "A:hold_contacts",
           info->differentiable ? "differentiable" : "not differentiable",
           info->reason[0] ? ": " : "", info->reason, info->separated, info->sticking,
           info->sliding);
    return;
  }
  json_open(json, name);
  json_bool(json, "differentiable", info->differentiable);
  json_string(json, "reason", info->reason);
  json_bool(json, "finite_differences", info->finite_differences);
  json_int(json, "separated", info->separated);
  json_int(json, "sticking", info->sticking);
  json_int(json, "sliding", info->sliding);
  json_int(json, "rows", info->rows);
  json_close(json);
}

int eval_is_derivative_info(const char* name) {
  tbDerivativeSettings settings;
  return is_named(name, "inverse_info", 0, &settings) || is_named(name, "A_info", 1, &settings);
}

bool eval_derivative_info(EvalInfo* info, const char* name, const tbModel* m, const tbData* d,
                          const tbReal* qacc) {
  tbData* copy = tb_data_copy(m, d);
  tbReal* qfrc = calloc((size_t)m->nv + 1, sizeof(tbReal));
  tbDerivatives* x = tb_derivatives_new(m);
  tbResult result = copy && qfrc && x ? TB_OK : TB_ERROR_MEMORY;
  memset(info, 0, sizeof *info);
  tbDerivativeSettings settings;
  bool step = is_named(name, "A_info", 1, &settings);
  if (result == TB_OK && !step) {
    result = tb_inverse(m, copy, qacc, NULL, qfrc, &info->inverse);
  } else if (result == TB_OK) {
    result = tb_step_linearize(m, copy, &settings, x, &info->step);
  }
  if (result != TB_OK) {
    const char* why = copy && copy->message[0] ? copy->message : tb_result_name(result);
    complain("eval", "%s: %s", name, why);
  }
  tb_derivatives_free(x);
  tb_data_free(copy);
  free(qfrc);
  return result == TB_OK;
}

void eval_print_info(Json* json, const char* name, const EvalInfo* info) {
  if (strcmp(name, "inverse_info") == 0) {
    print_inverse_info(json, &info->inverse);
  } else {
    print_step_info(json, name, &info->step);
  }
}
