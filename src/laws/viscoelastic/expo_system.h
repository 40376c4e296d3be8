// One island of the exponential integrator: its springs' rows as oscillators, and the mode of each
// constraint. Shared by the step (expo.c) and its derivatives (expo_island_linearize.c).
#ifndef TRIBO_LAWS_VISCOELASTIC_EXPO_SYSTEM_H_
#define TRIBO_LAWS_VISCOELASTIC_EXPO_SYSTEM_H_

#include <stdbool.h>

#include "linalg/oscillator.h"
#include "laws/viscoelastic/state.h"

// Mode of a constraint over the step.
typedef enum {
  TB_ROWS_OFF,    // separated: no force, since it would pull
  TB_ROWS_STICK,  // every row is a spring and damper
  TB_ROWS_SLIP,   // the normal row is a spring; friction is at the cone's boundary, against the
                  // slip
  TB_ROWS_FIXED,  // dry friction of a joint at its bound: a constant force
} tbRowState;

typedef struct {
  const tbModel* m;
  tbData* d;
  const tbConstraints* cs;
  const tbSpring* const* spring;  // by constraint, NULL where it does not act
  const tbReal* qacc_free;
  bool* unresolved;     // set where the energy of an unresolved contact is bounded
  tbReal* supplied;     // J by constraint: energy supplied to its springs, after the step
  tbReal* anchor_slip;  // m or rad by row: anchor slip, stored beside the stretch at the start
  tbReal* turn;         // rad by constraint: angle by which friction can turn a slip in a step
  tbReal* event;        // s: if not NULL, gets the time of the first mode change within the step
} tbExpoContext;

// One island's acting rows, and the oscillators made from them.
typedef struct {
  int nmember;
  const int* member;          // constraints
  int n;                      // rows that act
  int* row;                   // their rows in the island
  tbReal *K, *B, *p, *v, *a;  // n each
  tbReal* load;               // part of a without dJ/dt v
  tbReal* Y;                  // n x n
  int* state;                 // tbRowState by member
  int* has_slipped;           // by member: 1 once it has started to slip, which is final
  tbReal* friction;           // by row: force per normal force while slipping
  int kept;                   // rows of the oscillators
  int* keep;                  // indices of the kept rows among the n
  tbReal *Yk, *Kk, *Bk, *pk, *vk, *ak;
  tbReal *first, *second;        // integrals, by row of the n
  tbReal *part1, *part2, *work;  // of the kept rows
  tbReal* end;                   // stretch and rate of the kept rows at the end, 2 n
  int* iwork;
  int rank;              // upper bound of the rank of Y: dofs of the island
  const tbDelassus* G;   // the island's Delassus matrix where its factors are used, else NULL
  tbReal *left, *right;  // of Yk: kept x rank each
} tbExpoSystem;

// Maximum number of passes over the island: each constraint changes its mode once.
enum { TB_EXPO_PASSES = 5 };

// Fraction of dJ/dt v that is applied to the points of a body: 1 up to TB_EXPO_TURN rad per step;
// beyond, such that the term grows no further. Held constant over a step in which a leg turns by
// more, the term is not an acceleration of any of its points (300 rad/s at 5 ms: 70 m/s into the
// floor).
#define TB_EXPO_TURN 0.5
tbReal tb_expo_drift_fade(const tbModel* model, const tbData* data, int body);

// Room for an island of `nrow` rows. False when out of memory.
bool tb_expo_allocate(tbArena* arena, int nmember, int nrow, tbExpoSystem* s);

// Rows of the acting constraints: stretch, rate, load (EXP eq. 11), and which contacts slip.
void tb_expo_gather(const tbExpoContext* x, tbExpoSystem* s);

// Number of a member's rows that are oscillators.
static inline int tb_expo_kept(int state, int dim) {
  return state == TB_ROWS_STICK ? dim : state == TB_ROWS_SLIP;
}

// The oscillators of the kept rows; true where their Y is not symmetric.
bool tb_expo_reduce(const tbExpoContext* x, tbExpoSystem* s);

// The system in the form of the linear-algebra module.
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

// Both integrals over a time h, from the rows' initial states, and, if something slips or mode
// changes are located, the kept rows' stretch and rate at h (s->end). False if they are not finite.
bool tb_expo_integrate(const tbExpoContext* x, tbExpoSystem* s, tbReal h);

// Whether member k, whose rows start at i and which slips at the start, would slip backwards at h.
bool tb_expo_turns(const tbExpoSystem* s, int k, const tbSpring* spring, int i, tbReal h);

// Called after tb_expo_integrate: if a force exceeds its limits or a slip reverses within the step,
// stores the time of the first such event in *x->event, if that is earlier than its value. Leaves
// the rows and their integrals unchanged.
void tb_expo_locate(const tbExpoContext* x, tbExpoSystem* s, tbReal h);

// Contacts that would pull over the step separate, constraints whose friction does not suffice
// slip, those whose slip would reverse stick: each at most once. Returns 1 if one changed.
int tb_expo_revise(const tbExpoContext* x, tbExpoSystem* s, tbReal h);

#endif
