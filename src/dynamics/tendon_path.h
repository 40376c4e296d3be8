// The path of a spatial tendon, from point to point.
#ifndef TRIBO_DYNAMICS_TENDON_PATH_H_
#define TRIBO_DYNAMICS_TENDON_PATH_H_

#include <stdbool.h>

#include "tribo/data.h"

// A point of the path and the body it is fixed to.
typedef struct {
  tbReal pos[3];
  int body;
} tbTendonPoint;

// One leg of a spatial path: from a site to the next, over a wrapping geom if there is one.
typedef struct {
  tbTendonPoint points[4];  // site, [arrive, leave,] site
  int npoints;              // 2 or 4; 0: none
  tbReal arc;               // length on the geom
  tbReal divisor;
} tbTendonLeg;

// An iterator over those straight pieces of a tendon's path that connect two bodies.
typedef struct {
  int at, end;  // elements of the path
  int piece;    // index of the next piece of the leg
  tbTendonLeg leg;
  const tbTendonPoint *from, *to;
  tbReal pull[3];  // force of unit tension at `from`, minus that at `to`
} tbTendonWalk;

// Start of the iteration; already at its end for fixed tendons.
tbTendonWalk tb_tendon_walk(const tbModel* model, int tendon);

// The next piece: from, to and pull. False at the end.
bool tb_tendon_piece(const tbModel* model, const tbData* data, tbTendonWalk* walk);

#endif
