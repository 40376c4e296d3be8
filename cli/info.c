// `tribo info`: the contents of a model, and the parts of its file that are not used.
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "commands.h"
#include "json.h"
#include "message.h"
#include "tribo/tribo.h"

static const char USAGE[] =
    "tribo info MODEL [--geoms] [--json]\n\n"
    "Prints sizes, bodies, joints, geoms and actuators of a model, its total mass, and the parts "
    "of "
    "the\n"
    "file that Tribo does not use. --geoms lists every geom instead: the number that contacts and\n"
    "messages call it by, its name, shape and body.\n\n" MODEL_ARGS_USAGE;

static const char* const GEOM_WORDS[] = {"plane",     "hfield",   "sphere", "capsule",
                                         "ellipsoid", "cylinder", "box",    "mesh"};

// ---- JSON --------------------------------------------------------------------------------------

static void json_bodies(Json* json, const tbModel* m) {
  json_open_array(json, "bodies");
  for (int i = 0; i < m->nbody; i++) {
    json_open(json, NULL);
    json_string(json, "name", tb_id2name(m, TB_OBJ_BODY, i));
    json_int(json, "parentid", m->body_parentid[i]);
    json_real(json, "mass", m->body_mass[i]);
    json_reals(json, "inertia", m->body_inertia + 3 * i, 3);
    json_reals(json, "ipos", m->body_ipos + 3 * i, 3);
    json_int(json, "jntnum", m->body_jntnum[i]);
    json_int(json, "geomnum", m->body_geomnum[i]);
    json_close(json);
  }
  json_close_array(json);
}

static void json_joints(Json* json, const tbModel* m) {
  json_open_array(json, "joints");
  for (int i = 0; i < m->njnt; i++) {
    json_open(json, NULL);
    json_string(json, "name", tb_id2name(m, TB_OBJ_JOINT, i));
    json_string(json, "type", tb_joint_type_name(m->jnt_type[i]));
    json_int(json, "bodyid", m->jnt_bodyid[i]);
    json_int(json, "qposadr", m->jnt_qposadr[i]);
    json_int(json, "dofadr", m->jnt_dofadr[i]);
    json_bool(json, "limited", m->jnt_limited[i]);
    json_reals(json, "range", m->jnt_range + 2 * i, 2);
    json_close(json);
  }
  json_close_array(json);
}

static void json_geoms(Json* json, const tbModel* m) {
  json_open_array(json, "geoms");
  for (int i = 0; i < m->ngeom; i++) {
    json_open(json, NULL);
    json_string(json, "name", tb_id2name(m, TB_OBJ_GEOM, i));
    json_string(json, "type", GEOM_WORDS[m->geom_type[i]]);
    json_int(json, "bodyid", m->geom_bodyid[i]);
    json_reals(json, "size", m->geom_size + 3 * i, 3);
    json_int(json, "contype", m->geom_contype[i]);
    json_int(json, "conaffinity", m->geom_conaffinity[i]);
    json_close(json);
  }
  json_close_array(json);
}

static void json_names(Json* json, const tbModel* m, const char* key, tbObjType type, int n) {
  json_open_array(json, key);
  for (int i = 0; i < n; i++) json_string(json, NULL, tb_id2name(m, type, i));
  json_close_array(json);
}

// One string per line of the notes; a line longer than the buffer is truncated.
static void json_notes(Json* json, const tbModel* m) {
  json_open_array(json, "unsupported");
  for (const char* line = m->notes; *line;) {
    size_t length = strcspn(line, "\n");
    char text[1024];
    snprintf(text, sizeof text, "%.*s", (int)(length < 1000 ? length : 1000), line);
    json_string(json, NULL, text);
    line += length + (line[length] == '\n');
  }
  json_close_array(json);
}

static void print_json(const tbModel* m) {
  Json json = {stdout, false};
  json_open(&json, NULL);
  json_string(&json, "name", m->names);
#define X(name, what) json_int(&json, #name, m->name);
  TB_MODEL_SIZES(X)
#undef X
  json_real(&json, "total_mass", m->total_mass);
  json_real(&json, "extent", m->extent);
  json_real(&json, "mean_inertia", m->mean_inertia);
  json_real(&json, "timestep", m->opt.timestep);
  json_reals(&json, "gravity", m->opt.gravity, 3);
  json_bodies(&json, m);
  json_joints(&json, m);
  json_geoms(&json, m);
  json_names(&json, m, "actuators", TB_OBJ_ACTUATOR, m->nu);
  json_names(&json, m, "tendons", TB_OBJ_TENDON, m->ntendon);
  json_names(&json, m, "sites", TB_OBJ_SITE, m->nsite);
  json_names(&json, m, "sensors", TB_OBJ_SENSOR, m->nsensor);
  json_names(&json, m, "keys", TB_OBJ_KEY, m->nkey);
  json_notes(&json, m);
  json_close(&json);
  putchar('\n');
}

