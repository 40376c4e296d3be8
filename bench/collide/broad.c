// Our broad phase behind the peers' interface, and stand-ins for peers that are not installed.
#include <stdlib.h>

#include "collide/broadphase/broadphase.h"
#include "collide/peers.h"

static long update(void* data, const tbReal* boxes) {
  tbBroadphase* broad = (tbBroadphase*)data;
  for (int i = 0; i < broad->count; i++) {
    tb_aabb_round(&broad->box[i], boxes + 6 * i, boxes + 6 * i + 3);
  }
  return tb_broadphase_update(broad, NULL) == TB_OK ? broad->npair : -1;
}

static void drop(void* data) {
  tb_broadphase_free((tbBroadphase*)data);
  free(data);
}

static void* make(const tbReal* boxes, int count) {
  tbBroadphase* broad = calloc(1, sizeof(tbBroadphase));
  if (tb_broadphase_init(broad, count, NULL, NULL, NULL) != TB_OK) return NULL;
  update(broad, boxes);
  return broad;
}

static size_t bytes(const void* data) {
  return ((const tbBroadphase*)data)->bytes;
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
