// Parsing of URDF to the flat spec: settings, links and joints as a tree of bodies.
#include "io/urdf/urdf.h"

#include <string.h>

#include "io/mjcf/mjcf.h"
#include "io/spec/schema.h"
#include "io/urdf/internal.h"
#include "spatial/quat.h"

// ---- settings -----------------------------------------------------------------------------------

static bool is_setting(const xmlNode* section) {
  static const char* const SETTINGS[] = {"compiler", "option", "size", "statistic"};
  bool known = false;
  for (int i = 0; i < 4; i++) known = known || tb_urdf_is(section, SETTINGS[i]);
  return known;
}

// Notes sections of <mujoco> that a URDF cannot have: bodies, actuators and so on.
static void note_unused_sections(tbUrdf* u, const xmlNode* mujoco) {
  for (const xmlNode* c = mujoco->children; c; c = c->next) {
    if (c->type == XML_ELEMENT_NODE && !is_setting(c)) tb_urdf_note_unused(u, c, "mujoco");
  }
}

static tbElement* convert(tbSpec* spec, tbElement* parent, const xmlNode* node, const char* path) {
  tbElement* element = tb_element_new(spec, parent, (const char*)node->name);
  if (!element) return NULL;
  element->source = path;
  element->line = tb_urdf_line(node);
  for (const xmlAttr* a = node->properties; a; a = a->next) {
    const char* name = (const char*)a->name;
    if (a->ns && a->ns->prefix) {
      name = tb_spec_format(spec, "%s:%s", (const char*)a->ns->prefix, name);
    }
    const char* value = tb_urdf_text(node, (const char*)a->name);
    if (!name || !tb_element_set(element, name, value)) return NULL;
  }
  return element;
}

// The settings in an extension element <mujoco>, which are those of MJCF: sections with their
// attributes, and the elements in them.
static tbElement* read_extension(tbUrdf* u, const xmlNode* mujoco) {
  if (!u->spec->tree) u->spec->tree = tb_spec_new(u->path, NULL, u->error);
  tbSpec* tree = u->spec->tree;
  tbElement* root = tree ? convert(tree, NULL, mujoco, u->path) : NULL;
  bool good = root != NULL;
  for (const xmlNode* c = mujoco->children; good && c; c = c->next) {
    if (!is_setting(c)) continue;
    tbElement* section = convert(tree, root, c, u->path);
    good = section != NULL;
    for (const xmlNode* inner = c->children; good && inner; inner = inner->next) {
      if (inner->type == XML_ELEMENT_NODE) good = convert(tree, section, inner, u->path) != NULL;
    }
  }
  if (!good) tb_urdf_no_memory(u);
  return good && tb_schema_check(root, u->error) == TB_OK ? root : NULL;
}

// Sets MuJoCo's settings for URDF files, then those of the file's extension elements.
static bool read_settings(tbUrdf* u) {
  tbFlatCompiler* compiler = u->spec->compiler;
  compiler->strippath = 1;
  compiler->discardvisual = !u->options->keep_visual;
  compiler->fusestatic = 1;
  compiler->keepmoments = 1;
  tbMjcf parser = {.spec = u->spec, .error = u->error, .options = u->options, .path = u->path};
  for (xmlNode* node = u->root->children; node; node = node->next) {
    if (!tb_urdf_is(node, "mujoco")) continue;
    tbElement* settings = read_extension(u, node);
    if (!settings || !tb_mjcf_settings(&parser, settings)) return false;
    note_unused_sections(u, node);
  }
  // The caller's options take precedence over those of the file; URDF angles are radians.
  if (u->options->keep_visual) compiler->discardvisual = 0;
  if (u->options->keep_fixed) compiler->fusestatic = 0;
  compiler->angle = 0;
  return true;
}

// ---- links and joints ---------------------------------------------------------------------------

static bool read_link(tbUrdf* u, const xmlNode* node, tbUrdfLink* link) {
  const char* name;
  if (!tb_urdf_required(u, node, "name", &name)) return false;
  *link = (tbUrdfLink){.node = node, .joint = -1, .child = -1, .body = -1};
  link->name = tb_flat_text(u->spec, name);
  for (const xmlNode* c = node->children; c; c = c->next) {
    link->ncollision += tb_urdf_is(c, "collision");
  }
  return link->name ? true : tb_urdf_no_memory(u);
}

