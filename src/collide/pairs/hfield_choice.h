// Contacts with a height field: the found contacts, and their reduction (docs/notebook/hfield.md).
#ifndef TRIBO_COLLIDE_PAIRS_HFIELD_CHOICE_H_
#define TRIBO_COLLIDE_PAIRS_HFIELD_CHOICE_H_

#include "tribo/collide.h"

// Capacity for contacts before the reduction.
#define TB_TERRAIN_FOUND 256
// Normals within this cosine count as one direction.
#define TB_TERRAIN_SAME 0.9999

typedef struct {
  tbContactPoint contact[TB_TERRAIN_FOUND];
  int count;
  tbReal scale;   // reference length for rounding errors
  tbReal margin;  // upper bound of the contacts' distances
} tbTerrainFound;

// Makes room: keeps of every direction only the deepest contacts and those that span most, and of
// too many directions the deepest.
void tb_terrain_thin_out(tbTerrainFound* found);

// Reduces the contacts of each direction as one manifold to the deepest and those that span most,
// deepest groups first, with a unique identity for each contact. Returns their number and empties
// `found`.
int tb_terrain_choose(tbTerrainFound* found, tbContactPoint out[TB_MAX_PAIR_CONTACTS]);

#endif
