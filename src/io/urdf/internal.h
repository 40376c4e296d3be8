// What the files of the URDF parser share. Functions return false after they have set the error.
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
  int cluster;  // the link at the top of those that are fixed to it, itself included; -1: the world
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

// Names in order, for finding by bisection.
typedef struct {
  const char* name;
  int id;
} tbUrdfName;

// Numbers by name, in any order.
typedef struct {
  const char** key;
  int* value;
  int n, room;
} tbUrdfMap;

typedef struct {
  tbSpec* spec;
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
  int* qposadr;          // SRDF: where their coordinates start; one more than joints
} tbUrdf;

// urdf_xml.c: reading and attributes.
xmlDoc* tb_urdf_read(tbUrdf* u, const char* text, size_t size, const char* path);
bool tb_urdf_fail(tbUrdf* u, tbResult code, const xmlNode* node, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
bool tb_urdf_no_memory(tbUrdf* u);
int tb_urdf_line(const xmlNode* node);
bool tb_urdf_is(const xmlNode* node, const char* name);
const xmlNode* tb_urdf_child(const xmlNode* node, const char* name);
// Text of an attribute, valid while the document is; NULL where absent. `required` fails instead.
const char* tb_urdf_text(const xmlNode* node, const char* name);
bool tb_urdf_required(tbUrdf* u, const xmlNode* node, const char* name, const char** value);
// Exactly `n` finite numbers; left alone where the attribute is absent (*found, may be NULL).
bool tb_urdf_numbers(tbUrdf* u, const xmlNode* node, const char* name, int n, tbReal* values,
                     bool* found);
// The origin child of an element: position, and roll, pitch, yaw about fixed axes or a quaternion.
bool tb_urdf_origin(tbUrdf* u, const xmlNode* node, tbReal pos[3], tbReal quat[4]);
// Sort names and refuse duplicates; index of a name or -1.
bool tb_urdf_sort_names(tbUrdf* u, tbUrdfName* names, int n, const char* what);
int tb_urdf_find(const tbUrdfName* names, int n, const char* name);

// The value of a key, -1 where it is new; NULL when out of memory. The key is kept.
int* tb_urdf_map(tbUrdf* u, tbUrdfMap* map, const char* key);
// Note an element that is not used, one because another of its name is, or an attribute.
void tb_urdf_note_unused(tbUrdf* u, const xmlNode* node, const char* where);
void tb_urdf_note_another(tbUrdf* u, const xmlNode* node, const char* where);
void tb_urdf_note_attribute(tbUrdf* u, const xmlNode* node, const xmlAttr* attribute);

// urdf_known.c: what nothing reads of links and joints, as notes.
void tb_urdf_note_unknown(tbUrdf* u);

// urdf_link.c: mass and shapes of a link into its body.
bool tb_urdf_add_inertial(tbUrdf* u, tbUrdfLink* link);
// The meshes of all links in the file's order, as MuJoCo numbers them.
bool tb_urdf_list_meshes(tbUrdf* u);
bool tb_urdf_add_shapes(tbUrdf* u, tbUrdfLink* link);
bool tb_urdf_add_missing_mass(tbUrdf* u);

// urdf_joint.c
bool tb_urdf_read_joint(tbUrdf* u, const xmlNode* node, tbUrdfJoint* joint);
// The joints of a moving body; a fixed joint adds none.
bool tb_urdf_add_joint(tbUrdf* u, const tbUrdfJoint* joint, int body);
bool tb_urdf_add_mimics(tbUrdf* u);

// urdf_path.c: the file that a URI stands for, or NULL with the error set.
const char* tb_urdf_resolve(tbUrdf* u, const xmlNode* node, const char* uri);

// srdf.c
bool tb_urdf_add_srdf(tbUrdf* u, const char* path);

#endif
