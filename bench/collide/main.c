// tribo bench collide: nanoseconds per pair of shapes, ours and the peers' in one run, and the
// broad phase from 100 to 20,000 bodies with its fitted exponent.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/rng.h"
#include "collide/hull/hull.h"
#include "collide/peers.h"
#include "common/bench.h"

#define MAX_PEERS 7
#define OURS 3  // the first three peers are our own

typedef struct {
  const PairPeer* peer;
  void* objects;
  long count;
} Runner;

static void run_batch(void* context) {
  Runner* runner = (Runner*)context;
  runner->count = runner->peer->run(runner->objects);
}

// Best of interleaved measurements of all peers, so that a busy machine hurts all alike.
static void time_batch(const Batch* batch, const PairPeer* const* peers, int npeer, int rounds,
                       double* ns, long* counts) {
  Runner runners[MAX_PEERS];
  for (int p = 0; p < npeer; p++) {
    runners[p].peer = peers[p];
    runners[p].objects = peers[p]->make(batch);
    ns[p] = runners[p].objects ? INFINITY : NAN;
    counts[p] = 0;
  }
  for (int round = 0; round < rounds; round++) {
    for (int p = 0; p < npeer; p++) {
      if (!runners[p].objects) continue;
      // Once without the clock: the one before has left its own things in the caches.
      run_batch(&runners[p]);
      double seconds = tb_bench_seconds(run_batch, NULL, &runners[p], 1, 2e-4);
      ns[p] = fmin(ns[p], 1e9 * seconds / BATCH);
      counts[p] = runners[p].count;
    }
  }
  for (int p = 0; p < npeer; p++) {
    if (runners[p].objects) peers[p]->drop(runners[p].objects);
  }
}

typedef struct {
  tbBench* bench;
  tbTable* table;
  const PairPeer* peers[MAX_PEERS];
  int npeer, rounds;
  int wins, cells;
  int done, total;
} PairBench;

static void bench_pair(PairBench* b, int type_a, int type_b, const tbHull* hull,
                       const tbHField* hfield) {
  static Batch batch;
  for (int regime = 0; regime < NREGIMES; regime++) {
    char name[64];
    b->done++;
    if (!batch_fill(&batch, type_a, type_b, hull, hfield, (Regime)regime, 0)) continue;
    snprintf(name, sizeof(name), batch.mesh_size ? "%s-%s%d" : "%s-%s", tb_geom_type_name(type_a),
             tb_geom_type_name(type_b), batch.mesh_size);
    tb_bench_progress(b->bench, b->done, b->total, name);
    double ns[MAX_PEERS], best = INFINITY;
    long counts[MAX_PEERS];
    time_batch(&batch, b->peers, b->npeer, b->rounds, ns, counts);
    tb_table_row(b->table);
    tb_table_text(b->table, "pair", name);
    tb_table_text(b->table, "regime", regime_name((Regime)regime));
    for (int p = 0; p < b->npeer; p++) {
      if (isnan(ns[p])) continue;
      tb_table_real(b->table, b->peers[p]->name, ns[p]);
      if (p >= OURS) best = fmin(best, ns[p]);
    }
    // Peers mostly give one contact where a face touches a face: what each returned.
    for (int p = 0; p < b->npeer; p++) {
      char column[48];
      snprintf(column, sizeof(column), "%s_contacts", b->peers[p]->name);
      bool shown = p == 0 || p >= OURS;
      if (shown && !isnan(ns[p])) tb_table_real(b->table, column, (double)counts[p] / BATCH);
    }
    if (isfinite(best)) {
      tb_table_real(b->table, "best_peer/tribo", best / ns[0]);
      b->wins += ns[0] < best;
      b->cells++;
    }
  }
}

