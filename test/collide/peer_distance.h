// Signed distance of two shapes by a peer: NAN where it gives no answer.
#ifndef TRIBO_TEST_PEER_DISTANCE_H_
#define TRIBO_TEST_PEER_DISTANCE_H_

#include "tribo/collide.h"

TB_EXTERN_C_BEGIN

// FCL's distance where apart, its deepest contact where not.
double peer_fcl_distance(const tbShape* a, const tbShape* b);

// Bullet's GJK and EPA on shapes without margins: boxes, cylinders, meshes.
double peer_bullet_distance(const tbShape* a, const tbShape* b);

TB_EXTERN_C_END

#endif
