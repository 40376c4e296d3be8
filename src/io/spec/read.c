// Reading of MJCF text as a tree of elements, with libxml2's parser; includes are replaced by the
// contents of their files.
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "io/format.h"
#include "io/spec/schema.h"
#include "io/spec/tree.h"

// State shared by the callbacks of one parse.
typedef struct {
  tbSpec* spec;
  const char* path;
  tbElement* root;
  tbElement* at;  // the open element, NULL outside of the root
  bool entity, failed;
} Reader;

static Reader* reader_of(void* context) {
  return (Reader*)((xmlParserCtxtPtr)context)->_private;
}

// Entities could expand to any size; models do not need them, so they are rejected.
static void reject_entity(void* context, const xmlChar* name, int type, const xmlChar* public_id,
                          const xmlChar* system_id, xmlChar* content) {
  (void)name, (void)type, (void)public_id, (void)system_id, (void)content;
  reader_of(context)->entity = true;
  xmlStopParser((xmlParserCtxtPtr)context);
}

// The parser is at the end of a start tag: search back to its '<', which no attribute can contain.
static int tag_line(const xmlParserInput* input) {
  int line = input->line;
  for (const xmlChar* at = input->cur - 1; at >= input->base && *at != '<'; at--) {
    line -= *at == '\n';
  }
  return line > 0 ? line : 0;
}

static const char* full_name(tbSpec* spec, const xmlChar* prefix, const xmlChar* name) {
  return tb_spec_format(spec, "%s%s%s", prefix ? (const char*)prefix : "", prefix ? ":" : "",
                        (const char*)name);
}

// An attribute of libxml2: name, prefix, namespace, start and end of the value.
static bool add_attribute(tbSpec* spec, tbElement* element, const xmlChar* const a[5],
                          tbAttribute** last) {
  tbAttribute* attribute = TB_ARENA_NEW(&spec->arena, tbAttribute, 1);
  if (!attribute) return false;
  attribute->name = full_name(spec, a[1], a[0]);
  attribute->value = tb_spec_format(spec, "%.*s", (int)(a[4] - a[3]), (const char*)a[3]);
  *(*last ? &(*last)->next : &element->attribute) = attribute;
  *last = attribute;
  return attribute->name && attribute->value;
}

static void start_element(void* context, const xmlChar* name, const xmlChar* prefix,
                          const xmlChar* uri, int nnamespace, const xmlChar** namespaces,
                          int nattribute, int ndefaulted, const xmlChar** attributes) {
  (void)uri, (void)nnamespace, (void)namespaces, (void)ndefaulted;
  xmlParserCtxtPtr ctxt = (xmlParserCtxtPtr)context;
  Reader* reader = reader_of(context);
  const char* tag = full_name(reader->spec, prefix, name);
  tbElement* element = tag ? tb_element_new(reader->spec, reader->at, tag) : NULL;
  bool good = element != NULL;
  tbAttribute* last = NULL;
  for (int i = 0; good && i < nattribute; i++) {
    good = add_attribute(reader->spec, element, attributes + (size_t)5 * (size_t)i, &last);
  }
  if (!good) {
    reader->failed = true;
    xmlStopParser(ctxt);
    return;
  }
  element->source = reader->path;
  element->line = *reader->path ? tag_line(ctxt->input) : 0;
  if (!reader->root) reader->root = element;
  reader->at = element;
}

static void end_element(void* context, const xmlChar* name, const xmlChar* prefix,
                        const xmlChar* uri) {
  (void)name, (void)prefix, (void)uri;
  Reader* reader = reader_of(context);
  if (reader->at) reader->at = reader->at->parent;
}

static void cdata(void* context, const xmlChar* text, int length) {
  Reader* reader = reader_of(context);
  if (!reader->at || reader->at->content) return;
  reader->at->content = tb_spec_format(reader->spec, "%.*s", length, (const char*)text);
}

