// The constant description of a robot and its world: a flat block of arrays and indices.
#ifndef TRIBO_MODEL_H_
#define TRIBO_MODEL_H_

#include "tribo/enums.h"
#include "tribo/model_fields.h"
#include "tribo/option.h"
#include "tribo/types.h"

// All arrays live in one block of memory; the pointers here point into it. Rows are contiguous.
typedef struct {
#define X(name, what) int name;
  TB_MODEL_SIZES(X)
#undef X
  tbReal total_mass;    // kg
  tbReal extent;        // m, size of the scene at qpos0 (MuJoCo's stat.extent)
  tbReal mean_inertia;  // MuJoCo's stat.meaninertia: mean diagonal of M at qpos0
  tbReal tautness;      // 1/m: the most that a body bears, for its inertia (docs/constants.md)
  tbOption opt;
#define X(type, name, rows, columns, unit, what) type* name;
  TB_MODEL_ARRAYS(X)
#undef X
  void* block;        // owns every array
  size_t block_size;  // bytes
} tbModel;

TB_EXTERN_C_BEGIN

// Where load looks for files, and what it makes of a URDF.
typedef struct {
  const char* const* search_paths;  // for package:// and meshes; also TRIBO_PACKAGE_PATH and
                                    // ROS_PACKAGE_PATH from the environment
  int nsearch_paths;
  int floating_base;  // URDF: 1 gives the root link a free joint, 0 fixes it to the world
  int keep_fixed;     // URDF: 1 keeps fixed joints as bodies instead of fusing them
  int keep_visual;    // URDF: 1 keeps visual geometry as geoms without contact and mass
  const char* srdf;   // URDF: group states of this SRDF file become keyframes, or NULL
} tbLoadOptions;

// No search paths of one's own, a fixed base, fixed joints fused, no visual geometry, no SRDF.
TB_API tbLoadOptions tbDefaultLoadOptions(void);

// Load MJCF (.xml, root <mujoco>), URDF (root <robot>) or a compiled model (.tbm). NULL `options`
// means the defaults. The caller frees it with tb_model_free; any number of worlds may share it. On
// failure NULL, and `error` has what, file:line and what was expected.
TB_API tbModel* tb_load(const char* path, const tbLoadOptions* options, tbError* error);

// As tb_load from MJCF or URDF text; relative file names are against `directory` (may be NULL).
TB_API tbModel* tb_load_string(const char* xml, const char* directory, const tbLoadOptions* options,
                               tbError* error);

// The compiled model as one binary file: versioned, checksummed, every size checked on load. From
// bytes as from a file: NULL and `error` where they are no model of this version.
TB_API tbResult tb_model_save(const tbModel* model, const char* path, tbError* error);
TB_API tbModel* tb_model_load_binary(const void* bytes, size_t size, tbError* error);

// Whether every index, size and number of a model is one that an algorithm may use: what a loaded
// file has passed. Call it after changing integers of a model (ids, addresses, types, sizes): no
// step, load or save of what passes reads outside of an array. TB_ERROR_MODEL and what is wrong
// where. Saving does so first, and so does a step of a debug build where the model has changed.
TB_API tbResult tb_model_check(const tbModel* model, tbError* error);

// A deep copy, or NULL when out of memory or where a size was changed.
TB_API tbModel* tb_model_copy(const tbModel* model);
TB_API void tb_model_free(tbModel* model);

// Id of a named object, or -1. Name of an object, "" where it has none or the id is out of range.
TB_API int tb_name2id(const tbModel* model, tbObjType type, const char* name);
TB_API const char* tb_id2name(const tbModel* model, tbObjType type, int id);

// The array called `name`: its address, element type ("real", "int", "float",
// "uint16_t" or "char") and shape. NULL if there is none.
TB_API const void* tb_model_field(const tbModel* model, const char* name, const char** type,
                                  int* rows, int* columns);

TB_EXTERN_C_END

#endif
