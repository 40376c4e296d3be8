// What the collision driver keeps (assemble.h): made by assemble_finder.c, used by
// assemble_contacts.c.
#ifndef TRIBO_DETECT_DETECTOR_H_
#define TRIBO_DETECT_DETECTOR_H_

#include "collide/bounds.h"
#include "collide/broadphase/broadphase.h"
#include "collide/hull/hull.h"
#include "assemble/assemble.h"
#include "tribo/collide.h"

// An explicit pair by its geoms, first < second.
typedef struct {
  int first, second, id;
} tbExplicitPair;

// What is remembered of two items: by the pair itself, and how far they may come together until
// they can touch (0: nobody knows). Contacts depend on neither.
typedef struct {
  tbPair pair;
  tbCollideCache cache;
  tbReal until;
} tbPairMemory;

// How far a body has come since the finder was made, and how fast it is.
typedef struct {
  tbReal pos[3], quat[4];  // of the last search
  tbReal way, turn;        // sum of what its frame moved, and of twice what its quaternion changed
  tbReal speed[2];         // of its centre of mass, and of turning; 0 without a reach
} tbTravel;

// Items of one body, which follow each other.
typedef struct {
  int body, first, end;
} tbItemGroup;

struct tbDetector {
  const tbModel* model;
  int count;          // geoms that can touch anything
  int* geom;          // them, ascending: item i of the broad phase is geom[i]
  tbShape* shape;     // per item; the pose is set where a pair needs it
  uint64_t* placed;   // per item: the search that its pose is of
  uint64_t search;    // counts searches
  tbHull* hull;       // per mesh
  char* hull_search;  // what makes searches on them fast
  size_t nsearch;     // bytes of it
  tbHField* hfield;   // per height field
  tbReal* plane;      // per item: normal and offset
  tbReal* margin;     // per item: the largest of its geom and pairs
  tbBounds* bounds;   // per item
  bool* bounded;      // per item: it has bounds
  tbReal* arm;        // per item: no point is farther from its body's centre of mass
  tbReal* reach;      // per item: how far from it a contact may be, as far as it is concerned
  tbReal* swing;     // per item: a turn of its body by x moves its box by no more than this times x
  tbTravel* travel;  // per body
  tbItemGroup* group;  // bodies with items
  int ngroup;
  tbReal* base;              // per item: its reach without what is due to speed,
  tbReal* ahead;             // what is, and
  tbReal* changed;           // how much that has changed in sum
  tbReal* settled;           // per item: its path when its box was last placed
  tbReal* path;              // per item: no side of its box has come farther (broadphase.h)
  const tbData* data;        // of the current search
  tbReal near, step, extra;  // of the last search: reach, time step, the option's margin
  uint8_t* kind;
  tbExplicitPair* pair;             // sorted
  uint64_t* exclude;                // excluded bodies, lower in the high half, sorted
  tbPairMemory *memory, *previous;  // of this and of the last step, sorted
  int nmemory, capacity;
  int last_count;  // contacts of the last step: first capacity of the next
  int started;
  const uint8_t* resting;  // per tree: 1 if it rests, or NULL
  size_t allocations;
  tbBroadphase broad;
};

// The explicit pair of two geoms, or -1.
int tb_detector_explicit_pair(const tbDetector* finder, int geom1, int geom2);

// Room for `count` pairs in both lists of memories; the current one keeps its entries. 0: out of
// memory.
int tb_finder_reserve(tbDetector* finder, int count);

// The present box of an item; `owner` is the finder.
void tb_detector_place_item(void* owner, int item);

#endif
