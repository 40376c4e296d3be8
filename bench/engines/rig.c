#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines.h"
#include "spatial/eig3.h"
#include "spatial/quat.h"
#include "spatial/vec3.h"

const char *engine_model_path, *engine_model_include;

static const tbReal INNER_SHARE = 0.02;

static int moving_body(const tbModel* m, int body) {
  return m->body_weldid[body];
}

// ---- building ----------------------------------------------------------------------------------

// Mass, centre and principal axes of a body together with the bodies welded to it.
static void composite_inertia(const tbModel* m, const tbData* d, int body, Link* link) {
  tbReal I[9] = {0};
  link->mass = 0;
  tb_zero3(link->pos);
  for (int b = 1; b < m->nbody; b++) {
    if (moving_body(m, b) != body) continue;
    link->mass += m->body_mass[b];
    tb_add_scaled3(link->pos, link->pos, m->body_mass[b], d->xipos + 3 * b);
  }
  if (link->mass > 0) tb_scale3(link->pos, link->pos, 1 / link->mass);
  for (int b = 1; b < m->nbody; b++) {
    if (moving_body(m, b) != body) continue;
    const tbReal* R = d->ximat + 9 * b;
    tbReal r[3];
    tb_sub3(r, d->xipos + 3 * b, link->pos);
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < 3; k++) {
        tbReal parallel = (i == k ? tb_dot3(r, r) : 0) - r[i] * r[k];
        I[3 * i + k] += m->body_mass[b] * parallel;
        for (int a = 0; a < 3; a++)
          I[3 * i + k] += R[3 * i + a] * m->body_inertia[3 * b + a] * R[3 * k + a];
      }
    }
  }
  tb_eig3(link->moment, link->quat, I);
  tb_quat_to_mat(link->mat, link->quat);
}

// One link per joint of a body; the last one is the body.
static void add_body(Rig* rig, int body, int parent) {
  const tbModel* m = rig->model;
  Link whole = {.body = body};
  composite_inertia(m, rig->start, body, &whole);
  int joints = m->body_jntnum[body];
  for (int i = 0; i < joints; i++) {
    Link* link = &rig->link[rig->count];
    bool last = i == joints - 1;
    tbReal share = last ? 1 - INNER_SHARE * (joints - 1) : INNER_SHARE;
    *link = whole;
    link->body = last ? body : -1;
    link->parent = i == 0 ? parent : rig->count - 1;
    link->joint = m->body_jntadr[body] + i;
    link->type = m->jnt_type[link->joint];
    link->mass *= share;
    tb_scale3(link->moment, link->moment, share);
    tb_copy3(link->anchor, rig->start->xanchor + 3 * link->joint);
    tb_copy3(link->axis, rig->start->xaxis + 3 * link->joint);
    rig->count++;
  }
  rig->of_body[body] = rig->count - 1;
}

// ---- pairs that may collide --------------------------------------------------------------------

int rig_geom_collides(const tbModel* m, int geom) {
  return m->geom_contype[geom] != 0 || m->geom_conaffinity[geom] != 0;
}

int rig_geom_link(const Rig* rig, int geom) {
  return rig->of_body[rig->model->geom_bodyid[geom]];
}

// The link of the next body above, past inner links.
static int parent_link(const Rig* rig, int link) {
  int at = rig->link[link].parent;
  while (at >= 0 && rig->link[at].body < 0) at = rig->link[at].parent;
  return at;
}

static bool bits_match(const Rig* rig, int link1, int link2) {
  const tbModel* m = rig->model;
  for (int a = 0; a < m->ngeom; a++) {
    if (rig_geom_link(rig, a) != link1) continue;
    for (int b = 0; b < m->ngeom; b++) {
      if (rig_geom_link(rig, b) != link2) continue;
      if ((m->geom_contype[a] & m->geom_conaffinity[b]) ||
          (m->geom_contype[b] & m->geom_conaffinity[a]))
        return true;
    }
  }
  return false;
}

static bool pair_allowed(const Rig* rig, int a, int b) {
  const tbModel* m = rig->model;
  if (a == b || (a >= 0 && rig->link[a].body < 0) || (b >= 0 && rig->link[b].body < 0))
    return false;
  if (a >= 0 && b >= 0 && (parent_link(rig, a) == b || parent_link(rig, b) == a)) return false;
  for (int i = 0; i < m->nexclude; i++) {
    int c = rig->of_body[m->exclude_body1[i]], d = rig->of_body[m->exclude_body2[i]];
    if ((a == c && b == d) || (a == d && b == c)) return false;
  }
  return bits_match(rig, a, b);
}

