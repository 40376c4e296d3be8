// Contacts with a height field: those that were found, and the choice among them (docs/hfield.md).
#ifndef TRIBO_COLLIDE_PAIRS_HFIELD_CHOICE_H_
#define TRIBO_COLLIDE_PAIRS_HFIELD_CHOICE_H_

#include "tribo/collide.h"

// Contacts collected before the choice.
#define TB_TERRAIN_FOUND 256
// Normals within this cosine are one direction.
#define TB_TERRAIN_SAME 0.9999

typedef struct {
  tbContactPoint contact[TB_TERRAIN_FOUND];
  int count;
  tbReal scale;   // a length that rounding errors are relative to
  tbReal margin;  // contacts are closer than this
} tbTerrainFound;

// Make room: of every direction only the deepest and the widest stay, of too many directions the
// deepest.
void tb_terrain_thin_out(tbTerrainFound* found);

// Contacts of one direction are one manifold: deepest and widest of each, deepest groups first,
// each contact with a name of its own. Returns how many; `found` is empty then.
int tb_terrain_choose(tbTerrainFound* found, tbContactPoint out[TB_MAX_PAIR_CONTACTS]);

#endif