static void report(xmlParserCtxtPtr ctxt, const Reader* reader, tbError* error) {
  const xmlError* why = xmlCtxtGetLastError(ctxt);
  char reason[200] = "no element";
  const char* path = *reader->path ? reader->path : "text";
  if (reader->failed) {
    tb_fail(error, TB_ERROR_MEMORY, "%s: out of memory", path);
    return;
  }
  if (reader->entity) {
    snprintf(reason, sizeof reason, "entity declarations are not supported");
  } else if (why && why->message) {
    snprintf(reason, sizeof reason, "%s", why->message);
  }
  reason[strcspn(reason, "\n")] = 0;
  int line = why && why->line > 0 ? why->line : ctxt->input ? ctxt->input->line : 1;
  tb_fail(error, TB_ERROR_PARSE, "%s:%d: not well-formed XML: %s", path, line, reason);
}

// The root element of a text, which is not yet part of the tree; NULL with `error` on failure.
static tbElement* parse_text(tbSpec* spec, const char* text, size_t size, const char* path,
                             tbError* error) {
  if (size > TB_SPEC_MAX_BYTES) {
    tb_fail(error, TB_ERROR_PARSE, "%s: too large", path);
    return NULL;
  }
  char* plain = tb_format_without_declaration(text, size);
  xmlParserCtxtPtr ctxt = size ? xmlCreateMemoryParserCtxt(plain ? plain : text, (int)size) : NULL;
  free(plain);
  if (!ctxt) {
    tb_fail(error, TB_ERROR_PARSE, "%s:1: the file is empty", path);
    return NULL;
  }
  Reader reader = {.spec = spec, .path = path};
  // NOENT: "&amp;" and the like arrive as characters. No other entity can be declared.
  xmlCtxtUseOptions(ctxt, XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING |
                              XML_PARSE_NOENT | XML_PARSE_HUGE | XML_PARSE_BIG_LINES);
  ctxt->_private = &reader;
  ctxt->sax->entityDecl = reject_entity;
  ctxt->sax->startElementNs = start_element;
  ctxt->sax->endElementNs = end_element;
  ctxt->sax->cdataBlock = cdata;
  ctxt->sax->characters = ctxt->sax->ignorableWhitespace = NULL;
  ctxt->sax->comment = NULL;
  ctxt->sax->processingInstruction = NULL;
  xmlParseDocument(ctxt);
  xmlDocPtr doc = ctxt->myDoc;
  ctxt->myDoc = NULL;
  bool good = ctxt->wellFormed && !reader.entity && !reader.failed && reader.root;
  if (!good) report(ctxt, &reader, error);
  if (doc) xmlFreeDoc(doc);
  xmlFreeParserCtxt(ctxt);
  return good ? reader.root : NULL;
}

static bool check_depth(tbElement* root, tbError* error) {
  int depth = 0;
  for (const tbElement* e = root; e; e = tb_element_step(root, e, &depth)) {
    if (depth <= TB_SPEC_MAX_DEPTH) continue;
    tb_element_fail(error, TB_ERROR_PARSE, e, "elements are nested more than %d deep",
                    TB_SPEC_MAX_DEPTH);
    return false;
  }
  return true;
}

// ---- includes -----------------------------------------------------------------------------------

// The files read so far, each at most once.
typedef struct Included Included;
struct Included {
  const char* path;
  const Included* next;
};

static bool readable(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file) fclose(file);
  return file != NULL;
}

// Path of an included file: relative to the main file's folder, or else to the including file's.
static const char* include_path(tbSpec* spec, const tbElement* include, const char* file) {
  if (file[0] == '/') return file;
  const char* path = tb_spec_format(spec, "%s%s", spec->directory, file);
  if (!path || readable(path)) return path;
  const char* from = include->source;
  const char* slash = strrchr(from, '/');
  const char* beside =
      tb_spec_format(spec, "%.*s%s", slash ? (int)(slash - from + 1) : 0, from, file);
  return beside && readable(beside) ? beside : path;
}

