// A trotting controller for quadrupeds with feet foot_FL, foot_FR, foot_HL, foot_HR: diagonal pairs
// of legs in turn. Stance feet carry the force and moment that hold the base (a small least-squares
// distribution inside the friction cone), swing feet go to where Raibert's rule puts them.
#ifndef TRIBO_BENCH_TROT_H_
#define TRIBO_BENCH_TROT_H_

#include <stdbool.h>

#include "tribo/tribo.h"

typedef struct {
  tbReal speed;     // m/s, wanted along the world's x axis
  tbReal height;    // m, of the base above the stance feet
  tbReal period;    // s, of one pair's swing
  tbReal step;      // m, clearance of a swinging foot
  tbReal friction;  // what the stance forces may use
  // State of the controller.
  int base, foot[4], hip[4];
  tbReal lift[4][3];  // where each swinging foot left the ground
  tbReal missing;     // integral of the speed that is missing, m
  int swinging[4];
} Trot;

// False (after a message) if the model has no such feet. The base is the first body with a free
// joint.
bool trot_init(const tbModel* model, Trot* trot);

// Joint torques into qfrc_applied. Call between tb_step1 and tb_step2.
void trot_control(const tbModel* model, tbData* data, Trot* trot);

#endif
