// Questions about a pose without a step: rays, distances, pairs that are near, contacts.
#include <stdio.h>
#include <tribo/tribo.h>

typedef struct {
  const tbModel* model;
  tbData* data;
  int pairs;
} Near;

// Called for pairs of geoms that may touch and whose boxes are within 5 cm.
static int visit(void* user, int geom1, int geom2) {
  Near* near = user;
  tbReal points[6],
      distance = tb_geom_distance(near->model, near->data, geom1, geom2, 0.05, points);
  if (distance < 0.05) {
    printf("geoms %d and %d: %.4f m, nearest at height %.3f and %.3f m\n", geom1, geom2, distance,
           points[2], points[5]);
    near->pairs++;
  }
  return 0;  // 1 ends the visit
}

int main(int argc, char** argv) {
  tbError error;
  tbModel* m = tb_load(argc > 1 ? argv[1] : "scenes/stack.xml", NULL, &error);
  if (!m) return fprintf(stderr, "%s\n", error.message), 2;
  tbData* d = tb_data_new(m);
  tb_kinematics(m, d);  // poses of d->qpos

  // How high is what lies below (0, 0, 3)? The ray starts there and looks down.
  const tbReal from[3] = {0.01, 0.02, 3}, down[3] = {0, 0, -1};
  int geom;
  tbReal normal[3], depth = tb_ray(m, d, from, down, NULL, 1, -1, &geom, normal);
  if (depth < 0) return puts("nothing below"), 1;
  printf("geom %d is hit at height %.3f m, normal %.0f %.0f %.0f\n", geom, 3 - depth, normal[0],
         normal[1], normal[2]);

  Near near = {m, d, 0};
  if (tb_visit_pairs(m, d, 0.05, visit, &near) != TB_OK) return puts(d->message), 1;
  if (tb_find_contacts(m, d) != TB_OK) return puts(d->message), 1;
  printf("%d pairs are near, with %d contacts\n", near.pairs, d->ncon);

  // A wrong argument is named.
  int refused = tb_visit_pairs(m, d, -1, visit, &near) != TB_OK && puts(d->message) > 0;
  int good = refused && near.pairs > 0 && d->ncon > 0;
  tb_data_free(d);
  tb_model_free(m);
  return good ? 0 : 1;
}
