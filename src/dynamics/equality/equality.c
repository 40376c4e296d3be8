#include "dynamics/equality/equality.h"

#include <string.h>

#include "dynamics/equality/residual.h"

void tb_equality_points(const tbModel* m, const tbData* d, int id, int body[2], tbReal point[2][3],
                        tbReal quat[2][4]) {
  tbEqualityFrames f;
  tb_equality_frames(m, d, id, &f);
  memcpy(body, f.body, sizeof f.body);
  memcpy(point, f.point, sizeof f.point);
  memcpy(quat, f.quat, sizeof f.quat);
}
