// Sensors of contacts: which ones lie between two objects, and what they report.
#include <math.h>
#include <string.h>

#include "base/minmax.h"
#include "model/model.h"
#include "spatial/vec3.h"
#include "sensors/values.h"

// ---- which contacts ----------------------------------------------------------------------------

static bool belongs(const tbModel* m, int geom, int type, int id) {
  int body = m->geom_bodyid[geom];
  switch (type) {
    case TB_OBJ_GEOM: return geom == id;
    case TB_OBJ_BODY: return body == id;
    case TB_OBJ_XBODY: return body >= id && body < id + m->body_subtreenum[id];
    default: return true;
  }
}

// 1 where the contact goes from the first object to the second, -1 the other way, 0 where it is not
// between them.
static int direction(const tbModel* m, const tbData* d, int s, const tbContact* c) {
  int first = m->sensor_objid[s] < 0 ? TB_OBJ_UNKNOWN : m->sensor_objtype[s];
  int second = m->sensor_refid[s] < 0 ? TB_OBJ_UNKNOWN : m->sensor_reftype[s];
  if (first == TB_OBJ_UNKNOWN && second == TB_OBJ_UNKNOWN) return 1;
  if (first == TB_OBJ_SITE && !tb_inside_site(m, d, m->sensor_objid[s], c->pos)) return 0;
  bool from1 = belongs(m, c->geom[0], first, m->sensor_objid[s]);
  bool from2 = belongs(m, c->geom[1], first, m->sensor_objid[s]);
  bool to1 = belongs(m, c->geom[0], second, m->sensor_refid[s]);
  bool to2 = belongs(m, c->geom[1], second, m->sensor_refid[s]);
  if (first == TB_OBJ_UNKNOWN) return to2 ? 1 : to1 ? -1 : 0;
  if (second == TB_OBJ_UNKNOWN) return from1 ? 1 : from2 ? -1 : 0;
  return from1 && to2 ? 1 : from2 && to1 ? -1 : 0;
}

// The key by which contacts are sorted: the least comes first.
static tbReal rank(int reduce, const tbContact* c) {
  if (reduce == TB_REDUCE_MINDIST) return c->dist;
  return reduce == TB_REDUCE_MAXFORCE ? -tb_dot3(c->force, c->force) : 0;
}

// ---- what they report --------------------------------------------------------------------------

typedef struct {
  tbReal force[3], torque[3], dist, pos[3], normal[3], tangent[3];
} Report;

static void write(const Report* r, int bits, int found, tbReal* out) {
  const tbReal count = found;
  const tbReal* const parts[7] = {&count, r->force,  r->torque, &r->dist,
                                  r->pos, r->normal, r->tangent};
  for (int b = 0; b < 7; b++) {
    int n = tb_contact_data_size(bits & 1 << b);
    memcpy(out, parts[b], (size_t)n * sizeof(tbReal));
    out += n;
  }
}

// Seen from the other side the normal and the first tangent turn round, and the force too: what is
// left is the sign of the third component.
static Report report(const tbContact* c, int way) {
  Report r = {.dist = c->dist};
  tb_copy3(r.force, c->force);
  tb_copy3(r.torque, c->force + 3);
  tb_copy3(r.pos, c->pos);
  tb_scale3(r.normal, c->frame, way);
  tb_scale3(r.tangent, c->frame + 3, way);
  r.force[2] *= way;
  r.torque[2] *= way;
  return r;
}

// All contacts as one, in the world's axes, at the mean of their places weighted by force.
static Report net(const tbModel* m, const tbData* d, int s) {
  Report r = {.normal = {1, 0, 0}, .tangent = {0, 1, 0}};
  tbReal total = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < d->ncon; i++) {
      const tbContact* c = &d->contact[i];
      int way = direction(m, d, s, c);
      if (!way) continue;
      if (pass == 0) {
        tbReal weight = tb_norm3(c->force);
        total += weight;
        tb_add_scaled3(r.pos, r.pos, weight, c->pos);
        continue;
      }
      tbReal force[3], torque[3], arm[3], moment[3];
      tb_mul_mat3t_vec3(force, c->frame, c->force);
      tb_mul_mat3t_vec3(torque, c->frame, c->force + 3);
      tb_sub3(arm, c->pos, r.pos);
      tb_cross(moment, arm, force);
      tb_add_scaled3(r.force, r.force, way, force);
      tb_add_scaled3(r.torque, r.torque, way, torque);
      tb_add_scaled3(r.torque, r.torque, way, moment);
    }
    if (pass == 0) tb_scale3(r.pos, r.pos, 1 / tb_max(1e-15, total));
  }
  return r;
}

void tb_sensor_contact(const tbSensorContext* x, int s, tbReal* out) {
  const tbModel* m = x->m;
  const tbData* d = x->d;
  const int* prm = m->sensor_intprm + 3 * s;
  int bits = prm[0], reduce = prm[1], size = tb_contact_data_size(bits), found = 0;
  memset(out, 0, (size_t)m->sensor_dim[s] * sizeof(tbReal));
  for (int i = 0; i < d->ncon; i++) found += direction(m, d, s, &d->contact[i]) != 0;
  if (reduce == TB_REDUCE_NETFORCE) {
    Report r = net(m, d, s);
    write(&r, bits, found, out);
    return;
  }
  // Slot by slot the next one in order; contacts of one rank keep theirs.
  tbReal last = -INFINITY;
  int at = -1;
  for (int slot = 0; slot < prm[2] && slot < found; slot++) {
    int best = -1, way = 0;
    tbReal least = INFINITY;
    for (int i = 0; i < d->ncon; i++) {
      tbReal value = rank(reduce, &d->contact[i]);
      if (value < last || (value == last && i <= at) || !(value < least)) continue;
      int found_way = direction(m, d, s, &d->contact[i]);
      if (!found_way) continue;
      best = i, way = found_way, least = value;
    }
    if (best < 0) return;
    Report r = report(&d->contact[best], way);
    write(&r, bits, found, out + slot * size);
    last = least, at = best;
  }
}