int rig_pair_allowed(const Rig* rig, int a, int b) {
  int n = rig->count + 1;
  return rig->allowed[(a < 0 ? rig->count : a) * n + (b < 0 ? rig->count : b)];
}

// Looked up by the engines at every step, so worked out once.
static bool fill_allowed(Rig* rig) {
  int n = rig->count + 1;
  rig->allowed = calloc((size_t)n * (size_t)n, 1);
  for (int a = 0; rig->allowed && a < n; a++) {
    for (int b = 0; b < n; b++) {
      rig->allowed[a * n + b] =
          pair_allowed(rig, a == rig->count ? -1 : a, b == rig->count ? -1 : b);
    }
  }
  return rig->allowed != NULL;
}

Rig* rig_new(const tbModel* m, const tbData* start, tbReal dt) {
  Rig* rig = calloc(1, sizeof *rig);
  if (!rig) return NULL;
  *rig = (Rig){.model = m, .start = start, .dt = dt};
  rig->link = calloc((size_t)m->njnt + 1, sizeof *rig->link);
  rig->of_body = calloc((size_t)m->nbody + 1, sizeof *rig->of_body);
  if (!rig->link || !rig->of_body) {
    rig_free(rig);
    return NULL;
  }
  rig->of_body[0] = -1;
  for (int b = 1; b < m->nbody; b++) {
    int above = rig->of_body[m->body_parentid[b]];
    if (m->body_jntnum[b]) {
      add_body(rig, b, above);
    } else {
      rig->of_body[b] = above;
    }
  }
  if (fill_allowed(rig)) return rig;
  rig_free(rig);
  return NULL;
}

void rig_free(Rig* rig) {
  if (!rig) return;
  free(rig->link);
  free(rig->of_body);
  free(rig->allowed);
  free(rig);
}

// ---- back to the model's coordinates -----------------------------------------------------------

void rig_set_scalar(const Rig* rig, int link, tbReal displacement, tbReal* qpos) {
  int adr = rig->model->jnt_qposadr[rig->link[link].joint];
  qpos[adr] = rig->start->qpos[adr] + displacement;
}

// Orientation of a link's body from that of its inertial frame.
static void body_quat(const Rig* rig, int link, const tbReal quat[4], tbReal out[4]) {
  tbReal back[4], local[4];
  tb_quat_conjugate(back, rig->link[link].quat);
  tb_quat_mul(local, back, rig->start->xquat + 4 * rig->link[link].body);
  tb_quat_mul(out, quat, local);
}

// Of the two quaternions of a rotation, the one nearer to `other`.
static void same_sign(tbReal q[4], const tbReal other[4]) {
  tbReal dot = 0;
  for (int k = 0; k < 4; k++) dot += q[k] * other[k];
  for (int k = 0; k < 4 && dot < 0; k++) q[k] = -q[k];
}

void rig_set_pose(const Rig* rig, int link, const tbReal pos[3], const tbReal quat[4],
                  const tbReal parent_quat[4], tbReal* qpos) {
  const tbModel* m = rig->model;
  const Link* l = &rig->link[link];
  int adr = m->jnt_qposadr[l->joint];
  tbReal q[4];
  body_quat(rig, link, quat, q);
  if (l->type == TB_JOINT_FREE) {
    // The body's origin moves with the inertial frame: p = c + R (R_0^T (p_0 - c_0)).
    tbReal offset[3], local[3], moved[3];
    tb_sub3(offset, rig->start->xpos + 3 * l->body, l->pos);
    tb_mul_mat3t_vec3(local, l->mat, offset);
    tb_quat_rotate(moved, quat, local);
    tb_add3(qpos + adr, pos, moved);
    memcpy(qpos + adr + 3, q, sizeof q);
    same_sign(qpos + adr + 3, rig->start->qpos + adr + 3);
    return;
  }
  // A ball: the rotation after the body's own in its parent, which may be welded to the link above.
  int above = l->parent, parent_body = m->body_parentid[l->body];
  tbReal world[4] = {1, 0, 0, 0}, fixed[4], rest[4], back[4];
  if (above >= 0) {
    tb_quat_conjugate(back, rig->link[above].quat);
    tb_quat_mul(fixed, back, rig->start->xquat + 4 * parent_body);
    tb_quat_mul(world, parent_quat, fixed);
  } else {
    memcpy(world, rig->start->xquat + 4 * parent_body, sizeof world);
  }
  tb_quat_mul(rest, world, m->body_quat + 4 * l->body);
  tb_quat_conjugate(back, rest);
  tb_quat_mul(qpos + adr, back, q);
  same_sign(qpos + adr, rig->start->qpos + adr);
}
