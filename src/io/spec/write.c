// Writing of a tree of elements as XML text.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "io/spec/write.h"

void tb_text_add(tbText* text, const char* s, size_t n) {
  if (text->failed) return;
  if (text->n + n + 1 > text->room) {
    size_t room = 2 * (text->n + n + 1) + 1024;
    char* larger = (char*)realloc(text->s, room);
    if (!larger) {
      text->failed = true;
      return;
    }
    text->s = larger;
    text->room = room;
  }
  if (n) memcpy(text->s + text->n, s, n);
  text->n += n;
  text->s[text->n] = 0;
}

void tb_text_put(tbText* text, const char* s) {
  tb_text_add(text, s, strlen(s));
}

// A text between quotes. White space other than blanks would be read as a blank.
void tb_text_quoted(tbText* text, const char* s) {
  tb_text_put(text, "\"");
  for (; *s; s++) {
    switch (*s) {
      case '&': tb_text_put(text, "&amp;"); break;
      case '<': tb_text_put(text, "&lt;"); break;
      case '>': tb_text_put(text, "&gt;"); break;
      case '"': tb_text_put(text, "&quot;"); break;
      case '\n': tb_text_put(text, "&#10;"); break;
      case '\r': tb_text_put(text, "&#13;"); break;
      case '\t': tb_text_put(text, "&#9;"); break;
      default: tb_text_add(text, s, 1);
    }
  }
  tb_text_put(text, "\"");
}

// Declares the prefix of a name ("xsi:..."), which XML requires; "xml" is always declared.
static void declare(tbText* text, const char* name) {
  const char* colon = strchr(name, ':');
  if (!colon || strncmp(name, "xml:", 4) == 0) return;
  size_t n = (size_t)(colon - name);
  tb_text_put(text, " xmlns:");
  tb_text_add(text, name, n);
  tb_text_put(text, "=\"");
  tb_text_add(text, name, n);
  tb_text_put(text, "\"");
}

// Whether an earlier attribute or the element itself declares the prefix of this one.
static bool declared(const tbElement* e, const tbAttribute* attribute) {
  const char* colon = strchr(attribute->name, ':');
  if (!colon) return true;
  size_t n = (size_t)(colon - attribute->name) + 1;
  if (strncmp(e->tag, attribute->name, n) == 0) return true;
  for (const tbAttribute* a = e->attribute; a != attribute; a = a->next) {
    if (strncmp(a->name, attribute->name, n) == 0) return true;
  }
  return false;
}

static void indent(tbText* text, int depth) {
  for (int i = 0; i < depth; i++) tb_text_put(text, "  ");
}

static void start_tag(tbText* text, const tbElement* e, int depth) {
  indent(text, depth);
  tb_text_put(text, "<");
  tb_text_put(text, e->tag);
  declare(text, e->tag);
  for (const tbAttribute* a = e->attribute; a; a = a->next) {
    if (!declared(e, a)) declare(text, a->name);
    tb_text_put(text, " ");
    tb_text_put(text, a->name);
    tb_text_put(text, "=");
    tb_text_quoted(text, a->value);
  }
  if (!e->first && !e->content) {
    tb_text_put(text, "/>\n");
    return;
  }
  tb_text_put(text, ">");
  if (e->content) {
    tb_text_put(text, "<![CDATA[");
    tb_text_put(text, e->content);
    tb_text_put(text, "]]>");
  }
  if (e->first) tb_text_put(text, "\n");
}

static void end_tag(tbText* text, const tbElement* e, int depth) {
  if (!e->first && !e->content) return;
  if (e->first) indent(text, depth);
  tb_text_put(text, "</");
  tb_text_put(text, e->tag);
  tb_text_put(text, ">\n");
}

void tb_write_element(tbText* text, const tbElement* root) {
  int depth = 0;
  for (const tbElement* e = root; e;) {
    start_tag(text, e, depth);
    if (e->first) {
      e = e->first;
      depth++;
      continue;
    }
    end_tag(text, e, depth);
    while (e != root && !e->next) {
      e = e->parent;
      end_tag(text, e, --depth);
    }
    e = e == root ? NULL : e->next;
  }
}

tbResult tb_text_save(tbText* text, const char* path, tbError* error) {
  tbResult result = TB_OK;
  FILE* file = text->failed ? NULL : fopen(path, "wb");
  if (text->failed) {
    result = tb_fail(error, TB_ERROR_MEMORY, "out of memory while writing '%s'", path);
  } else if (!file) {
    result = tb_fail(error, TB_ERROR_FILE, "cannot write '%s'", path);
  }
  bool good = file && fwrite(text->s, 1, text->n, file) == text->n;
  if (file && fclose(file) != 0) good = false;
  if (file && !good) result = tb_fail(error, TB_ERROR_FILE, "cannot write '%s': disk full?", path);
  free(text->s);
  *text = (tbText){0};
  return result;
}
