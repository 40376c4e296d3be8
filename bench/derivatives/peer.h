// MuJoCo's side of the benchmark, where it is installed.
#ifndef TRIBO_BENCH_DERIVATIVES_PEER_H_
#define TRIBO_BENCH_DERIVATIVES_PEER_H_

#include <stddef.h>

#include "tribo/tribo.h"

typedef struct Peer Peer;

// The version, or NULL where MuJoCo is not installed.
const char* peer_version(void);

// Load `path` as bench dynamics does. NULL with a message, also where the robot is another one.
Peer* peer_open(const char* path, const char* include, const tbModel* same, char* message,
                size_t size);
void peer_close(Peer* peer);

// Take over the state and the controls of a world.
void peer_place(Peer* peer, const tbModel* m, const tbData* d);

// A and B of mjd_transitionFD, row-major as ours.
void peer_transition(Peer* peer, double eps, int centred, double* A, double* B);

// qacc at the state that was placed (nv): where it is not ours, the two models or their contacts
// are not the same, and neither are the derivatives.
void peer_acceleration(Peer* peer, double* qacc);

// One step of the state, which stays.
void peer_forward(Peer* peer);

#endif
