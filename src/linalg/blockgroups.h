// Groups of nodes of a block pattern with the same closed neighbourhood, such as the contacts of
// one pair of bodies: they are ordered together, and compressed together if G has low rank on them.
#ifndef TRIBO_LINALG_BLOCKGROUPS_H_
#define TRIBO_LINALG_BLOCKGROUPS_H_

#include "linalg/blocklu.h"

typedef struct {
  int count;
  int* of;      // group of each node
  int* weight;  // rows of each group
  int* begin;   // nodes of group g: member[begin[g]] .. member[begin[g+1]-1], ascending
  int* member;
  int* start;  // graph of groups, without loops
  int* column;
} tbBlockGroups;

// False: out of memory.
bool tb_block_groups(tbArena* arena, const tbBlockPattern* pattern, tbBlockGroups* groups);

#endif
