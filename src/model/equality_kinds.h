// Every kind of equality constraint, once:
//
//   X(TYPE, "word", ENDS, function)
//
// TYPE      TB_EQ_TYPE                       "word"  the element of MJCF
// ENDS      tbEqualityEnds: what it ties together, which gives rows, attributes and data
// function  of dynamics/equality/residual.h: tb_equality_frames_<function> for POINTS and FRAMES,
//           tb_equality_coupling_<function> for JOINTS and TENDONS
//
// The loader, the checks of a model, the rows and their derivatives read this list. An equality is
// a line here, its enumerator in tribo/enums.h and its function; one of an extension is a line in
// the extension's list and its function (tribo/extension.h).
#ifndef TRIBO_MODEL_EQUALITY_KINDS_H_
#define TRIBO_MODEL_EQUALITY_KINDS_H_

#include <stdbool.h>

#include "tribo/extension.h"
#include "tribo/model.h"

#define TB_EQUALITIES(X)                \
  X(CONNECT, "connect", POINTS, points) \
  X(WELD, "weld", FRAMES, frames)       \
  X(JOINT, "joint", JOINTS, quartic)    \
  X(TENDON, "tendon", TENDONS, quartic) \
  TB_EXTENSION_EQUALITIES(X)

typedef enum {
  TB_ENDS_POINTS,  // a point of each of two bodies, or two sites, coincide: 3 rows; data: two
                   // points
  TB_ENDS_FRAMES,  // and orientations agree: 6 rows; data: point, pose, torquescale
  TB_ENDS_JOINTS,  // y1 = f(y2) of two scalar joints, or y1 = f(0): 1 row; data: five parameters
  TB_ENDS_TENDONS  // the same of two tendons
} tbEqualityEnds;

typedef struct {
  const char* word;
  int ends;
} tbEqualityKind;

// By tbEqualityType, TB_NEQTYPES of them.
extern const tbEqualityKind tb_equality_kinds[];

static inline int tb_equality_ends(const tbModel* m, int id) {
  return tb_equality_kinds[m->eq_type[id]].ends;
}
static inline bool tb_equality_joins_bodies(const tbModel* m, int id) {
  return tb_equality_ends(m, id) <= TB_ENDS_FRAMES;
}

#endif
