// States of a simulation, read from the CSV file that `tribo sim --out` writes.
#ifndef TRIBO_CLI_REPLAY_H_
#define TRIBO_CLI_REPLAY_H_

#include <stdbool.h>

#include "tribo/tribo.h"

typedef struct {
  int rows, nq;
  tbReal* time;  // rows, not decreasing
  tbReal* qpos;  // rows x nq
} Replay;

// Read the columns "time" and "qpos0" to "qpos<nq-1>". False after a message that starts with
// "tribo <command>: ".
bool replay_read(Replay* replay, const char* path, const tbModel* model, const char* command);
void replay_free(Replay* replay);

// Copy the last state at or before `time` into data's qpos and time.
void replay_pose(const Replay* replay, tbReal time, tbData* data);

#endif
