// Batches of placed pairs, and the functions of a peer that is timed on them.
#ifndef TRIBO_BENCH_COLLIDE_PEERS_H_
#define TRIBO_BENCH_COLLIDE_PEERS_H_

#include "tribo/collide.h"

TB_EXTERN_C_BEGIN

#define BATCH 128

typedef enum { REGIME_SEPARATED, REGIME_TOUCHING, REGIME_OVERLAPPING, NREGIMES } Regime;

typedef struct {
  int type_a, type_b;
  int mesh_size;  // vertices of the mesh, where one of the types is a mesh
  Regime regime;
  tbReal margin;
  tbShape a[BATCH], b[BATCH];
} Batch;

// Fill a batch: random sizes and turns, distances by regime. `radius` > 0 sets all sizes to it.
// False where the pair is not supported.
bool batch_fill(Batch* batch, int type_a, int type_b, const tbHull* hull, const tbHField* hfield,
                Regime regime, tbReal radius);
const char* regime_name(Regime regime);

// A peer makes its own objects from a batch and then runs it; run returns the number of contacts
// found, so that nothing can be optimised away. NULL from make: the pair is not supported.
typedef struct {
  const char* name;
  void* (*make)(const Batch* batch);
  long (*run)(void* objects);
  void (*drop)(void* objects);
} PairPeer;

// Peers built in; NULL where one is not installed.
const PairPeer* peer_tribo(void);
const PairPeer* peer_tribo_warm(void);
const PairPeer* peer_tribo_public(void);
const PairPeer* peer_gjk_blind(void);  // the same from the x axis, whatever the pair
const PairPeer* peer_gjk(void);        // our GJK alone, to its end: state and distance, no contacts
const PairPeer* peer_gjk_warm(void);   // and from the last direction, as in a step
const PairPeer* peer_mujoco(void);
const PairPeer* peer_ccd(void);
const PairPeer* peer_fcl(void);
const PairPeer* peer_bullet(void);

// Broad phases: `boxes` are count x 6 (low, high). update moves all boxes and returns the number of
// overlapping pairs.
typedef struct {
  const char* name;
  void* (*make)(const tbReal* boxes, int count);
  long (*update)(void* broad, const tbReal* boxes);
  void (*drop)(void* broad);
  size_t (*bytes)(const void* broad);  // memory held; NULL where a peer does not say
} BroadPeer;

const BroadPeer* broad_tribo(void);
const BroadPeer* broad_fcl(void);
const BroadPeer* broad_bullet(void);

// Mesh vertices as MuJoCo keeps them (centred and turned to the principal axes), so that all
// engines get the same points; without MuJoCo the points as they are. Returns the number written.
int mujoco_mesh_points(const tbReal* points, int count, tbReal* out);

TB_EXTERN_C_END

#endif
