// The experiments of CF section IV: penetration, torsion and rolling, stability, cost of contacts,
// throughput of many worlds.
#ifndef TRIBO_BENCH_COMFREE_H_
#define TRIBO_BENCH_COMFREE_H_

#include <stdbool.h>
#include <stddef.h>

#include "common/bench.h"
#include "tribo/tribo.h"

// A scene as MJCF text; freed by the caller. NULL where a file is missing.
typedef struct {
  const char* name;
  char* text;
} Scene;

Scene scene_drop(void);     // five 5 x 5 layers of primitives over a box
Scene scene_small(void);    // three 2 x 2 layers: 12 primitives
Scene scene_hand(void);     // scenes/hand.xml
Scene scene_allegro(void);  // the Allegro of the models' folder with a cube of our hand's size

// Our model of a scene under a law; NULL with a message on stderr.
tbModel* scene_model(const Scene* scene, int law);

// Depths of overlapping contacts over all steps, m.
typedef struct {
  double sum, squares, worst;
  long count;
} Depths;
void depths_add(Depths* depths, double dist);
double depths_mean(const Depths* depths);
double depths_std(const Depths* depths);

// ctrl of a world in a block of steps: the key's plus uniform noise of +-0.5.
void random_command(const tbModel* model, int world, int block, double* ctrl);

// Results of one engine with many worlds.
typedef struct {
  bool ok;
  double rate;      // world-steps per second
  double contacts;  // per world
  double held;      // share of worlds that still hold the cube
} Throughput;

enum { BLOCK = 50 };  // steps between two commands
Throughput run_worlds(const Scene* scene, int law, int nworld, int nthread, int blocks);

// The same with MuJoCo, one mjData per thread. Not `ok` without MuJoCo.
Throughput peer_worlds(const tbModel* model, const Scene* scene, int nworld, int nthread,
                       int blocks);
bool peer_drop(const Scene* scene, int steps, Depths* depths);
const char* peer_version(void);

// Whether a cube at `pos` is still in the hand.
bool is_held(const double* pos);

// Seconds of a multi-threaded section on a machine that others use too: the smaller of wall time
// and processor time per thread.
double shared_seconds(tbClock start, int nthread);

void bench_penetration(tbBench* bench);
void bench_friction(tbBench* bench);
void bench_stability(tbBench* bench);
void bench_kernel(tbBench* bench);
void bench_contacts(tbBench* bench, int nthread);
// `only` > 0: that number of worlds instead of 256 to 4096.
void bench_throughput(tbBench* bench, int nthread, int only);

#endif
