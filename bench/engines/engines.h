// The same robot in other engines. A compiled model at a start state becomes a list of links with
// one joint each (a rig), as a URDF importer would make it; every engine builds its world from
// that.
#ifndef TRIBO_BENCH_ENGINES_H_
#define TRIBO_BENCH_ENGINES_H_

#include "tribo/tribo.h"

TB_EXTERN_C_BEGIN

// Joints, axes and frames are those of the start state, in the world: there every joint reads zero.
typedef struct {
  int body;                        // of the model; -1 for a link between the hinges of one body
  int parent;                      // link, -1: the world
  int joint;                       // of the model
  int type;                        // tbJointType
  tbReal mass, moment[3];          // with bodies welded to it; about the axes of `mat`
  tbReal pos[3], mat[9], quat[4];  // inertial frame
  tbReal anchor[3], axis[3];
} Link;

typedef struct {
  const tbModel* model;
  const tbData* start;
  tbReal dt;
  int count;
  Link* link;     // parents first
  int* of_body;   // the link that carries a body's geoms, -1: the world
  char* allowed;  // (count + 1) x (count + 1), the world last
} Rig;

// NULL if there is no memory. Bodies with several joints become chains, whose inner links take a
// fiftieth of the mass and inertia each.
Rig* rig_new(const tbModel* model, const tbData* start, tbReal dt);
void rig_free(Rig* rig);

// Whether geoms of two links may touch: same link, parent and child (unless that is the world), the
// model's excludes, and contype and conaffinity.
int rig_pair_allowed(const Rig* rig, int link1, int link2);
int rig_geom_collides(const tbModel* model, int geom);
int rig_geom_link(const Rig* rig, int geom);

// Configuration of the model from the coordinates that an engine has for a link: the displacement
// of a hinge or slide since the start, or the present inertial frame (free and ball joints; the
// parent's for balls).
void rig_set_scalar(const Rig* rig, int link, tbReal displacement, tbReal* qpos);
void rig_set_pose(const Rig* rig, int link, const tbReal pos[3], const tbReal quat[4],
                  const tbReal parent_quat[4], tbReal* qpos);

typedef struct {
  const char* name;
  const char* settings;  // what a user of that engine would choose, in words
  // A world of the rig. NULL if it cannot be built.
  void* (*create)(const Rig* rig);
  void (*step)(void* world);
  // The configuration in the model's coordinates.
  void (*read)(void* world, tbReal* qpos);
  void (*destroy)(void* world);
} Engine;

extern const Engine ENGINE_MUJOCO, ENGINE_BULLET, ENGINE_DART, ENGINE_ODE, ENGINE_ODE_EXACT;

// The model's file and one that it includes (or NULL), for engines that read it themselves.
extern const char *engine_model_path, *engine_model_include;

TB_EXTERN_C_END

#endif
