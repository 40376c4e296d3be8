// The families of hard_problems.h.
#include <math.h>

#include "base/elementary.h"
#include "common/hard_problems.h"

static const tbReal UP[3] = {0, 0, 1};

static int pick(tbHardScene* s, int low, int high) {
  return low + tb_rng_int(s->rng, high - low + 1);
}

static tbReal uniform(tbHardScene* s, tbReal low, tbReal high) {
  return tb_rng_uniform(s->rng, low, high);
}

// 10^x for x uniform.
static tbReal decades(tbHardScene* s, tbReal low, tbReal high) {
  return tb_pow(10, uniform(s, low, high));
}

// The four corners of a horizontal rectangle.
static void face(tbHardScene* s, int a, int b, const tbReal centre[3], tbReal half_x, tbReal half_y,
                 tbReal mu) {
  for (int k = 0; k < 4; k++) {
    tbReal point[3] = {centre[0] + (k & 1 ? half_x : -half_x),
                       centre[1] + (k & 2 ? half_y : -half_y), centre[2]};
    tb_hard_add_contact(s, a, b, point, UP, mu);
  }
}

// A column of boxes, masses in geometric progression up or down, or light ones under a heavy one.
static void stack(tbHardScene* s, int size) {
  static const int most[] = {7, 25, 250};
  int boxes = pick(s, size == 0 ? 1 : most[size] / 3, most[size]), kind = pick(s, 0, 2);
  tbReal ratio = decades(s, 0, 6), mu = uniform(s, 0.1, 0.9), one[3] = {1, 1, 1};
  tbReal jitter = pick(s, 0, 1) ? uniform(s, 0, 0.2) : 0, x = 0, y = 0;
  for (int k = 0; k < boxes; k++) {
    tbReal part = boxes > 1 ? (tbReal)k / (boxes - 1) : 0;
    tbReal mass = kind == 0   ? tb_pow(ratio, part)
                  : kind == 1 ? tb_pow(ratio, 1 - part)
                              : (k == boxes - 1 ? ratio : 1);
    tbReal before[2] = {x, y};
    x = uniform(s, -jitter, jitter);
    y = uniform(s, -jitter, jitter);
    tbReal centre[3] = {x, y, k + 0.5};
    int body = tb_hard_add_body(s, mass, one, centre);
    // The overlap with the box below.
    tbReal dx = k ? fabs(x - before[0]) : 0, dy = k ? fabs(y - before[1]) : 0;
    tbReal middle[3] = {k ? 0.5 * (x + before[0]) : x, k ? 0.5 * (y + before[1]) : y, k};
    face(s, k ? body - 1 : -1, body, middle, 0.5 * (1 - dx), 0.5 * (1 - dy), mu);
  }
}

// A square pyramid: every box rests on four.
static void pyramid(tbHardScene* s, int size) {
  static const int low[] = {2, 3, 6}, high[] = {2, 5, 8};
  int base = pick(s, low[size], high[size]), first = 0;
  tbReal mu = uniform(s, 0.2, 0.8), one[3] = {1, 1, 1};
  tbReal gap = pick(s, 0, 1) ? uniform(s, 0, 0.05) : 0, pitch = 1 + gap;
  for (int layer = 0; layer < base; layer++) {
    int side = base - layer, below = first;
    first = s->body_count;
    for (int i = 0; i < side * side; i++) {
      int ix = i % side, iy = i / side;
      tbReal centre[3] = {pitch * (ix + 0.5 * layer), pitch * (iy + 0.5 * layer), layer + 0.5};
      int body = tb_hard_add_body(s, 1, one, centre);
      if (layer == 0) {
        tbReal foot[3] = {centre[0], centre[1], 0};
        face(s, -1, body, foot, 0.5, 0.5, mu);
      }
      for (int k = 0; k < 4 && layer > 0; k++) {
        int under = below + (ix + (k & 1)) + (iy + (k >> 1)) * (side + 1);
        tbReal step = 0.5 * pitch, half = 0.5 * (1 - step);
        tbReal spot[3] = {centre[0] + (k & 1 ? 0.5 : -0.5) * step,
                          centre[1] + (k >> 1 ? 0.5 : -0.5) * step, layer};
        face(s, under, body, spot, half, half, mu);
      }
    }
  }
}

