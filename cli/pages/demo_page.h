// The page of `tribo demo`: the laws on both scenes in motion, and what to try next.
#ifndef TRIBO_CLI_DEMO_PAGE_H_
#define TRIBO_CLI_DEMO_PAGE_H_

#include <stdbool.h>

#include "tribo/tribo.h"

typedef struct {
  int law;
  const char* what;  // the property that the law relaxes
} DemoLaw;

enum { DEMO_CUBE, DEMO_STACK, DEMO_EXPERIMENTS, DEMO_LAWS = 7 };
extern const DemoLaw DEMO_LAW[DEMO_LAWS];

typedef struct {
  bool ok;
  char message[320];
  double distance, sideways, lift, sink, residual, microseconds;
} DemoOutcome;

// Write FOLDER/index.html and its pictures. False after a complaint.
bool demo_page(const char* folder, tbModel* const models[DEMO_EXPERIMENTS],
               DemoOutcome outcome[DEMO_EXPERIMENTS][DEMO_LAWS]);

#endif
