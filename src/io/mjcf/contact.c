// The contact, equality and tendon sections.
#include <stdlib.h>
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "model/equality_kinds.h"

static bool required_member(tbMjcf* p, const tbElement* node, const char* name, const char* value) {
  if (value && *value) return true;
  return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute '%s' is missing", name);
}

static bool read_pair(tbMjcf* p, const tbElement* node) {
  int id;
  if (!tb_mjcf_class(p, node, "class", 0, &id)) return false;
  tbFlatPair* pair = tb_flat_add_pair(p->spec);
  if (!pair) return tb_mjcf_no_memory(p);
  *pair = p->classes[id]->pair;
  if (!tb_mjcf_common(p, node, (tbFlatElement*)pair) ||
      !tb_mjcf_fields(p, node, tb_flat_table_pair(), pair, NULL) ||
      !required_member(p, node, "geom1", pair->geom1) ||
      !required_member(p, node, "geom2", pair->geom2)) {
    return false;
  }
  if (pair->condim != 1 && pair->condim != 3 && pair->condim != 4 && pair->condim != 6) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "condim must be 1, 3, 4 or 6");
  }
  for (int i = 0; i < 5; i++) {
    if (pair->friction[i] < 0) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "friction cannot be negative");
    }
  }
  if (pair->adhesion != 0) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "adhesion is not supported");
  }
  if (pair->restitution > 1) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "restitution must be between 0 and 1");
  }
  return true;
}

static bool read_exclude(tbMjcf* p, const tbElement* node) {
  tbFlatExclude* exclude = tb_flat_add_exclude(p->spec);
  if (!exclude) return tb_mjcf_no_memory(p);
  return tb_mjcf_common(p, node, (tbFlatElement*)exclude) &&
         tb_mjcf_fields(p, node, tb_flat_table_exclude(), exclude, NULL) &&
         required_member(p, node, "body1", exclude->body1) &&
         required_member(p, node, "body2", exclude->body2);
}

typedef struct {
  const char *low, *high;
  int index;
} GeomPair;

static int compare_geom_pairs(const void* a, const void* b) {
  const GeomPair *p = a, *q = b;
  int order = strcmp(p->low, q->low);
  if (!order) order = strcmp(p->high, q->high);
  return order ? order : (p->index > q->index) - (p->index < q->index);
}

bool tb_mjcf_note_pairs(tbMjcf* p) {
  tbFlat* spec = p->spec;
  GeomPair* pairs = TB_ARENA_NEW(&spec->arena, GeomPair, spec->npair + 1);
  if (!pairs) return tb_mjcf_no_memory(p);
  for (int i = 0; i < spec->npair; i++) {
    const char *a = spec->pair[i].geom1, *b = spec->pair[i].geom2;
    bool ordered = strcmp(a, b) <= 0;
    pairs[i] = (GeomPair){ordered ? a : b, ordered ? b : a, i};
  }
  qsort(pairs, (size_t)spec->npair, sizeof *pairs, compare_geom_pairs);
  for (int i = 0; i + 1 < spec->npair; i++) {
    if (strcmp(pairs[i].low, pairs[i + 1].low) || strcmp(pairs[i].high, pairs[i + 1].high))
      continue;
    const tbFlatPair* first = &spec->pair[pairs[i].index];
    tb_flat_note(spec, first->source, first->line,
                 "this <pair> is not used: a later one has the same geoms '%s' and '%s'",
                 pairs[i].low, pairs[i].high);
  }
  return true;
}

bool tb_mjcf_contact(tbMjcf* p, const tbElement* section) {
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    if (!(tb_mjcf_is(node, "pair") ? read_pair : read_exclude)(p, node)) return false;
  }
  return true;
}

// Connect and weld join two sites, or two bodies at an anchor.
static bool check_ends(tbMjcf* p, const tbElement* node, int ends, const tbFlatEquality* e) {
  bool sites = e->site1 || e->site2;
  bool bodies =
      e->body1 || e->body2 || TB_GIVEN(equality, e, anchor) || TB_GIVEN(equality, e, relpose);
  if (sites && bodies) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "give site1 and site2, or bodies, but not both");
  }
  if (sites) {
    return required_member(p, node, "site1", e->site1) &&
           required_member(p, node, "site2", e->site2);
  }
  if (ends == TB_ENDS_POINTS && !TB_GIVEN(equality, e, anchor)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs body1 and anchor, or site1 and site2");
  }
  return required_member(p, node, "body1", e->body1);
}

