// COLLADA as robot models use it: triangles and polygons of the scene's geometries, placed by their
// nodes, in metres.
//
// The up axis is ignored and coordinates are used as written, as in other tools that read robot
// descriptions. Materials, cameras, lights and animations are skipped.
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "io/mesh/readers.h"
#include "spatial/quat.h"

// Limits, since nodes can refer to nodes: a short file could expand to more triangles than fit in
// memory.
enum { DEEPEST = 64, MOST_NODES = 1 << 16, MOST_CORNERS = 1 << 25 };

typedef struct {
  tbMeshBuilder mesh;
  const char* name;
  xmlNode* root;
  tbError* error;
  int64_t corners;  // corners and vertices read so far, over all instances
  int nodes;        // visited nodes
} Reader;

// An affine transformation: rows of a 3x4 matrix.
typedef struct {
  tbReal m[12];
} Affine;

static tbResult fail(Reader* r, const xmlNode* at, const char* what) {
  return tb_fail(r->error, TB_ERROR_PARSE, "%s:%ld: %s", r->name, at ? xmlGetLineNo(at) : 0, what);
}

static bool is(const xmlNode* node, const char* name) {
  return node->type == XML_ELEMENT_NODE && strcmp((const char*)node->name, name) == 0;
}

static xmlNode* child(const xmlNode* node, const char* name) {
  for (xmlNode* c = node ? node->children : NULL; c; c = c->next) {
    if (is(c, name)) return c;
  }
  return NULL;
}

// An attribute's text within the document, or "".
static const char* attribute(const xmlNode* node, const char* name) {
  xmlAttr* a = xmlHasProp(node, (const xmlChar*)name);
  return a && a->children && a->children->content ? (const char*)a->children->content : "";
}

static int int_attribute(const xmlNode* node, const char* name, int otherwise) {
  const char* text = attribute(node, name);
  int value;
  return tb_parse_int(text, text + strlen(text), &value) ? value : otherwise;
}

// The text inside an element. Comments can split it into pieces, which are read in turn.
typedef struct {
  const xmlNode* piece;
  const char* at;
  const char* end;
} Text;

static void open_piece(Text* text, const xmlNode* piece) {
  while (piece && (piece->type != XML_TEXT_NODE && piece->type != XML_CDATA_SECTION_NODE)) {
    piece = piece->next;
  }
  text->piece = piece;
  text->at = piece && piece->content ? (const char*)piece->content : "";
  text->end = text->at + strlen(text->at);
}

static Text open_text(const xmlNode* node) {
  Text text;
  open_piece(&text, node->children);
  return text;
}

// True if positioned at the first character of a number; false at the end of the text.
static bool more(Text* text) {
  for (;;) {
    text->at = tb_skip_space(text->at, text->end);
    if (text->at < text->end) return true;
    if (!text->piece) return false;
    open_piece(text, text->piece->next);
  }
}

static bool next_real(Text* text, tbReal* value) {
  const char* next = more(text) ? tb_parse_real(text->at, text->end, value) : NULL;
  if (next) text->at = next;
  return next != NULL;
}

static bool next_int(Text* text, int* value) {
  const char* next = more(text) ? tb_parse_int(text->at, text->end, value) : NULL;
  if (next) text->at = next;
  return next != NULL;
}

static xmlNode* find_in(xmlNode* node, const char* element, const char* id, int depth) {
  for (; node && depth < DEEPEST; node = node->next) {
    if (node->type != XML_ELEMENT_NODE) continue;
    if (is(node, element) && strcmp(attribute(node, "id"), id) == 0) return node;
    xmlNode* inside = find_in(node->children, element, id, depth + 1);
    if (inside) return inside;
  }
  return NULL;
}

// The element that "#id" refers to, below `where`.
static xmlNode* find(xmlNode* where, const char* element, const char* url) {
  return where && url[0] == '#' && url[1] ? find_in(where->children, element, url + 1, 0) : NULL;
}

