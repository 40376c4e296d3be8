// One scene under one law, measured: path, energy, internal forces, depth, lift, residuals.
#ifndef TRIBO_CLI_MEASURED_H_
#define TRIBO_CLI_MEASURED_H_

#include <stdbool.h>

#include "drive.h"
#include "tribo/tribo.h"

// Settings that all laws of a comparison share.
typedef struct {
  tbModel* model;
  const char* key;   // keyframe to start at, or NULL
  const char* ctrl;  // file of controls, or NULL
  double time;       // s
  int finer;         // time steps of the finer run per time step; 0: there is none
  const char* command;
} Scenario;

// Rows over time, `interval` seconds apart.
typedef struct {
  int rows, room;
  tbReal interval;
  tbReal *time, *energy, *depth, *residual, *distance;  // distance: to the reference, m
  tbReal* position;                                     // 3 per moving body
  int points;
} Trace;

typedef struct {
  int law;
  bool ok;
  char message[320];  // where not ok
  long steps, unconverged;
  tbReal path, end;    // from the reference: integral, m s; at the end, m
  tbReal energy_gain;  // J: largest rise of the energy that no force from outside explains
  tbReal energy_end;   // J, less that of the reference
  tbReal internal;     // N, mean over the steps with contacts; NaN: not measured
  tbReal consistency;  // m s: path from that with a finer time step; NaN: not measured
  tbReal depth_mean, depth_max;  // m, over all contacts of all steps
  tbReal lift;                   // m: largest height of a body above the same body of the reference
  tbReal gap;  // m: largest gap across which a contact pushes, at the end of its step
  tbReal residual_mean, residual_max;  // relative, of the exact law; NaN: no step has one
  tbReal microseconds;                 // per step
  Trace trace;
} Measured;

// Run the scene under `law` and measure it; then again with a finer time step. False after a
// complaint about arguments; a step that fails is a result (`ok` false, with a message).
bool measure_law(const Scenario* scenario, int law, Measured* measured);

// Distances, lift and energies of all runs, compared with those of number `reference`.
void measure_distances(Measured* measured, int count, int reference);

void measured_free(Measured* measured);

#endif
