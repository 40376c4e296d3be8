// One island of the exponential integrator: its springs' rows as oscillators, which of them act and
// how. Shared by the step (expo.c) and its derivatives (deriv_expo_island.c).
#ifndef TRIBO_LAWS_VISCOELASTIC_EXPO_SYSTEM_H_
#define TRIBO_LAWS_VISCOELASTIC_EXPO_SYSTEM_H_

#include <stdbool.h>

#include "linalg/oscillator.h"
#include "world/state.h"

// What a constraint does over the step.
typedef enum {
  TB_ROWS_OFF,    // no force: it would pull
  TB_ROWS_STICK,  // every row is a spring and damper
  TB_ROWS_SLIP,   // the normal row is; friction is at the cone's boundary, against the slip
  TB_ROWS_FIXED,  // dry friction of a joint at its bound: a constant force
} tbRowState;

typedef struct {
  const tbModel* m;
  tbData* d;
  const tbConstraints* cs;
  const tbSpring* const* spring;  // by constraint, NULL where it does not act
  const tbReal* qacc_free;
  tbStepState* state;
  tbReal* backed;  // J by constraint: what bodies gave its springs, after the step
  tbReal* slid;    // m or rad by row: what anchors keep besides the stretch at the start
  tbReal* turn;    // rad by constraint: how far friction may turn what slips in a step
  tbReal* event;   // s: where not NULL, gets the time of the first event within the step
} tbExpoContext;

// One island's rows, all that act, and the oscillators made of them.
typedef struct {
  int nmember;
  const int* member;          // constraints
  int n;                      // rows that act
  int* row;                   // their rows in the island
  tbReal *K, *B, *p, *v, *a;  // n each
  tbReal* load;               // of a, without dJ/dt v
  tbReal* Y;                  // n x n
  int* state;                 // tbRowState by member
  int* settled;               // by member: 1 once it has given way, which is final
  tbReal* friction;           // by row: force per normal force while slipping
  int kept;                   // rows of the oscillators
  int* keep;                  // which of the n
  tbReal *Yk, *Kk, *Bk, *pk, *vk, *ak;
  tbReal *first, *second;        // integrals, by row of the n
  tbReal *part1, *part2, *work;  // of the kept rows
  tbReal* end;                   // stretch and rate of the kept rows at the end, 2 n
  int* iwork;
  int rank;              // of Y at most: dofs of the island
  const tbDelassus* G;   // the island's, where its factors are to be used, else NULL
  tbReal *left, *right;  // of Yk: kept x rank each
} tbExpoSystem;

// Passes over the island at most: each constraint changes once.
enum { TB_EXPO_PASSES = 5 };

// Share of dJ/dt v that counts for the points of a body: all of it up to TB_EXPO_TURN rad in a
// step, from then on so that it grows no further. Held over a step in which a leg turns by more, it
// is no acceleration that any of its points has (300 rad/s at 5 ms: 70 m/s into the floor).
#define TB_EXPO_TURN 0.5
tbReal tb_expo_drift_fade(const tbModel* model, const tbData* data, int body);

// Room for an island of `nrow` rows. False when out of memory.
bool tb_expo_allocate(tbArena* arena, int nmember, int nrow, tbExpoSystem* s);

// Rows of the constraints that act: stretch, rate, load (EXP eq. 11), and which contacts slip.
void tb_expo_gather(const tbExpoContext* x, tbExpoSystem* s);

// Rows of a member that are oscillators.
static inline int tb_expo_kept(int state, int dim) {
  return state == TB_ROWS_STICK ? dim : state == TB_ROWS_SLIP;
}

// The oscillators of the kept rows; true where their Y is not symmetric.
bool tb_expo_reduce(const tbExpoContext* x, tbExpoSystem* s);

// They as linalg knows them.
static inline tbOscillator tb_expo_oscillator(const tbExpoSystem* s, bool general) {
  tbOscillator o = {.n = s->kept,
                    .Y = s->Yk,
                    .K = s->Kk,
                    .B = s->Bk,
                    .p = s->pk,
                    .v = s->vk,
                    .a = s->ak,
                    .general = general,
                    .rank = s->rank,
                    .left = s->left,
                    .right = s->right};
  return o;
}

// Integrals of all rows' forces from those of the kept ones.
void tb_expo_expand(const tbExpoContext* x, tbExpoSystem* s, tbReal h);

// Both integrals over a time h, from the rows' states, and where something slips or events are
// wanted the kept rows' stretch and rate then (s->end). False where they are not finite.
bool tb_expo_integrate(const tbExpoContext* x, tbExpoSystem* s, tbReal h);

// Whether member k, whose rows start at i and which slips at the start, would slip backwards at h.
bool tb_expo_turns(const tbExpoSystem* s, int k, const tbSpring* spring, int i, tbReal h);

// After tb_expo_integrate: where a force leaves its limits or a slip turns around within
// the step, the time of the first such event into *x->event, if that is earlier than what is there.
// Leaves the rows and their integrals as they were.
void tb_expo_locate(const tbExpoContext* x, tbExpoSystem* s, tbReal h);

// Contacts that would pull over the step let go, constraints whose friction is not enough slip,
// those whose slip would turn around stick: each at most once. Returns 1 where one changed.
int tb_expo_revise(const tbExpoContext* x, tbExpoSystem* s, tbReal h);

#endif
