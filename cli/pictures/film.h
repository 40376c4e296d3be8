// Pictures of a model over time: one world, the states of a file, or the same scene under several
// laws, drawn into each other or beside each other.
#ifndef TRIBO_CLI_FILM_H_
#define TRIBO_CLI_FILM_H_

#include <stdbool.h>

#include "laws.h"
#include "tribo/tribo.h"

// States of a file, a row each. Series without rows are not in the file: their values stay zero.
typedef struct {
  tbSeries qpos, qvel, ctrl, act;
} Replay;

typedef struct {
  tbModel* model;
  LawList laws;        // one world per law, labelled if there are several; none: the model's law
  const char* ctrl;    // file of controls, or NULL
  const char* key;     // keyframe to start at, or NULL
  Replay* replay;      // states to draw in place of a simulation, or NULL
  double start, time;  // s: without pictures; with them
  int frames, width, height;
  bool follow, trail, beside, forces;
  double force_scale;   // m per N; 0: chosen from the weight
  const char* camera;   // AZIMUTH,ELEVATION[,DISTANCE], the name of a camera of the file, or NULL
  const char* lookat;   // X,Y,Z or NULL
  const char* command;  // for messages
} Film;

// The pictures that were drawn.
typedef struct {
  int frames;
  double first, time;  // s: of the first picture; from there to the last one
} Filmed;

// Draw the pictures into `path`, whose final name is `target`. Returns the exit code: 0; 1 if a
// step failed or pictures are missing; 2 for arguments that do not fit; 130, 143 after an
// interrupt. All but 0 after a complaint.
int film_draw(const Film* film, const char* path, const char* target, Filmed* filmed);

#endif