static bool allocate(tbUrdf* u) {
  int nlink = 0, njoint = 0, nmaterial = 0;
  for (const xmlNode* c = u->root->children; c; c = c->next) {
    nlink += tb_urdf_is(c, "link");
    njoint += tb_urdf_is(c, "joint");
    nmaterial += tb_urdf_is(c, "material");
  }
  tbArena* arena = &u->spec->arena;
  u->link = TB_ARENA_NEW(arena, tbUrdfLink, nlink);
  u->joint = TB_ARENA_NEW(arena, tbUrdfJoint, njoint);
  u->link_name = TB_ARENA_NEW(arena, tbUrdfName, nlink);
  u->joint_name = TB_ARENA_NEW(arena, tbUrdfName, njoint);
  u->material = TB_ARENA_NEW(arena, const xmlNode*, nmaterial);
  if (!u->link || !u->joint || !u->link_name || !u->joint_name || !u->material) {
    return tb_urdf_no_memory(u);
  }
  return true;
}

// Reads the children of <robot>.
static bool read_elements(tbUrdf* u) {
  for (const xmlNode* c = u->root->children; c; c = c->next) {
    if (c->type != XML_ELEMENT_NODE) continue;
    const char* prefix = c->ns && c->ns->prefix ? (const char*)c->ns->prefix : "";
    if (tb_urdf_is(c, "link")) {
      if (!read_link(u, c, &u->link[u->nlink])) return false;
      u->link_name[u->nlink] = (tbUrdfName){u->link[u->nlink].name, u->nlink};
      u->nlink++;
    } else if (tb_urdf_is(c, "joint")) {
      if (!tb_urdf_read_joint(u, c, &u->joint[u->njoint])) return false;
      u->joint_name[u->njoint] = (tbUrdfName){u->joint[u->njoint].name, u->njoint};
      u->njoint++;
    } else if (tb_urdf_is(c, "material")) {
      if (tb_urdf_child(c, "color")) u->material[u->nmaterial++] = c;
    } else if (strcmp(prefix, "xacro") == 0) {
      return tb_urdf_fail(u, TB_ERROR_UNSUPPORTED, c,
                          "this is a xacro file: run xacro on it first");
    } else if (!tb_urdf_is(c, "mujoco")) {
      tb_urdf_note_unused(u, c, "robot");
    }
  }
  if (u->nlink == 0) return tb_urdf_fail(u, TB_ERROR_MODEL, u->root, "a robot without links");
  return tb_urdf_sort_names(u, u->link_name, u->nlink, "link") &&
         tb_urdf_sort_names(u, u->joint_name, u->njoint, "joint");
}

// The link that a joint's parent or child element refers to.
static int joint_link(tbUrdf* u, const tbUrdfJoint* joint, const char* end) {
  const xmlNode* node = tb_urdf_child(joint->node, end);
  const char* name;
  if (!node) {
    tb_urdf_fail(u, TB_ERROR_PARSE, joint->node, "joint '%s' has no <%s>", joint->name, end);
    return -1;
  }
  if (!tb_urdf_required(u, node, "link", &name)) return -1;
  int id = tb_urdf_find(u->link_name, u->nlink, name);
  if (id < 0) tb_urdf_fail(u, TB_ERROR_MODEL, node, "there is no link called '%s'", name);
  return id;
}

// Sets the joint above and the joints below each link, in the order of the file.
static bool connect(tbUrdf* u) {
  for (int i = u->njoint - 1; i >= 0; i--) {
    tbUrdfJoint* joint = &u->joint[i];
    joint->parent = joint_link(u, joint, "parent");
    if (joint->parent < 0) return false;
    joint->child = joint_link(u, joint, "child");
    if (joint->child < 0) return false;
    tbUrdfLink *parent = &u->link[joint->parent], *child = &u->link[joint->child];
    if (child->joint >= 0) {
      return tb_urdf_fail(u, TB_ERROR_MODEL, joint->node,
                          "link '%s' is the child of both '%s' and '%s'; close loops by equality "
                          "constraints in MJCF",
                          child->name, joint->name, u->joint[child->joint].name);
    }
    child->joint = i;
    joint->sibling = parent->child;
    parent->child = i;
  }
  return true;
}

