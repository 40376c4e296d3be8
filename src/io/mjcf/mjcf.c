// Parsing of an MJCF file to a flat spec. Sections are read in a fixed order, independent of
// their order in the file: settings, classes, assets, elements that refer to the tree, and last the
// tree itself, so that replicate and attach can copy the elements that refer to their bodies.
#include <string.h>

#include "base/error.h"
#include "io/mjcf/mjcf.h"
#include "model/equality_kinds.h"

typedef bool (*Section)(tbMjcf* p, const tbElement* section);

static bool read_sections(tbMjcf* p, const tbElement* root, const char* name, Section read) {
  for (const tbElement* node = tb_mjcf_first(root); node; node = tb_mjcf_next(node)) {
    if (tb_mjcf_is(node, name) && !read(p, node)) return false;
  }
  return true;
}

// Adds a note for what the tree has and Tribo does not use: sections, and attributes with a prefix.
static void note_unused(tbMjcf* p, const tbElement* root) {
  for (const tbElement* node = tb_mjcf_first(root); node; node = tb_mjcf_next(node)) {
    const char* file = tb_mjcf_file(node);
    int line = tb_mjcf_line(node);
    if (tb_mjcf_is(node, "visual")) tb_flat_note(p->spec, file, line, "<visual> is not used");
    // Skins affect only colours.
    if (tb_mjcf_is(node, "deformable")) tb_flat_note(p->spec, file, line, "<skin> is not used");
    // The section declares plugins; an element that uses one is an error at that element.
    if (tb_mjcf_is(node, "extension")) tb_flat_note(p->spec, file, line, "<extension> is not used");
  }
  for (const tbElement* node = root; node; node = tb_element_step(root, node, NULL)) {
    for (const tbAttribute* a = node->attribute; a; a = a->next) {
      if (!strchr(a->name, ':')) continue;
      tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node), "attribute '%s' is not used",
                   a->name);
    }
  }
}

// option/collision of older files: "predefined" keeps only the pairs, "dynamic" drops them.
static void apply_collision(tbMjcf* p) {
  tbFlat* spec = p->spec;
  for (int i = 0; p->only_pairs && i < spec->ngeom; i++) {
    spec->geom[i].contype = spec->geom[i].conaffinity = 0;
  }
  if (p->no_pairs && spec->npair) {
    tb_flat_note(spec, spec->pair[0].source, spec->pair[0].line,
                 "option collision=\"dynamic\": contact pairs are left out");
    spec->npair = 0;
  }
}

// With global coordinates, the anchors of connect are in the world frame and are converted here.
static bool localize_anchors(tbMjcf* p) {
  tbFlat* spec = p->spec;
  for (int i = 0; spec->compiler->coordinate && i < spec->nequality; i++) {
    tbFlatEquality* e = &spec->equality[i];
    if (!TB_GIVEN(equality, e, anchor)) continue;
    if (tb_equality_kinds[e->type].ends == TB_ENDS_FRAMES) {
      TB_FLAT_FAIL(p->error, TB_ERROR_UNSUPPORTED, e,
                   "<weld>: an anchor with global coordinates is not supported");
      return false;
    }
    // Transform through the chain of bodies from the world down to the body.
    int chain[TB_SPEC_MAX_DEPTH + 2], n = 0;
    int body = e->body1 ? tb_flat_find(spec, TB_FLAT_body, e->body1) : -1;
    for (; body > 0 && n <= TB_SPEC_MAX_DEPTH; body = spec->body[body].parent) chain[n++] = body;
    while (n-- > 0) {
      const tbFlatBody* b = &spec->body[chain[n]];
      tb_mjcf_out_of_frame(b->pos, b->quat, e->anchor, NULL);
    }
  }
  return true;
}

static bool read_model(tbMjcf* p, const tbElement* root) {
  note_unused(p, root);
  p->spec->model_name = tb_element_get(root, "model");
  bool good = tb_mjcf_settings(p, root) && tb_mjcf_defaults(p, root) &&
              read_sections(p, root, "custom", tb_mjcf_custom) &&
              read_sections(p, root, "asset", tb_mjcf_assets) &&
              read_sections(p, root, "contact", tb_mjcf_contact) &&
              read_sections(p, root, "equality", tb_mjcf_equality) &&
              read_sections(p, root, "tendon", tb_mjcf_tendon) &&
              read_sections(p, root, "actuator", tb_mjcf_actuator) &&
              read_sections(p, root, "sensor", tb_mjcf_sensor) &&
              read_sections(p, root, "keyframe", tb_mjcf_keyframe) &&
              read_sections(p, root, "worldbody", tb_mjcf_tree);
  if (good) apply_collision(p);
  return good && localize_anchors(p);
}

// <attach> may have placed a mocap body below another body.
static bool check_mocap(const tbFlat* spec, tbError* error) {
  for (int i = 1; i < spec->nbody; i++) {
    if (!spec->body[i].mocap || spec->body[i].parent == 0) continue;
    TB_FLAT_FAIL(error, TB_ERROR_PARSE, &spec->body[i],
                 "<body>: a mocap body must be a child of the world");
    return false;
  }
  return true;
}

tbFlat* tb_mjcf_resolve(const tbSpec* tree, const tbLoadOptions* options, const tbMjcf* parent,
                        tbError* error) {
  tbFlat* spec = tb_flat_new(error);
  if (!spec) return NULL;
  int models = 0;
  tbMjcf p = {.spec = spec,
              .error = error,
              .options = options,
              .parent = parent,
              .models = parent ? parent->models : &models,
              .path = tree->path,
              .directory = tree->directory};
  bool good = read_model(&p, tree->root);
  // Elements copied from attached models use the memory of those models.
  for (int i = 0; i < p.nchild; i++) {
    p.child[i].spec->next = spec->attached;
    spec->attached = p.child[i].spec;
  }
  if (good) good = tb_flat_finish(spec, error) == TB_OK;
  if (good) good = check_mocap(spec, error);
  if (good && !parent) good = tb_mjcf_note_pairs(&p);
  if (good && (!tb_mjcf_join_keys(spec) || spec->arena.failed)) good = tb_mjcf_no_memory(&p);
  if (good) return spec;
  tb_flat_free(spec);
  return NULL;
}

tbFlat* tb_flat_from_spec(const tbSpec* spec, tbError* error) {
  return tb_mjcf_resolve(spec, &spec->options, NULL, error);
}

tbFlat* tb_flat_parse_mjcf(const char* text, size_t size, const char* path,
                           const tbLoadOptions* options, tbError* error) {
  tb_error_clear(error);
  if (!text || !path) {
    tb_fail(error, TB_ERROR_ARGUMENT, "tb_flat_parse_mjcf: text and path must not be NULL");
    return NULL;
  }
  tbSpec* tree = tb_spec_read(text, size, path, options, error);
  if (!tree) return NULL;
  tbFlat* flat = tb_flat_from_spec(tree, error);
  if (flat) {
    flat->tree = tree;
  } else {
    tb_spec_free(tree);
  }
  return flat;
}
