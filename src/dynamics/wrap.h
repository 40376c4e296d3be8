// The shortest path of a string around a sphere or a cylinder.
#ifndef TRIBO_DYNAMICS_WRAP_H_
#define TRIBO_DYNAMICS_WRAP_H_

#include "tribo/types.h"

// Path of a string from world point `from` to `to` around a sphere, or an infinite cylinder along
// the frame's z, of radius `radius` at frame (pos, mat). `side` (may be NULL) is a point on the
// side where the string passes; inside the shape it selects a path that touches the shape from
// within. Returns the length of the string on the surface and writes where it arrives and leaves;
// -1 if the string is straight.
tbReal tb_wrap(const tbReal from[3], const tbReal to[3], const tbReal pos[3], const tbReal mat[9],
               tbReal radius, int cylinder, const tbReal* side, tbReal arrive[3], tbReal leave[3]);

#endif
