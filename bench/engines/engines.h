// The same robot in other engines: built from a compiled model whose bodies have at most one joint
// (free or hinge) and primitive geoms.
#ifndef TRIBO_BENCH_ENGINES_H_
#define TRIBO_BENCH_ENGINES_H_

#include "tribo/tribo.h"

TB_EXTERN_C_BEGIN

typedef struct {
  const char* name;
  const char* settings;  // what a user of that engine would choose, in words
  // A world at the state of `start`, whose frames are current. NULL if it cannot be built.
  void* (*create)(const tbModel* model, const tbData* start, tbReal dt);
  void (*step)(void* world);
  // The configuration in the model's coordinates.
  void (*read)(void* world, tbReal* qpos);
  void (*destroy)(void* world);
} Engine;

extern const Engine ENGINE_MUJOCO, ENGINE_BULLET, ENGINE_DART, ENGINE_ODE, ENGINE_ODE_EXACT;

// The path of the model's file, for engines that read it themselves.
extern const char* engine_model_path;

// Whether the bodies of two geoms may touch: the model's filters (same body, parent and child,
// excludes).
int engine_pair_allowed(const tbModel* model, int body1, int body2);

// The nearest ancestor (or the body itself) that moves; 0 for the world.
int engine_moving_body(const tbModel* model, int body);

TB_EXTERN_C_END

#endif
