// Changes of the tree before it becomes a model: alignment of free bodies, fusing of static bodies,
// discarding of visual geoms. At the end the index of every element in the model is known.
#include <string.h>

#include "base/error.h"
#include "io/compile/internal.h"
#include "model/joint_kinds.h"
#include "spatial/quat.h"

// ---- references ---------------------------------------------------------------------------------

static void mark_body(tbCompile* c, const char* name) {
  int i = tb_compile_find(c, TB_FLAT_body, name);
  if (i >= 0) c->body[i].is_referenced = true;
}

static void mark_geom(tbCompile* c, const char* name) {
  int i = tb_compile_find(c, TB_FLAT_geom, name);
  if (i >= 0) c->geom[i].is_referenced = true;
}

static void mark_object(tbCompile* c, int type, const char* name) {
  if (type == TB_OBJ_BODY || type == TB_OBJ_XBODY) mark_body(c, name);
  if (type == TB_OBJ_GEOM) mark_geom(c, name);
}

// Bodies and geoms that other elements refer to must stay.
static void mark_references(tbCompile* c) {
  const tbFlat* spec = c->spec;
  for (int i = 0; i < spec->nexclude; i++) {
    mark_body(c, spec->exclude[i].body1);
    mark_body(c, spec->exclude[i].body2);
  }
  for (int i = 0; i < spec->nequality; i++) {
    mark_body(c, spec->equality[i].body1);
    mark_body(c, spec->equality[i].body2);
  }
  for (int i = 0; i < spec->npair; i++) {
    mark_geom(c, spec->pair[i].geom1);
    mark_geom(c, spec->pair[i].geom2);
  }
  for (int i = 0; i < spec->nwrap; i++) {
    if (spec->wrap[i].type == TB_WRAP_SPHERE) mark_geom(c, spec->wrap[i].target);
  }
  for (int i = 0; i < spec->nactuator; i++) mark_body(c, spec->actuator[i].body);
  for (int i = 0; i < spec->nsensor; i++) {
    mark_object(c, spec->sensor[i].objtype, spec->sensor[i].objname);
    mark_object(c, spec->sensor[i].reftype, spec->sensor[i].refname);
  }
  for (int i = 0; i < spec->ntupleitem; i++) {
    mark_object(c, spec->tupleitem[i].objtype, spec->tupleitem[i].objname);
  }
  for (int i = 0; i < spec->ncamera; i++) mark_body(c, spec->camera[i].target);
  for (int i = 0; i < spec->nlight; i++) mark_body(c, spec->light[i].target);
}

// ---- moving frames ------------------------------------------------------------------------------

// (pos, quat) <- (outer_pos, outer_quat) * (pos, quat)
static void prepend(tbReal pos[3], tbReal quat[4], const tbReal outer_pos[3],
                    const tbReal outer_quat[4]) {
  tb_quat_rotate(pos, outer_quat, pos);
  tb_add3(pos, pos, outer_pos);
  tb_quat_mul(quat, outer_quat, quat);
  tb_quat_normalize(quat);
}

// ---- alignment ----------------------------------------------------------------------------------

// Whether compiler/alignfree or the joint itself requests alignment. Only bodies without children
// whose only joint is a free joint can be aligned.
static bool is_aligned(const tbCompile* c, const tbFlatJoint* joint) {
  const tbCompileBody* b = &c->body[joint->body];
  if (!tb_joint_floats(joint->type) || b->njnt != 1 || b->mass < TB_COMPILE_TINY) return false;
  if (joint->align == TB_AUTO ? !joint->compiler->alignfree : !joint->align) return false;
  // Children directly follow their parent.
  int next = joint->body + 1;
  return next >= c->spec->nbody || c->spec->body[next].parent != joint->body;
}

// Moves the frames in every body with `moves` set by the body's entry of `shift`.
static void shift_frames(tbCompileFrame* frame, size_t stride, int n, const bool* moves,
                         const tbCompileFrame* shift) {
  for (int i = 0; i < n; i++) {
    tbCompileFrame* f = (tbCompileFrame*)((char*)frame + (size_t)i * stride);
    if (moves[f->body]) prepend(f->pos, f->quat, shift[f->body].pos, shift[f->body].quat);
  }
}

