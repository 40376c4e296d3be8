#include "engines.h"

const char* engine_model_path;

int engine_moving_body(const tbModel* m, int body) {
  while (body > 0 && m->body_jntnum[body] == 0) body = m->body_parentid[body];
  return body;
}

int engine_pair_allowed(const tbModel* m, int body1, int body2) {
  int a = engine_moving_body(m, body1), b = engine_moving_body(m, body2);
  if (a == b) return 0;
  if (a > 0 && engine_moving_body(m, m->body_parentid[a]) == b && b > 0) return 0;
  if (b > 0 && engine_moving_body(m, m->body_parentid[b]) == a && a > 0) return 0;
  for (int i = 0; i < m->nexclude; i++) {
    int c = engine_moving_body(m, m->exclude_body1[i]),
        d = engine_moving_body(m, m->exclude_body2[i]);
    if ((a == c && b == d) || (a == d && b == c)) return 0;
  }
  return 1;
}
