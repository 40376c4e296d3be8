// Stands in for MuJoCo where it is not installed.
#include <stdio.h>

#include "peer.h"

const char* peer_version(void) {
  return NULL;
}

Peer* peer_open(const char* path, const char* include, char* message, size_t size) {
  (void)path, (void)include;
  snprintf(message, size, "MuJoCo is not installed");
  return NULL;
}

void peer_close(Peer* peer) {
  (void)peer;
}

int peer_nv(const Peer* peer) {
  (void)peer;
  return 0;
}

int peer_nbody(const Peer* peer) {
  (void)peer;
  return 0;
}

int peer_ngeom(const Peer* peer) {
  (void)peer;
  return 0;
}

const double* peer_xpos(const Peer* peer) {
  (void)peer;
  return NULL;
}

void peer_state(Peer* peer, double* qpos, double* qvel) {
  (void)peer, (void)qpos, (void)qvel;
}

void peer_run(Peer* peer, Algorithm algorithm, const double* force) {
  (void)peer, (void)algorithm, (void)force;
}
