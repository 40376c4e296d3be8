// Options and settings by name: lines NAME=VALUE, each set in a step's options and in a solve's
// settings. A refused value changes nothing; with accepted ones a world is stepped.
#include <math.h>

#include "fuzz/fuzz.h"

static const char SCENE[] =
    "<mujoco><worldbody><geom type='plane' size='5 5 1'/>"
    "<body pos='0 0 0.1'><freejoint/><geom type='box' size='.1 .1 .1'/></body>"
    "<body pos='0 0 0.29'><freejoint/><geom type='sphere' size='.1'/></body>"
    "</worldbody></mujoco>";

static void set(tbOption* option, tbSolveSettings* settings, char* line) {
  char* value = strchr(line, '=');
  if (!value) return;
  *value++ = 0;
  tbOption option_before = *option;
  tbError error = {0};
  if (tb_option_set(option, line, value, &error) != TB_OK) {
    FUZZ_CHECK(error.code != TB_OK && error.message[0], "an error without a message");
    FUZZ_CHECK(memcmp(option, &option_before, sizeof *option) == 0, "a refused value was set");
  }
  // A name of a solver is kept as a pointer, into bytes that do not outlive this call.
  if (strcmp(line, "solver") == 0) return;
  tbSolveSettings before = *settings;
  error = (tbError){0};
  if (tb_solve_settings_set(settings, line, value, &error) != TB_OK) {
    FUZZ_CHECK(error.code != TB_OK && error.message[0], "an error without a message");
    FUZZ_CHECK(memcmp(settings, &before, sizeof before) == 0, "a refused value was set");
  }
}

// One contact that is pushed down and sideways.
static void solve(const tbSolveSettings* settings) {
  static const tbReal G[9] = {2, 0.1, 0, 0.1, 1, 0, 0, 0, 1}, g[3] = {-1, 0.7, 0.2}, MU[1] = {0.5};
  tbBlock block[1];
  tb_blocks_contacts(1, MU, block);
  tbProblem problem = {.n = 3, .nblock = 1, .block = block, .g = g};
  problem.G = (tbDelassus){.form = TB_DELASSUS_DENSE, .dense = G, .stride = 3};
  tbReal lambda[3] = {0};
  tbSolveInfo info;
  tbError error = {0};
  tbSolveSettings few = *settings;
  if (few.max_iter > 1000) few.max_iter = 1000;
  if (tb_solve(&problem, &few, lambda, NULL, &info, &error) != TB_OK) return;
  for (int i = 0; i < 3; i++) FUZZ_CHECK(isfinite(lambda[i]), "an impulse that is no number");
}

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static tbModel* model;
  tbError error = {0};
  if (!model) model = tb_load_string(SCENE, NULL, NULL, &error);
  FUZZ_CHECK(model, error.message);
  char* text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, bytes, size);
  text[size] = 0;
  model->opt = tbDefaultOption();
  tbSolveSettings settings = tbDefaultSolveSettings();
  for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
    set(&model->opt, &settings, line);
  }
  // Threads and iterations in numbers that a test can wait for.
  if (model->opt.threads > 2) model->opt.threads = 2;
  int* const COUNTS[] = {&model->opt.iterations, &model->opt.ls_iterations,
                         &model->opt.noslip_iterations, &model->opt.solve_iterations};
  for (int i = 0; i < 4; i++) {
    if (*COUNTS[i] > 1000) *COUNTS[i] = 1000;
  }
  tbData* data = tb_data_new(model);
  FUZZ_CHECK(data, "out of memory");
  for (int i = 0; i < 3; i++) {
    tbResult result = tb_step(model, data);
    FUZZ_CHECK(result == TB_OK || data->message[0], "a failed step without a message");
    for (int k = 0; k < model->nq; k++) FUZZ_CHECK(isfinite(data->qpos[k]), "qpos");
    for (int k = 0; k < model->nv; k++) FUZZ_CHECK(isfinite(data->qvel[k]), "qvel");
  }
  tb_data_free(data);
  solve(&settings);
  free(text);
  return 0;
}