// ---- bodies -------------------------------------------------------------------------------------

static bool is_world(const tbUrdfLink* link) {
  return strcmp(link->name, "world") == 0;
}

// Whether this root link is fixed to the world.
static bool is_fixed_root(const tbUrdf* u, const tbUrdfLink* link) {
  return is_world(link) || !u->options->floating_base;
}

// Adds a free joint in place of a link's fixation to the world.
static bool add_root_joint(tbUrdf* u, const tbUrdfLink* link) {
  tbFlatJoint* joint = tb_flat_add_joint(u->spec);
  if (!joint) return tb_urdf_no_memory(u);
  // The first has Pinocchio's name for it, which SRDF files refer to.
  bool first = tb_urdf_find(u->joint_name, u->njoint, "root_joint") < 0 && u->spec->njoint == 1;
  joint->name = first ? "root_joint" : tb_flat_format(u->spec, "%s_root_joint", link->name);
  if (!joint->name) return tb_urdf_no_memory(u);
  joint->source = u->path;
  joint->line = tb_urdf_line(link->node);
  joint->type = TB_JOINT_FREE;
  joint->body = link->body;
  return true;
}

// Pose of a link that is fixed to the world.
static void static_pose(const tbUrdf* u, const tbUrdfLink* link, tbReal pos[3], tbReal quat[4]) {
  tb_zero3(pos);
  tb_quat_identity(quat);
  for (; link->joint >= 0; link = &u->link[u->joint[link->joint].parent]) {
    const tbUrdfJoint* joint = &u->joint[link->joint];
    tb_quat_rotate(pos, joint->quat, pos);
    tb_add3(pos, pos, joint->pos);
    tb_quat_mul(quat, joint->quat, quat);
  }
}

// Makes a free joint's body a child of the world.
static bool attach_to_world(tbUrdf* u, const tbUrdfLink* link, const tbUrdfJoint* joint) {
  const tbUrdfLink* parent = &u->link[joint->parent];
  if (parent->cluster != -1) {
    return tb_urdf_fail(u, TB_ERROR_UNSUPPORTED, joint->node,
                        "floating joint '%s' has the moving parent link '%s'; the parent must be "
                        "fixed to the world",
                        joint->name, parent->name);
  }
  tbFlatBody* body = &u->spec->body[link->body];
  static_pose(u, link, body->pos, body->quat);
  body->parent = 0;
  return true;
}

// Adds a site as a named frame for a link that is fused into its parent.
static bool add_frame(tbUrdf* u, const tbUrdfLink* link) {
  tbFlatSite* site = tb_flat_add_site(u->spec);
  if (!site) return tb_urdf_no_memory(u);
  site->name = link->name;
  site->source = u->path;
  site->line = tb_urdf_line(link->node);
  site->body = link->body;
  site->group = 4;
  return true;
}

static bool add_body(tbUrdf* u, int id) {
  tbUrdfLink* link = &u->link[id];
  const tbUrdfJoint* joint = link->joint >= 0 ? &u->joint[link->joint] : NULL;
  const tbUrdfLink* above = joint ? &u->link[joint->parent] : NULL;
  if (is_world(link)) {
    if (joint) {
      return tb_urdf_fail(u, TB_ERROR_MODEL, joint->node, "the link 'world' cannot have a parent");
    }
    link->body = 0;
    link->cluster = -1;
    return tb_urdf_add_shapes(u, link);
  }
  link->body = u->spec->nbody;
  tbFlatBody* body = tb_flat_add_body(u->spec);
  if (!body) return tb_urdf_no_memory(u);
  body->name = link->name;
  body->source = u->path;
  body->line = tb_urdf_line(link->node);
  body->parent = above ? above->body : 0;
  if (joint) {
    tb_copy3(body->pos, joint->pos);
    memcpy(body->quat, joint->quat, sizeof body->quat);
    TB_SET_GIVEN(body, body, pos);
    TB_SET_GIVEN(body, body, quat);
  }
  // A link fixed to another one belongs to its rigid group.
  bool fixed = joint ? joint->type == TB_URDF_FIXED : is_fixed_root(u, link);
  bool freed = u->options->floating_base && (!joint || (fixed && above->body == 0));
  link->cluster = !fixed || freed ? id : above ? above->cluster : -1;
  bool good = !freed || add_root_joint(u, link);
  if (good && joint && !freed) good = tb_urdf_add_joint(u, joint, link->body);
  if (good && joint && joint->type == TB_URDF_FLOATING) good = attach_to_world(u, link, joint);
  tb_copy3(body->own_pos, body->pos);
  memcpy(body->own_quat, body->quat, sizeof body->own_quat);
  if (good && fixed && !freed) good = add_frame(u, link);
  return good && tb_urdf_add_inertial(u, link) && tb_urdf_add_shapes(u, link);
}

