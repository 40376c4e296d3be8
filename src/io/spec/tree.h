// The editable spec: a model file as a tree of elements, each with its attributes as they were
// given. Default classes, frames, replicate and attach stay elements of the tree;
// src/io/mjcf/ resolves them to the flat spec, which the compiler reads.
//
// The spec's arena contains all data and nothing in it is freed before the spec is: pointers to
// elements and texts stay valid, also those of deleted elements.
#ifndef TRIBO_IO_SPEC_TREE_H_
#define TRIBO_IO_SPEC_TREE_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "tribo/model.h"
#include "tribo/spec.h"

enum {
  TB_SPEC_MAX_DEPTH = 1000,  // nesting of elements
  TB_SPEC_MAX_BYTES = 1 << 28
};

typedef struct tbTag tbTag;
typedef struct tbAttribute tbAttribute;
struct tbAttribute {
  const char* name;
  const char* value;
  tbAttribute* next;
};

struct tbElement {
  tbSpec* spec;         // NULL: deleted
  const char* tag;      // with its prefix, if it has one: "xi:include"
  const tbTag* kind;    // schema.h
  const char* source;   // file, "" for an element that was added in memory
  int line;             // where its tag starts, or 0
  const char* content;  // the first CDATA section in it, or NULL
  tbAttribute* attribute;
  tbElement *parent, *first, *last, *prev, *next;
  tbSpec* model;  // <model>: a spec in memory instead of a file, or NULL
};

struct tbSpec {
  tbArena arena;
  tbElement* root;        // <mujoco>
  const char* path;       // of the main file
  const char* directory;  // of the main file, with a slash at the end, or ""
  tbLoadOptions options;  // with texts in the arena
  tbSpec* attached;       // specs that <model> elements of this one own
  tbSpec* next;
};

// A spec with an empty root, for the file `path`. NULL if out of memory. `options` may be NULL.
tbSpec* tb_spec_new(const char* path, const tbLoadOptions* options, tbError* error);

// Reads MJCF text and the files that it includes.
tbSpec* tb_spec_read(const char* text, size_t size, const char* path, const tbLoadOptions* options,
                     tbError* error);
// Reads one element with its contents as the last child of `parent`.
tbElement* tb_spec_read_into(tbElement* parent, const char* text, tbError* error);

// Appends an element without attributes to `parent`, which may be NULL. NULL if out of memory.
tbElement* tb_element_new(tbSpec* spec, tbElement* parent, const char* tag);
void tb_element_append(tbElement* parent, tbElement* element);
void tb_element_unlink(tbElement* element);
// A copy of an element with its contents in another spec, appended to `parent`.
tbElement* tb_element_copy(tbSpec* spec, tbElement* parent, const tbElement* element);
// Sets or (NULL) removes an attribute without a check. False if out of memory.
bool tb_element_set(tbElement* element, const char* name, const char* value);
// Value of an attribute, or NULL.
const char* tb_element_get(const tbElement* element, const char* name);
bool tb_element_is(const tbElement* element, const char* tag);
// The next element of the tree under `root` in document order, NULL at its end. *depth, if not
// NULL, follows.
tbElement* tb_element_step(const tbElement* root, const tbElement* element, int* depth);

// A copy of a string, and printf, in the spec's arena; NULL if out of memory.
const char* tb_spec_text(tbSpec* spec, const char* text);
const char* tb_spec_format(tbSpec* spec, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

// Sets `error` to "file:line: <tag>: message", without a file to "<tag 'name'>: message", and
// returns `code`.
tbResult tb_element_fail(tbError* error, tbResult code, const tbElement* element,
                         const char* format, ...) __attribute__((format(printf, 4, 5)));
tbResult tb_element_vfail(tbError* error, tbResult code, const tbElement* element,
                          const char* format, va_list args) __attribute__((format(printf, 4, 0)));

#endif
