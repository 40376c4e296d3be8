#include "linalg/blocklu.h"

#include <string.h>

#include "linalg/frontal.h"

// ---- factorization -----------------------------------------------------------------------------

// Assemble the original blocks and those of C into the front of supernode `s`.
static void assemble(const tbBlockLu* lu, int s, const tbReal* value, const tbReal* diagonal,
                     tbReal* front) {
  const tbSupernode* node = &lu->node[s];
  int size = node->width + node->below;
  memset(front, 0, (size_t)size * (size_t)size * sizeof *front);
  for (int e = node->entry_begin; e < node->entry_end; e++) {
    const tbFrontalEntry* entry = &lu->entry[e];
    const tbReal* block = value + lu->pattern.offset[entry->block];
    int rows = lu->row_dim[e], cols = lu->col_dim[e];
    tbReal* to = front + (size_t)entry->row * (size_t)size + entry->col;
    for (int r = 0; r < rows; r++) {
      for (int c = 0; c < cols; c++) to[(size_t)r * (size_t)size + c] += block[r * cols + c];
    }
    if (!entry->both) continue;
    to = front + (size_t)entry->col * (size_t)size + entry->row;
    for (int c = 0; c < cols; c++) {
      for (int r = 0; r < rows; r++) to[(size_t)c * (size_t)size + r] += block[r * cols + c];
    }
  }
  for (int k = lu->first_diagonal[s]; k < lu->first_diagonal[s + 1]; k++) {
    int i = lu->diagonal_order[k], d = lu->pattern.dim[i], place = lu->diagonal_place[i];
    const tbReal* block = diagonal + lu->diagonal_front[i];
    for (int r = 0; r < d; r++) {
      for (int c = 0; c < d; c++) {
        front[(size_t)(place + r) * (size_t)size + place + c] += block[r * d + c];
      }
    }
  }
}

// Add the Schur complement of a child.
static void extend_add(const tbBlockLu* lu, const tbSupernode* child, const tbReal* schur, int size,
                       tbReal* front) {
  const int* map = lu->map + child->index;
  int n = child->below;
  for (int r = 0; r < n; r++) {
    tbReal* to = front + (size_t)map[r] * (size_t)size;
    const tbReal* from = schur + (size_t)r * (size_t)n;
    for (int c = 0; c < n; c++) to[map[c]] += from[c];
  }
}

int tb_block_lu_factor(tbBlockLu* lu, const tbReal* value, const tbReal* diagonal, tbReal floor) {
  int replaced = 0;
  size_t top = 0;   // used part of the stack
  int waiting = 0;  // pending supernodes, with a Schur complement on the stack
  int* pending = lu->below_rows + lu->node[lu->supernodes].index;
  for (int s = 0; s < lu->supernodes; s++) {
    const tbSupernode* node = &lu->node[s];
    int size = node->width + node->below, width = node->width, below = node->below;
    tbReal* front = lu->front;
    assemble(lu, s, value, diagonal, front);
    // In postorder the children are the last pending supernodes.
    while (waiting > 0 && lu->node[pending[waiting - 1]].parent == s) {
      const tbSupernode* child = &lu->node[pending[--waiting]];
      top -= (size_t)child->below * (size_t)child->below;
      extend_add(lu, child, lu->stack + top, size, front);
    }
    replaced += tb_frontal_factor(size, width, front, lu->pivot + node->first, floor);

    // Store the factor; push the Schur complement on the stack.
    tbReal* factor = lu->factors + node->factor;
    memcpy(factor, front, (size_t)width * (size_t)size * sizeof *factor);
    factor += (size_t)width * (size_t)size;
    for (int r = 0; r < below; r++) {
      const tbReal* row = front + (size_t)(width + r) * (size_t)size;
      memcpy(factor + (size_t)r * (size_t)width, row, (size_t)width * sizeof *factor);
      memcpy(lu->stack + top + (size_t)r * (size_t)below, row + width,
             (size_t)below * sizeof *factor);
    }
    if (below > 0) {
      pending[waiting++] = s;
      top += (size_t)below * (size_t)below;
    }
  }
  return replaced;
}

// ---- solution ----------------------------------------------------------------------------------

static void forward(const tbBlockLu* lu, const tbSupernode* node, tbReal* x) {
  int width = node->width, below = node->below, size = width + below;
  const tbReal* top = lu->factors + node->factor;
  const tbReal* low = top + (size_t)width * (size_t)size;
  tbReal* y = x + node->first;
  for (int k = 0; k < width; k++) {
    int p = lu->pivot[node->first + k];
    if (p != k) {
      tbReal t = y[k];
      y[k] = y[p];
      y[p] = t;
    }
  }
  for (int k = 1; k < width; k++) {
    const tbReal* row = top + (size_t)k * (size_t)size;
    tbReal sum = 0;
    for (int j = 0; j < k; j++) sum += row[j] * y[j];
    y[k] -= sum;
  }
  const int* rows = lu->below_rows + node->index;
  for (int r = 0; r < below; r++) {
    const tbReal* row = low + (size_t)r * (size_t)width;
    tbReal sum = 0;
    for (int j = 0; j < width; j++) sum += row[j] * y[j];
    x[rows[r]] -= sum;
  }
}

static void backward(const tbBlockLu* lu, const tbSupernode* node, tbReal* x) {
  int width = node->width, below = node->below, size = width + below;
  const tbReal* top = lu->factors + node->factor;
  const int* rows = lu->below_rows + node->index;
  tbReal* y = x + node->first;
  for (int k = width - 1; k >= 0; k--) {
    const tbReal* row = top + (size_t)k * (size_t)size;
    tbReal sum = y[k];
    for (int j = k + 1; j < width; j++) sum -= row[j] * y[j];
    for (int r = 0; r < below; r++) sum -= row[width + r] * x[rows[r]];
    y[k] = sum / row[k];
  }
}

void tb_block_lu_solve(const tbBlockLu* lu, tbReal* x) {
  tbReal* y = lu->work;
  for (int i = 0; i < lu->size; i++) y[lu->position[i]] = x[i];
  for (int s = 0; s < lu->supernodes; s++) forward(lu, &lu->node[s], y);
  for (int s = lu->supernodes - 1; s >= 0; s--) backward(lu, &lu->node[s], y);
  for (int i = 0; i < lu->size; i++) x[i] = y[lu->position[i]];
}
