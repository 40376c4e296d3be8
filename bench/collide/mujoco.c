// MuJoCo's pair functions, called directly (no broad phase, no frames).
#include "collide/peers.h"

#ifdef TB_BENCH_MUJOCO

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  mjModel* model;
  mjData* data;
  mjfCollision function;
  tbReal margin;
} Objects;

static mjModel* load(const char* xml, size_t length) {
  mjVFS* vfs = malloc(sizeof(mjVFS));
  char error[300] = "";
  mj_defaultVFS(vfs);
  mj_makeEmptyFileVFS(vfs, "bench.xml", (int)length + 1);
  memcpy(vfs->filedata[0], xml, length + 1);
  mjModel* model = mj_loadXML("bench.xml", vfs, error, sizeof(error));
  if (!model) fprintf(stderr, "mujoco: %s\n", error);
  mj_deleteVFS(vfs);
  free(vfs);
  return model;
}

static size_t print_points(char* text, size_t size, const tbReal* points, int count) {
  size_t used = (size_t)snprintf(text, size, "<asset><mesh name='m' vertex='");
  for (int i = 0; i < 3 * count; i++) {
    used += (size_t)snprintf(text + used, size - used, "%.9g ", points[i]);
  }
  return used + (size_t)snprintf(text + used, size - used, "'/></asset>");
}

static size_t print_geom(char* text, size_t size, int type) {
  const char* name = tb_geom_type_name(type);
  if (type == TB_GEOM_MESH) {
    return (size_t)snprintf(text, size, "<geom type='mesh' mesh='m'/>");
  }
  if (type == TB_GEOM_HFIELD) {
    return (size_t)snprintf(text, size, "<geom type='hfield' hfield='h'/>");
  }
  return (size_t)snprintf(text, size, "<geom type='%s' size='1 1 1'/>", name);
}

static mjModel* make_model(const Batch* batch) {
  size_t size = (size_t)1 << 20, used = 0;
  char* text = malloc(size);
  used += (size_t)snprintf(text, size, "<mujoco>");
  if (batch->type_b == TB_GEOM_MESH || batch->type_a == TB_GEOM_MESH) {
    const tbHull* hull = batch->b[0].hull;
    used += print_points(text + used, size - used, hull->vert, hull->nvert);
  }
  if (batch->type_a == TB_GEOM_HFIELD) {
    const tbHField* h = batch->a[0].hfield;
    used += (size_t)snprintf(text + used, size - used,
                             "<asset><hfield name='h' nrow='%d' ncol='%d' size='%.9g %.9g %.9g "
                             "%.9g'/></asset>",
                             h->nrow, h->ncol, h->size[0], h->size[1], h->size[2], h->size[3]);
  }
  used += (size_t)snprintf(text + used, size - used, "<worldbody>");
  for (int k = 0; k < BATCH; k++) used += print_geom(text + used, size - used, batch->type_a);
  for (int k = 0; k < BATCH; k++) used += print_geom(text + used, size - used, batch->type_b);
  used += (size_t)snprintf(text + used, size - used, "</worldbody></mujoco>");
  mjModel* model = load(text, used);
  free(text);
  return model;
}

static void place(Objects* o, int geom, const tbShape* s) {
  if (s->type != TB_GEOM_MESH && s->type != TB_GEOM_HFIELD) {
    memcpy(o->model->geom_size + 3 * geom, s->size, sizeof(s->size));
  }
  memcpy(o->data->geom_xpos + 3 * geom, s->pos, sizeof(s->pos));
  memcpy(o->data->geom_xmat + 9 * geom, s->mat, sizeof(s->mat));
}

static void* make(const Batch* batch) {
  mjfCollision function = mjCOLLISIONFUNC[batch->type_a][batch->type_b];
  if (!function) return NULL;
  Objects* o = malloc(sizeof(Objects));
  o->model = make_model(batch);
  if (!o->model) {
    free(o);
    return NULL;
  }
  o->data = mj_makeData(o->model);
  o->function = function;
  o->margin = batch->margin;
  for (int k = 0; k < BATCH; k++) {
    place(o, k, &batch->a[k]);
    place(o, BATCH + k, &batch->b[k]);
  }
  if (batch->type_a == TB_GEOM_HFIELD) {
    const tbHField* h = batch->a[0].hfield;
    for (int i = 0; i < h->nrow * h->ncol; i++) o->model->hfield_data[i] = (float)h->data[i];
  }
  return o;
}

static long run(void* objects) {
  Objects* o = (Objects*)objects;
  mjContact contacts[mjMAXCONPAIR];
  long count = 0;
  for (int k = 0; k < BATCH; k++) {
    count += o->function(o->model, o->data, contacts, k, BATCH + k, o->margin);
  }
  return count;
}

static void drop(void* objects) {
  Objects* o = (Objects*)objects;
  mj_deleteData(o->data);
  mj_deleteModel(o->model);
  free(o);
}

const PairPeer* peer_mujoco(void) {
  static const PairPeer peer = {"mujoco", make, run, drop};
  return &peer;
}

int mujoco_mesh_points(const tbReal* points, int count, tbReal* out) {
  size_t size = (size_t)1 << 20, used = 0;
  char* text = malloc(size);
  used += (size_t)snprintf(text, size, "<mujoco>");
  used += print_points(text + used, size - used, points, count);
  used += (size_t)snprintf(text + used, size - used,
                           "<worldbody><geom type='mesh' mesh='m'/></worldbody></mujoco>");
  mjModel* model = load(text, used);
  free(text);
  if (!model) {
    memcpy(out, points, 3 * (size_t)count * sizeof(tbReal));
    return count;
  }
  int kept = model->mesh_vertnum[0];
  for (int i = 0; i < 3 * kept; i++) out[i] = (tbReal)model->mesh_vert[i];
  mj_deleteModel(model);
  return kept;
}

#else

#include <string.h>

const PairPeer* peer_mujoco(void) {
  return NULL;
}

int mujoco_mesh_points(const tbReal* points, int count, tbReal* out) {
  memcpy(out, points, 3 * (size_t)count * sizeof(tbReal));
  return count;
}

#endif
