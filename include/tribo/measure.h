// Measures of runs, for comparing laws, time steps and solvers on one scene.
#ifndef TRIBO_MEASURE_H_
#define TRIBO_MEASURE_H_

#include "tribo/data.h"

// Positions of points over time: row i, at (i + 1) interval seconds, has 3 numbers per point.
typedef struct {
  const tbReal* position;
  int rows, points;
  tbReal interval;  // s
} tbPath;

TB_EXTERN_C_BEGIN

// How far `path` is from `reference`: for the point that deviates most, the integral over time of
// |p - p_reference|, m s, over the time that both have. The reference is interpolated linearly;
// with an interval of which that of `path` is a multiple its rows are met exactly (CM, figures 14
// and 15). `end` (may be NULL): the largest distance at the end, m. NaN if they have no time in
// common or different numbers of points.
TB_API tbReal tb_path_distance(const tbPath* path, const tbPath* reference, tbReal* end);

// Internal contact forces: the part of the contact forces of the last step that balances itself. It
// is orthogonal to all velocities of the contacts (J^T f = 0) in which the joints of floating
// robots are locked, so that what two feet or two fingers press against each other is internal, N;
// torques of rolling and torsional friction count with a lever of 1 m. `force` (may be NULL) gets 6
// numbers per contact, in its frame; *norm the length of the whole. TB_ERROR_MEMORY where the
// contact Jacobian (dense) has more than 2^26 entries.
TB_API tbResult tb_internal_force(const tbModel* model, const tbData* data, tbReal* force,
                                  tbReal* norm, tbError* error);

TB_EXTERN_C_END

#endif