static void shift_all_frames(tbCompile* c, const bool* moves, const tbCompileFrame* shift) {
  const tbFlat* spec = c->spec;
  shift_frames(&c->geom->frame, sizeof *c->geom, spec->ngeom, moves, shift);
  shift_frames(c->site, sizeof *c->site, spec->nsite, moves, shift);
  shift_frames(c->camera, sizeof *c->camera, spec->ncamera, moves, shift);
  shift_frames(c->light, sizeof *c->light, spec->nlight, moves, shift);
}

// Moves the body frame of each aligned body to its inertial frame.
static void align_free(tbCompile* c, bool* moves, tbCompileFrame* shift) {
  bool any = false;
  for (int i = 0; i < c->spec->njoint; i++) {
    int body = c->spec->joint[i].body;
    if (!is_aligned(c, &c->spec->joint[i])) continue;
    tbCompileBody* b = &c->body[body];
    // Frames in the old body frame are moved by the inverse of the inertial frame.
    tb_quat_conjugate(shift[body].quat, b->iquat);
    tb_quat_rotate(shift[body].pos, shift[body].quat, b->ipos);
    tb_scale3(shift[body].pos, shift[body].pos, -1);
    moves[body] = any = true;
    prepend(b->ipos, b->iquat, b->pos, b->quat);
    tb_copy3(b->pos, b->ipos);
    memcpy(b->quat, b->iquat, sizeof b->quat);
    tb_zero3(b->ipos);
    tb_quat_identity(b->iquat);
  }
  if (any) shift_all_frames(c, moves, shift);
  memset(moves, 0, (size_t)c->spec->nbody * sizeof *moves);
}

// ---- fusing -------------------------------------------------------------------------------------

// Merges the mass of a body without joints into `into`; its frame there is (pos, quat).
static void fuse_inertia(tbCompileBody* into, const tbCompileBody* b) {
  if (b->mass < TB_COMPILE_TINY) return;
  tbInertiaPart parts[2] = {{.mass = into->mass}, {.mass = b->mass}};
  tb_copy3(parts[0].pos, into->ipos);
  memcpy(parts[0].quat, into->iquat, sizeof parts[0].quat);
  tb_copy3(parts[0].moments, into->inertia);
  tb_copy3(parts[1].pos, b->ipos);
  memcpy(parts[1].quat, b->iquat, sizeof parts[1].quat);
  tb_copy3(parts[1].moments, b->inertia);
  prepend(parts[1].pos, parts[1].quat, b->pos, b->quat);
  tbInertiaPart total = tb_inertia_combine(parts, 2);
  into->mass = total.mass;
  tb_copy3(into->ipos, total.pos);
  memcpy(into->iquat, total.quat, sizeof into->iquat);
  tb_copy3(into->inertia, total.moments);
}

// Parents come first, so that a chain of static bodies is fused into the first one that stays.
static void fuse_static(tbCompile* c, bool* moves, tbCompileFrame* shift) {
  const tbFlat* spec = c->spec;
  bool any = false;
  for (int i = 1; i < spec->nbody && spec->compiler->fusestatic; i++) {
    tbCompileBody* b = &c->body[i];
    int parent = b->parent;
    if (c->body[parent].fused) {
      prepend(b->pos, b->quat, shift[parent].pos, shift[parent].quat);
      parent = b->parent = shift[parent].body;
    }
    const tbFlatBody* s = &spec->body[i];
    if (b->njnt || b->is_referenced || s->mocap) continue;
    b->fused = moves[i] = any = true;
    shift[i].body = parent;
    tb_copy3(shift[i].pos, b->pos);
    memcpy(shift[i].quat, b->quat, sizeof b->quat);
    if (parent) fuse_inertia(&c->body[parent], b);
  }
  if (any) shift_all_frames(c, moves, shift);
}

// The body that contains the elements of the spec's body `i` after fusing.
static int fused_body(const tbCompile* c, const tbCompileFrame* shift, int i) {
  return c->body[i].fused ? shift[i].body : i;
}

// ---- order --------------------------------------------------------------------------------------

// Numbers the kept elements by body, in the order of the spec within a body. `first` has room for
// nbody + 1 entries.
static void number_by_body(const tbCompile* c, tbCompileFrame* frame, size_t stride, int n,
                           const bool* drop, size_t drop_stride, int* id, int* first) {
  memset(first, 0, ((size_t)c->spec->nbody + 1) * sizeof *first);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < n; i++) {
      const tbCompileFrame* f = (const tbCompileFrame*)((const char*)frame + (size_t)i * stride);
      bool dropped = drop && *(const bool*)((const char*)drop + (size_t)i * drop_stride);
      id[i] = -1;
      if (dropped) continue;
      if (pass == 0) {
        first[f->body + 1]++;
      } else {
        id[i] = first[f->body]++;
      }
    }
    if (pass == 0) {
      for (int b = 0; b < c->spec->nbody; b++) first[b + 1] += first[b];
    }
  }
}

