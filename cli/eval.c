// `tribo eval`: quantities of a model at one state.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "commands.h"
#include "eval_derivatives.h"
#include "json.h"
#include "message.h"
#include "nearest.h"
#include "tribo/tribo.h"

static const char USAGE[] =
    "tribo eval MODEL [--qpos FILE] [--qvel FILE] [--ctrl FILE] [--act FILE] [--qacc FILE]\n"
    "           [--key NAME] [--law L] [--option NAME=VALUE] [--what LIST] [--json]\n\n"
    "Options of the model as in `tribo sim` (--law, --solver, --integrator, --dt, --tol, ...).\n"
    "Evaluates a model at its reference pose, at a keyframe, or at the numbers of text files\n"
    "(separated by blanks, commas or lines). LIST is comma-separated: any field of the world or "
    "of\n"
    "the model by name (qpos, xpos, qfrc_bias, body_mass, ...), or\n"
    "  M              joint-space inertia, nv x nv\n"
    "  Minv           its inverse\n"
    "  bias           gravity, Coriolis and centrifugal forces (qfrc_bias)\n"
    "  energy         potential and kinetic, J\n"
    "  contacts       contacts with their forces\n"
    "  actuator_moment, ten_J   as dense matrices over the dofs\n"
    "  jac:BODY       6 x nv Jacobian of a body's frame: linear, then angular\n"
    "  inverse        generalised force for qacc (inverse dynamics with contacts)\n"
    "  inverse_info   whether that motion is feasible, else the reason\n"
    "  dtau_dq, dtau_dv, dtau_dqacc          partials of RNEA at qacc\n"
    "  dqacc_dq, dqacc_dv, dqacc_dtau        partials of qacc, contacts and actuators included\n"
    "  daba_dq, daba_dv                      the same without contacts, at constant forces\n"
    "  regressor      RNEA's regressor over ten inertial parameters per body\n"
    "  djac:BODY      partials by q of jac:BODY, (6 nv) x nv\n"
    "  A, B           partials of a step by (q, v, act) and by ctrl; A_info tells whether they "
    "exist\n"
    "  A:hold_contacts, B:hold_contacts, A_info:hold_contacts, dqacc_dq:hold_contacts, ...\n"
    "                 the same if contacts and limits that carry a force stay closed (LQR at a "
    "stance)\n"
    "The default is qpos,qvel,xpos,xquat,M,bias,qacc,energy,contacts.\n\n" MODEL_ARGS_USAGE;

static const char DEFAULT_WHAT[] = "qpos,qvel,xpos,xquat,M,bias,qacc,energy,contacts";

typedef struct {
  ModelArgs model;
  const char *qpos, *qvel, *ctrl, *act, *qacc, *key, *what;
} Arguments;

// ---- state -------------------------------------------------------------------------------------

// Read exactly n numbers of a text file.
static bool read_vector(const char* path, const char* what, tbReal* values, int n) {
  int count = read_numbers(path, "eval", values, n);
  if (count >= 0 && count != n) {
    complain("eval", "%s has %d numbers, expected %d for %s", path, count, n, what);
  }
  return count == n;
}

static bool set_state(const Arguments* a, const tbModel* m, tbData* d) {
  if (a->key && !model_args_reset(m, d, a->key, "eval")) return false;
  return (!a->qpos || (read_vector(a->qpos, "qpos", d->qpos, m->nq) &&
                       quaternions_are_rotations(m, d->qpos, a->qpos, "eval"))) &&
         (!a->qvel || read_vector(a->qvel, "qvel", d->qvel, m->nv)) &&
         (!a->act || read_vector(a->act, "act", d->act, m->na)) &&
         (!a->ctrl || read_vector(a->ctrl, "ctrl", d->ctrl, m->nu));
}

// ---- quantities --------------------------------------------------------------------------------

// A matrix to be printed: a field of the model or the world, or a computed one.
typedef struct {
  const tbReal* values;
  tbReal* owned;  // memory to be freed, or NULL
  int rows, columns;
  bool is_vector;  // a field with one column: its shape is [rows]
} Matrix;

// Allocate a zeroed matrix; values is NULL when out of memory.
static tbReal* make(Matrix* q, int rows, int columns) {
  q->owned = calloc((size_t)rows * (size_t)columns + 1, sizeof(tbReal));
  q->values = q->owned;
  q->rows = rows;
  q->columns = columns;
  return q->owned;
}

