// Assets: meshes, height fields, the colours of materials, models to attach.
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "io/format.h"
#include "io/mjcf/mjcf.h"
#include "io/urdf/urdf.h"

static bool readable(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file) fclose(file);
  return file != NULL;
}

const char* tb_mjcf_find_file(tbMjcf* p, const char* folder, const char* file) {
  file = tb_flat_slashes(p->spec, file);
  folder = folder ? tb_flat_slashes(p->spec, folder) : "";
  if (p->spec->compiler->strippath) {
    const char* slash = strrchr(file, '/');
    if (slash) file = slash + 1;
  }
  if (file[0] == '/') return file;
  const char* between = *folder && folder[strlen(folder) - 1] != '/' ? "/" : "";
  const char* path = tb_flat_format(p->spec, "%s%s%s%s", folder[0] == '/' ? "" : p->directory,
                                    folder, between, file);
  if (!path || readable(path)) return path;
  // Otherwise search the user's folders.
  for (int i = 0; p->options && i < p->options->nsearch_paths; i++) {
    const char* other = tb_flat_format(p->spec, "%s/%s", p->options->search_paths[i], file);
    if (other && readable(other)) return other;
  }
  return path;
}

// An asset without a name gets the name of its file, without folder and extension.
static bool name_from_file(tbMjcf* p, const tbElement* node, const char** name, const char* file) {
  if (*name && **name) return true;
  if (!file) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs a name or a file");
  file = tb_flat_slashes(p->spec, file);
  const char* slash = strrchr(file, '/');
  const char* start = slash ? slash + 1 : file;
  const char* dot = strrchr(start, '.');
  *name =
      tb_flat_format(p->spec, "%.*s", (int)(dot ? (size_t)(dot - start) : strlen(start)), start);
  return *name || tb_mjcf_no_memory(p);
}

static bool whole(const tbFlatList* list) {
  for (int i = 0; i < list->n; i++) {
    if (list->v[i] < 0 || list->v[i] > 1e9 || list->v[i] != (int)list->v[i]) return false;
  }
  return true;
}

static bool check_mesh(tbMjcf* p, const tbElement* node, tbFlatMesh* mesh) {
  if (mesh->builtin && strcmp(mesh->builtin, "none") != 0) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "builtin meshes are not supported");
  }
  if (!mesh->file && !mesh->vertex.n) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs a file or vertices");
  }
  if (mesh->vertex.n % 3 || mesh->face.n % 3) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute '%s': %d numbers, not a multiple of 3",
                        mesh->vertex.n % 3 ? "vertex" : "face",
                        mesh->vertex.n % 3 ? mesh->vertex.n : mesh->face.n);
  }
  if (!whole(&mesh->face)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "face needs whole numbers that are not negative");
  }
  if (mesh->maxhullvert != -1 && mesh->maxhullvert < 4) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "maxhullvert must be -1 or at least 4");
  }
  for (int i = 0; i < 3; i++) {
    if (mesh->scale[i] == 0) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "scale cannot be zero");
  }
  tbReal norm = 0;
  for (int i = 0; i < 4; i++) norm += mesh->refquat[i] * mesh->refquat[i];
  if (norm < 1e-28) return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "refquat has no length");
  return true;
}

static bool read_mesh(tbMjcf* p, const tbElement* node) {
  int id;
  if (!tb_mjcf_class(p, node, "class", 0, &id)) return false;
  tbFlatMesh* mesh = tb_flat_add_mesh(p->spec);
  if (!mesh) return tb_mjcf_no_memory(p);
  *mesh = p->classes[id]->mesh;
  if (!tb_mjcf_common(p, node, (tbFlatElement*)mesh) ||
      !tb_mjcf_fields(p, node, tb_flat_table_mesh(), mesh, NULL) || !check_mesh(p, node, mesh) ||
      !name_from_file(p, node, &mesh->name, mesh->file)) {
    return false;
  }
  const tbFlatCompiler* compiler = p->spec->compiler;
  if (compiler->exactmeshinertia && !TB_GIVEN(mesh, mesh, inertia)) mesh->inertia = 1;
  if (mesh->file) mesh->path = tb_mjcf_find_file(p, compiler->meshdir, mesh->file);
  return true;
}

static bool read_hfield(tbMjcf* p, const tbElement* node) {
  tbFlatHField* hfield = tb_flat_add_hfield(p->spec);
  if (!hfield) return tb_mjcf_no_memory(p);
  if (!tb_mjcf_common(p, node, (tbFlatElement*)hfield) ||
      !tb_mjcf_fields(p, node, tb_flat_table_hfield(), hfield, NULL) ||
      !name_from_file(p, node, &hfield->name, hfield->file)) {
    return false;
  }
  if (!TB_GIVEN(hfield, hfield, size)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "attribute 'size' is missing");
  }
  for (int i = 0; i < 4; i++) {
    if (!(hfield->size[i] > 0)) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "size needs four positive numbers");
    }
  }
  if (hfield->file && *hfield->file) {
    hfield->path = tb_mjcf_find_file(p, p->spec->compiler->meshdir, hfield->file);
    return hfield->path || tb_mjcf_no_memory(p);
  }
  if (hfield->nrow < 2 || hfield->ncol < 2 || hfield->nrow > 1 << 14 || hfield->ncol > 1 << 14) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs a file, or nrow and ncol from 2 to %d",
                        1 << 14);
  }
  if (hfield->elevation.n && hfield->elevation.n != hfield->nrow * hfield->ncol) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "elevation has %d numbers, nrow * ncol is %d",
                        hfield->elevation.n, hfield->nrow * hfield->ncol);
  }
  return true;
}