// Replaces one include element by the contents of its file.
static tbResult expand_one(tbSpec* spec, tbElement* include, const Included** included,
                           tbError* error) {
  for (const tbAttribute* a = include->attribute; a; a = a->next) {
    if (strcmp(a->name, "file") == 0 || strchr(a->name, ':')) continue;
    return tb_element_fail(error, TB_ERROR_PARSE, include,
                           "unknown attribute '%s', did you mean 'file'?", a->name);
  }
  const char* name = tb_element_get(include, "file");
  if (!name || !*name) {
    return tb_element_fail(error, TB_ERROR_PARSE, include, "attribute 'file' is missing");
  }
  if (include->first) {
    return tb_element_fail(error, TB_ERROR_PARSE, include, "may not contain elements");
  }
  char* file = (char*)tb_spec_text(spec, name);
  for (char* at = file; at && *at; at++) *at = *at == '\\' ? '/' : *at;
  const char* path = file ? include_path(spec, include, file) : NULL;
  Included* entry = TB_ARENA_NEW(&spec->arena, Included, 1);
  if (!path || !entry) return tb_fail(error, TB_ERROR_MEMORY, "out of memory");
  for (const Included* i = *included; i; i = i->next) {
    if (strcmp(i->path, path) != 0) continue;
    return tb_element_fail(error, TB_ERROR_PARSE, include, "'%s' is already included", path);
  }
  *entry = (Included){path, *included};
  *included = entry;
  const unsigned char* bytes;
  size_t size;
  tbError why = {TB_OK, ""};
  if (tb_read_file(path, &spec->arena, &bytes, &size, &why) != TB_OK) {
    return tb_element_fail(error, why.code, include, "%s", why.message);
  }
  tbElement* root = parse_text(spec, (const char*)bytes, size, path, error);
  if (!root) return TB_ERROR_PARSE;
  // The children of the included root go before the include element.
  while (root->first) {
    tbElement* child = root->first;
    tb_element_unlink(child);
    child->parent = include->parent;
    child->prev = include->prev;
    child->next = include;
    *(include->prev ? &include->prev->next : &include->parent->first) = child;
    include->prev = child;
  }
  return TB_OK;
}

// Expands includes in document order; included elements are searched, too.
static tbResult expand(tbSpec* spec, tbElement* root, tbError* error) {
  Included main_file = {spec->path, NULL};
  const Included* included = &main_file;
  for (tbElement* e = root; e;) {
    if (!tb_element_is(e, "include") || e == root) {
      e = tb_element_step(root, e, NULL);
      continue;
    }
    tbElement *before = e->prev, *parent = e->parent;
    tbResult result = expand_one(spec, e, &included, error);
    if (result != TB_OK) return result;
    tb_element_unlink(e);
    // Continue with the first inserted element.
    e = before ? before->next : parent->first;
    for (tbElement* up = parent; !e && up != root; up = up->parent) e = up->next;
  }
  return TB_OK;
}

tbSpec* tb_spec_read(const char* text, size_t size, const char* path, const tbLoadOptions* options,
                     tbError* error) {
  tbSpec* spec = tb_spec_new(path, options, error);
  if (!spec) return NULL;
  tbElement* root = parse_text(spec, text, size, spec->path, error);
  if (root && expand(spec, root, error) == TB_OK && check_depth(root, error) &&
      tb_schema_check(root, error) == TB_OK) {
    spec->root = root;
    return spec;
  }
  tb_spec_free(spec);
  return NULL;
}

tbElement* tb_spec_read_into(tbElement* parent, const char* text, tbError* error) {
  tbElement* root = parse_text(parent->spec, text, strlen(text), "", error);
  if (!root) return NULL;
  int depth = 0;
  for (const tbElement* up = parent; up; up = up->parent) depth++;
  for (const tbElement* e = root; e; e = tb_element_step(root, e, &depth)) {
    if (depth > TB_SPEC_MAX_DEPTH || tb_element_is(e, "include")) {
      tb_element_fail(error, TB_ERROR_PARSE, e, "%s",
                      depth > TB_SPEC_MAX_DEPTH ? "nested too deep"
                                                : "included files are read only with a file");
      return NULL;
    }
  }
  tb_element_append(parent, root);
  if (tb_schema_check(root, error) == TB_OK) return root;
  tb_element_unlink(root);
  return NULL;
}
