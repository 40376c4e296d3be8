// The experiments of the contact-models paper (CM, section IV), one function each.
#ifndef TRIBO_BENCH_CM_H_
#define TRIBO_BENCH_CM_H_

#include "common/bench.h"
#include "common/method.h"
#include "page/plot.h"
#include "tribo/tribo.h"

// Trajectory of one body over the steps of a run.
typedef struct {
  int steps;
  double* time;
  double* position[3];
  double* speed;   // of the body's centre, m/s
  double* energy;  // kinetic and potential, J
} Trace;

// What a run does before each step; `context` is the caller's.
typedef void (*BeforeStep)(const tbModel* m, tbData* d, void* context);

void cm_choose(tbModel* m, Method method, double dt, double tolerance);

// Follow body 1 for `steps` steps from the world's current state. False if a step failed.
bool cm_run(tbModel* m, tbData* d, int steps, BeforeStep before, void* context, Trace* trace);
void cm_trace_free(Trace* trace);

// The paper's quadruped on a floor, NULL where its file is absent; its standing pose.
tbModel* solo_scene(void);
void solo_stand(const tbModel* m, tbData* d);

void cm_laws(tbBench* bench);         // every law on one cube
void cm_sliding(tbBench* bench);      // fig. 9, 10
void cm_growing(tbBench* bench);      // fig. 11
void cm_mass_ratio(tbBench* bench);   // fig. 12
void cm_compliance(tbBench* bench);   // fig. 13
void cm_consistency(tbBench* bench);  // fig. 14, 15, tables III and IV of the preprint
void cm_robots(tbBench* bench);       // fig. 16, 17
void cm_locomotion(tbBench* bench);   // fig. 18, 19
void cm_tables(tbBench* bench);       // table II
void cm_solvers(tbBench* bench);      // table III
void cm_stages(tbBench* bench);       // fig. 5, table I

#endif