// Bricks in running bond, touching sideways, hit by a heavy ball.
static void wall(tbHardScene* s, int size) {
  static const int high[] = {3, 7, 16};
  int rows = pick(s, size == 0 ? 2 : high[size] / 2, high[size]), wide = rows;
  tbReal mu = uniform(s, 0.3, 0.8), brick[3] = {2, 1, 1}, ahead[3] = {1, 0, 0};
  int previous = 0, previous_count = 0;
  for (int row = 0; row < rows; row++) {
    int count = row % 2 ? wide - 1 : wide, first = s->body_count;
    for (int k = 0; k < count; k++) {
      tbReal centre[3] = {2 * k + (row % 2 ? 1.0 : 0), 0, row + 0.5};
      int body = tb_hard_add_body(s, 2, brick, centre);
      tbReal foot[3] = {centre[0], 0, row};
      if (row == 0) face(s, -1, body, foot, 1, 0.5, mu);
      for (int j = 0; j < previous_count && row > 0; j++) {
        tbReal away = s->body[previous + j].position[0] - centre[0];
        if (fabs(away) > 1.5) continue;
        tbReal spot[3] = {centre[0] + 0.5 * away, 0, row};
        face(s, previous + j, body, spot, 0.5, 0.5, mu);
      }
      for (int c = 0; c < 4 && k > 0; c++) {
        tbReal spot[3] = {centre[0] - 1, c & 1 ? 0.5 : -0.5, row + (c & 2 ? 0.9 : 0.1)};
        tb_hard_add_contact(s, body - 1, body, spot, ahead, mu);
      }
    }
    previous = first;
    previous_count = count;
  }
  tbReal across[3] = {0, 1, 0}, ball[3] = {1, 1, 1};
  int target = tb_rng_int(s->rng, s->body_count);
  tbReal at[3] = {s->body[target].position[0], -1.5, s->body[target].position[2]};
  int body = tb_hard_add_body(s, decades(s, 0, 3), ball, at);
  s->body[body].velocity[1] = uniform(s, 1, 10);
  at[1] = -0.5;
  tb_hard_add_contact(s, body, target, at, across, mu);
}

// Tables on many legs, one on the other, some loaded.
static void tables(tbHardScene* s, int size) {
  static const int legs_most[] = {12, 40, 200};
  int levels = pick(s, 1, size + 2);
  tbReal top[3] = {2, 2, 0.5}, mu = uniform(s, 0.2, 1.2);
  for (int k = 0; k < levels; k++) {
    tbReal centre[3] = {0, 0, k + 0.5};
    int legs = pick(s, 3, legs_most[size] / levels + 3);
    int body = tb_hard_add_body(s, decades(s, -2, 3), top, centre);
    for (int i = 0; i < legs; i++) {
      tbReal foot[3] = {uniform(s, -1, 1), uniform(s, -1, 1), k};
      tb_hard_add_contact(s, body - 1, body, foot, UP, mu);
    }
  }
}

