#include "common/mujoco_model.h"
#include "peer.h"

struct Peer {
  mjModel* m;
  mjData* d;
};

const char* peer_version(void) {
  return mj_versionString();
}

Peer* peer_open(const char* path, const char* include, char* message, size_t size) {
  Peer* peer = calloc(1, sizeof *peer);
  if (peer && tb_mujoco_open(path, include, &peer->m, &peer->d, message, size)) return peer;
  peer_close(peer);
  return NULL;
}

void peer_close(Peer* peer) {
  if (!peer) return;
  tb_mujoco_close(peer->m, peer->d);
  free(peer);
}

int peer_nv(const Peer* peer) {
  return peer->m->nv;
}

int peer_nbody(const Peer* peer) {
  return peer->m->nbody;
}

int peer_ngeom(const Peer* peer) {
  return peer->m->ngeom;
}

const double* peer_xpos(const Peer* peer) {
  return peer->d->xpos;
}

void peer_state(Peer* peer, double* qpos, double* qvel) {
  peer->d->qpos = qpos;
  peer->d->qvel = qvel;
}

static void accelerate(const mjModel* m, mjData* d, const double* force) {
  mj_crb(m, d);
  mj_factorM(m, d);
  mj_rne(m, d, 0, d->qfrc_bias);
  mju_sub(d->qacc, force, d->qfrc_bias, m->nv);
  mj_solveM(m, d, d->qacc, d->qacc, 1);
}

void peer_run(Peer* peer, Algorithm algorithm, const double* force) {
  const mjModel* m = peer->m;
  mjData* d = peer->d;
  switch (algorithm) {
    case KINEMATICS:
      mj_kinematics(m, d);
      mj_comPos(m, d);
      break;
    case CRBA: mj_crb(m, d); break;
    case FACTOR: mj_factorM(m, d); break;
    case RNEA:
      mj_comVel(m, d);
      mj_rne(m, d, 0, d->qfrc_bias);
      break;
    case ABA: accelerate(m, d, force); break;
    case SOLVE: mj_solveM(m, d, d->qacc, force, 1); break;
    default:
      mj_kinematics(m, d);
      mj_comPos(m, d);
      mj_comVel(m, d);
      accelerate(m, d, force);
  }
}
