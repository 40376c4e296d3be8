// Apply a force, save a snapshot in the middle of a run, and repeat the rest of it bit by bit.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tribo/tribo.h>

enum { STEPS = 500 };

// Step with a force along x on body 1; the normal force of the first contact goes to `force`.
static int run(const tbModel* m, tbData* d, tbReal force[STEPS]) {
  for (int i = 0; i < STEPS; i++) {
    d->xfrc_applied[6 * 1] = i < STEPS / 2 ? 6 : 0;  // N at the centre of mass of body 1
    if (tb_step(m, d) != TB_OK) return fprintf(stderr, "%s\n", d->message), 0;
    force[i] = d->ncon > 0 ? d->contact[0].force[0] : 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  tbError error;
  tbModel* m = tb_load(argc > 1 ? argv[1] : "scenes/stack.xml", NULL, &error);
  if (!m) return fprintf(stderr, "%s\n", error.message), 2;
  tbData *d = tb_data_new(m), *again = tb_data_new(m);
  static tbReal first[STEPS], second[STEPS];
  if (!d || !again || !run(m, d, first)) return 1;

  // State, inputs, and what a world remembers between steps, for instance impulses to start from.
  size_t size = tb_snapshot_size(m, d);
  void* bytes = malloc(size);
  if (!bytes || tb_snapshot_save(m, d, bytes, size) != TB_OK) return 1;
  if (!run(m, d, first)) return 1;

  // Another world continues from there.
  if (tb_snapshot_load(m, again, bytes, size, &error) != TB_OK) {
    return fprintf(stderr, "%s\n", error.message), 1;
  }
  if (!run(m, again, second)) return 1;
  int same = memcmp(first, second, sizeof first) == 0 &&
             memcmp(d->qpos, again->qpos, sizeof(tbReal) * (size_t)m->nq) == 0;
  printf("snapshot of %zu bytes; %d steps repeated, %s\n", size, STEPS,
         same ? "the same bits" : "with other bits");
  free(bytes);
  tb_data_free(d);
  tb_data_free(again);
  tb_model_free(m);
  return same ? 0 : 1;
}
