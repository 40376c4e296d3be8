// Custom fields and keyframes.
#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/compile/internal.h"
#include "model/joint_space.h"
#include "spatial/quat.h"

static int numeric_size(const tbFlatNumeric* s) {
  return s->size >= 0 ? s->size : s->data.n;
}

tbResult tb_compile_count_custom(const tbCompile* c, tbModel* sizes) {
  const tbFlat* spec = c->spec;
  int64_t numbers = 0, characters = 0;
  for (int i = 0; i < spec->nnumeric; i++) {
    const tbFlatNumeric* s = &spec->numeric[i];
    if (numeric_size(s) < s->data.n || numeric_size(s) > (1 << 28)) {
      return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s, "%s: size is %d for %d values",
                          tb_compile_label("numeric", s->name, i).text, s->size, s->data.n);
    }
    numbers += numeric_size(s);
  }
  for (int i = 0; i < spec->ntext; i++) {
    characters += (int64_t)strlen(spec->text[i].data ? spec->text[i].data : "") + 1;
  }
  sizes->nnumeric = spec->nnumeric;
  sizes->nnumericdata = numbers > INT_MAX ? -1 : (int)numbers;
  sizes->ntext = spec->ntext;
  sizes->ntextdata = characters > INT_MAX ? -1 : (int)characters;
  sizes->ntuple = spec->ntuple;
  for (int i = 0; i < spec->ntuple; i++) sizes->ntupledata += spec->tuple[i].itemnum;
  sizes->nkey = spec->nkey > spec->size.nkey ? spec->nkey : spec->size.nkey;
  return TB_OK;
}

tbResult tb_compile_copy_custom(const tbCompile* c, tbModel* m) {
  const tbFlat* spec = c->spec;
  int at = 0;
  for (int i = 0; i < m->nnumeric; i++) {
    const tbFlatNumeric* s = &spec->numeric[i];
    m->numeric_adr[i] = at;
    m->numeric_size[i] = numeric_size(s);
    if (s->data.n) memcpy(m->numeric_data + at, s->data.v, (size_t)s->data.n * sizeof(tbReal));
    at += m->numeric_size[i];
  }
  at = 0;
  for (int i = 0; i < m->ntext; i++) {
    const char* text = spec->text[i].data ? spec->text[i].data : "";
    m->text_adr[i] = at;
    m->text_size[i] = (int)strlen(text) + 1;
    memcpy(m->text_data + at, text, (size_t)m->text_size[i]);
    at += m->text_size[i];
  }
  at = 0;
  for (int i = 0; i < m->ntuple; i++) {
    const tbFlatTuple* t = &spec->tuple[i];
    tbCompileLabel label = tb_compile_label("tuple", t->name, i);
    m->tuple_adr[i] = at;
    m->tuple_size[i] = t->itemnum;
    for (int k = 0; k < t->itemnum; k++, at++) {
      const tbFlatTupleItem* item = &spec->tupleitem[t->itemadr + k];
      m->tuple_objtype[at] = item->objtype;
      m->tuple_objprm[at] = item->prm;
      tbResult result = tb_compile_object(c, item->objtype, item->objname, item->source, item->line,
                                          label.text, &m->tuple_objid[at]);
      if (result) return result;
    }
  }
  return TB_OK;
}

// ---- keyframes ----------------------------------------------------------------------------------

// Copies a list into row `key` of a keyframe array of `width` values, if the list is given.
static tbResult copy_part(const tbCompile* c, const tbFlatKey* s, const char* part,
                          const tbFlatList* list, tbReal* target, int key, int width) {
  if (list->n == 0) return TB_OK;
  tbCompileLabel label = tb_compile_label("keyframe", s->name, key);
  if (list->n != width) {
    return TB_FLAT_FAIL(c->error, TB_ERROR_MODEL, s, "%s: %s has %d values, expected %d",
                        label.text, part, list->n, width);
  }
  target += (size_t)key * (size_t)width;
  for (int i = 0; i < width; i++) {
    // NAN marks values that a key of an attached model does not define: the reference pose remains.
    if (!(s->from_parts && isnan(list->v[i]))) target[i] = list->v[i];
  }
  return tb_compile_finite(c, s->source, s->line, label.text, target, width);
}

// A key without values: the reference pose at rest.
static void default_key(tbModel* m, int key) {
  size_t k = (size_t)key, nq = (size_t)m->nq, nmocap = (size_t)m->nmocap, real = sizeof(tbReal);
  if (nq) memcpy(m->key_qpos + k * nq, m->qpos0, nq * real);
  for (int i = 0; i < m->nbody; i++) {
    if (m->body_mocapid[i] < 0) continue;
    size_t id = (size_t)m->body_mocapid[i];
    memcpy(m->key_mpos + 3 * (k * nmocap + id), m->body_pos + 3 * i, 3 * real);
    memcpy(m->key_mquat + 4 * (k * nmocap + id), m->body_quat + 4 * i, 4 * real);
  }
}

static void normalize_key(tbModel* m, int key) {
  size_t k = (size_t)key;
  for (int i = 0; i < m->njnt; i++) {
    tbReal* qpos = m->key_qpos + k * (size_t)m->nq;
    tb_joint_normalize(m->jnt_type[i], qpos + m->jnt_qposadr[i]);
  }
  for (int i = 0; i < m->nmocap; i++) {
    tb_quat_normalize(m->key_mquat + 4 * (k * (size_t)m->nmocap + (size_t)i));
  }
}

tbResult tb_compile_copy_keys(const tbCompile* c, tbModel* m) {
  for (int i = 0; i < m->nkey; i++) default_key(m, i);
  for (int i = 0; i < c->spec->nkey; i++) {
    const tbFlatKey* s = &c->spec->key[i];
    m->key_time[i] = s->time;
    tbResult result = copy_part(c, s, "qpos", &s->qpos, m->key_qpos, i, m->nq);
    if (!result) result = copy_part(c, s, "qvel", &s->qvel, m->key_qvel, i, m->nv);
    if (!result) result = copy_part(c, s, "act", &s->act, m->key_act, i, m->na);
    if (!result) result = copy_part(c, s, "ctrl", &s->ctrl, m->key_ctrl, i, m->nu);
    if (!result) result = copy_part(c, s, "mpos", &s->mpos, m->key_mpos, i, 3 * m->nmocap);
    if (!result) result = copy_part(c, s, "mquat", &s->mquat, m->key_mquat, i, 4 * m->nmocap);
    if (result) return result;
    normalize_key(m, i);
  }
  return TB_OK;
}
