// State shared by the files of the compiler.
//
// The stages run in the order of compile.c. Until the model is allocated, their results are in
// arrays parallel to the spec's (same index); `body_id`, `geom_id`, `mesh_id` map an element to its
// index in the model, -1 if it was fused or discarded.
#ifndef TRIBO_IO_COMPILE_INTERNAL_H_
#define TRIBO_IO_COMPILE_INTERNAL_H_

#include "base/arena.h"
#include "io/mesh/mesh.h"
#include "io/flat.h"
#include "tribo/model.h"

// Masses, moments and lengths below this count as zero (MuJoCo's mjMINVAL).
#define TB_COMPILE_TINY 1e-15

// A frame in a body.
typedef struct {
  int body;  // index in the spec; fusing changes it
  tbReal pos[3];
  tbReal quat[4];
} tbCompileFrame;

typedef struct {
  int parent;  // index in the spec, -1 for the world; fusing changes it
  int njnt;
  int ndof;
  bool is_static;      // no joint between the body and the world
  bool fused;          // merged into another body
  bool is_referenced;  // by name, from outside the tree
  tbReal pos[3], quat[4];
  tbReal ipos[3], iquat[4];
  tbReal mass, inertia[3];
} tbCompileBody;

typedef struct {
  tbCompileFrame frame;
  int type;        // tbGeomType
  int mesh;        // index in the spec, or -1
  int hfield;      // index in the spec, or -1
  bool discarded;  // visual only, with compiler/discardvisual
  bool is_referenced;
  tbReal size[3];
  tbReal mass, inertia[3];
  tbReal rbound, aabb[6];
} tbCompileGeom;

typedef struct {
  tbFlatKind kind;
  int index;
} tbCompileName;

typedef struct {
  const tbFlat* spec;
  tbError* error;
  tbArena arena;
  tbArena scratch;       // contents of files being read; emptied after each
  tbCompileName* names;  // hash table of named elements, `nslots` (a power of two) of them
  int nslots;

  tbCompileBody* body;
  tbCompileGeom* geom;
  tbCompileFrame* site;
  tbCompileFrame* camera;
  tbCompileFrame* light;
  tbMesh* mesh;
  tbHFieldData* hfield;

  // Indices in the model of the spec's elements.
  int* body_id;
  int* geom_id;
  int* site_id;
  int* camera_id;
  int* light_id;
  int* mesh_id;

  // Degrees of freedom, by model ids.
  int* dof_parent;
  int* body_lastdof;  // per body of the spec: last dof on its path, or -1
  tbReal* xpos0;      // per body of the spec: frame in the world at qpos0
  tbReal* xquat0;

  // Model order of contact pairs and exclusions.
  int* pair_order;
  int* exclude_order;
} tbCompile;

// ---- names (names.c) ----------------------------------------------------------------------------

tbResult tb_compile_index_names(tbCompile* c);

// Index in the spec of the named element, or -1.
int tb_compile_find(const tbCompile* c, tbFlatKind kind, const char* name);

// As tb_compile_find, but sets `index`; an unknown name is an error at `file:line` that suggests
// the nearest known name. `what` is the referring element ("tendon 'x'").
tbResult tb_compile_resolve(const tbCompile* c, tbFlatKind kind, const char* name, const char* file,
                            int line, const char* what, int* index);

// Count or write the names and notes of the model.
void tb_compile_count_names(const tbCompile* c, tbModel* sizes);
void tb_compile_copy_names(const tbCompile* c, tbModel* m);

// ---- stages -------------------------------------------------------------------------------------

// Meshes and height fields (asset.c).
tbResult tb_compile_assets(tbCompile* c);
void tb_compile_count_assets(const tbCompile* c, tbModel* sizes);
void tb_compile_copy_assets(const tbCompile* c, tbModel* m);

// Geoms: shape, frame, mass, bounds (geom.c).
tbResult tb_compile_geoms(tbCompile* c);
void tb_compile_copy_geoms(const tbCompile* c, tbModel* m);

