// MuJoCo's side of the benchmark, where it is installed.
#ifndef TRIBO_BENCH_DYNAMICS_PEER_H_
#define TRIBO_BENCH_DYNAMICS_PEER_H_

#include <stddef.h>

typedef struct Peer Peer;

typedef enum { KINEMATICS, CRBA, FACTOR, RNEA, ABA, SOLVE, FORWARD, NALGORITHMS } Algorithm;

// The version, or NULL where MuJoCo is not installed.
const char* peer_version(void);

// Load `path`; where the file is newer than this MuJoCo, without the attributes it does not know
// (`include`: a file of the same folder that the model includes, or NULL). NULL with a message.
Peer* peer_open(const char* path, const char* include, char* message, size_t size);
void peer_close(Peer* peer);

// Sizes and body positions (nbody x 3) at the current state, to see that both sides hold the same
// robot.
int peer_nv(const Peer* peer);
int peer_nbody(const Peer* peer);
int peer_ngeom(const Peer* peer);
const double* peer_xpos(const Peer* peer);

// Point the state into the benchmark's arrays; run one algorithm with applied force `force`.
void peer_state(Peer* peer, double* qpos, double* qvel);
void peer_run(Peer* peer, Algorithm algorithm, const double* force);

#endif
