// Robots whose contacts are points on a flat floor: from URDF files, or scenes of our own.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expo_bench.h"
#include "page/text.h"

static void add_numbers(PageText* t, const char* name, const double* x, int n) {
  page_text_add(t, " %s='", name);
  for (int i = 0; i < n; i++) page_text_add(t, i ? " %.17g" : "%.17g", x[i]);
  page_text_add(t, "'");
}

// One body and its children as MJCF, with the points that belong to it.
static void write_body(PageText* t, const tbModel* m, int body, const Robot* r) {
  page_text_add(t, "<body name='%s'", tb_id2name(m, TB_OBJ_BODY, body));
  add_numbers(t, "pos", m->body_pos + 3 * body, 3);
  add_numbers(t, "quat", m->body_quat + 4 * body, 4);
  page_text_add(t, ">");
  for (int k = 0; k < m->body_jntnum[body]; k++) {
    int j = m->body_jntadr[body] + k;
    if (m->jnt_type[j] == TB_JOINT_FREE) {
      page_text_add(t, "<freejoint name='root'/>");
      continue;
    }
    const char* type = m->jnt_type[j] == TB_JOINT_SLIDE ? "slide" : "hinge";
    page_text_add(t, "<joint name='%s' type='%s' limited='false'", tb_id2name(m, TB_OBJ_JOINT, j),
                  type);
    add_numbers(t, "pos", m->jnt_pos + 3 * j, 3);
    add_numbers(t, "axis", m->jnt_axis + 3 * j, 3);
    page_text_add(t, "/>");
  }
  if (m->body_mass[body] > 0) {
    page_text_add(t, "<inertial");
    add_numbers(t, "pos", m->body_ipos + 3 * body, 3);
    add_numbers(t, "quat", m->body_iquat + 4 * body, 4);
    add_numbers(t, "mass", m->body_mass + body, 1);
    add_numbers(t, "diaginertia", m->body_inertia + 3 * body, 3);
    page_text_add(t, "/>");
  }
  for (int p = 0; p < r->npoint; p++) {
    if (r->body[p] != body) continue;
    page_text_add(t, "<geom name='foot%d' type='sphere' size='1e-9' mass='0' friction='1 0 0'", p);
    add_numbers(t, "pos", r->point[p], 3);
    page_text_add(t, "/>");
  }
  for (int child = body + 1; child < m->nbody; child++) {
    if (m->body_parentid[child] == body) write_body(t, m, child, r);
  }
  page_text_add(t, "</body>");
}

// Joints depth first, children by the name of their joint.
static void order_joints(const tbModel* m, int body, Robot* r) {
  for (int k = 0; k < m->body_jntnum[body]; k++) {
    int j = m->body_jntadr[body] + k;
    if (m->jnt_type[j] == TB_JOINT_FREE || r->njoint == MAX_NAMES) continue;
    snprintf(r->joint[r->njoint++], 64, "%s", tb_id2name(m, TB_OBJ_JOINT, j));
  }
  const char* last = "";
  for (;;) {
    int next = -1;
    const char* name = NULL;
    for (int child = body + 1; child < m->nbody; child++) {
      if (m->body_parentid[child] != body || m->body_jntnum[child] < 1) continue;
      const char* own = tb_id2name(m, TB_OBJ_JOINT, m->body_jntadr[child]);
      if (strcmp(own, last) > 0 && (!name || strcmp(own, name) < 0)) {
        next = child;
        name = own;
      }
    }
    if (next < 0) return;
    order_joints(m, next, r);
    last = name;
  }
}

// Where a link's point is in the body that carries it once fixed joints are fused.
static bool locate(const tbModel* kept, const tbModel* fused, const PointSpec* spec, int* body,
                   double point[3]) {
  int link = tb_name2id(kept, TB_OBJ_BODY, spec->link), carrier = link, found = -1;
  if (link < 0) return false;
  while (carrier > 0 && found < 0) {
    found = tb_name2id(fused, TB_OBJ_BODY, tb_id2name(kept, TB_OBJ_BODY, carrier));
    if (found < 0) carrier = kept->body_parentid[carrier];
  }
  tbData* d = tb_data_new(kept);
  if (found < 1 || !d) return false;
  tb_kinematics(kept, d);
  for (int i = 0; i < 3; i++) {
    point[i] = 0;
    for (int k = 0; k < 3; k++) {
      double world = d->xpos[3 * link + k] - d->xpos[3 * carrier + k];
      for (int j = 0; j < 3; j++) world += d->xmat[9 * link + 3 * k + j] * spec->offset[j];
      point[i] += d->xmat[9 * carrier + 3 * k + i] * world;
    }
  }
  *body = found;
  tb_data_free(d);
  return true;
}

bool robot_from_urdf(const char* path, const PointSpec* spec, int npoint, Robot* robot) {
  memset(robot, 0, sizeof *robot);
  tbLoadOptions options = tbDefaultLoadOptions();
  tbError error;
  options.floating_base = 1;
  tbModel* fused = tb_load(path, &options, &error);
  options.keep_fixed = 1;
  tbModel* kept = fused ? tb_load(path, &options, &error) : NULL;
  bool ok = fused && kept;
  robot->npoint = npoint;
  for (int i = 0; ok && i < npoint; i++) {
    ok = locate(kept, fused, &spec[i], &robot->body[i], robot->point[i]);
  }
  PageText t = {0};
  if (ok) {
    page_text_add(&t,
                  "<mujoco><compiler angle='radian' inertiafromgeom='false' "
                  "balanceinertia='true'/><worldbody>"
                  "<geom name='floor' type='plane' size='50 50 1' friction='1 0 0'/>");
    for (int b = 1; b < fused->nbody; b++) {
      if (fused->body_parentid[b] == 0) write_body(&t, fused, b, robot);
    }
    page_text_add(&t, "</worldbody></mujoco>");
    robot->m = t.text ? tb_load_string(t.text, NULL, NULL, &error) : NULL;
    if (!robot->m) fprintf(stderr, "%s\n", error.message);
  }
  free(t.text);
  if (robot->m) order_joints(robot->m, 1, robot);
  tb_model_free(fused);
  tb_model_free(kept);
  return robot->m != NULL;
}

bool robot_from_scene(const char* file, Robot* robot) {
  char path[512];
  tbError error;
  memset(robot, 0, sizeof *robot);
  snprintf(path, sizeof path, "%s/%s", TB_SCENES_DIR, file);
  robot->m = tb_load(path, NULL, &error);
  if (!robot->m) {
    fprintf(stderr, "%s\n", error.message);
    return false;
  }
  const tbModel* m = robot->m;
  for (int g = 0; g < m->ngeom && robot->npoint < MAX_POINTS; g++) {
    if (strncmp(tb_id2name(m, TB_OBJ_GEOM, g), "foot", 4) != 0) continue;
    robot->body[robot->npoint] = m->geom_bodyid[g];
    memcpy(robot->point[robot->npoint++], m->geom_pos + 3 * g, sizeof robot->point[0]);
  }
  order_joints(m, 1, robot);
  return true;
}

void robot_free(Robot* robot) {
  tb_model_free(robot->m);
  robot->m = NULL;
}
