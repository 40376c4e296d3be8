// Anchors of the viscoelastic law by constraint identity: the state of a contact's springs between
// steps.
#ifndef TRIBO_LAWS_VISCOELASTIC_ANCHORS_H_
#define TRIBO_LAWS_VISCOELASTIC_ANCHORS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tribo/types.h"

// State of a contact's springs relative to its bodies, so that it is invariant under common motions
// of both.
typedef struct {
  uint64_t key;
  int used;            // 0: an empty slot
  int padding;         // zero, so that the bytes are a function of the values
  tbReal point[2][3];  // m: contact position, in the frame of either body
  tbReal stretch[3];   // m: tangential, p - p0 (EXP eq. 2), in the frame of body 1
  tbReal twist[3];     // rad: angular rows, in the frame of body 1
  tbReal relative[4];  // orientation of body 2 in body 1
  tbReal depth;        // m: distance from which the normal stretch is measured
  tbReal supplied;     // J: energy that the bodies supplied to the springs and that was not yet
                       // returned
} tbAnchor;

// Open addressing over a power of two, at most half full.
typedef struct {
  tbAnchor* slot;
  int capacity, count;
  size_t allocations;
} tbAnchorTable;

void tb_anchors_free(tbAnchorTable* table);
size_t tb_anchors_bytes(const tbAnchorTable* table);

// Empty the table and make room for `count`; false when out of memory.
bool tb_anchors_clear(tbAnchorTable* table, int count);
void tb_anchors_put(tbAnchorTable* table, const tbAnchor* anchor);

// The anchor of `key`, or NULL.
const tbAnchor* tb_anchors_get(const tbAnchorTable* table, uint64_t key);

#endif