// A hull of about `count` points on an ellipsoid, the points as MuJoCo keeps them.
static bool make_hull(tbHull* hull, tbArena* arena, int count) {
  tbReal *points = malloc(3 * (size_t)count * sizeof(tbReal)),
         *kept = malloc(3 * (size_t)count * sizeof(tbReal));
  tbRng rng = {7};
  static const tbReal radius[3] = {0.35, 0.3, 0.25};
  for (int i = 0; i < count; i++) {
    tbReal d[3];
    tb_rng_normals(&rng, 3, d);
    tb_normalize3(d);
    for (int k = 0; k < 3; k++) points[3 * i + k] = radius[k] * d[k];
  }
  tbError error;
  count = mujoco_mesh_points(points, count, kept);
  bool ok = tb_hull_build(hull, arena, kept, count, 0, NULL, &error) == TB_OK;
  if (!ok) fprintf(stderr, "hull: %s\n", error.message);
  free(points);
  free(kept);
  return ok;
}

static void make_terrain(tbHField* field, tbReal* data) {
  field->nrow = field->ncol = 50;
  field->size[0] = field->size[1] = 3;
  field->size[2] = 0.3;
  field->size[3] = 0.2;
  for (int i = 0; i < 2500; i++) {
    data[i] = 0.5 + 0.25 * (sin(0.4 * (i % 50)) + sin(0.3 * (i / 50)));
  }
  field->data = data;
}

// The large mesh against the cheapest smooth support function, spheres as ellipsoids with equal
// radii, which no closed form takes. Cold and as a step does, from the last direction and with a
// small motion: whole queries (the spheres' climb ends after a step or two, the meshes' answer is a
// manifold), and the distance by GJK alone, where the same iteration asks both support functions;
// cold, that is also asked from a direction that has nothing to do with the pair, since the one
// from centre to centre is a sphere's answer already.
static void bench_sphere_support(PairBench* b, const tbHull* hull) {
  enum { WAYS = 5 };
  static Batch spheres, meshes;
  const PairPeer* all[WAYS] = {peer_tribo(), peer_tribo_warm(), peer_gjk(), peer_gjk_warm(),
                               peer_gjk_blind()};
  static const char* const names[WAYS] = {"query", "query_warm", "gjk", "gjk_warm", "gjk_blind"};
  tbTable* table = tb_bench_table(b->bench, "mesh1000_vs_sphere_support");
  for (int regime = 0; regime < NREGIMES; regime++) {
    double sphere[MAX_PEERS], mesh[MAX_PEERS], ns[MAX_PEERS];
    long counts[MAX_PEERS];
    int round = TB_GEOM_ELLIPSOID;
    if (!batch_fill(&spheres, round, round, hull, NULL, (Regime)regime, 0.3)) return;
    if (!batch_fill(&meshes, TB_GEOM_MESH, TB_GEOM_MESH, hull, NULL, (Regime)regime, 0)) return;
    for (int way = 0; way < WAYS; way++) sphere[way] = mesh[way] = INFINITY;
    // In turns, so that a machine whose speed changes changes both.
    for (int turn = 0; turn < 5; turn++) {
      time_batch(&spheres, all, WAYS, b->rounds / 5, ns, counts);
      for (int way = 0; way < WAYS; way++) sphere[way] = fmin(sphere[way], ns[way]);
      time_batch(&meshes, all, WAYS, b->rounds / 5, ns, counts);
      for (int way = 0; way < WAYS; way++) mesh[way] = fmin(mesh[way], ns[way]);
    }
    for (int way = 0; way < WAYS; way++) {
      tb_table_row(table);
      tb_table_text(table, "regime", regime_name((Regime)regime));
      tb_table_text(table, "way", names[way]);
      tb_table_real(table, "sphere", sphere[way]);
      tb_table_real(table, "mesh", mesh[way]);
      tb_table_real(table, "mesh/sphere", mesh[way] / sphere[way]);
    }
  }
}

