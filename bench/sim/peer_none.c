// Stands in for MuJoCo where it is not installed.
#include <stdio.h>
#include <string.h>

#include "sim_bench.h"

const char* peer_version(void) {
  return NULL;
}

void run_peer(const tbModel* model, const Scene* scene, const char* text, Run* run) {
  (void)model, (void)scene, (void)text;
  memset(run, 0, sizeof *run);
  snprintf(run->message, sizeof run->message, "MuJoCo is not installed");
}