static void multiply(Affine* r, const Affine* a, const Affine* b) {
  Affine out;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 4; j++) {
      tbReal sum = j == 3 ? a->m[4 * i + 3] : 0;
      for (int k = 0; k < 3; k++) sum += a->m[4 * i + k] * b->m[4 * k + j];
      out.m[4 * i + j] = sum;
    }
  }
  *r = out;
}

// One step of a node's placement (matrix, translate, rotate, scale); *found is false for other
// elements.
static tbResult read_step(Reader* r, const xmlNode* element, Affine* step, bool* found) {
  static const struct {
    const char* name;
    int count;
  } KINDS[] = {{"matrix", 16}, {"translate", 3}, {"rotate", 4}, {"scale", 3}};
  int kind = 0;
  while (kind < 4 && !is(element, KINDS[kind].name)) kind++;
  *found = kind < 4;
  if (is(element, "skew") || is(element, "lookat")) {
    return fail(r, element, "skew and lookat are not supported");
  }
  if (kind == 4) return TB_OK;
  tbReal v[16];
  Text text = open_text(element);
  for (int i = 0; i < KINDS[kind].count; i++) {
    if (!next_real(&text, &v[i])) return fail(r, element, "a transform has too few numbers");
  }
  memset(step, 0, sizeof *step);
  step->m[0] = step->m[5] = step->m[10] = 1;
  if (kind == 0) memcpy(step->m, v, sizeof step->m);
  for (int i = 0; i < 3; i++) {
    if (kind == 1) step->m[4 * i + 3] = v[i];
    if (kind == 3) step->m[5 * i] = v[i];
  }
  if (kind == 2) {
    tbReal q[4], R[9];
    tb_normalize3(v);
    tb_quat_from_axis_angle(q, v, v[3] * 0.017453292519943295);
    tb_quat_to_mat(R, q);
    for (int i = 0; i < 3; i++) memcpy(step->m + 4 * i, R + 3 * i, 3 * sizeof *R);
  }
  return TB_OK;
}

// Position of the vertex index among the indices of a corner, and range of the geometry's vertices.
typedef struct {
  int offset;
  int stride;
  int first;  // index of the geometry's vertex 0 in the mesh
  int count;  // its vertices
  bool mirrored;
} Layout;

// Adds the positions of a source, transformed by `place`.
static tbResult add_positions(Reader* r, const xmlNode* source, const Affine* place,
                              Layout* layout) {
  const xmlNode* array = child(source, "float_array");
  if (!array) return fail(r, source, "a position source without float_array");
  const xmlNode* technique = child(source, "technique_common");
  const xmlNode* accessor = child(technique, "accessor");
  int stride = accessor ? int_attribute(accessor, "stride", 3) : 3;
  int skip = accessor ? int_attribute(accessor, "offset", 0) : 0;
  if (stride < 3 || stride > 64 || skip < 0) return fail(r, source, "invalid accessor");
  Text text = open_text(array);
  tbReal value, v[3];
  while (skip-- > 0) {
    if (!next_real(&text, &value)) return fail(r, array, "too few numbers");
  }
  layout->first = r->mesh.nvert;
  while (more(&text)) {
    for (int k = 0; k < stride; k++) {
      if (!next_real(&text, &value)) return fail(r, array, "expected finite numbers in threes");
      if (k < 3) v[k] = value;
    }
    tbReal p[3];
    for (int i = 0; i < 3; i++) {
      const tbReal* row = place->m + 4 * i;
      p[i] = row[0] * v[0] + row[1] * v[1] + row[2] * v[2] + row[3];
      if (!isfinite(p[i])) return fail(r, array, "a vertex is not finite");
    }
    if (++r->corners > MOST_CORNERS) return fail(r, array, "too many vertices");
    if (!tb_mesh_add_vertex(&r->mesh, p)) {
      return tb_fail(r->error, TB_ERROR_MEMORY, "%s: out of memory", r->name);
    }
  }
  layout->count = r->mesh.nvert - layout->first;
  return TB_OK;
}