// Adds the bodies depth first from every root, without recursion, since chains may be long.
static bool add_tree(tbUrdf* u) {
  int* stack = TB_ARENA_NEW(&u->spec->arena, int, u->nlink + 1);
  int* order = TB_ARENA_NEW(&u->spec->arena, int, u->nlink + 1);
  if (!stack || !order) return tb_urdf_no_memory(u);
  int added = 0;
  for (int root = 0; root < u->nlink; root++) {
    if (u->link[root].joint >= 0) continue;
    int depth = 0;
    stack[depth++] = root;
    while (depth) {
      int id = stack[--depth];
      if (!add_body(u, id)) return false;
      added++;
      // The children are pushed in reverse order, so that the first is on top of the stack.
      int n = 0;
      for (int j = u->link[id].child; j >= 0; j = u->joint[j].sibling) order[n++] = j;
      while (n) stack[depth++] = u->joint[order[--n]].child;
    }
  }
  for (int i = 0; added < u->nlink && i < u->nlink; i++) {
    if (u->link[i].body < 0) {
      return tb_urdf_fail(u, TB_ERROR_MODEL, u->link[i].node, "link '%s' is in a loop of joints",
                          u->link[i].name);
    }
  }
  return true;
}

// ---- entry --------------------------------------------------------------------------------------

static bool parse(tbUrdf* u) {
  const char* name = tb_urdf_text(u->root, "name");
  u->spec->model_name = name ? tb_flat_text(u->spec, name) : NULL;
  if (!read_settings(u) || !allocate(u) || !read_elements(u) || !connect(u)) return false;
  tb_urdf_note_unknown(u);
  return tb_urdf_list_meshes(u) && add_tree(u) && tb_urdf_add_missing_mass(u) &&
         tb_urdf_add_mimics(u) && tb_flat_finish(u->spec, u->error) == TB_OK &&
         (!u->options->srdf || tb_urdf_add_srdf(u, u->options->srdf)) &&
         tb_flat_finish(u->spec, u->error) == TB_OK;
}

tbFlat* tb_flat_parse_urdf(const char* text, size_t size, const char* path,
                           const tbLoadOptions* options, tbError* error) {
  tbError local = {0};
  tbLoadOptions none = {0};
  tbUrdf u = {.error = error ? error : &local, .options = options ? options : &none};
  u.spec = tb_flat_new(u.error);
  if (!u.spec) return NULL;
  u.path = tb_flat_text(u.spec, path ? path : "urdf");
  const char* slash = u.path ? strrchr(u.path, '/') : NULL;
  u.directory =
      slash ? tb_flat_format(u.spec, "%.*s", (int)(slash - u.path + (slash == u.path)), u.path)
            : ".";
  bool good = u.path && u.directory ? true : tb_urdf_no_memory(&u);
  xmlDoc* document = good ? tb_urdf_read(&u, text, size, u.path) : NULL;
  good = document != NULL;
  if (good) {
    u.root = xmlDocGetRootElement(document);
    good = u.root && tb_urdf_is(u.root, "robot")
               ? parse(&u)
               : tb_urdf_fail(&u, TB_ERROR_PARSE, u.root, "expected <robot>");
  }
  xmlFreeDoc(document);
  if (good) return u.spec;
  tb_flat_free(u.spec);
  return NULL;
}