// Convert sparse rows to a dense matrix.
static void make_rows(Matrix* q, const tbReal* values, const int* adr, const int* nnz,
                      const int* columns, int rows, int nv) {
  tbReal* dense = make(q, rows, nv);
  for (int r = 0; dense && r < rows; r++) {
    for (int k = adr[r]; k < adr[r] + nnz[r]; k++) dense[(long)r * nv + columns[k]] = values[k];
  }
}

static void make_inverse(Matrix* q, const tbModel* m, const tbData* d) {
  tbReal* inverse = make(q, m->nv, m->nv);
  for (int i = 0; inverse && i < m->nv; i++) inverse[(long)i * m->nv + i] = 1;
  if (inverse) tb_solve_m(m, d, inverse, inverse, m->nv);
}

static bool make_jacobian(Matrix* q, const char* body_name, const tbModel* m, const tbData* d) {
  int body = tb_name2id(m, TB_OBJ_BODY, body_name);
  if (body < 0) return complain_of_body(m, body_name);
  tbReal* J = make(q, 6, m->nv);
  if (J) tb_jac_body(m, d, body, J, J + 3 * (long)m->nv);
  return true;
}

static const char SPECIAL[] =
    "M Minv bias time energy contacts actuator_moment ten_J inverse_info A_info";

static bool complain_of_name(const char* name) {
  Nearest nearest = {.word = name};
  nearest_offer_list(&nearest, SPECIAL);
  nearest_offer_list(&nearest, eval_derivative_names());
#define X(type, field, ...) nearest_offer(&nearest, #field);
  TB_DATA_ARRAYS(X)
  TB_MODEL_ARRAYS(X)
#undef X
  return complain("eval", "unknown quantity '%s'%s (see --help)", name, nearest_hint(&nearest));
}

// A field of the world or of the model; types other than real are converted.
static bool make_field(Matrix* q, const char* name, const tbModel* m, const tbData* d) {
  const char* type;
  int rows, columns;
  const void* values = tb_data_field(m, d, name, &type, &rows, &columns);
  if (!values) values = tb_model_field(m, name, &type, &rows, &columns);
  if (!values) return complain_of_name(name);
  tbReal* widened = make(q, rows, columns);
  q->is_vector = columns == 1;
  for (long i = 0; widened && i < (long)rows * columns; i++) {
    switch (type[0]) {
      case 'r': widened[i] = ((const tbReal*)values)[i]; break;
      case 'i': widened[i] = ((const int*)values)[i]; break;
      case 'f': widened[i] = (tbReal)((const float*)values)[i]; break;
      default: widened[i] = ((const char*)values)[i]; break;
    }
  }
  return true;
}

// A derivative or the inverse dynamics; false if `name` is neither.
static bool make_derivative(Matrix* q, const char* name, const tbModel* m, const tbData* d,
                            int* failed) {
  q->owned = eval_derivative(name, m, d, d->qacc, &q->rows, &q->columns, failed);
  q->values = q->owned;
  if (!q->owned) return false;
  q->is_vector = q->columns < 0;
  if (q->is_vector) q->columns = 1;
  return true;
}

// False after a complaint: about an unknown name or, with *failed set, because the value cannot be
// computed.
static bool get_quantity(Matrix* q, const char* name, const tbModel* m, const tbData* d,
                         int* failed) {
  memset(q, 0, sizeof *q);
  if (strcmp(name, "M") == 0) {
    tbReal* M = make(q, m->nv, m->nv);
    if (M) tb_full_m(m, d, M);
  } else if (strcmp(name, "Minv") == 0) {
    make_inverse(q, m, d);
  } else if (strcmp(name, "bias") == 0) {
    *q = (Matrix){d->qfrc_bias, NULL, m->nv, 1, true};
  } else if (strcmp(name, "time") == 0) {
    *q = (Matrix){&d->time, NULL, 1, 1, true};
  } else if (strcmp(name, "actuator_moment") == 0) {
    make_rows(q, d->actuator_moment, m->actuator_Jadr, m->actuator_Jnnz, m->Jmom_colind, m->nu,
              m->nv);
  } else if (strcmp(name, "ten_J") == 0) {
    make_rows(q, d->ten_J, m->tendon_Jadr, m->tendon_Jnnz, m->Jten_colind, m->ntendon, m->nv);
  } else if (strncmp(name, "jac:", 4) == 0) {
    if (!make_jacobian(q, name + 4, m, d)) return false;
  } else if (make_derivative(q, name, m, d, failed)) {
    return true;
  } else if (*failed || !make_field(q, name, m, d)) {
    return false;
  }
  return q->values ? true : complain("eval", "out of memory at %s", name);
}