// Bodies: frames, then (after the geoms) inertia, and the checks of mass (body.c).
tbResult tb_compile_bodies(tbCompile* c);
tbResult tb_compile_inertias(tbCompile* c);
tbResult tb_compile_check_mass(tbCompile* c);
void tb_compile_copy_bodies(const tbCompile* c, tbModel* m);

// Alignment of free bodies, fusing of static ones, discarding of visual geoms; then the index of
// every element in the model (fuse.c).
tbResult tb_compile_order(tbCompile* c, tbModel* sizes);

// Joints, degrees of freedom, trees (joint.c).
tbResult tb_compile_joints(tbCompile* c, tbModel* sizes);
void tb_compile_copy_joints(const tbCompile* c, tbModel* m);

// Sites, cameras and lights (geom.c).
void tb_compile_copy_frames(const tbCompile* c, tbModel* m);

// Contact pairs and exclusions, equality constraints (constraint.c).
tbResult tb_compile_order_pairs(tbCompile* c);
void tb_compile_copy_pairs(const tbCompile* c, tbModel* m);
tbResult tb_compile_copy_equalities(const tbCompile* c, tbModel* m);
void tb_compile_anchor_welds(tbModel* m);  // needs body_invweight0

// Tendons (tendon.c).
tbResult tb_compile_tendons(tbCompile* c, tbModel* sizes);
void tb_compile_copy_tendons(const tbCompile* c, tbModel* m);

// Actuators and sensors (actuator.c, sensor.c).
tbResult tb_compile_count_actuators(const tbCompile* c, tbModel* sizes);
tbResult tb_compile_copy_actuators(const tbCompile* c, tbModel* m);
tbResult tb_compile_count_sensors(const tbCompile* c, tbModel* sizes);
tbResult tb_compile_copy_sensors(const tbCompile* c, tbModel* m);

// Index in the model of any named object (sensor.c).
tbResult tb_compile_object(const tbCompile* c, int type, const char* name, const char* file,
                           int line, const char* what, int* id);

// Custom fields and keyframes (custom.c).
tbResult tb_compile_count_custom(const tbCompile* c, tbModel* sizes);
tbResult tb_compile_copy_custom(const tbCompile* c, tbModel* m);
tbResult tb_compile_copy_keys(const tbCompile* c, tbModel* m);

// ---- helpers (util.c) ---------------------------------------------------------------------------

// TB_ERROR_MODEL at file:line if one of `n` values is not finite.
tbResult tb_compile_finite(const tbCompile* c, const char* file, int line, const char* what,
                           const tbReal* values, int n);

// Checks a range that may be a limit: resolves `limited` (0, 1 or TB_AUTO) into *on. `attribute` is
// the name of the range ("range", "ctrlrange"), `flag` that of its switch.
tbResult tb_compile_limit(const tbCompile* c, const char* file, int line, const char* what,
                          const char* attribute, const char* flag, bool autolimits, int limited,
                          const tbReal range[2], int* on);

// Copies a user list into a row of `width` values; the rest of the row stays zero.
void tb_compile_copy_user(tbReal* target, int row, int width, const tbFlatList* list);

// "geom 'foot'", or "geom 7" for a geom without a name.
typedef struct {
  char text[96];
} tbCompileLabel;
tbCompileLabel tb_compile_label(const char* kind, const char* name, int index);

// ---- inertia (inertia.c) ------------------------------------------------------------------------

// Volume (area if `shell`) of a primitive, and its moments for unit mass about its centre.
tbReal tb_shape_volume(int type, const tbReal size[3], bool shell);
void tb_shape_inertia(int type, const tbReal size[3], bool shell, tbReal moments[3]);

// A rigid part: mass, frame of its centre of mass, principal moments.
typedef struct {
  tbReal mass;
  tbReal pos[3];
  tbReal quat[4];
  tbReal moments[3];
} tbInertiaPart;

// Combines rigid parts to one body. A total mass below TB_COMPILE_TINY gives zero at the origin.
tbInertiaPart tb_inertia_combine(const tbInertiaPart* parts, int n);

// Principal moments and axes of a full inertia (xx yy zz xy xz yz). False if a moment is not
// positive.
bool tb_inertia_diagonalize(const tbReal full[6], tbReal moments[3], tbReal quat[4]);

#endif
