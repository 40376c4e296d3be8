// Normal of shapes that only touch. At a contact of edges or rims, every direction between two
// faces separates the shapes by zero, and which of them is the maximum changes with the last bits
// of a resting pose. The normal of the first face among these directions is used instead.
#include "base/minmax.h"
#include "collide/convex/convex.h"

// Shapes whose distance is below this in magnitude, relative to the size of the pair, touch.
#define TOUCHING 1e-8
#define MOST_FACES 128

// A face of one core against the other core, which contains the point x and, with a ball of radius
// `inner` inside the core, y. In the frame of the face's core.
typedef struct {
  tbConvexPair* pair;
  tbConvexResult* r;
  int of_b;
  tbReal x[3], y[3], inner;
} FaceTest;

// True if the face with the given offset separates the cores as well as any direction. The known
// points of the other core reject most faces cheaply.
static bool try_face(const FaceTest* o, const tbReal face[3], tbReal offset) {
  tbConvexPair* pair = o->pair;
  tbReal least = o->r->dist - pair->touching, n[3];
  if (tb_dot3(face, o->x) - offset < least - pair->touching) return false;
  if (tb_dot3(face, o->y) - o->inner - offset < least) return false;
  tb_copy3(n, face);
  if (o->of_b) {
    tb_mul_mat3_vec3(n, pair->mat, face);
    tb_scale3(n, n, -1);
  }
  tbSupportPoint at;
  if (!(tb_pair_separation(pair, n, &at) >= least)) return false;
  tb_copy3(o->r->normal, n);
  pair->a.known = pair->b.known = -1;
  return true;
}

static bool try_faces(const FaceTest* o, const tbCore* core) {
  if (core->kind == TB_CORE_HULL) {
    for (int f = 0; f < core->hull->nface; f++) {
      const tbReal* plane = core->hull->plane + 4 * f;
      if (try_face(o, plane, plane[3])) return true;
    }
    return false;
  }
  // Faces of a box, or the caps of a cylinder.
  for (int k = core->kind == TB_CORE_BOX ? 0 : 2; k < 3; k++) {
    tbReal face[3] = {0, 0, 0};
    face[k] = o->y[k] < 0 ? -1 : 1;
    if (try_face(o, face, core->size[k])) return true;
  }
  return false;
}

// The centre of a core, and the radius of a ball around it inside the core.
static tbReal middle_of(const tbCore* core, tbReal middle[3]) {
  tb_zero3(middle);
  if (core->kind == TB_CORE_HULL) {
    tb_copy3(middle, core->hull->center);
    return tb_hull_cache(core->hull)->inscribed_radius;
  }
  tbReal across = core->kind == TB_CORE_BOX ? tb_min(core->size[0], core->size[1]) : core->size[0];
  return tb_min(across, core->size[2]);
}

// Hulls of many faces rarely have edge contacts of this kind, and testing all faces takes too long.
static bool has_faces(const tbCore* core) {
  if (core->kind == TB_CORE_HULL) return core->hull->nface <= MOST_FACES;
  return core->kind == TB_CORE_BOX || core->kind == TB_CORE_CYLINDER;
}

static void to_b(const tbConvexPair* pair, tbReal x[3]) {
  tb_sub3(x, x, pair->pos);
  tb_mul_mat3t_vec3(x, pair->mat, x);
}

void tb_snap_normal(tbConvexPair* pair, tbConvexResult* r) {
  tbReal touching = TOUCHING * pair->scale;
  if (!(fabs(r->dist) <= touching) || !has_faces(&pair->a) || !has_faces(&pair->b)) return;
  pair->touching = touching;
  FaceTest b = {.pair = pair, .r = r}, a = {.pair = pair, .r = r, .of_b = 1};
  b.inner = middle_of(&pair->b, b.y);
  tb_pair_b_to_a(pair, b.y, b.y);
  tb_copy3(b.x, r->point_b);
  if (try_faces(&b, &pair->a)) return;
  a.inner = middle_of(&pair->a, a.y);
  to_b(pair, a.y);
  tb_copy3(a.x, r->point_a);
  to_b(pair, a.x);
  try_faces(&a, &pair->b);
}