// ---- output ------------------------------------------------------------------------------------

static void json_contacts(Json* json, const tbModel* m, const tbData* d) {
  json_open_array(json, "contacts");
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    json_open(json, NULL);
    json_ints(json, "geom", c->geom, 2);
    json_string(json, "name1", tb_id2name(m, TB_OBJ_GEOM, c->geom[0]));
    json_string(json, "name2", tb_id2name(m, TB_OBJ_GEOM, c->geom[1]));
    json_int(json, "dim", c->dim);
    json_real(json, "dist", c->dist);
    json_reals(json, "pos", c->pos, 3);
    json_reals(json, "frame", c->frame, 9);
    json_real(json, "includemargin", c->includemargin);
    json_reals(json, "friction", c->friction, 5);
    json_int(json, "exclude", c->exclude);
    json_reals(json, "force", c->force, 6);
    json_close(json);
  }
  json_close_array(json);
}

static void text_contacts(const tbModel* m, const tbData* d) {
  printf("contacts: %d\n", d->ncon);
  for (int i = 0; i < d->ncon; i++) {
    const tbContact* c = &d->contact[i];
    printf(
        "  %d %s - %d %s: dist %.6g, pos %.6g %.6g %.6g, normal %.6g %.6g %.6g, force %.6g %.6g "
        "%.6g\n",
        c->geom[0], tb_id2name(m, TB_OBJ_GEOM, c->geom[0]), c->geom[1],
        tb_id2name(m, TB_OBJ_GEOM, c->geom[1]), c->dist, c->pos[0], c->pos[1], c->pos[2],
        c->frame[0], c->frame[1], c->frame[2], c->force[0], c->force[1], c->force[2]);
  }
}

static void print_energy(Json* json, const tbData* d) {
  if (json) {
    json_open(json, "energy");
    json_real(json, "potential", d->energy[0]);
    json_real(json, "kinetic", d->energy[1]);
    json_close(json);
  } else {
    printf("energy: potential %.9g J, kinetic %.9g J\n", d->energy[0], d->energy[1]);
  }
}

static void print_matrix(Json* json, const char* name, const Matrix* q) {
  bool vector = q->is_vector;
  if (json) {
    int shape[2] = {q->rows, q->columns};
    json_open(json, name);
    json_ints(json, "shape", shape, vector ? 1 : 2);
    json_reals(json, "data", q->values, (long)q->rows * q->columns);
    json_close(json);
    return;
  }
  printf(vector ? "%s (%d):\n" : "%s (%d x %d):\n", name, q->rows, q->columns);
  for (int r = 0; r < q->rows; r++) {
    for (int k = 0; k < q->columns; k++) {
      printf(" %12.6g", q->values[(long)r * q->columns + k]);
    }
    if (!vector) putchar('\n');
  }
  if (vector) putchar('\n');
}

// Whether a quantity is not printed as a matrix.
static bool is_special(const char* name) {
  return strcmp(name, "energy") == 0 || strcmp(name, "contacts") == 0 ||
         eval_is_derivative_info(name);
}

static void print_special(Json* json, const char* name, const EvalInfo* info, const tbModel* m,
                          const tbData* d) {
  if (strcmp(name, "energy") == 0) {
    print_energy(json, d);
  } else if (strcmp(name, "contacts") == 0) {
    if (json) json_contacts(json, m, d);
    if (!json) text_contacts(m, d);
  } else {
    eval_print_info(json, name, info);
  }
}

// ---- command -----------------------------------------------------------------------------------

// Everything that depends on the state, contact forces included.
static bool compute(const tbModel* m, tbData* d) {
  if (tb_forward(m, d) != TB_OK) {
    return complain("eval", "%s", d->message);
  }
  tb_energy_position(m, d);
  tb_energy_velocity(m, d);
  tb_subtree_velocity(m, d);
  return true;
}