static void bench_pairs(tbBench* bench, const char* only) {
  PairBench b = {.bench = bench, .table = tb_bench_table(bench, "pairs")};
  const PairPeer* all[MAX_PEERS] = {peer_tribo(),  peer_tribo_warm(), peer_tribo_public(),
                                    peer_mujoco(), peer_ccd(),        peer_fcl(),
                                    peer_bullet()};
  for (int p = 0; p < MAX_PEERS; p++) {
    if (all[p]) b.peers[b.npeer++] = all[p];
  }
  b.rounds = tb_bench_short(bench) ? 5 : 40;
  tbArena arena;
  tb_arena_init(&arena);
  tbHull small, large;
  bool have_hulls = make_hull(&small, &arena, 50) && make_hull(&large, &arena, 1000);
  static tbReal terrain[2500];
  tbHField field;
  make_terrain(&field, terrain);
  b.total = NREGIMES * (TB_NGEOMTYPES * (TB_NGEOMTYPES + 1) / 2 + 1);
  for (int i = 0; i < TB_NGEOMTYPES; i++) {
    for (int j = i; j < TB_NGEOMTYPES; j++) {
      char name[64];
      snprintf(name, sizeof(name), "%s-%s", tb_geom_type_name(i), tb_geom_type_name(j));
      bool wanted = !only || strcmp(only, name) == 0;
      if (!wanted || ((i == TB_GEOM_MESH || j == TB_GEOM_MESH) && !have_hulls)) continue;
      bench_pair(&b, i, j, &small, &field);
      if (i == TB_GEOM_MESH) bench_pair(&b, i, j, &large, &field);
    }
  }
  if (have_hulls && (!only || strcmp(only, "sphere-support") == 0))
    bench_sphere_support(&b, &large);
  tb_bench_note(bench,
                "tribo is fastest in %d of %d cells (ns per pair, best of %d interleaved rounds)",
                b.wins, b.cells, b.rounds);
  tb_arena_free(&arena);
}

// ---- broad phase

// `count` boxes of mixed sizes at constant density, moving.
typedef struct {
  int count;
  tbReal *boxes, *center, *velocity, *half;
  tbReal side;
} Crowd;

static Crowd make_crowd(int count) {
  size_t n = (size_t)count;
  Crowd c = {.count = count,
             .boxes = calloc(6 * n, sizeof(tbReal)),
             .center = calloc(3 * n, sizeof(tbReal)),
             .velocity = calloc(3 * n, sizeof(tbReal)),
             .half = calloc(3 * n, sizeof(tbReal)),
             .side = cbrt((double)count)};
  tbRng rng = {9};
  for (int i = 0; i < 3 * count; i++) {
    c.center[i] = tb_rng_uniform(&rng, 0, c.side);
    c.velocity[i] = tb_rng_normal(&rng);
    c.half[i] = tb_rng_uniform(&rng, 0.3, 0.7);
  }
  return c;
}

// One step of 5 ms at about 1 m/s, reflected at the walls.
static void move_crowd(Crowd* c) {
  for (int i = 0; i < 3 * c->count; i++) {
    c->center[i] += 0.005 * c->velocity[i];
    if (c->center[i] < 0 || c->center[i] > c->side) c->velocity[i] = -c->velocity[i];
    int item = i / 3, k = i % 3;
    c->boxes[6 * item + k] = c->center[i] - c->half[i];
    c->boxes[6 * item + 3 + k] = c->center[i] + c->half[i];
  }
}

static void free_crowd(Crowd* c) {
  free(c->boxes);
  free(c->center);
  free(c->velocity);
  free(c->half);
}