// Reads the inputs of a primitive: the offset of VERTEX and the number of indices per corner.
static tbResult read_layout(Reader* r, const xmlNode* primitive, Layout* layout) {
  layout->offset = -1;
  layout->stride = 0;
  for (const xmlNode* input = primitive->children; input; input = input->next) {
    if (!is(input, "input")) continue;
    int offset = int_attribute(input, "offset", 0);
    if (offset < 0 || offset > 64) return fail(r, input, "invalid offset");
    if (strcmp(attribute(input, "semantic"), "VERTEX") == 0) layout->offset = offset;
    if (offset + 1 > layout->stride) layout->stride = offset + 1;
  }
  return layout->offset < 0 ? fail(r, primitive, "no VERTEX input") : TB_OK;
}

// The vertex index of the next corner.
static tbResult next_corner(Reader* r, const xmlNode* at, Text* text, const Layout* layout,
                            int* vertex) {
  for (int k = 0; k < layout->stride; k++) {
    int index;
    if (!next_int(text, &index)) return fail(r, at, "too few indices");
    if (k != layout->offset) continue;
    if (index < 0 || index >= layout->count) return fail(r, at, "an index is out of range");
    *vertex = layout->first + index;
  }
  if (++r->corners > MOST_CORNERS) return fail(r, at, "too many triangles");
  return TB_OK;
}

// One polygon of n corners.
static tbResult read_polygon(Reader* r, const xmlNode* at, Text* text, const Layout* layout,
                             int n) {
  if (n < 0) return fail(r, at, "a negative count");
  // Every index takes at least one character, which bounds a valid count.
  if (n > MOST_CORNERS || (n > 64 && n > text->end - text->at))
    return fail(r, at, "too few indices");
  int small[64];
  int* corner = n <= 64 ? small : TB_ARENA_NEW(r->mesh.arena, int, n);
  if (!corner) return tb_fail(r->error, TB_ERROR_MEMORY, "%s: out of memory", r->name);
  for (int i = 0; i < n; i++) {
    // A mirroring placement reverses the orientation of polygons.
    tbResult result = next_corner(r, at, text, layout, &corner[layout->mirrored ? n - 1 - i : i]);
    if (result) return result;
  }
  if (n >= 3 && !tb_mesh_add_polygon(&r->mesh, corner, n)) {
    return tb_fail(r->error, TB_ERROR_MEMORY, "%s: out of memory", r->name);
  }
  return TB_OK;
}

// Strips and fans: adjacent triangles share corners.
static tbResult read_strip(Reader* r, const xmlNode* p, const Layout* layout, bool fan) {
  Text text = open_text(p);
  int a = 0, b = 0, c = 0;
  for (int i = 0; more(&text); i++) {
    tbResult result = next_corner(r, p, &text, layout, &c);
    if (result) return result;
    bool flip = layout->mirrored != (!fan && i % 2 == 1);
    if (i >= 2 && !tb_mesh_add_face(&r->mesh, a, flip ? c : b, flip ? b : c)) {
      return tb_fail(r->error, TB_ERROR_MEMORY, "%s: out of memory", r->name);
    }
    if (i == 0 || !fan) a = i == 0 ? c : b;
    b = c;
  }
  return TB_OK;
}

static tbResult read_triangles(Reader* r, const xmlNode* p, const Layout* layout) {
  Text text = open_text(p);
  while (more(&text)) {
    tbResult result = read_polygon(r, p, &text, layout, 3);
    if (result) return result;
  }
  return TB_OK;
}

