// Where the two ends of an equality are.
#ifndef TRIBO_DYNAMICS_EQUALITY_EQUALITY_H_
#define TRIBO_DYNAMICS_EQUALITY_EQUALITY_H_

#include "tribo/data.h"

// Index of a weld's torquescale in eq_data.
enum { TB_EQ_TORQUESCALE = 10 };

// The two points of an equality of bodies, and for six rows the two orientations that must agree.
typedef struct {
  int body[2];
  tbReal point[2][3];
  tbReal quat[2][4];
} tbEqualityFrames;

// The same, in arrays; quaternions are zero for three rows.
void tb_equality_points(const tbModel* model, const tbData* data, int id, int body[2],
                        tbReal point[2][3], tbReal quat[2][4]);

#endif