// A round arch of wedges between two abutments: every joint is a plane with four contacts.
static void arch(tbHardScene* s, int size) {
  static const int most[] = {6, 25, 150};
  int blocks = pick(s, size == 0 ? 3 : most[size] / 2, most[size]);
  tbReal mu = uniform(s, 0.5, 1), radius = 5, thick = uniform(s, 0.5, 1.5);
  tbReal length = 3.141592653589793 * radius / blocks, size3[3] = {length, 1, thick};
  for (int k = 0; k <= blocks; k++) {
    tbReal angle = 3.141592653589793 * k / blocks, middle = angle + 0.5 * length / radius;
    int body = k - 1;
    if (k < blocks) {
      tbReal centre[3] = {-radius * tb_cos(middle), 0, radius * tb_sin(middle)};
      body = tb_hard_add_body(s, uniform(s, 0.5, 2), size3, centre);
    }
    tbReal normal[3] = {tb_sin(angle), 0, tb_cos(angle)},
           back[3] = {-tb_sin(angle), 0, -tb_cos(angle)};
    for (int c = 0; c < 4; c++) {
      tbReal r = radius + (c & 1 ? 0.5 : -0.5) * thick;
      tbReal point[3] = {-r * tb_cos(angle), c & 2 ? 0.5 : -0.5, r * tb_sin(angle)};
      if (k == blocks) {
        tb_hard_add_contact(s, -1, body, point, back, mu);
      } else {
        tb_hard_add_contact(s, k ? body - 1 : -1, body, point, normal, mu);
      }
    }
  }
}

// A hanging chain: each link rests in the one above, the last one is heavy.
static void chain(tbHardScene* s, int size) {
  static const int most[] = {10, 60, 600};
  int links = pick(s, size == 0 ? 2 : most[size] / 3, most[size]), points = pick(s, 1, 2);
  tbReal mu = uniform(s, 0.1, 0.6), link[3] = {0.3, 0.3, 1}, heavy = decades(s, 0, 4);
  for (int k = 0; k < links; k++) {
    tbReal centre[3] = {uniform(s, -0.05, 0.05), uniform(s, -0.05, 0.05), -k};
    int body = tb_hard_add_body(s, k == links - 1 ? heavy : 1, link, centre);
    for (int c = 0; c < points; c++) {
      tbReal lean = points == 1 ? uniform(s, -0.2, 0.2) : c ? 0.5 : -0.5;
      tbReal length = sqrt(1 + lean * lean), angle = k % 2 ? 1.5707963267948966 : 0;
      tbReal normal[3] = {tb_cos(angle) * lean / length, tb_sin(angle) * lean / length, 1 / length};
      tbReal point[3] = {-0.1 * tb_cos(angle) * lean, -0.1 * tb_sin(angle) * lean, 0.5 - k};
      tb_hard_add_contact(s, body - 1, body, point, normal, mu);
    }
  }
}

// Let unit spheres sink in a box without lid (walls at -0.5 and side - 0.5) and push each other
// apart, until they rest on each other about as a real pile does.
static void settle(tbHardScene* s, int side, int rounds) {
  tbReal last = side - 1;
  for (int round = 0; round < rounds; round++) {
    tbReal fall = round < rounds / 2 ? 0.02 : 0.02 * (rounds - round) / rounds;
    for (int b = 0; b < s->body_count; b++) s->body[b].position[2] -= fall;
    for (int sweep = 0; sweep < 2; sweep++) {
      for (int b = 0; b < s->body_count; b++) {
        tbReal* x = s->body[b].position;
        for (int a = 0; a < b; a++) {
          tbReal *y = s->body[a].position, d[3], square = 0;
          for (int k = 0; k < 3; k++) {
            d[k] = x[k] - y[k];
            square += d[k] * d[k];
          }
          if (!(square < 1) || square == 0) continue;
          tbReal distance = sqrt(square), push = 0.5 * (1 - distance) / distance;
          for (int k = 0; k < 3; k++) {
            x[k] += push * d[k];
            y[k] -= push * d[k];
          }
        }
        x[0] = fmax(0, fmin(last, x[0]));
        x[1] = fmax(0, fmin(last, x[1]));
        x[2] = fmax(0, x[2]);
      }
    }
  }
}

