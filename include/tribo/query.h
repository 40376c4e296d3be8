// Questions about a world at its current pose: rays, distances, pairs of geoms, contacts.
//
// Poses are those of data->geom_xpos and geom_xmat: of the start of the last step, or newer after
// tb_kinematics. Nothing that later steps depend on changes, so a simulation continues with the
// same bits. Answers of the first ray that needs them build trees over the triangles of meshes,
// which the world keeps. Each world may be queried in one thread at a time.
//
// With a bad argument tb_ray and tb_geom_distance return NAN, the others TB_ERROR_ARGUMENT, and
// data->message names the argument (data->status stays that of the last step).
#ifndef TRIBO_QUERY_H_
#define TRIBO_QUERY_H_

#include "tribo/data.h"

// Groups of geoms that a ray distinguishes, as in MuJoCo; other groups count as the nearest.
#define TB_NGROUP 6

// Called for a pair of geoms, geom1 < geom2. A result other than 0 ends the visit.
typedef int (*tbPairVisitor)(void* user, int geom1, int geom2);

TB_EXTERN_C_BEGIN

// Smallest x >= 0 with pnt + x vec on the surface of a geom, or -1: MuJoCo's mj_ray. Geoms with
// alpha 0 are invisible to rays. `geomgroup` (TB_NGROUP flags, NULL: all) selects by group,
// `flg_static` 0 leaves out geoms of fixed bodies, `bodyexclude` those of one body (-1: none).
// `geomid` (may be NULL) gets the geom or -1, `normal` (may be NULL) the outward unit normal or 0.
TB_API tbReal tb_ray(const tbModel* model, tbData* data, const tbReal pnt[3], const tbReal vec[3],
                     const uint8_t* geomgroup, int flg_static, int bodyexclude, int* geomid,
                     tbReal normal[3]);

// Signed distance (m) of two geoms, at most `distmax`: MuJoCo's mj_geomDistance. `fromto` (6, may
// be NULL) gets the nearest points, of geom1 and of geom2; zeros where the distance is `distmax`
// or the pair is not supported (tb_collide_supported).
TB_API tbReal tb_geom_distance(const tbModel* model, tbData* data, int geom1, int geom2,
                               tbReal distmax, tbReal fromto[6]);

// Visit the pairs of geoms that may touch (by masks, parents, exclusions, explicit pairs and
// tbCallbacks.contact_filter, as a step) and whose bounding boxes are within `margin` >= 0 (m,
// INFINITY: all of them), in ascending order. The visitor may call tb_geom_distance and tb_ray.
TB_API tbResult tb_visit_pairs(const tbModel* model, tbData* data, tbReal margin,
                               tbPairVisitor visit, void* user);

// All contacts of the pose, in data->contact and ncon until the next step, without forces: those
// within margin + gap of their geoms; under rigid laws and viscoelastic also those within 1e-9 m.
// Unlike a step it has no speculative contacts and leaves out no sleeping trees. Not between
// tb_step1 and tb_step2, whose contacts are in use.
TB_API tbResult tb_find_contacts(const tbModel* model, tbData* data);

TB_EXTERN_C_END

#endif