static tbResult read_polylist(Reader* r, const xmlNode* primitive, const Layout* layout) {
  const xmlNode *counts = child(primitive, "vcount"), *p = child(primitive, "p");
  if (!counts || !p) return TB_OK;
  Text count_text = open_text(counts), text = open_text(p);
  while (more(&count_text)) {
    int n;
    if (!next_int(&count_text, &n)) return fail(r, counts, "invalid vcount");
    tbResult result = read_polygon(r, p, &text, layout, n);
    if (result) return result;
  }
  return TB_OK;
}

// <polygons> has one <p> per polygon; <ph>, a polygon with holes, is not supported.
static tbResult read_polygons(Reader* r, const xmlNode* p, const Layout* layout) {
  Text count = open_text(p), text = open_text(p);
  int indices = 0, ignored;
  while (next_int(&count, &ignored)) indices++;
  return read_polygon(r, p, &text, layout, indices / layout->stride);
}

static tbResult read_primitive(Reader* r, const xmlNode* primitive, Layout* layout) {
  bool polylist = is(primitive, "polylist"), triangles = is(primitive, "triangles");
  bool polygons = is(primitive, "polygons"), fans = is(primitive, "trifans");
  if (!polylist && !triangles && !polygons && !fans && !is(primitive, "tristrips")) return TB_OK;
  tbResult result = read_layout(r, primitive, layout);
  if (result) return result;
  if (polylist) return read_polylist(r, primitive, layout);
  for (const xmlNode* p = primitive->children; p && !result; p = p->next) {
    if (is(p, "ph")) return fail(r, p, "polygons with holes are not supported");
    if (!is(p, "p")) continue;
    result = triangles  ? read_triangles(r, p, layout)
             : polygons ? read_polygons(r, p, layout)
                        : read_strip(r, p, layout, fans);
  }
  return result;
}

static tbResult read_geometry(Reader* r, const xmlNode* geometry, const Affine* place) {
  xmlNode* mesh = child(geometry, "mesh");
  if (!mesh) {
    return child(geometry, "spline") ? TB_OK : fail(r, geometry, "a geometry that is not a mesh");
  }
  // Positions are referenced through <vertices>.
  const xmlNode* vertices = child(mesh, "vertices");
  const xmlNode* source = NULL;
  for (const xmlNode* c = vertices ? vertices->children : NULL; c; c = c->next) {
    if (is(c, "input") && strcmp(attribute(c, "semantic"), "POSITION") == 0) {
      source = find(mesh, "source", attribute(c, "source"));
    }
  }
  if (!source) return fail(r, mesh, "no positions");
  const tbReal* m = place->m;
  tbReal determinant = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                       m[2] * (m[4] * m[9] - m[5] * m[8]);
  Layout layout = {.mirrored = determinant < 0};
  tbResult result = add_positions(r, source, place, &layout);
  for (const xmlNode* c = mesh->children; c && !result; c = c->next) {
    result = read_primitive(r, c, &layout);
  }
  return result;
}

// Reads a node: its placement, geometries, children and referenced nodes.
static tbResult read_node(Reader* r, const xmlNode* node, const Affine* parent, int depth) {
  if (depth > DEEPEST) return fail(r, node, "nodes are nested too deeply or form a cycle");
  // Every visit counts, so that references between nodes cannot expand without bound.
  if (++r->nodes > MOST_NODES) return fail(r, node, "too many nodes");
  Affine place = *parent, step;
  tbResult result = TB_OK;
  for (const xmlNode* c = node->children; c && !result; c = c->next) {
    if (c->type != XML_ELEMENT_NODE) continue;
    bool is_step;
    result = read_step(r, c, &step, &is_step);
    if (!result && is_step) multiply(&place, &place, &step);
  }
  for (const xmlNode* c = node->children; c && !result; c = c->next) {
    const char* url = c->type == XML_ELEMENT_NODE ? attribute(c, "url") : "";
    if (is(c, "node")) result = read_node(r, c, &place, depth + 1);
    if (is(c, "instance_geometry")) {
      xmlNode* geometry = find(r->root, "geometry", url);
      result = geometry ? read_geometry(r, geometry, &place)
                        : fail(r, c, "the referenced geometry does not exist");
    }
    if (is(c, "instance_node")) {
      xmlNode* target = find(r->root, "node", url);
      result = target ? read_node(r, target, &place, depth + 1)
                      : fail(r, c, "the referenced node does not exist");
    }
    if (is(c, "instance_controller")) return fail(r, c, "skinned meshes are not supported");
  }
  return result;
}

