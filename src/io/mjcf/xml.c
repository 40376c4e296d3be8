// Reading of MJCF files as XML trees: includes, and the origin of each element.
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/SAX2.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "io/format.h"
#include "io/mjcf/mjcf.h"

enum { MAX_FILE_BYTES = 1 << 28 };

// Origin of an element: where its tag starts. Every element of a tree points to one.
typedef struct {
  const char* file;
  int line;
} Origin;

const char* tb_mjcf_file(const xmlNode* node) {
  return node && node->_private ? ((const Origin*)node->_private)->file : "";
}

int tb_mjcf_line(const xmlNode* node) {
  return node && node->_private ? ((const Origin*)node->_private)->line : 0;
}

bool tb_mjcf_mark(tbMjcf* p, xmlNode* node, const char* file) {
  long line = xmlGetLineNo(node);
  Origin* origin = TB_ARENA_NEW(&p->spec->arena, Origin, 1);
  if (!origin) return tb_mjcf_no_memory(p);
  *origin = (Origin){file, line > 0 && line < INT_MAX ? (int)line : 0};
  node->_private = origin;
  for (xmlNode* c = tb_mjcf_first(node); c; c = tb_mjcf_next(c)) {
    if (!tb_mjcf_mark(p, c, file)) return false;
  }
  return true;
}

static xmlNode* element_from(xmlNode* node) {
  while (node && node->type != XML_ELEMENT_NODE) node = node->next;
  return node;
}

xmlNode* tb_mjcf_first(const xmlNode* node) {
  return element_from(node->children);
}

xmlNode* tb_mjcf_next(const xmlNode* node) {
  return element_from(node->next);
}

bool tb_mjcf_is(const xmlNode* node, const char* name) {
  return strcmp((const char*)node->name, name) == 0 && !(node->ns && node->ns->prefix);
}

bool tb_mjcf_fail(tbMjcf* p, tbResult code, const xmlNode* node, const char* format, ...) {
  char message[sizeof p->error->message];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  tb_flat_fail(p->error, code, tb_mjcf_file(node), tb_mjcf_line(node), "<%s>: %s",
               (const char*)node->name, message);
  return false;
}

bool tb_mjcf_no_memory(tbMjcf* p) {
  tb_fail(p->error, TB_ERROR_MEMORY, "out of memory while reading '%s'", p->path);
  return false;
}

// State shared by the callbacks of one parse.
typedef struct {
  tbArena* arena;
  const char* path;
  Origin* origins;  // unused entries for further elements
  int left;
  bool entity, failed;
} Reader;

// Entities could expand to any size; models do not need them, so they are rejected.
static void reject_entity(void* context, const xmlChar* name, int type, const xmlChar* public_id,
                          const xmlChar* system_id, xmlChar* content) {
  (void)name, (void)type, (void)public_id, (void)system_id, (void)content;
  xmlParserCtxtPtr ctxt = (xmlParserCtxtPtr)context;
  ((Reader*)ctxt->_private)->entity = true;
  xmlStopParser(ctxt);
}

// The parser is at the end of a start tag: search back to its '<', which no attribute can contain.
static int tag_line(const xmlParserInput* input) {
  int line = input->line;
  for (const xmlChar* at = input->cur - 1; at >= input->base && *at != '<'; at--) {
    line -= *at == '\n';
  }
  return line > 0 ? line : 0;
}

// Stores the file and line of every new element.
static void start_element(void* context, const xmlChar* name, const xmlChar* prefix,
                          const xmlChar* uri, int nnamespace, const xmlChar** namespaces,
                          int nattribute, int ndefaulted, const xmlChar** attributes) {
  enum { CHUNK = 128 };
  xmlParserCtxtPtr ctxt = (xmlParserCtxtPtr)context;
  Reader* reader = (Reader*)ctxt->_private;
  xmlSAX2StartElementNs(context, name, prefix, uri, nnamespace, namespaces, nattribute, ndefaulted,
                        attributes);
  if (reader->left == 0) {
    reader->origins = TB_ARENA_NEW(reader->arena, Origin, CHUNK);
    reader->left = reader->origins ? CHUNK : 0;
  }
  if (!ctxt->node || reader->left == 0) {
    reader->failed = true;
    xmlStopParser(ctxt);
    return;
  }
  Origin* origin = &reader->origins[--reader->left];
  *origin = (Origin){reader->path, tag_line(ctxt->input)};
  ctxt->node->_private = origin;
}

