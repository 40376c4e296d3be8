#include "common/mujoco_model.h"
#include "peer.h"

struct Peer {
  mjModel* m;
  mjData* d;
};

const char* peer_version(void) {
  return mj_versionString();
}

Peer* peer_open(const char* path, const char* include, const tbModel* same, char* message,
                size_t size) {
  Peer* peer = calloc(1, sizeof *peer);
  bool open = peer && tb_mujoco_open(path, include, &peer->m, &peer->d, message, size);
  bool alike =
      open && peer->m->nv == same->nv && peer->m->nu == same->nu && peer->m->na == same->na;
  if (open && !alike) snprintf(message, size, "MuJoCo's model of it is another robot");
  if (!alike) {
    peer_close(peer);
    return NULL;
  }
  // The newest files ask for integrators that this version does not have.
  if (same->opt.integrator == TB_INTEGRATOR_EULER) peer->m->opt.integrator = mjINT_EULER;
  return peer;
}

void peer_close(Peer* peer) {
  if (!peer) return;
  tb_mujoco_close(peer->m, peer->d);
  free(peer);
}

void peer_place(Peer* peer, const tbModel* m, const tbData* d) {
  mj_resetData(peer->m, peer->d);
  mju_copy(peer->d->qpos, d->qpos, m->nq);
  mju_copy(peer->d->qvel, d->qvel, m->nv);
  mju_copy(peer->d->act, d->act, m->na);
  mju_copy(peer->d->ctrl, d->ctrl, m->nu);
  mj_forward(peer->m, peer->d);
  mju_copy(peer->d->qacc_warmstart, peer->d->qacc, m->nv);
}

void peer_transition(Peer* peer, double eps, int centred, double* A, double* B) {
  mjd_transitionFD(peer->m, peer->d, eps, (mjtByte)centred, A, B, NULL, NULL);
}

void peer_acceleration(Peer* peer, double* qacc) {
  mj_forward(peer->m, peer->d);
  mju_copy(qacc, peer->d->qacc, peer->m->nv);
}

void peer_forward(Peer* peer) {
  mj_forward(peer->m, peer->d);
}