static bool read_material(tbMjcf* p, const tbElement* node) {
  int id;
  if (!tb_mjcf_class(p, node, "class", 0, &id)) return false;
  tbFlatMaterial* material = tb_flat_add_material(p->spec);
  if (!material) return tb_mjcf_no_memory(p);
  *material = p->classes[id]->material;
  return tb_mjcf_common(p, node, (tbFlatElement*)material) &&
         tb_mjcf_fields(p, node, tb_flat_table_material(), material, NULL);
}

// Resolves a spec that the result owns.
static tbFlat* resolve_owned(tbMjcf* p, tbSpec* spec) {
  if (!spec) return NULL;
  tbFlat* flat = tb_mjcf_resolve(spec, p->options, p, p->error);
  if (flat) {
    flat->tree = spec;
  } else {
    tb_spec_free(spec);
  }
  return flat;
}

static tbFlat* parse_model(tbMjcf* p, const char* text, size_t size, const char* path) {
  if (tb_format_detect(text, size) != TB_FORMAT_URDF) {
    return resolve_owned(p, tb_spec_read(text, size, path, p->options, p->error));
  }
  // The base of an attached robot is fixed to its place, and its fixed links follow fusestatic as
  // the bodies of this file do.
  tbLoadOptions options = p->options ? *p->options : (tbLoadOptions){0};
  options.floating_base = 0;
  options.srdf = NULL;
  options.keep_fixed = !p->spec->compiler->fusestatic;
  return tb_flat_parse_urdf(text, size, path, &options, p->error);
}

// The flat spec of a model's file, MJCF or URDF.
static tbFlat* read_file(tbMjcf* p, const tbElement* node) {
  const char* file;
  if (!tb_mjcf_required(p, node, "file", &file)) return NULL;
  file = tb_flat_slashes(p->spec, file);
  const char* path = file[0] == '/' ? file : tb_flat_format(p->spec, "%s%s", p->directory, file);
  if (!path) return tb_mjcf_no_memory(p), NULL;
  for (const tbMjcf* up = p; up; up = up->parent) {
    if (strcmp(up->path, path) == 0) {
      tb_mjcf_fail(p, TB_ERROR_PARSE, node, "'%s' would be attached to itself", path);
      return NULL;
    }
  }
  const unsigned char* bytes;
  size_t size;
  tbError why = {TB_OK, ""};
  if (tb_read_file(path, &p->spec->arena, &bytes, &size, &why) != TB_OK) {
    tb_mjcf_fail(p, why.code, node, "%s", why.message);
    return NULL;
  }
  return parse_model(p, (const char*)bytes, size, path);
}

// Reads a model to attach from its file or from memory: it is resolved separately, with its own
// settings.
static bool read_model(tbMjcf* p, const tbElement* node) {
  if (++*p->models > TB_MJCF_MAX_MODELS) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "more than %d models", TB_MJCF_MAX_MODELS);
  }
  tbFlat* spec = node->model ? tb_mjcf_resolve(node->model, &node->model->options, p, p->error)
                             : read_file(p, node);
  if (!spec) return false;
  if (p->nchild == p->child_capacity) {
    int room = p->child_capacity ? 2 * p->child_capacity : 4;
    tbMjcfChild* larger = TB_ARENA_NEW(&p->spec->arena, tbMjcfChild, room);
    if (!larger) {
      tb_flat_free(spec);
      return tb_mjcf_no_memory(p);
    }
    if (p->nchild) memcpy(larger, p->child, sizeof(*larger) * (size_t)p->nchild);
    p->child = larger;
    p->child_capacity = room;
  }
  const char* name = tb_element_get(node, "name");
  if (!name || !*name) name = tb_flat_text(p->spec, spec->model_name ? spec->model_name : "");
  for (int i = 0; i < p->nchild; i++) {
    if (name && strcmp(p->child[i].name, name) == 0) {
      tb_flat_free(spec);
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "the model name '%s' is already taken", name);
    }
  }
  p->child[p->nchild++] = (tbMjcfChild){name, spec};
  return name || tb_mjcf_no_memory(p);
}

bool tb_mjcf_assets(tbMjcf* p, const tbElement* section) {
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    bool good = true;
    if (tb_mjcf_is(node, "mesh")) {
      good = read_mesh(p, node);
    } else if (tb_mjcf_is(node, "hfield")) {
      good = read_hfield(p, node);
    } else if (tb_mjcf_is(node, "material")) {
      good = read_material(p, node);
    } else if (tb_mjcf_is(node, "texture")) {
      // Textures affect only colours.
      tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node), "<texture> is not used");
    } else if (tb_mjcf_is(node, "model")) {
      good = read_model(p, node);
    } else if (tb_mjcf_is(node, "skin")) {
      tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node), "<skin> is not used");
    }
    if (!good) return false;
  }
  return true;
}