// Spheres piled up in a box.
static void pile(tbHardScene* s, int size, tbReal mass_decades, tbReal mu) {
  static const int sides[] = {2, 4, 8}, heights[] = {2, 7, 16};
  int side = size == 0 ? 2 : pick(s, sides[size] - 1, sides[size]);
  int layers = pick(s, (heights[size] + 1) / 2, heights[size]);
  tbReal one[3] = {1, 1, 1}, slack = decades(s, -3, -1.5);
  for (int z = 0; z < layers; z++) {
    for (int i = 0; i < side * side; i++) {
      tbReal centre[3] = {i % side, i / side, 1.1 * z};
      for (int k = 0; k < 3; k++) centre[k] += uniform(s, -0.3, 0.3);
      tb_hard_add_body(s, decades(s, -mass_decades, mass_decades), one, centre);
    }
  }
  settle(s, side, 30 * layers);
  for (int b = 0; b < s->body_count; b++) {
    const tbReal* x = s->body[b].position;
    tbReal floor[3] = {x[0], x[1], -0.5};
    if (x[2] < slack) tb_hard_add_contact(s, -1, b, floor, UP, mu);
    for (int k = 0; k < 2; k++) {
      tbReal in[3] = {k == 0, k == 1, 0}, out[3] = {-(tbReal)(k == 0), -(tbReal)(k == 1), 0};
      tbReal point[3] = {x[0], x[1], x[2]};
      point[k] += x[k] < 0.5 * side ? -0.5 : 0.5;
      if (x[k] < slack) tb_hard_add_contact(s, -1, b, point, in, mu);
      if (x[k] > side - 1 - slack) tb_hard_add_contact(s, -1, b, point, out, mu);
    }
    for (int a = 0; a < b; a++) {
      const tbReal* y = s->body[a].position;
      tbReal d[3] = {x[0] - y[0], x[1] - y[1], x[2] - y[2]}, point[3];
      tbReal distance = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      if (distance > 1 + slack) continue;
      for (int k = 0; k < 3; k++) {
        d[k] /= distance;
        point[k] = 0.5 * (x[k] + y[k]);
      }
      tb_hard_add_contact(s, a, b, point, d, mu);
      // Close, but not yet touching: the gap may close in this step.
      s->contact[s->contact_count - 1].gap_speed =
          fmax(0, distance - 1) / slack * uniform(s, 0, 1) * s->gravity * s->dt;
    }
  }
}

static void spheres(tbHardScene* s, int size) {
  pile(s, size, 0, uniform(s, 0.1, 0.9));
}

static void soup(tbHardScene* s, int size) {
  tbReal mu = uniform(s, 0.2, 0.8), mass_decades = uniform(s, 0.5, 2);
  pile(s, size, mass_decades, mu);
}

// Two planks a layer, directions alternating.
static void planks(tbHardScene* s, int size) {
  static const int most[] = {2, 12, 90};
  int layers = pick(s, size == 0 ? 1 : most[size] / 3, most[size]);
  tbReal mu = uniform(s, 0.2, 0.6), along = 11.7, across = 2.34, thick = 0.78;
  tbReal offset = 0.5 * (along - across);
  for (int k = 0; k < layers; k++) {
    bool turned = k % 2;
    tbReal length[3] = {turned ? across : along, turned ? along : across, thick};
    for (int side = 0; side < 2; side++) {
      tbReal shift = side ? offset : -offset, z = thick * k;
      tbReal centre[3] = {turned ? shift : 0, turned ? 0 : shift, z + 0.5 * thick};
      int body = tb_hard_add_body(s, 0.02, length, centre);
      tbReal foot[3] = {centre[0], centre[1], 0};
      if (k == 0) face(s, -1, body, foot, 0.5 * length[0], 0.5 * length[1], mu);
      for (int under = 0; under < 2 && k > 0; under++) {
        tbReal other = under ? offset : -offset;
        tbReal spot[3] = {turned ? shift : other, turned ? other : shift, z};
        face(s, 2 * (k - 1) + under, body, spot, 0.5 * across, 0.5 * across, mu);
      }
    }
  }
}

