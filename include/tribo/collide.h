// Collision detection between two placed shapes: geometry only, no bodies and no dynamics.
//
// The contract of a contact, which test/collide checks for every pair of types:
//  1. The normal is a unit vector from shape `a` to shape `b`: moving b along it opens the contact.
//  2. `dist` is the signed gap along the normal: positive when apart, negative when overlapping.
//  3. `pos` lies midway between the surfaces. The witness points are pos -+ dist/2 normal: the one
//     with minus belongs to a, the one with plus to b.
//  4. The smallest `dist` of a manifold is the signed distance of the shapes: the gap when apart;
//     when they overlap, minus the length of the shortest translation that parts them. Moving b by
//     -dist along the normal of that contact makes the shapes touch: to 1e-9 of the shapes' size
//     for closed forms, to 1e-6 for iterative pairs. Exceptions are listed in
//     docs/manual/collision.md.
//  5. Contacts with dist <= margin are reported, in an order that depends on the shapes alone; no
//     pair returns more than TB_MAX_PAIR_CONTACTS.
//  6. Swapping a and b gives the same contacts with opposite normals.
//  7. Shapes with a non-finite pose, size or margin touch nothing: no contacts, distance NAN.
//     Lengths beyond 1e100 may count as non-finite. Negative sizes count as zero. Every other input
//     gives finite numbers.
#ifndef TRIBO_COLLIDE_H_
#define TRIBO_COLLIDE_H_

#include <stdbool.h>

#include "tribo/enums.h"
#include "tribo/types.h"

// Largest number of contacts of a pair. Two convex shapes give at most TB_MAX_MANIFOLD, a height
// field up to this many (the deepest contacts, spread over its cells).
#define TB_MAX_PAIR_CONTACTS 64
#define TB_MAX_MANIFOLD 8

// Tables that make searches on a hull faster; internal.
typedef struct tbHullCache tbHullCache;

// A convex polytope in its own frame, as flat arrays in the caller's memory. Faces are maximal:
// coplanar triangles are merged into one polygon, counter-clockwise seen from outside.
typedef struct {
  int nvert;              // number of vertices
  int nface;              // number of polygons; 0 for a hull of fewer than 4 points or a flat one
  const tbReal* vert;     // nvert x 3
  const int* adj_start;   // nvert+1: neighbours of vertex v are adj[adj_start[v] .. adj_start[v+1])
  const int* adj;         // vertices joined to a vertex by an edge, ascending
  const tbReal* plane;    // nface x 4: outward unit normal n and offset d, n.x <= d inside
  const int* face_start;  // nface+1: polygon of face f is face_vert[face_start[f] ..)
  const int* face_vert;   // vertex indices
  const int* face_adj;    // like face_vert: the face across the edge from this vertex to the next
  const int* vert_face;   // nvert: a face at (or close to) the vertex; may be NULL
  tbReal center[3];       // a point inside the hull
  tbReal radius;          // all vertices lie within this distance of `center`
  const tbHullCache* cache;  // NULL: none, searches are slower
} tbHull;

// A height field in its own frame: x in [-size[0], size[0]] over ncol columns, y in
// [-size[1], size[1]] over nrow rows, surface height size[2]*data, solid down to z = -size[3].
typedef struct {
  int nrow;
  int ncol;
  tbReal size[4];      // x radius, y radius, height of data 1, depth of the base below zero (m)
  const tbReal* data;  // nrow x ncol, row by row (y), each in [0, 1]
} tbHField;

// A shape placed in the world. Sizes, as MuJoCo (m):
//   plane      none; the solid is everything below z = 0 of its frame, without bounds
//   sphere     radius
//   capsule    radius, half length of the cylindrical part along z
//   ellipsoid  radii along x, y, z
//   cylinder   radius, half length along z
//   box        half lengths along x, y, z
//   mesh       none; `hull` is set
//   hfield     none; `hfield` is set
typedef struct {
  int type;  // tbGeomType
  tbReal size[3];
  tbReal pos[3];
  tbReal mat[9];  // rotation, row-major: its columns are the shape's axes in the world
  const tbHull* hull;
  const tbHField* hfield;
} tbShape;

// Flags of a contact.
enum {
  TB_CONTACT_ITERATION_LIMIT = 1,  // was reached: dist is the best bound found
};

typedef struct {
  tbReal pos[3];
  tbReal frame[9];   // rows: normal, t1, t2 (right-handed)
  tbReal dist;       // (m)
  uint32_t feature;  // which features touch; constant from step to step, unique within the pair
  uint32_t flags;
} tbContactPoint;

// State that an iterative pair keeps between queries. Zero it before the first query; optional. It
// speeds up pairs that are separated. Contacts are the same with and without it, to the bit;
// distances agree up to the pair's tolerance.
typedef struct {
  tbReal direction[3];  // last separating direction or normal, from a to b, in the world
  int32_t hint[2];      // last support vertex of a and of b
  uint32_t state;       // 0: empty
  uint32_t count;       // pairs of vertices (of a and of b) that were nearest in the last distance
                        // query
  uint16_t nearest[4][2];
  tbReal gap;  // m: if > 0, a lower bound of the distance of a pair without contacts
} tbCollideCache;

TB_EXTERN_C_BEGIN

// Contacts between a and b with dist <= margin (margin >= 0, m); returns how many were written to
// `out`, also 0 for unsupported pairs. `warm` (may be NULL) must be this pair's own cache.
TB_API int tb_collide(const tbShape* a, const tbShape* b, tbReal margin,
                      tbContactPoint out[TB_MAX_PAIR_CONTACTS], tbCollideCache* warm);

// Signed distance (m) with witness points on a and b and the unit normal from a to b. Any output
// may be NULL. NAN for pairs that are not supported and for non-finite input.
TB_API tbReal tb_distance(const tbShape* a, const tbShape* b, tbReal point_a[3], tbReal point_b[3],
                          tbReal normal[3], tbCollideCache* warm);

// False only for plane-plane, plane-hfield and hfield-hfield (and types out of range).
TB_API bool tb_collide_supported(int type_a, int type_b);

// World box that contains the shape. A plane's box is bounded only where its normal is an axis.
TB_API void tb_shape_aabb(const tbShape* shape, tbReal low[3], tbReal high[3]);

// "plane", "hfield", "sphere", ...; "unknown" out of range.
TB_API const char* tb_geom_type_name(int type);

TB_EXTERN_C_END

#endif