// ---- text --------------------------------------------------------------------------------------

// A name, or a dash for an unnamed object.
static const char* shown(const tbModel* m, tbObjType type, int id) {
  const char* name = tb_id2name(m, type, id);
  return *name ? name : "-";
}

static void print_geoms(const tbModel* m) {
  printf("%5s %-28s %-10s %4s %-28s %s\n", "geom", "name", "type", "body", "name", "collides");
  for (int i = 0; i < m->ngeom; i++) {
    int body = m->geom_bodyid[i];
    printf("%5d %-28s %-10s %4d %-28s %s\n", i, shown(m, TB_OBJ_GEOM, i),
           GEOM_WORDS[m->geom_type[i]], body, shown(m, TB_OBJ_BODY, body),
           m->geom_contype[i] || m->geom_conaffinity[i] ? "yes" : "no");
  }
}

static void print_text(const tbModel* m) {
  char bodies[COUNTED_TEXT], joints[COUNTED_TEXT], geoms[COUNTED_TEXT], actuators[COUNTED_TEXT];
  printf("%s: %s, %s, nq %d, nv %d, %s, %s, %.6g kg\n", *m->names ? m->names : "model",
         counted(bodies, m->nbody, "body", "bodies"), counted(joints, m->njnt, "joint", "joints"),
         m->nq, m->nv, counted(geoms, m->ngeom, "geom", "geoms"),
         counted(actuators, m->nu, "actuator", "actuators"), m->total_mass);
  printf(
      "%d trees, %d tendons, %d equalities, %d sensors, %d keyframes, %d meshes, time step %g s\n",
      m->ntree, m->ntendon, m->neq, m->nsensor, m->nkey, m->nmesh, m->opt.timestep);
  printf("\n%4s %-28s %-28s %12s %6s %6s\n", "body", "name", "parent", "mass kg", "joints",
         "geoms");
  for (int i = 0; i < m->nbody; i++) {
    printf("%4d %-28s %-28s %12.6g %6d %6d\n", i, shown(m, TB_OBJ_BODY, i),
           i ? shown(m, TB_OBJ_BODY, m->body_parentid[i]) : "", m->body_mass[i], m->body_jntnum[i],
           m->body_geomnum[i]);
  }
  if (m->njnt) printf("\n%5s %-28s %-6s %-28s %s\n", "joint", "name", "type", "body", "range");
  for (int i = 0; i < m->njnt; i++) {
    printf("%5d %-28s %-6s %-28s", i, shown(m, TB_OBJ_JOINT, i), tb_joint_type_name(m->jnt_type[i]),
           shown(m, TB_OBJ_BODY, m->jnt_bodyid[i]));
    if (m->jnt_limited[i]) printf(" %.5g to %.5g", m->jnt_range[2 * i], m->jnt_range[2 * i + 1]);
    putchar('\n');
  }
  int count[TB_NGEOMTYPES] = {0}, colliding[TB_NGEOMTYPES] = {0};
  for (int i = 0; i < m->ngeom; i++) {
    count[m->geom_type[i]]++;
    colliding[m->geom_type[i]] += m->geom_contype[i] || m->geom_conaffinity[i];
  }
  if (m->ngeom) printf("\n%-10s %6s %10s\n", "geoms", "number", "colliding");
  for (int t = 0; t < TB_NGEOMTYPES; t++) {
    if (count[t]) printf("%-10s %6d %10d\n", GEOM_WORDS[t], count[t], colliding[t]);
  }
  if (*m->notes) printf("\nnot used:\n%s", m->notes);
}

int tribo_cmd_info(int argc, char** argv) {
  if (argc > 0 && strcmp(argv[0], "--help") == 0) {
    fputs(USAGE, stdout);
    return 0;
  }
  ModelArgs args = {.path = NULL};
  bool geoms = false;
  Grammar grammar = model_args_grammar(&args, "info");
  grammar_add(&grammar, (Flag){.name = "--geoms", .on = &geoms});
  if (!grammar_parse(&grammar, argc, argv)) return 2;
  tbModel* m = model_args_load(&args, "info");
  if (!m) return 2;
  if (args.json) {
    print_json(m);
  } else if (geoms) {
    print_geoms(m);
  } else {
    print_text(m);
  }
  tb_model_free(m);
  return 0;
}