// Discards geoms that are purely visual: without collisions and not referred to. Their mass has
// already been counted.
static void discard_visual(tbCompile* c) {
  for (int i = 0; i < c->spec->ngeom; i++) {
    const tbFlatGeom* s = &c->spec->geom[i];
    tbCompileGeom* g = &c->geom[i];
    g->discarded =
        c->spec->compiler->discardvisual && !s->contype && !s->conaffinity && !g->is_referenced;
  }
}

// Without discarding all meshes stay; with it, only those of the remaining geoms.
static void number_meshes(tbCompile* c) {
  const tbFlat* spec = c->spec;
  for (int i = 0; i < spec->nmesh; i++) {
    c->mesh_id[i] = spec->compiler->discardvisual ? -1 : 0;
  }
  for (int i = 0; i < spec->ngeom; i++) {
    if (!c->geom[i].discarded && c->geom[i].mesh >= 0) c->mesh_id[c->geom[i].mesh] = 0;
  }
  int n = 0;
  for (int i = 0; i < spec->nmesh; i++) {
    if (c->mesh_id[i] == 0) c->mesh_id[i] = n++;
  }
}

static void number_all(tbCompile* c, tbModel* sizes, int* first) {
  const tbFlat* spec = c->spec;
  // Removing bodies from a depth-first order leaves a depth-first order.
  for (int i = 0; i < spec->nbody; i++) {
    c->body_id[i] = c->body[i].fused ? -1 : sizes->nbody++;
    sizes->nmocap += spec->body[i].mocap;
  }
  number_by_body(c, &c->geom->frame, sizeof *c->geom, spec->ngeom, &c->geom->discarded,
                 sizeof *c->geom, c->geom_id, first);
  for (int i = 0; i < spec->ngeom; i++) sizes->ngeom += !c->geom[i].discarded;
  number_by_body(c, c->site, sizeof *c->site, spec->nsite, NULL, 0, c->site_id, first);
  number_by_body(c, c->camera, sizeof *c->camera, spec->ncamera, NULL, 0, c->camera_id, first);
  number_by_body(c, c->light, sizeof *c->light, spec->nlight, NULL, 0, c->light_id, first);
  sizes->nsite = spec->nsite;
  sizes->ncam = spec->ncamera;
  sizes->nlight = spec->nlight;
}

tbResult tb_compile_order(tbCompile* c, tbModel* sizes) {
  const tbFlat* spec = c->spec;
  bool* moves = TB_ARENA_NEW(&c->arena, bool, spec->nbody);
  tbCompileFrame* shift = TB_ARENA_NEW(&c->arena, tbCompileFrame, spec->nbody);
  int* first = TB_ARENA_NEW(&c->arena, int, (size_t)spec->nbody + 1);
  c->body_id = TB_ARENA_NEW(&c->arena, int, spec->nbody);
  c->geom_id = TB_ARENA_NEW(&c->arena, int, (size_t)spec->ngeom + 1);
  c->site_id = TB_ARENA_NEW(&c->arena, int, (size_t)spec->nsite + 1);
  c->camera_id = TB_ARENA_NEW(&c->arena, int, (size_t)spec->ncamera + 1);
  c->light_id = TB_ARENA_NEW(&c->arena, int, (size_t)spec->nlight + 1);
  c->mesh_id = TB_ARENA_NEW(&c->arena, int, (size_t)spec->nmesh + 1);
  if (c->arena.failed) return tb_fail(c->error, TB_ERROR_MEMORY, "out of memory");
  mark_references(c);
  align_free(c, moves, shift);
  fuse_static(c, moves, shift);
  for (int i = 0; i < spec->ngeom; i++) {
    c->geom[i].frame.body = fused_body(c, shift, c->geom[i].frame.body);
  }
  for (int i = 0; i < spec->nsite; i++) c->site[i].body = fused_body(c, shift, c->site[i].body);
  for (int i = 0; i < spec->ncamera; i++)
    c->camera[i].body = fused_body(c, shift, c->camera[i].body);
  for (int i = 0; i < spec->nlight; i++) c->light[i].body = fused_body(c, shift, c->light[i].body);
  discard_visual(c);
  number_meshes(c);
  number_all(c, sizes, first);
  return TB_OK;
}
