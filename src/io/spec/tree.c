// Elements of the editable spec: memory, links, attributes.
#include "io/spec/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

const char* tb_spec_text(tbSpec* spec, const char* text) {
  if (!text) return NULL;
  size_t size = strlen(text) + 1;
  char* copy = (char*)tb_arena_alloc(&spec->arena, size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

const char* tb_spec_format(tbSpec* spec, const char* format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  char* text = length < 0 ? NULL : (char*)tb_arena_alloc(&spec->arena, (size_t)length + 1);
  if (text) vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  va_end(args);
  return text;
}

// Copies the caller's options, so that a later compilation finds the same files.
static bool copy_options(tbSpec* spec, const tbLoadOptions* options) {
  if (!options) return true;
  int n = options->nsearch_paths;
  const char** paths = TB_ARENA_NEW(&spec->arena, const char*, n + 1);
  spec->options = *options;
  spec->options.search_paths = paths;
  spec->options.srdf = tb_spec_text(spec, options->srdf);
  for (int i = 0; paths && i < n; i++) paths[i] = tb_spec_text(spec, options->search_paths[i]);
  return !spec->arena.failed;
}

tbSpec* tb_spec_new(const char* path, const tbLoadOptions* options, tbError* error) {
  tbSpec* spec = (tbSpec*)calloc(1, sizeof(tbSpec));
  if (!spec) {
    tb_fail(error, TB_ERROR_MEMORY, "out of memory");
    return NULL;
  }
  tb_arena_init(&spec->arena);
  const char* slash = strrchr(path, '/');
  spec->path = tb_spec_text(spec, path);
  spec->directory = tb_spec_format(spec, "%.*s", slash ? (int)(slash - path + 1) : 0, path);
  spec->root = tb_element_new(spec, NULL, "mujoco");
  if (spec->path && spec->directory && spec->root && copy_options(spec, options)) return spec;
  tb_fail(error, TB_ERROR_MEMORY, "out of memory while reading '%s'", path);
  tb_spec_free(spec);
  return NULL;
}

void tb_spec_free(tbSpec* spec) {
  if (!spec) return;
  while (spec->attached) {
    tbSpec* attached = spec->attached;
    spec->attached = attached->next;
    tb_spec_free(attached);
  }
  tb_arena_free(&spec->arena);
  free(spec);
}

void tb_element_append(tbElement* parent, tbElement* element) {
  element->parent = parent;
  element->prev = parent->last;
  element->next = NULL;
  if (parent->last) {
    parent->last->next = element;
  } else {
    parent->first = element;
  }
  parent->last = element;
}

void tb_element_unlink(tbElement* element) {
  tbElement* parent = element->parent;
  if (!parent) return;
  *(element->prev ? &element->prev->next : &parent->first) = element->next;
  *(element->next ? &element->next->prev : &parent->last) = element->prev;
  element->parent = element->prev = element->next = NULL;
}

tbElement* tb_element_new(tbSpec* spec, tbElement* parent, const char* tag) {
  tbElement* element = TB_ARENA_NEW(&spec->arena, tbElement, 1);
  if (!element) return NULL;
  *element = (tbElement){.spec = spec, .tag = tb_spec_text(spec, tag), .source = ""};
  if (!element->tag) return NULL;
  if (parent) tb_element_append(parent, element);
  return element;
}

bool tb_element_set(tbElement* element, const char* name, const char* value) {
  tbAttribute** at = &element->attribute;
  while (*at && strcmp((*at)->name, name) != 0) at = &(*at)->next;
  if (!value) {
    if (*at) *at = (*at)->next;
    return true;
  }
  const char* copy = tb_spec_text(element->spec, value);
  if (!copy) return false;
  if (!*at) {
    tbAttribute* attribute = TB_ARENA_NEW(&element->spec->arena, tbAttribute, 1);
    const char* label = tb_spec_text(element->spec, name);
    if (!attribute || !label) return false;
    attribute->name = label;
    *at = attribute;
  }
  (*at)->value = copy;
  return true;
}

const char* tb_element_get(const tbElement* element, const char* name) {
  for (const tbAttribute* a = element->attribute; a; a = a->next) {
    if (strcmp(a->name, name) == 0) return a->value;
  }
  return NULL;
}

bool tb_element_is(const tbElement* element, const char* tag) {
  return strcmp(element->tag, tag) == 0;
}

tbElement* tb_element_step(const tbElement* root, const tbElement* element, int* depth) {
  int unused = 0;
  if (!depth) depth = &unused;
  if (element->first) {
    (*depth)++;
    return element->first;
  }
  while (element != root && !element->next) {
    element = element->parent;
    (*depth)--;
  }
  return element == root ? NULL : element->next;
}

// One element without its contents.
static tbElement* copy_one(tbSpec* spec, tbElement* parent, const tbElement* element) {
  tbElement* copy = tb_element_new(spec, parent, element->tag);
  if (!copy) return NULL;
  copy->source = tb_spec_text(spec, element->source);
  copy->line = element->line;
  copy->kind = element->kind;
  copy->content = tb_spec_text(spec, element->content);
  if (element->model) {
    copy->model = tb_spec_copy(element->model, NULL);
    if (!copy->model) return NULL;
    copy->model->next = spec->attached;
    spec->attached = copy->model;
  }
  for (const tbAttribute* a = element->attribute; a; a = a->next) {
    if (!tb_element_set(copy, a->name, a->value)) return NULL;
  }
  return copy->source ? copy : NULL;
}

tbElement* tb_element_copy(tbSpec* spec, tbElement* parent, const tbElement* element) {
  tbElement* top = copy_one(spec, parent, element);
  tbElement* at = top;
  // Follows the source in document order; `at` is the copy of the last element, at `depth`.
  int depth = 0, before = 0;
  for (const tbElement* e = tb_element_step(element, element, &depth); at && e;
       e = tb_element_step(element, e, &depth)) {
    for (; before >= depth; before--) at = at->parent;
    at = copy_one(spec, at, e);
    before = depth;
  }
  return at ? top : NULL;
}

tbResult tb_element_vfail(tbError* error, tbResult code, const tbElement* element,
                          const char* format, va_list args) {
  char message[sizeof error->message];
  vsnprintf(message, sizeof message, format, args);
  const char* name = tb_element_get(element, "name");
  if (*element->source) {
    return tb_fail(error, code, "%s:%d: <%s>: %s", element->source, element->line, element->tag,
                   message);
  }
  if (name && *name) return tb_fail(error, code, "<%s '%.64s'>: %s", element->tag, name, message);
  return tb_fail(error, code, "<%s>: %s", element->tag, message);
}

tbResult tb_element_fail(tbError* error, tbResult code, const tbElement* element,
                         const char* format, ...) {
  va_list args;
  va_start(args, format);
  tb_element_vfail(error, code, element, format, args);
  va_end(args);
  return code;
}
