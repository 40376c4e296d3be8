// The way of a spatial tendon, from point to point.
#ifndef TRIBO_DYNAMICS_TENDON_PATH_H_
#define TRIBO_DYNAMICS_TENDON_PATH_H_

#include <stdbool.h>

#include "tribo/data.h"

// A point of the path and the body that carries it.
typedef struct {
  tbReal pos[3];
  int body;
} tbTendonPoint;

// One leg of a spatial path: from a site to the next, over a wrapping geom where there is one.
typedef struct {
  tbTendonPoint points[4];  // site, [arrive, leave,] site
  int npoints;              // 2 or 4; 0: none
  tbReal arc;               // length on the geom
  tbReal divisor;
} tbTendonLeg;

// A walk over the straight pieces that join two bodies.
typedef struct {
  int at, end;  // elements of the path
  int piece;    // of the leg: the next
  tbTendonLeg leg;
  const tbTendonPoint *from, *to;
  tbReal pull[3];  // of unit tension at `from`, minus that at `to`
} tbTendonWalk;

// At the start; over at once for fixed tendons.
tbTendonWalk tb_tendon_walk(const tbModel* model, int tendon);

// The next piece: from, to and pull. False at the end.
bool tb_tendon_piece(const tbModel* model, const tbData* data, tbTendonWalk* walk);

#endif