static void report(xmlParserCtxtPtr ctxt, const Reader* reader, tbError* error) {
  const xmlError* why = xmlCtxtGetLastError(ctxt);
  char reason[200] = "no element";
  if (reader->failed) {
    tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", reader->path);
    return;
  }
  if (reader->entity) {
    snprintf(reason, sizeof reason, "entity declarations are not supported");
  } else if (why && why->message) {
    snprintf(reason, sizeof reason, "%s", why->message);
  }
  reason[strcspn(reason, "\n")] = 0;
  int line = why && why->line > 0 ? why->line : ctxt->input ? ctxt->input->line : 1;
  tb_fail(error, TB_ERROR_PARSE, "%s:%d: not well-formed XML: %s", reader->path, line, reason);
}

static xmlDocPtr parse_text(tbMjcf* p, const char* text, size_t size, const char* path) {
  if (size > MAX_FILE_BYTES) {
    tb_fail(p->error, TB_ERROR_PARSE, "%s: too large", path);
    return NULL;
  }
  char* plain = tb_format_without_declaration(text, size);
  xmlParserCtxtPtr ctxt = size ? xmlCreateMemoryParserCtxt(plain ? plain : text, (int)size) : NULL;
  free(plain);
  if (!ctxt) {
    tb_fail(p->error, TB_ERROR_PARSE, "%s:1: the file is empty", path);
    return NULL;
  }
  Reader reader = {.arena = &p->spec->arena, .path = path};
  xmlCtxtUseOptions(ctxt, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                              XML_PARSE_NODICT | XML_PARSE_HUGE | XML_PARSE_BIG_LINES);
  ctxt->_private = &reader;
  ctxt->sax->entityDecl = reject_entity;
  ctxt->sax->startElementNs = start_element;
  xmlParseDocument(ctxt);
  xmlDocPtr doc = ctxt->myDoc;
  ctxt->myDoc = NULL;
  bool good = ctxt->wellFormed && !reader.entity && !reader.failed;
  if (!good || !doc || !xmlDocGetRootElement(doc)) {
    report(ctxt, &reader, p->error);
    if (doc) xmlFreeDoc(doc);
    doc = NULL;
  }
  xmlFreeParserCtxt(ctxt);
  return doc;
}

// The next node of a subtree in document order, NULL at its end.
static xmlNode* step(const xmlNode* root, xmlNode* node, int* depth) {
  if (node->type == XML_ELEMENT_NODE && node->children) {
    (*depth)++;
    return node->children;
  }
  while (node != root && !node->next) {
    node = node->parent;
    (*depth)--;
  }
  return node == root ? NULL : node->next;
}

static bool check_depth(tbMjcf* p, xmlNode* root) {
  int depth = 0;
  for (xmlNode* node = root; node; node = step(root, node, &depth)) {
    if (depth > TB_MJCF_MAX_DEPTH && node->type == XML_ELEMENT_NODE) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "elements are nested more than %d deep",
                          TB_MJCF_MAX_DEPTH);
    }
  }
  return true;
}

static bool readable(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file) fclose(file);
  return file != NULL;
}

// Path of an included file: relative to the main file's folder, or else to the including file's.
static const char* include_path(tbMjcf* p, const xmlNode* node, const char* file) {
  if (file[0] == '/') return file;
  const char* path = tb_flat_format(p->spec, "%s%s", p->directory, file);
  if (!path || readable(path)) return path;
  const char* from = tb_mjcf_file(node);
  const char* slash = strrchr(from, '/');
  const char* beside =
      tb_flat_format(p->spec, "%.*s%s", slash ? (int)(slash - from + 1) : 0, from, file);
  return beside && readable(beside) ? beside : path;
}

