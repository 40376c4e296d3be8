// Our broad phase behind the peers' interface, and stand-ins for peers that are not installed.
#include <stdlib.h>

#include "collide/broadphase.h"
#include "collide/peers.h"

typedef struct {
  tbBroadphase broad;
  tbReal *low, *high;
} Ours;

static long update(void* data, const tbReal* boxes) {
  Ours* ours = (Ours*)data;
  for (int i = 0; i < ours->broad.count; i++) {
    for (int k = 0; k < 3; k++) {
      ours->low[3 * i + k] = boxes[6 * i + k];
      ours->high[3 * i + k] = boxes[6 * i + 3 + k];
    }
  }
  if (tb_broadphase_update(&ours->broad, ours->low, ours->high, NULL) != TB_OK) return -1;
  return ours->broad.npair;
}

static void drop(void* data) {
  Ours* ours = (Ours*)data;
  tb_broadphase_free(&ours->broad);
  free(ours->low);
  free(ours->high);
  free(ours);
}

static void* make(const tbReal* boxes, int count) {
  Ours* ours = calloc(1, sizeof(Ours));
  ours->low = calloc(3 * (size_t)count, sizeof(tbReal));
  ours->high = calloc(3 * (size_t)count, sizeof(tbReal));
  if (tb_broadphase_init(&ours->broad, count, NULL, NULL, NULL) != TB_OK) return NULL;
  update(ours, boxes);
  return ours;
}

static size_t bytes(const void* data) {
  return ((const Ours*)data)->broad.bytes;
}

const BroadPeer* broad_tribo(void) {
  static const BroadPeer peer = {"tribo", make, update, drop, bytes};
  return &peer;
}

#ifndef TB_BENCH_FCL
const PairPeer* peer_fcl(void) {
  return NULL;
}

const BroadPeer* broad_fcl(void) {
  return NULL;
}
#endif

#ifndef TB_BENCH_BULLET
const PairPeer* peer_bullet(void) {
  return NULL;
}

const BroadPeer* broad_bullet(void) {
  return NULL;
}
#endif