static bool read_equality(tbMjcf* p, const tbElement* node, int type) {
  int id, ends = tb_equality_kinds[type].ends;
  if (!tb_mjcf_class(p, node, "class", 0, &id)) return false;
  tbFlatEquality* e = tb_flat_add_equality(p->spec);
  if (!e) return tb_mjcf_no_memory(p);
  *e = p->classes[id]->equality;
  e->type = type;
  if (!tb_mjcf_common(p, node, (tbFlatElement*)e) ||
      !tb_mjcf_fields(p, node, tb_flat_table_equality(), e, NULL)) {
    return false;
  }
  if (ends == TB_ENDS_JOINTS) return required_member(p, node, "joint1", e->joint1);
  if (ends == TB_ENDS_TENDONS) return required_member(p, node, "tendon1", e->tendon1);
  return check_ends(p, node, ends, e);
}

bool tb_mjcf_equality(tbMjcf* p, const tbElement* section) {
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    int type = 0;
    while (!tb_mjcf_is(node, tb_equality_kinds[type].word)) type++;
    if (!read_equality(p, node, type)) return false;
  }
  return true;
}

// One element of a tendon's path.
static bool read_wrap(tbMjcf* p, const tbElement* node, bool spatial) {
  bool joint = !spatial && tb_mjcf_is(node, "joint");
  bool site = spatial && tb_mjcf_is(node, "site");
  bool geom = spatial && tb_mjcf_is(node, "geom");
  bool pulley = spatial && tb_mjcf_is(node, "pulley");
  tbFlatWrap* wrap = tb_flat_add_wrap(p->spec);
  if (!wrap) return tb_mjcf_no_memory(p);
  wrap->source = tb_mjcf_file(node);
  wrap->line = tb_mjcf_line(node);
  wrap->compiler = p->spec->compiler;
  wrap->type = joint ? TB_WRAP_JOINT : site ? TB_WRAP_SITE : geom ? TB_WRAP_SPHERE : TB_WRAP_PULLEY;
  if (!pulley && !tb_mjcf_required(p, node, node->tag, &wrap->target)) return false;
  if (geom) {
    const char* side = tb_element_get(node, "sidesite");
    wrap->sidesite = side && *side ? side : NULL;
  }
  if (joint || pulley) {
    const char* attribute = joint ? "coef" : "divisor";
    int count;
    if (!tb_mjcf_numbers(p, node, attribute, 1, 1, &wrap->prm, &count)) return false;
    if (!count) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute '%s' is missing", attribute);
    }
    if (pulley && !(wrap->prm > 0)) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "divisor must be positive");
    }
  }
  return true;
}

static bool read_tendon(tbMjcf* p, const tbElement* node, bool spatial) {
  int id, count;
  tbReal length[2];
  if (!tb_mjcf_class(p, node, "class", 0, &id)) return false;
  tbFlatTendon* tendon = tb_flat_add_tendon(p->spec);
  if (!tendon) return tb_mjcf_no_memory(p);
  *tendon = p->classes[id]->tendon;
  tendon->type = spatial ? TB_TENDON_SPATIAL : TB_TENDON_FIXED;
  tendon->wrapadr = p->spec->nwrap;
  if (!tb_mjcf_common(p, node, (tbFlatElement*)tendon) ||
      !tb_mjcf_fields(p, node, tb_flat_table_tendon(), tendon, NULL) ||
      !tb_mjcf_numbers(p, node, "springlength", 1, 2, length, &count)) {
    return false;
  }
  if (count == 1) tendon->springlength[1] = length[0];
  if (tendon->stiffness[1] != 0 || tendon->stiffness[2] != 0 || tendon->damping[1] != 0 ||
      tendon->damping[2] != 0) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node,
                        "polynomial stiffness and damping are not supported");
  }
  if (tendon->frictionloss < 0 || tendon->armature < 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "%s cannot be negative",
                        tendon->armature < 0 ? "armature" : "frictionloss");
  }
  if (!tb_mjcf_check_limit(p, node, "range", tendon->limited, tendon->range) ||
      !tb_mjcf_check_limit(p, node, "actuatorfrcrange", tendon->actuatorfrclimited,
                           tendon->actuatorfrcrange)) {
    return false;
  }
  int index = p->spec->ntendon - 1;
  for (const tbElement* child = tb_mjcf_first(node); child; child = tb_mjcf_next(child)) {
    if (!read_wrap(p, child, spatial)) return false;
  }
  p->spec->tendon[index].wrapnum = p->spec->nwrap - p->spec->tendon[index].wrapadr;
  if (p->spec->tendon[index].wrapnum == 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "the tendon has no path");
  }
  return true;
}

bool tb_mjcf_tendon(tbMjcf* p, const tbElement* section) {
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    bool spatial = tb_mjcf_is(node, "spatial");
    if (!read_tendon(p, node, spatial)) return false;
  }
  return true;
}