static bool add_included(tbMjcf* p, const xmlNode* node, const char* path) {
  for (int i = 0; i < p->nincluded; i++) {
    if (strcmp(p->included[i], path) == 0) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "'%s' is already included", path);
    }
  }
  if (p->nincluded == p->included_capacity) {
    int room = p->included_capacity ? 2 * p->included_capacity : 8;
    const char** larger = TB_ARENA_NEW(&p->spec->arena, const char*, room);
    if (!larger) return tb_mjcf_no_memory(p);
    if (p->nincluded) memcpy(larger, p->included, sizeof(char*) * (size_t)p->nincluded);
    p->included = larger;
    p->included_capacity = room;
  }
  p->included[p->nincluded++] = path;
  return true;
}

// Inserts the children of the included root in place of the include element.
static bool insert_children(tbMjcf* p, xmlNode* include, xmlDocPtr doc) {
  xmlNode* root = xmlDocGetRootElement(doc);
  for (xmlNode* node = root->children; node;) {
    xmlNode* next = node->next;
    if (node->type == XML_ELEMENT_NODE) {
      xmlUnlinkNode(node);
      if (!xmlAddPrevSibling(include, node)) {
        xmlFreeNode(node);
        return tb_mjcf_no_memory(p);
      }
    }
    node = next;
  }
  return true;
}

// Replaces one include element by the contents of its file.
static bool expand_one(tbMjcf* p, xmlNode* include) {
  static const char* const KNOWN[] = {"file", NULL};
  const char* file;
  if (!tb_mjcf_only(p, include, KNOWN)) return false;
  if (!tb_mjcf_required(p, include, "file", &file)) return false;
  file = tb_flat_slashes(p->spec, file);
  if (tb_mjcf_first(include)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, include, "may not contain elements");
  }
  const char* path = include_path(p, include, file);
  if (!path) return tb_mjcf_no_memory(p);
  if (!add_included(p, include, path)) return false;
  const unsigned char* bytes;
  size_t size;
  tbError why = {TB_OK, ""};
  if (tb_read_file(path, &p->spec->arena, &bytes, &size, &why) != TB_OK) {
    return tb_mjcf_fail(p, why.code, include, "%s", why.message);
  }
  xmlDocPtr doc = parse_text(p, (const char*)bytes, size, path);
  if (!doc) return false;
  bool good = insert_children(p, include, doc);
  xmlFreeDoc(doc);
  return good;
}

// Expands includes in document order; included elements are searched, too.
static bool expand(tbMjcf* p, xmlNode* root) {
  int unused = 0;
  for (xmlNode* node = root; node;) {
    if (node->type != XML_ELEMENT_NODE || !tb_mjcf_is(node, "include") || node == root) {
      node = step(root, node, &unused);
      continue;
    }
    xmlNode *before = node->prev, *parent = node->parent;
    if (!expand_one(p, node)) return false;
    xmlUnlinkNode(node);
    xmlFreeNode(node);
    // Continue with the first inserted element.
    node = before ? before->next : parent->children;
    for (xmlNode* up = parent; !node && up != root; up = up->parent) node = up->next;
  }
  return true;
}

xmlDocPtr tb_mjcf_read(tbMjcf* p, const char* text, size_t size, const char* path) {
  xmlDocPtr doc = parse_text(p, text, size, path);
  if (!doc) return NULL;
  xmlNode* root = xmlDocGetRootElement(doc);
  if (!add_included(p, root, path) || !expand(p, root) || !check_depth(p, root)) {
    xmlFreeDoc(doc);
    return NULL;
  }
  return doc;
}

const char* tb_mjcf_resolve(tbMjcf* p, const char* folder, const char* file) {
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
