// Which elements an MJCF file may have, where, and with which attributes: the lists of
// spec_elements.h as tables, and the check of a tree against them.
#ifndef TRIBO_IO_SPEC_SCHEMA_H_
#define TRIBO_IO_SPEC_SCHEMA_H_

#include "io/flat_tables.h"
#include "io/spec/tree.h"

// A kind of element: see TB_SPEC_ELEMENTS.
struct tbTag {
  const char *parent, *tag, *inside;
  tbFlatTable (*list)(void);
  tbFlatTable (*others)(void);
  const char* names;
};

// The kind of the root, and of elements that Tribo does not look at.
extern const tbTag tb_schema_root, tb_schema_any;

// The kind of element with this tag in an element of the kind `parent`; NULL if there is none.
const tbTag* tb_schema_tag(const tbTag* parent, const char* tag);

// The field that an attribute is; NULL for a text ("name") if *known, else for an unknown one.
const tbFlatField* tb_schema_field(const tbTag* kind, const char* attribute, bool* known);

// Checks an element with all of its contents, and sets their kinds. The kind of its parent must be
// set. An attribute with a prefix ("xsi:...") is not part of MJCF and always passes.
tbResult tb_schema_check(tbElement* element, tbError* error);
// Checks one attribute of an element whose kind is set.
tbResult tb_schema_check_attribute(const tbElement* element, const char* name, const char* value,
                                   tbError* error);

#endif
