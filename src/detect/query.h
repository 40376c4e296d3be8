// Questions about a world's geoms at their current poses: rays, distances, pairs, contacts. The
// detector's memory of earlier steps is neither read nor changed.
#ifndef TRIBO_DETECT_QUERY_H_
#define TRIBO_DETECT_QUERY_H_

#include <stdbool.h>

#include "assemble/assemble.h"
#include "collide/broadphase/broadphase.h"
#include "tribo/query.h"

// A ray origin + x direction, and which geoms it can hit.
typedef struct {
  const tbReal *origin, *direction;
  const uint8_t* group;  // TB_NGROUP flags; NULL: all groups
  bool skip_fixed;       // geoms of bodies welded to the world are left out
  int skip_body;         // geoms of this body are left out; -1: none
} tbRayQuery;

// The smallest x >= 0 at which the ray meets a geom, or -1; `geom` and `normal` as in tb_ray.
tbReal tb_query_ray(tbDetector* detector, const tbModel* model, const tbData* data,
                    const tbRayQuery* ray, int* geom, tbReal normal[3]);

// As tb_geom_distance, for ids in range.
tbReal tb_query_distance(const tbDetector* detector, const tbModel* model, const tbData* data,
                         int geom1, int geom2, tbReal distmax, tbReal fromto[6]);

// The pairs of geoms (first < second) that may touch and whose boxes are within `margin`,
// ascending, in the arena. Returns their number, -1 when out of memory.
int tb_query_pairs(const tbDetector* detector, const tbModel* model, const tbData* data,
                   tbReal margin, tbArena* arena, const tbPair** pairs);

// As tb_find_contacts, for poses that are known to be finite; geoms within `reach` count even if
// their margin is smaller. Replaces the contents of data->work->query.
tbResult tb_query_contacts(const tbDetector* detector, const tbModel* model, tbData* data,
                           tbReal reach);

#endif