// The next name of a comma-separated list; NULL after the last one.
static const char* next_name(const char** list, char* name, size_t size) {
  *list += strspn(*list, ", ");
  size_t length = strcspn(*list, ", ");
  if (!length) return NULL;
  snprintf(name, size, "%.*s", (int)length, *list);
  *list += length;
  return name;
}

enum { QUANTITY_NAME = 256 };

typedef struct {
  char name[QUANTITY_NAME];
  Matrix q;
  EvalInfo info;
} Item;

// False as in get_quantity.
static bool get_item(Item* item, const tbModel* m, const tbData* d, int* failed) {
  if (eval_is_derivative_info(item->name)) {
    *failed = !eval_derivative_info(&item->info, item->name, m, d, d->qacc);
    return !*failed;
  }
  return is_special(item->name) || get_quantity(&item->q, item->name, m, d, failed);
}

// The quantities of a list, each once; NULL after a complaint, with *failed as in get_quantity.
static Item* get_all(const char* what, const tbModel* m, const tbData* d, int* count, int* failed) {
  char name[QUANTITY_NAME];
  int most = 0;
  *count = 0;
  for (const char* at = what; next_name(&at, name, sizeof name);) most++;
  Item* items = most ? calloc((size_t)most, sizeof *items) : NULL;
  if (!items) {
    complain("eval", most ? "out of memory for '%s'" : "no quantities in '%s'", what);
    return NULL;
  }
  for (const char* at = what; next_name(&at, name, sizeof name);) {
    Item* item = &items[*count];
    bool again = false;
    for (int i = 0; i < *count; i++) again = again || strcmp(items[i].name, name) == 0;
    if (again) continue;
    memcpy(item->name, name, sizeof name);
    if (!get_item(item, m, d, failed)) {
      for (int i = 0; i < *count; i++) free(items[i].q.owned);
      free(items);
      return NULL;
    }
    ++*count;
  }
  return items;
}

// Compute all quantities first: nothing is printed if one name is unknown.
static bool print_all(const char* what, const tbModel* m, const tbData* d, bool json, int* failed) {
  int count;
  Item* items = get_all(what, m, d, &count, failed);
  if (!items) return false;
  Json out = {stdout, false};
  if (json) json_open(&out, NULL);
  for (int i = 0; i < count; i++) {
    if (is_special(items[i].name)) {
      print_special(json ? &out : NULL, items[i].name, &items[i].info, m, d);
    } else {
      print_matrix(json ? &out : NULL, items[i].name, &items[i].q);
    }
    free(items[i].q.owned);
  }
  if (json) {
    json_close(&out);
    putchar('\n');
  }
  free(items);
  return true;
}

// False after a complaint.
static bool parse(Arguments* a, int argc, char** argv) {
  Grammar g = model_args_grammar(&a->model, "eval");
  grammar_add(&g, (Flag){.name = "--qpos", .text = &a->qpos});
  grammar_add(&g, (Flag){.name = "--qvel", .text = &a->qvel});
  grammar_add(&g, (Flag){.name = "--ctrl", .text = &a->ctrl});
  grammar_add(&g, (Flag){.name = "--act", .text = &a->act});
  grammar_add(&g, (Flag){.name = "--qacc", .text = &a->qacc});
  grammar_add(&g, (Flag){.name = "--key", .text = &a->key});
  grammar_add(&g, (Flag){.name = "--what", .text = &a->what});
  return grammar_parse(&g, argc, argv);
}

int tribo_cmd_eval(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "--help") == 0) {
    fputs(USAGE, stdout);
    return 0;
  }
  Arguments a = {.what = DEFAULT_WHAT};
  if (!parse(&a, argc, argv)) return 2;
  tbModel* m = model_args_load(&a.model, "eval");
  if (!m) return 2;
  tbData* d = tb_data_new(m);
  bool good = d != NULL || complain("eval", "out of memory");
  good = good && set_state(&a, m, d);
  int failed = good && !compute(m, d);
  good = good && !failed && (!a.qacc || read_vector(a.qacc, "qacc", d->qacc, m->nv)) &&
         print_all(a.what, m, d, a.model.json, &failed);
  tb_data_free(d);
  tb_model_free(m);
  return good ? 0 : failed == 1 ? 1 : 2;
}
