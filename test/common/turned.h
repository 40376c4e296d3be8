// Worlds that stand in a turned frame, gravity along with it, for closed forms that must not depend
// on how the axes lie.
#ifndef TRIBO_TEST_TURNED_H_
#define TRIBO_TEST_TURNED_H_

#include "common/worlds.h"

#define TB_PI 3.14159265358979323846
#define TB_COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

enum { TB_TURNS = 4 };

typedef struct {
  tbWorld w;
  tbReal turn[4];
} tbTurned;

// Bodies (and `rest`, the text after the worldbody) in frame k of TB_TURNS, the first of which is
// not rotated; angles in radians, gravity `g` of that frame.
tbTurned tb_turned(int k, tbReal step, const tbReal g[3], const char* bodies, const char* rest);

// Give free body b a velocity in the turned frame, and a spin in the body's own.
void tb_turned_throw(tbTurned t, int b, const tbReal v[3], const tbReal spin[3]);

// In the turned frame: a vector of the world, a body's place, one of its axes.
void tb_turned_look(tbTurned t, const tbReal v[3], tbReal local[3]);
void tb_turned_place(tbTurned t, int b, tbReal local[3]);
void tb_turned_axis(tbTurned t, int b, int axis, tbReal local[3]);

#endif
