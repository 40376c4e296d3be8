// State of the collision detector (assemble.h): created by detector.c, used by contacts.c.
#ifndef TRIBO_DETECT_DETECTOR_H_
#define TRIBO_DETECT_DETECTOR_H_

#include "collide/bounds.h"
#include "collide/broadphase/broadphase.h"
#include "collide/hull/hull.h"
#include "collide/ray/ray.h"
#include "assemble/assemble.h"
#include "tribo/collide.h"

// An explicit pair by its geoms, first < second.
typedef struct {
  int first, second, id;
} tbExplicitPair;

// Cached data of two items: the pair function's cache, and the path length that they may cover
// before they can touch (0: unknown). Contacts depend on neither.
typedef struct {
  tbPair pair;
  tbCollideCache cache;
  tbReal until;
} tbPairMemory;

// Path length of a body since the detector was created, and its speed.
typedef struct {
  tbReal pos[3], quat[4];  // at the last search
  tbReal way,
      turn;         // sums of its frame's motion, and of twice the quaternion's
  tbReal speed[2];  // of its centre of mass, and angular; 0 without look-ahead
} tbTravel;

// Items of one body, which have consecutive indices.
typedef struct {
  int body, first, end;
} tbItemGroup;

struct tbDetector {
  const tbModel* model;
  int count;                // items: geoms that can touch other geoms
  int* geom;                // their ids, ascending: item i of the broad phase is geom[i]
  tbShape* shape;           // per item; the pose is set when a pair needs it
  uint64_t* placed;         // per item: the search for which its pose was set
  uint64_t search;          // number of searches
  tbHull* hull;             // per mesh
  tbHullCache* hull_cache;  // per mesh
  char* hull_search;        // their search tables
  size_t nsearch;           // size of these in bytes
  tbHField* hfield;         // per height field
  tbRayTree* ray_tree;      // per mesh, built by the first ray
  size_t nray_tree;         // bytes of these
  tbReal* plane;            // per item: normal and offset
  tbReal* margin;           // per item: the largest margin of its geom and pairs
  tbBounds* bounds;         // per item
  bool* bounded;            // per item: it has bounds
  tbReal* arm;       // per item: largest distance of its points from its body's centre of mass
  tbReal* reach;     // per item: its detection distance
  tbReal* swing;     // per item: a rotation of its body by x moves its box by at most this times x
  tbTravel* travel;  // per body
  tbItemGroup* group;  // bodies with items
  int ngroup;
  tbReal* base;              // per item: its detection distance without the part due to speed,
  tbReal* ahead;             // that part,
  tbReal* changed;           // and the accumulated change of that part
  tbReal* placed_path;       // per item: its path length when its box was last placed
  tbReal* path;              // per item: upper bound of the motion of its box (broadphase.h)
  const tbData* data;        // of the current search
  tbReal near, step, extra;  // of the last search: reach, time step, the option's margin
  uint8_t* kind;
  tbExplicitPair* pair;             // sorted
  uint64_t* exclude;                // excluded bodies, lower in the high half, sorted
  tbPairMemory *memory, *previous;  // of this and of the last step, sorted
  int nmemory, capacity;
  int last_count;  // contacts of the last step: initial capacity of the next
  int started;
  const uint8_t* resting;  // per tree: 1 if it rests, or NULL
  size_t allocations;
  tbBroadphase broad;
};

// Whether items i < j may touch: MuJoCo's filter rules.
bool tb_detector_may_touch(const void* detector, int i, int j);

// Trees over the triangles of all meshes that rays can hit, built by the first call; NULL when out
// of memory or without meshes.
const tbRayTree* tb_detector_ray_trees(tbDetector* detector);

// Which contacts of two geoms count: the explicit pair or -1, how far the surfaces lie inside the
// shapes (<= 0), and the gap between the surfaces up to which a contact is detected.
typedef struct {
  int pair;
  tbReal inset, near;
} tbContactRange;
tbContactRange tb_contact_range(const tbDetector* detector, const tbModel* model, int geom1,
                                int geom2, tbReal reach);

// The parameters of a contact. TB_ERROR_NUMERIC, with data->message, if one is invalid.
tbResult tb_contact_values(const tbModel* model, tbData* data, int geom1, int geom2, int pair,
                           tbContact* contact);

// Whether the user's filter takes out a pair of geoms.
bool tb_contact_is_filtered(const tbModel* model, const tbData* data, int geom1, int geom2);

// Place, frame, key and exclusion of a contact with the parameters of tb_contact_values, which the
// user's callback may then change. TB_ERROR_NUMERIC, with data->message, if one is invalid.
tbResult tb_contact_place(const tbModel* model, tbData* data, const tbContactPoint* point,
                          tbReal reach, tbContact* contact);

// The explicit pair of two geoms, or -1.
int tb_detector_explicit_pair(const tbDetector* detector, int geom1, int geom2);

// Room for `count` pairs in both lists of caches; the current one keeps its entries. 0: out of
// memory.
int tb_detector_reserve(tbDetector* detector, int count);

// Computes the current box of an item; `owner` is the detector.
void tb_detector_place_item(void* owner, int item);

#endif