// Processor time of this thread: a step of milliseconds on a busy machine would else be
// interrupted.
static double processor_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Median seconds of one update of all boxes, the pairs it found, and the memory it holds.
static double time_broad(const BroadPeer* peer, int count, int steps, long* pairs, size_t* bytes) {
  Crowd crowd = make_crowd(count);
  move_crowd(&crowd);
  void* broad = peer->make(crowd.boxes, count);
  double* seconds = malloc((size_t)steps * sizeof(double));
  for (int s = 0; s < steps + 10; s++) {
    move_crowd(&crowd);
    double start = processor_seconds();
    *pairs = peer->update(broad, crowd.boxes);
    if (s >= 10) seconds[s - 10] = processor_seconds() - start;
  }
  double median = tb_bench_median(seconds, steps);
  *bytes = peer->bytes ? peer->bytes(broad) : 0;
  peer->drop(broad);
  free(seconds);
  free_crowd(&crowd);
  return median;
}

static void bench_broad(tbBench* bench) {
  static const int counts[] = {100, 200, 500, 1000, 2000, 5000, 10000, 20000};
  enum { NCOUNTS = sizeof(counts) / sizeof(counts[0]) };
  const BroadPeer* all[3] = {broad_tribo(), broad_fcl(), broad_bullet()};
  double x[NCOUNTS], y[3][NCOUNTS], memory[NCOUNTS];
  tbTable* table = tb_bench_table(bench, "broadphase");
  for (int c = 0; c < NCOUNTS; c++) {
    tb_bench_progress(bench, c, NCOUNTS, "broad phase");
    tb_table_row(table);
    tb_table_int(table, "bodies", counts[c]);
    x[c] = counts[c];
    for (int p = 0; p < 3; p++) {
      if (!all[p]) continue;
      char column[32];
      long pairs = 0;
      int steps = tb_bench_short(bench) ? 10 : 100;
      size_t bytes = 0;
      y[p][c] = time_broad(all[p], counts[c], steps, &pairs, &bytes);
      snprintf(column, sizeof(column), "%s_us", all[p]->name);
      tb_table_real(table, column, 1e6 * y[p][c]);
      snprintf(column, sizeof(column), "%s_pairs", all[p]->name);
      tb_table_int(table, column, pairs);
      if (bytes == 0) continue;
      memory[c] = (double)bytes;
      tb_table_real(table, "tribo_bytes_per_body", (double)bytes / counts[c]);
    }
  }
  tb_bench_progress(bench, NCOUNTS, NCOUNTS, "broad phase");
  double nlogn[NCOUNTS];
  for (int c = 0; c < NCOUNTS; c++) nlogn[c] = x[c] * log(x[c]);
  tb_bench_note(bench, "fitted over the same bodies, n log n has exponent %.3f",
                tb_bench_exponent(x, nlogn, NCOUNTS));
  tb_bench_note(bench, "broad phase tribo: memory ~ n^%.3f", tb_bench_exponent(x, memory, NCOUNTS));
  for (int p = 0; p < 3; p++) {
    if (!all[p]) continue;
    tb_table_row(table);
    tb_table_text(table, "bodies", "exponent");
    char column[32];
    snprintf(column, sizeof(column), "%s_us", all[p]->name);
    tb_table_real(table, column, tb_bench_exponent(x, y[p], NCOUNTS));
    double rest[NCOUNTS];
    for (int c = 0; c < NCOUNTS; c++) rest[c] = y[p][c] / nlogn[c];
    tb_bench_note(bench, "broad phase %s: time ~ n^%.3f, time / (n log n) ~ n^%.3f", all[p]->name,
                  tb_bench_exponent(x, y[p], NCOUNTS), tb_bench_exponent(x, rest, NCOUNTS));
  }
}

int main(int argc, char** argv) {
  tbBench* bench = tb_bench_open("collide", argc, argv);
  if (!bench) return 2;
  const char* only = tb_bench_option(bench, "pair", NULL);
  bool no_broad = tb_bench_flag(bench, "no-broadphase"),
       no_pairs = tb_bench_flag(bench, "no-pairs");
  if (!tb_bench_check_arguments(bench)) return 2;
  if (!no_pairs) bench_pairs(bench, only);
  if (!no_broad && !only) bench_broad(bench);
  return tb_bench_close(bench);
}