// Bodies and contacts at random: no order, any normal, several contacts between the same two.
static void graph(tbHardScene* s, int size) {
  static const int most[] = {8, 60, 600};
  int bodies = pick(s, size == 0 ? 1 : most[size] / 4, most[size]);
  int contacts = (int)(bodies * uniform(s, 0.5, 4)) + 1;
  tbReal spread = uniform(s, 0, 2), mu = uniform(s, 0.05, 1.5);
  for (int b = 0; b < bodies; b++) {
    tbReal size3[3], centre[3] = {0, 0, b};
    for (int k = 0; k < 3; k++) size3[k] = uniform(s, 0.2, 2);
    tb_rng_normals(s->rng, 2, centre);
    tb_hard_add_body(s, decades(s, -spread, spread), size3, centre);
  }
  for (int c = 0; c < contacts; c++) {
    int b = tb_rng_int(s->rng, bodies), a = b - pick(s, 1, 3);
    tbReal lift = uniform(s, -0.5, 1), angle = uniform(s, 0, 6.283185307179586);
    tbReal flat = sqrt(fmax(0, 1 - lift * lift)), point[3];
    tbReal normal[3] = {flat * tb_cos(angle), flat * tb_sin(angle), lift};
    for (int k = 0; k < 3; k++) point[k] = s->body[b].position[k] + uniform(s, -0.7, 0.7);
    tb_hard_add_contact(s, a < 0 ? -1 : a, b, point, normal, mu);
  }
}

// Any of the families before, with other coefficients.
static void any(tbHardScene* s, int size) {
  static const tbHardFill fills[] = {stack, pyramid, wall, tables, arch, chain, spheres, graph};
  fills[tb_rng_int(s->rng, 8)](s, size);
}

static void rough(tbHardScene* s, int size) {
  any(s, size);
  tbReal mu = decades(s, 0.5, 4);
  for (int i = 0; i < s->contact_count; i++) s->contact[i].mu[0] = s->contact[i].mu[1] = mu;
}

static void mixed_friction(tbHardScene* s, int size) {
  any(s, size);
  for (int i = 0; i < s->contact_count; i++) {
    tbReal mu = pick(s, 0, 9) ? decades(s, -3, 1.5) : 0;
    s->contact[i].mu[0] = s->contact[i].mu[1] = mu;
  }
}

// Cones of three, four and six rows with a coefficient per axis, one-sided rows, joints.
static void blocks(tbHardScene* s, int size) {
  any(s, size);
  for (int i = 0; i < s->contact_count; i++) {
    tbHardContact* c = &s->contact[i];
    int kind = pick(s, 0, 9);
    c->dim = kind < 4 ? 3 : kind < 6 ? 4 : kind < 8 ? 6 : 1;
    if (kind == 8) c->type = TB_BLOCK_ONE_SIDED;
    // Equalities between bodies may contradict each other only if they carry a velocity.
    if (kind == 9) {
      c->type = pick(s, 0, 3) ? TB_BLOCK_ONE_SIDED : TB_BLOCK_EQUALITY;
      if (c->type == TB_BLOCK_EQUALITY) c->gap_speed = 0;
    }
    for (int k = 0; k < 5; k++) c->mu[k] = k < 2 ? uniform(s, 0.1, 1) : decades(s, -3, -1);
  }
}

const tbHardFamily tb_hard_families[] = {
    {"stack", stack},     {"pyramid", pyramid}, {"wall", wall},
    {"tables", tables},   {"arch", arch},       {"chain", chain},
    {"spheres", spheres}, {"soup", soup},       {"planks", planks},
    {"graph", graph},     {"rough", rough},     {"mixed-friction", mixed_friction},
    {"blocks", blocks},
};
const int tb_hard_families_count = sizeof tb_hard_families / sizeof tb_hard_families[0];