static tbResult read_document(Reader* r) {
  // Metres per unit.
  Affine place = {{0}};
  tbReal meter = 1;
  const xmlNode* unit = child(child(r->root, "asset"), "unit");
  const char* text = unit ? attribute(unit, "meter") : "";
  if (*text && (!tb_parse_real(text, text + strlen(text), &meter) || !(meter > 0))) {
    return fail(r, unit, "unit: meter must be a positive number");
  }
  place.m[0] = place.m[5] = place.m[10] = meter;

  // The instantiated scene, else the first scene, else all geometries without placement.
  const xmlNode* shown = child(child(r->root, "scene"), "instance_visual_scene");
  xmlNode* scenes = child(r->root, "library_visual_scenes");
  const xmlNode* scene = shown ? find(scenes, "visual_scene", attribute(shown, "url")) : NULL;
  if (!scene) scene = child(scenes, "visual_scene");
  if (scene) return read_node(r, scene, &place, 0);
  tbResult result = TB_OK;
  const xmlNode* library = child(r->root, "library_geometries");
  for (const xmlNode* g = library ? library->children : NULL; g && !result; g = g->next) {
    if (is(g, "geometry")) result = read_geometry(r, g, &place);
  }
  return result;
}

tbResult tb_mesh_read_dae(tbMeshData* mesh, tbArena* arena, const char* name,
                          const unsigned char* bytes, size_t size, tbError* error) {
  tbError local;
  if (size > INT32_MAX) return tb_fail(error, TB_ERROR_FILE, "%s: too large", name);
  // XML_PARSE_HUGE permits a float_array of more than 10 MB. Entities could then expand without
  // bound; meshes do not need them.
  if (strstr((const char*)bytes, "<!DOCTYPE") || strstr((const char*)bytes, "<!ENTITY")) {
    return tb_fail(error, TB_ERROR_UNSUPPORTED, "%s: document types are not supported", name);
  }
  xmlParserCtxt* context = xmlNewParserCtxt();
  if (!context) return tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", name);
  xmlDoc* document = xmlCtxtReadMemory(context, (const char*)bytes, (int)size, name, NULL,
                                       XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                                           XML_PARSE_HUGE | XML_PARSE_COMPACT);
  tbResult result = TB_OK;
  if (!document) {
    const xmlError* reason = xmlCtxtGetLastError(context);
    result = tb_fail(error, TB_ERROR_PARSE, "%s:%d: not well-formed XML: %s", name,
                     reason ? reason->line : 0,
                     reason && reason->message ? reason->message : "unknown error");
  }
  Reader r = {.mesh = {.arena = arena}, .name = name, .error = error ? error : &local};
  if (document) {
    r.root = xmlDocGetRootElement(document);
    if (!r.root || !is(r.root, "COLLADA")) {
      result = tb_fail(error, TB_ERROR_PARSE, "%s: no COLLADA element", name);
    } else {
      result = read_document(&r);
    }
  }
  if (result == TB_OK && r.mesh.nface == 0) {
    result = tb_fail(error, TB_ERROR_PARSE, "%s: no triangles or polygons", name);
  }
  xmlFreeDoc(document);
  xmlFreeParserCtxt(context);
  if (result) return result;
  *mesh = (tbMeshData){r.mesh.nvert, r.mesh.nface, r.mesh.vert, r.mesh.face};
  return tb_mesh_weld(mesh, arena, name, error);
}
