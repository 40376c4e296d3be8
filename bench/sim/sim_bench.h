// Whole steps, ours and MuJoCo's, on the same scenes from the same state.
#ifndef TRIBO_BENCH_SIM_H_
#define TRIBO_BENCH_SIM_H_

#include <stdbool.h>
#include <stddef.h>

#include "tribo/tribo.h"

// STANDING: the constant controls of the model's first key. Robots of motors do not stand by them
// for long: HELD has these, with a law of control that keeps them up.
typedef enum { STANDING, HELD, DROP, MANY } Kind;

// What keeps a robot of motors at its first key: torques against the change of its joints, and at
// the feet against the pitch of its base. All zero: the key's own controls.
typedef struct {
  double kp, kd;           // N m/rad, N m s/rad
  double lean, lean_rate;  // the same, of motors whose name has "foot" in it
} Posture;

typedef struct {
  const char* name;
  const char* path;        // below the folder of models, or NULL: generated
  const char* include[2];  // files that `path` includes, for a MuJoCo that needs copies of them
  Kind kind;
  double dt, time;  // s
  // Steps per second of MuJoCo 3.12.1 and 2.2.2 on one machine of 2026 (docs/notebook/speed.md says
  // how they were measured); 0 where unknown. Their ratio turns 2.2.2's number of this run into an
  // estimate of the newest; where 2.2.2 was not measured on a scene, `newest` is scaled by the
  // speed of this machine.
  double newest, debian;
  Posture posture;
} Scene;

extern const Scene SCENES[];
extern const int NSCENES;

// MJCF of a generated scene ("wall", "bin"), or of a pile of `bodies` primitives; freed by the
// caller. NULL: no such scene, or out of memory.
char* scene_text(const char* name);
char* pile_text(int bodies);

// Controls of a posture at a state; nothing where it is all zero.
void hold_posture(const tbModel* model, const Posture* posture, const double* qpos,
                  const double* qvel, double* ctrl);

// Results of one engine on one scene.
typedef struct {
  bool ok;
  char message[300];
  int steps;
  double* seconds;  // per step, the fastest of all repeats
  double phase[4];  // ours: dynamics, collide, assemble, solve, shares of the whole
  double contacts, iterations;
  double depth_mean, depth_max;        // m, over contacts that overlap or push
  double residual_mean, residual_max;  // relative residual of the exact law
  double solved_max;                   // ours: of the law that was solved
  int unconverged;
  double sunk;   // m, the base of a robot that floats, from start to end
  size_t bytes;  // memory of the world
} Run;

void run_free(Run* run);

// Take one more run of the same steps into `all` ({0} before the first): the fastest of each step.
void run_merge(Run* all, Run* one);

// Our model of a scene with its options set; NULL with a message.
tbModel* scene_model(const Scene* scene, char* message, size_t size);

// Run a law on a model.
void run_ours(const tbModel* model, const Scene* scene, int law, Run* run);

// The same with MuJoCo: `model` gives the actuators' gains, the key and the options, so that both
// simulate the same. `text`: MJCF of a generated scene, or NULL.
const char* peer_version(void);
void run_peer(const tbModel* model, const Scene* scene, const char* text, Run* run);

// Steps per second at the mean time, and the q-quantile of the time of a step.
double run_rate(const Run* run);
double run_quantile(const Run* run, double q);

#endif
