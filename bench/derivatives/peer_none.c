#include <stdio.h>

#include "peer.h"

const char* peer_version(void) {
  return NULL;
}

Peer* peer_open(const char* path, const char* include, const tbModel* same, char* message,
                size_t size) {
  (void)path;
  (void)include;
  (void)same;
  snprintf(message, size, "MuJoCo is not installed");
  return NULL;
}

void peer_close(Peer* peer) {
  (void)peer;
}

void peer_place(Peer* peer, const tbModel* m, const tbData* d) {
  (void)peer;
  (void)m;
  (void)d;
}

void peer_transition(Peer* peer, double eps, int centred, double* A, double* B) {
  (void)peer;
  (void)eps;
  (void)centred;
  (void)A;
  (void)B;
}

void peer_acceleration(Peer* peer, double* qacc) {
  (void)peer;
  (void)qacc;
}

void peer_forward(Peer* peer) {
  (void)peer;
}
