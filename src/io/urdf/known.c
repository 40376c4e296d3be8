// The known attributes and children of URDF elements. Others, and repeated elements, are noted, so
// that nothing is ignored silently.
#include <string.h>

#include "io/urdf/internal.h"

// Which of the children are used, and whether unlisted ones are noted here or elsewhere.
typedef enum { EACH_ONCE, EACH_ONCE_OTHERS_ELSEWHERE, ONE_OF_ALL } Children;

// Names between blanks. If a geometry has several shapes, the first in the order
// of the list is used.
static const struct {
  const char *name, *attributes, *children;
  Children rule;
} KNOWN[] = {
    {"link", " name ", " inertial ", EACH_ONCE_OTHERS_ELSEWHERE},
    {"joint", " name type ", " parent child origin axis limit dynamics mimic ",
     EACH_ONCE_OTHERS_ELSEWHERE},
    {"inertial", " ", " origin mass inertia ", EACH_ONCE},
    {"collision", " name ", " origin geometry ", EACH_ONCE},
    {"visual", " name ", " origin geometry material ", EACH_ONCE},
    {"geometry", " ", " box sphere cylinder capsule mesh ", ONE_OF_ALL},
    {"origin", " xyz rpy quat_xyzw ", " ", EACH_ONCE},
    {"mass", " value ", " ", EACH_ONCE},
    {"inertia", " ixx iyy izz ixy ixz iyz ", " ", EACH_ONCE},
    {"box", " size ", " ", EACH_ONCE},
    {"sphere", " radius ", " ", EACH_ONCE},
    {"cylinder", " radius length ", " ", EACH_ONCE},
    {"capsule", " radius length ", " ", EACH_ONCE},
    {"mesh", " filename scale ", " ", EACH_ONCE},
    {"parent", " link ", " ", EACH_ONCE},
    {"child", " link ", " ", EACH_ONCE},
    {"axis", " xyz ", " ", EACH_ONCE},
    {"limit", " lower upper effort velocity ", " ", EACH_ONCE},
    {"dynamics", " damping friction ", " ", EACH_ONCE},
    {"mimic", " joint multiplier offset ", " ", EACH_ONCE},
};
enum { NKNOWN = sizeof KNOWN / sizeof KNOWN[0], NAME = 64 };

static bool is_listed(const char* list, const xmlChar* name) {
  char word[NAME + 2];
  size_t length = strlen((const char*)name);
  if (length == 0 || length >= NAME || strchr((const char*)name, ' ')) return false;
  word[0] = word[length + 1] = ' ';
  memcpy(word + 1, name, length);
  word[length + 2] = 0;
  return strstr(list, word) != NULL;
}

static int find(const xmlNode* node) {
  for (int i = 0; i < NKNOWN; i++) {
    if (tb_urdf_is(node, KNOWN[i].name)) return i;
  }
  return -1;
}

static void note_attributes(tbUrdf* u, const xmlNode* node, const char* known) {
  for (const xmlAttr* a = node->properties; a; a = a->next) {
    bool prefixed = a->ns && a->ns->prefix;
    if (prefixed && strcmp((const char*)a->ns->prefix, "xml") == 0) continue;
    if (prefixed || !is_listed(known, a->name)) tb_urdf_note_attribute(u, node, a);
  }
}

// The used child among those with its name, or among the shapes of a geometry.
static const xmlNode* used_child(const xmlNode* node, const xmlNode* child, int id) {
  for (int i = 0; KNOWN[id].rule == ONE_OF_ALL && i < NKNOWN; i++) {
    const xmlNode* shape = tb_urdf_child(node, KNOWN[i].name);
    if (shape && is_listed(KNOWN[id].children, shape->name)) return shape;
  }
  return tb_urdf_child(node, (const char*)child->name);
}

// Whether a node is a shape of a link; any number of shapes is read.
static bool is_shape(const tbUrdf* u, const xmlNode* link, const xmlNode* node) {
  bool visuals = !u->spec->compiler->discardvisual;
  return tb_urdf_is(link, "link") &&
         (tb_urdf_is(node, "collision") || (visuals && tb_urdf_is(node, "visual")));
}

// Adds the notes for an element that is read and for its children. The recursion is as deep as the
// lists.
static void note_element(tbUrdf* u, const xmlNode* node, int id) {
  note_attributes(u, node, KNOWN[id].attributes);
  for (const xmlNode* c = node->children; c; c = c->next) {
    if (c->type != XML_ELEMENT_NODE) continue;
    int next = find(c);
    bool listed = tb_urdf_is(c, (const char*)c->name) && is_listed(KNOWN[id].children, c->name);
    bool used = listed && c == used_child(node, c, id);
    bool noted_elsewhere = !listed && KNOWN[id].rule == EACH_ONCE_OTHERS_ELSEWHERE;
    if (used || is_shape(u, node, c)) {
      if (next >= 0) note_element(u, c, next);
    } else if (listed && KNOWN[id].rule != ONE_OF_ALL) {
      tb_urdf_note_another(u, c, KNOWN[id].name);
    } else if (!noted_elsewhere) {
      tb_urdf_note_unused(u, c, KNOWN[id].name);
    }
  }
}

void tb_urdf_note_unknown(tbUrdf* u) {
  for (const xmlNode* c = u->root->children; c; c = c->next) {
    if (tb_urdf_is(c, "link") || tb_urdf_is(c, "joint")) note_element(u, c, find(c));
  }
}
