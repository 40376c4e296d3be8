// The custom and keyframe sections.

#include "io/mjcf/mjcf.h"

static bool named(tbMjcf* p, const tbElement* node) {
  const char* name;
  return tb_mjcf_required(p, node, "name", &name);
}

static bool read_numeric(tbMjcf* p, const tbElement* node) {
  tbFlatNumeric* numeric = tb_flat_add_numeric(p->spec);
  if (!numeric) return tb_mjcf_no_memory(p);
  if (!named(p, node) || !tb_mjcf_common(p, node, (tbFlatElement*)numeric) ||
      !tb_mjcf_fields(p, node, tb_flat_table_numeric(), numeric, NULL)) {
    return false;
  }
  if (numeric->size < 0) numeric->size = numeric->data.n;
  if (numeric->size < numeric->data.n || numeric->size > 1 << 24) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                        "size %d is below the %d numbers of data or too large", numeric->size,
                        numeric->data.n);
  }
  if (numeric->size == 0) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "has no data");
  return true;
}

// The text of a custom field: from the attribute, or from a CDATA section.
static bool read_text(tbMjcf* p, const tbElement* node) {
  tbFlatTextField* text = tb_flat_add_text(p->spec);
  if (!text) return tb_mjcf_no_memory(p);
  if (!named(p, node) || !tb_mjcf_common(p, node, (tbFlatElement*)text) ||
      !tb_mjcf_fields(p, node, tb_flat_table_text(), text, NULL)) {
    return false;
  }
  if (!text->data) text->data = node->content;
  if (!text->data || !*text->data) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "has no data");
  return true;
}

static bool read_item(tbMjcf* p, const tbElement* node) {
  tbFlatTupleItem* item = tb_flat_add_tupleitem(p->spec);
  int count;
  if (!item) return tb_mjcf_no_memory(p);
  item->source = tb_mjcf_file(node);
  item->line = tb_mjcf_line(node);
  if (!tb_mjcf_fields(p, node, tb_flat_table_tupleitem(), item, NULL) ||
      !tb_mjcf_word(p, node, "objtype", tb_flat_words_object, &item->objtype, &count)) {
    return false;
  }
  if (!count || !item->objname || !*item->objname) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs objtype and objname");
  }
  return true;
}

static bool read_tuple(tbMjcf* p, const tbElement* node) {
  if (!named(p, node)) return false;
  tbFlatTuple* tuple = tb_flat_add_tuple(p->spec);
  if (!tuple) return tb_mjcf_no_memory(p);
  tb_mjcf_common(p, node, (tbFlatElement*)tuple);
  tuple->itemadr = p->spec->ntupleitem;
  for (const tbElement* child = tb_mjcf_first(node); child; child = tb_mjcf_next(child)) {
    if (!read_item(p, child)) return false;
  }
  tuple->itemnum = p->spec->ntupleitem - tuple->itemadr;
  if (!tuple->itemnum) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "the tuple is empty");
  return true;
}

bool tb_mjcf_custom(tbMjcf* p, const tbElement* section) {
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    bool good;
    if (tb_mjcf_is(node, "numeric")) {
      good = read_numeric(p, node);
    } else if (tb_mjcf_is(node, "text")) {
      good = read_text(p, node);
    } else {
      good = read_tuple(p, node);
    }
    if (!good) return false;
  }
  return true;
}

bool tb_mjcf_keyframe(tbMjcf* p, const tbElement* section) {
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    tbFlatKey* key = tb_flat_add_key(p->spec);
    if (!key) return tb_mjcf_no_memory(p);
    if (!tb_mjcf_common(p, node, (tbFlatElement*)key) ||
        !tb_mjcf_fields(p, node, tb_flat_table_key(), key, NULL)) {
      return false;
    }
  }
  return true;
}
