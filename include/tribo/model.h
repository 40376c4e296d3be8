// The constant description of a robot and its world: a flat block of arrays and indices.
#ifndef TRIBO_MODEL_H_
#define TRIBO_MODEL_H_

#include "tribo/enums.h"
#include "tribo/model_fields.h"
#include "tribo/option.h"
#include "tribo/types.h"

typedef struct tbCallbacks tbCallbacks;

// All arrays live in one block of memory; the pointers here point into it. Rows are contiguous.
typedef struct {
#define X(name, what) int name;
  TB_MODEL_SIZES(X)
#undef X
  tbReal total_mass;       // kg
  tbReal extent;           // m, size of the scene at qpos0 (MuJoCo's stat.extent)
  tbReal mean_inertia;     // MuJoCo's stat.meaninertia: mean diagonal of M at qpos0
  tbReal load_to_inertia;  // 1/m: the largest of any body (docs/manual/constants.md)
  tbOption opt;
#define X(type, name, rows, columns, unit, what) type* name;
  TB_MODEL_ARRAYS(X)
#undef X
  void* block;                   // owns every array
  size_t block_size;             // bytes
  const tbCallbacks* callbacks;  // functions of the user (callbacks.h), or NULL; not in files
} tbModel;

TB_EXTERN_C_BEGIN

// Where loading looks for files, and how a URDF is converted.
typedef struct {
  const char* const* search_paths;  // for package:// and meshes; also TRIBO_PACKAGE_PATH and
                                    // ROS_PACKAGE_PATH from the environment
  int nsearch_paths;
  int floating_base;  // URDF: 1 gives the root link a free joint, 0 fixes it to the world
  int keep_fixed;     // URDF: 1 keeps fixed joints as bodies instead of fusing them
  int keep_visual;    // URDF: 1 keeps visual geometry as geoms without contact and mass
  const char* srdf;   // URDF: group states of this SRDF file become keyframes, or NULL
} tbLoadOptions;

// Default options: no extra search paths, a fixed base, fixed joints fused, no visual geometry, no
// SRDF.
TB_API tbLoadOptions tbDefaultLoadOptions(void);

// Load MJCF (.xml, root <mujoco>), URDF (root <robot>) or a compiled model (.tbm). NULL `options`
// means the defaults. The caller frees the model with tb_model_free; any number of worlds may share
// it. On failure the result is NULL, and `error` says what is wrong, at which file:line, and what
// was expected.
TB_API tbModel* tb_load(const char* path, const tbLoadOptions* options, tbError* error);

// As tb_load from MJCF or URDF text; relative file names are against `directory` (may be NULL).
TB_API tbModel* tb_load_string(const char* xml, const char* directory, const tbLoadOptions* options,
                               tbError* error);

// The compiled model as one binary file: versioned, checksummed, every size checked on load.
// Loading from bytes works as from a file: NULL and `error` if they are not a model of this
// version.
TB_API tbResult tb_model_save(const tbModel* model, const char* path, tbError* error);
TB_API tbModel* tb_model_load_binary(const void* bytes, size_t size, tbError* error);

// Check that every index, size and number of a model is valid; loaded files have passed this check.
// Call it after changing integers of a model (ids, addresses, types, sizes): no step, load or save
// of a model that passes reads outside of an array. On failure TB_ERROR_MODEL, and `error` says
// what is wrong where. Saving calls it first, and so does a step of a debug build if the model has
// changed.
TB_API tbResult tb_model_check(const tbModel* model, tbError* error);

// A deep copy, or NULL when out of memory or if a size of the model was changed.
TB_API tbModel* tb_model_copy(const tbModel* model);
TB_API void tb_model_free(tbModel* model);

// Id of a named object, or -1. Name of an object, "" where it has none or the id is out of range.
TB_API int tb_name2id(const tbModel* model, tbObjType type, const char* name);
TB_API const char* tb_id2name(const tbModel* model, tbObjType type, int id);

// Name of a joint type in MJCF, as "hinge"; "" for a number that is none. Address in qpos of the
// unit quaternion of a joint, -1 if it has none.
TB_API const char* tb_joint_type_name(int type);
TB_API int tb_joint_quatadr(const tbModel* model, int joint);

// The array called `name`: its address, element type ("real", "int", "float",
// "uint16_t" or "char") and shape. NULL if there is none.
TB_API const void* tb_model_field(const tbModel* model, const char* name, const char** type,
                                  int* rows, int* columns);

TB_EXTERN_C_END

#endif
