// Shared by the parts of `tribo bench expo`: the robots, the four motions, runs of them.
#ifndef TRIBO_BENCH_EXPO_H_
#define TRIBO_BENCH_EXPO_H_

#include <stdbool.h>

#include "common/bench.h"
#include "tribo/tribo.h"

enum { MAX_POINTS = 8, MAX_NAMES = 64, MAX_LEVELS = 12 };

// A robot on a flat floor whose contacts are points.
typedef struct {
  tbModel* m;
  int npoint;
  int body[MAX_POINTS];         // that carries each point
  double point[MAX_POINTS][3];  // in the body
  char joint[MAX_NAMES][64];    // driven joints in Pinocchio's order: depth first, by name
  int njoint;
} Robot;

// From a URDF with points on named links; NULL points: the links' origins.
typedef struct {
  const char* link;
  double offset[3];
} PointSpec;
bool robot_from_urdf(const char* path, const PointSpec* point, int npoint, Robot* robot);

// Our own scene, whose geoms named "foot..." are the points.
bool robot_from_scene(const char* file, Robot* robot);
void robot_free(Robot* robot);

// One of the four tests.
typedef struct Motion Motion;
struct Motion {
  const char* name;
  Robot robot;
  double control_dt;  // s
  int steps;          // control steps
  int stable_steps;   // of the stability test
  int truth;          // sub-steps of the ground truth
  int finest;         // most sub-steps tested where an error of 1e-5 is not reached before
                      // (explicit Euler: eight times as many)
  int paper_finest;   // most that the paper tested
  double paper[3];    // largest stable step of expo, explicit, implicit Euler, ms
  double* qpos0;
  double* qvel0;
  tbControlWork* work;
  void* context;
  void (*control)(Motion* motion, tbData* d, int step, double* tau);
  void (*restart)(Motion* motion);
  void (*release)(Motion* motion);
};

// Set up test number 0 to 3 (squat, jump, trot, walk). False with a note where it cannot be.
// With `own`, or without the robots' files, our own quadruped and biped.
bool motion_open(tbBench* bench, int which, bool own, Motion* motion);
void motion_close(Motion* motion);

// The ground truth of a motion: snapshots at every control step, the controls between.
typedef struct {
  int steps;
  void** snapshot;  // steps + 1
  size_t* size;
  double *qpos, *qvel, *tau;  // steps + 1 of each (tau: steps)
  double* doubt;              // by control step: how far the truth at twice the step is from it
  int unsure;                 // control steps with a doubt above TRUTH_LIMIT: they have no truth
  double error;               // mean doubt of the others
} Truth;
#define TRUTH_LIMIT 1e-3
bool truth_make(tbBench* bench, Motion* motion, int steps, int substeps, Truth* truth);
void truth_free(Truth* truth);

// The same reference at twice its step, control step by control step: an estimate of its own error.
// Steps without a reference are left out by run_local for every integrator.
bool truth_judge(tbBench* bench, Motion* motion, int substeps, Truth* truth);

// An integrator and its matrix exponential.
typedef struct {
  const char* name;
  int integrator;
  int order;  // of the Padé approximant, 0: automatic
} Method;

typedef struct {
  int steps;       // control steps that count: those that have a truth
  double error;    // mean over them of the error after one, infinity where one failed
  double seconds;  // of all sub-steps
  double factor;   // simulated over processor time
} LocalRun;
LocalRun run_local(Motion* motion, const Truth* truth, const Method* method, int substeps);

// Whether the motion stays bounded over all its control steps.
bool run_stable(Motion* motion, const Method* method, int substeps);

// Defaults of the law in all tests (K = 1e5, B = 300), and a method's options.
void set_method(tbModel* m, const Method* method, double dt);

// The parts of the benchmark beyond errors and stability; each ends with its claims.
void bench_stiffness(tbBench* bench, Motion* trot);
void bench_prediction(tbBench* bench, Motion* squat, Motion* trot, Motion* walk);
void bench_times(tbBench* bench, Motion* trot, Motion* squat);

#endif
