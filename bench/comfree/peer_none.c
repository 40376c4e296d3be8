// Without MuJoCo its columns stay empty.
#include "comfree_bench.h"

const char* peer_version(void) {
  return NULL;
}

Throughput peer_worlds(const tbModel* model, const Scene* scene, int nworld, int nthread,
                       int blocks) {
  (void)model, (void)scene, (void)nworld, (void)nthread, (void)blocks;
  return (Throughput){0};
}

bool peer_drop(const Scene* scene, int steps, Depths* depths) {
  (void)scene, (void)steps, (void)depths;
  return false;
}
