// Types and functions shared by the files of the URDF parser. Functions that return false have set
// the error.
#ifndef TRIBO_IO_URDF_INTERNAL_H_
#define TRIBO_IO_URDF_INTERNAL_H_

#include <libxml/tree.h>
#include <stdbool.h>

#include "io/urdf/urdf.h"

typedef enum {
  TB_URDF_REVOLUTE,
  TB_URDF_CONTINUOUS,
  TB_URDF_PRISMATIC,
  TB_URDF_FIXED,
  TB_URDF_FLOATING,
  TB_URDF_PLANAR,
  TB_URDF_SPHERICAL,
  TB_NURDFJOINTS
} tbUrdfJointType;

typedef struct {
  const char* name;
  const xmlNode* node;
  int joint;    // the joint above it, or -1 for a root
  int child;    // first of the joints below it, or -1
  int body;     // its body in the spec
  int cluster;  // top link of the rigid group of links that contains this one; -1: the world
  int ncollision;
} tbUrdfLink;

typedef struct {
  const char* name;
  const xmlNode* node;
  int type;  // tbUrdfJointType
  int parent, child;
  int sibling;  // next joint of the same parent, or -1
  tbReal pos[3], quat[4];
  tbReal axis[3];
} tbUrdfJoint;

// Names in ascending order, for binary search.
typedef struct {
  const char* name;
  int id;
} tbUrdfName;

// A hash map from names to integers.
typedef struct {
  const char** key;
  int* value;
  int n, room;
} tbUrdfMap;

typedef struct {
  tbFlat* spec;
  tbError* error;
  const tbLoadOptions* options;
  const char* path;
  const char* directory;  // of the file, "." or without a slash at the end
  const xmlNode* root;
  tbUrdfLink* link;
  tbUrdfJoint* joint;
  int nlink, njoint;
  tbUrdfName *link_name, *joint_name;
  const xmlNode** material;  // named materials with a colour
  int nmaterial;
  tbUrdfMap geom_names;  // names of geoms
  tbUrdfMap mesh_names;  // names of meshes
  tbUrdfMap meshes;      // file and scale: index of the mesh
  tbUrdfMap moving;      // SRDF: joints of the finished spec, by name
  int* qposadr;          // SRDF: addresses of their coordinates; njoint + 1 entries
} tbUrdf;

// xml.c: reading and attributes.
xmlDoc* tb_urdf_read(tbUrdf* u, const char* text, size_t size, const char* path);
bool tb_urdf_fail(tbUrdf* u, tbResult code, const xmlNode* node, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
bool tb_urdf_no_memory(tbUrdf* u);
int tb_urdf_line(const xmlNode* node);
bool tb_urdf_is(const xmlNode* node, const char* name);
const xmlNode* tb_urdf_child(const xmlNode* node, const char* name);
// Text of an attribute, valid as long as the document; NULL if absent. `required` fails if absent.
const char* tb_urdf_text(const xmlNode* node, const char* name);
bool tb_urdf_required(tbUrdf* u, const xmlNode* node, const char* name, const char** value);
// Exactly `n` finite numbers; unchanged if the attribute is absent (*found, may be NULL).
bool tb_urdf_numbers(tbUrdf* u, const xmlNode* node, const char* name, int n, tbReal* values,
                     bool* found);
// The origin child of an element: position, and roll, pitch, yaw about fixed axes or a quaternion.
bool tb_urdf_origin(tbUrdf* u, const xmlNode* node, tbReal pos[3], tbReal quat[4]);
// Sorts names and rejects duplicates. `find` returns the index of a name or -1.
bool tb_urdf_sort_names(tbUrdf* u, tbUrdfName* names, int n, const char* what);
int tb_urdf_find(const tbUrdfName* names, int n, const char* name);

// The value of a key, -1 if it is new; NULL if out of memory. The map keeps the pointer `key`.
int* tb_urdf_map(tbUrdf* u, tbUrdfMap* map, const char* key);
// Adds a note about an unused element, an element unused because another of its name is used, or an
// unused attribute.
void tb_urdf_note_unused(tbUrdf* u, const xmlNode* node, const char* where);
void tb_urdf_note_another(tbUrdf* u, const xmlNode* node, const char* where);
void tb_urdf_note_attribute(tbUrdf* u, const xmlNode* node, const xmlAttr* attribute);

// known.c: notes about parts of links and joints that the parser does not read.
void tb_urdf_note_unknown(tbUrdf* u);

// link.c: mass and shapes of a link, added to its body.
bool tb_urdf_add_inertial(tbUrdf* u, tbUrdfLink* link);
// Adds the meshes of all links in the file's order, which is MuJoCo's numbering.
bool tb_urdf_list_meshes(tbUrdf* u);
bool tb_urdf_add_shapes(tbUrdf* u, tbUrdfLink* link);
bool tb_urdf_add_missing_mass(tbUrdf* u);

// joint.c
bool tb_urdf_read_joint(tbUrdf* u, const xmlNode* node, tbUrdfJoint* joint);
// Adds the joints of a moving body; a fixed joint adds none.
bool tb_urdf_add_joint(tbUrdf* u, const tbUrdfJoint* joint, int body);
bool tb_urdf_add_mimics(tbUrdf* u);

// path.c: the file that a URI refers to, or NULL with the error set.
const char* tb_urdf_resolve(tbUrdf* u, const xmlNode* node, const char* uri);

// srdf.c
bool tb_urdf_add_srdf(tbUrdf* u, const char* path);

#endif
