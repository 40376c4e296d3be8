// Many worlds: the cost of contacts, and throughput of hands.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "comfree_bench.h"
#include "page/plot.h"

// ---- step time against contacts ----------------------------------------------------------------

void bench_contacts(tbBench* bench, int nthread) {
  bool brief = tb_bench_short(bench);
  int nworld = brief ? 128 : 512, steps = brief ? 400 : 750;
  Scene scene = scene_small();
  tbModel* m = scene_model(&scene, TB_LAW_COMFREE);
  tbError error;
  if (m) m->opt.comfree_stiffness = 0.1;
  tbBatch* b = m ? tb_batch_new(m, nworld, nthread, 0, &error) : NULL;
  double* contacts = calloc((size_t)steps, sizeof(double));
  double* seconds = calloc((size_t)steps, sizeof(double));
  double* excess = calloc((size_t)steps, sizeof(double));
  double* fitted = calloc((size_t)steps, sizeof(double));
  if (!b || !contacts || !seconds || !excess || !fitted) return;
  tbRng rng = {1};
  for (int i = 0; i < nworld * m->nv; i++) b->qvel[i] = 1e-3 * tb_rng_normal(&rng);
  double idle = INFINITY;
  for (int i = 0; i < steps; i++) {
    tbClock start = tb_bench_clock();
    if (tb_batch_step(b, 1) != TB_OK) fprintf(stderr, "%s\n", b->message);
    seconds[i] = shared_seconds(start, nthread);
    for (int w = 0; w < nworld; w++) contacts[i] += b->ncon[w];
    if (contacts[i] == 0) idle = fmin(idle, seconds[i]);
    if (i % 25 == 0) tb_bench_progress(bench, i, steps, "contacts");
  }
  double most = 0;
  for (int i = 0; i < steps; i++) most = fmax(most, contacts[i]);
  tbTable* table = tb_bench_table(bench, "contacts");
  for (int i = 0; i < steps; i += steps / 50) {
    tb_table_row(table);
    tb_table_int(table, "worlds", nworld);
    tb_table_int(table, "contacts", (long long)contacts[i]);
    tb_table_real(table, "step_ms", 1e3 * seconds[i]);
    tb_table_real(table, "world_steps_per_second", nworld / seconds[i]);
  }
  // Steps with nearly no contacts do not show the cost of a contact.
  for (int i = 0; i < steps; i++) fitted[i] = contacts[i] < 0.1 * most ? 0 : contacts[i];
  double exponent = tb_bench_exponent(fitted, seconds, steps);
  // The same for what contacts add to a step without any.
  for (int i = 0; i < steps; i++) excess[i] = seconds[i] - idle;
  tbTable* fit = tb_bench_table(bench, "exponent");
  tb_table_row(fit);
  tb_table_int(fit, "worlds", nworld);
  tb_table_real(fit, "exponent", exponent);
  tb_table_real(fit, "target", 1.05);
  tb_table_bool(fit, "reached", exponent <= 1.05);
  tb_table_real(fit, "exponent_of_excess", tb_bench_exponent(fitted, excess, steps));
  tb_table_real(fit, "without_contacts_ms", 1e3 * idle);
  tb_table_int(fit, "most_contacts", (long long)most);
  if (tb_bench_path(bench, "contacts.svg")) {
    tbPlot* plot = tb_plot_new("Step time against contacts (CF fig. 6)", 1, 1);
    tb_plot_panel(plot, "many worlds of falling bodies", "contacts", "seconds a step", true, true);
    tb_plot_points(plot, "comfree", contacts, seconds, steps);
    tb_plot_write(plot, tb_bench_path(bench, "contacts.svg"));
  }
  char ours[100];
  snprintf(ours, sizeof ours, "time grows with contacts^%.2f", exponent);
  tb_bench_claim(bench,
                 (tbClaim){"CF fig. 6", "The time of a step is linear in the number of contacts.",
                           "approximately linear (exponent at most 1.05 asked for)", ours,
                           tb_verdict(exponent <= 1.05), NULL, "contacts.svg"});
  tb_batch_free(b);
  tb_model_free(m);
  free(contacts);
  free(seconds);
  free(excess);
  free(fitted);
  free(scene.text);
}

// ---- hands -------------------------------------------------------------------------------------

Throughput run_worlds(const Scene* scene, int law, int nworld, int nthread, int blocks) {
  Throughput out = {0};
  tbError error;
  tbModel* m = scene_model(scene, law);
  tbBatch* b = m ? tb_batch_new(m, nworld, nthread, 0, &error) : NULL;
  if (!b || tb_batch_reset(b, NULL, 0) != TB_OK) {
    tb_batch_free(b);
    tb_model_free(m);
    return out;
  }
  double seconds = 0;
  out.ok = true;
  for (int k = 0; k < blocks; k++) {
    for (int w = 0; w < nworld; w++) random_command(m, w, k, b->ctrl + w * m->nu);
    tbClock start = tb_bench_clock();
    out.ok &= tb_batch_step(b, BLOCK) == TB_OK;
    seconds += shared_seconds(start, b->nthread);
    for (int w = 0; w < nworld; w++) out.contacts += (double)b->ncon[w] / nworld / blocks;
  }
  for (int w = 0; w < nworld; w++) {
    out.held += (double)is_held(b->qpos + (w + 1) * m->nq - 7) / nworld;
  }
  out.rate = (double)nworld * BLOCK * blocks / seconds;
  tb_batch_free(b);
  tb_model_free(m);
  return out;
}

static void claim_throughput(tbBench* bench, const Scene* scene, double least) {
  char claim[120], ours[100];
  snprintf(claim, sizeof claim,
           "World-steps per second over MuJoCo's, %s with cube, 256 worlds on.", scene->name);
  snprintf(ours, sizeof ours, "%.1f times MuJoCo 2.2.2 on the same cores, at least", least);
  tb_bench_claim(bench, (tbClaim){"CF fig. 7", claim, "2 times MuJoCo Warp on a GPU (3 asked for)",
                                  ours, least >= 3 ? TB_VERDICT_BETTER : tb_verdict(least >= 2),
                                  NULL, "throughput.svg"});
}

static void add_row(tbTable* table, const Scene* scene, int nworld, const char* engine,
                    const Throughput* t, double peer, bool target) {
  if (!t->ok) return;
  tb_table_row(table);
  tb_table_text(table, "scene", scene->name);
  tb_table_int(table, "worlds", nworld);
  tb_table_text(table, "engine", engine);
  tb_table_real(table, "world_steps_per_second", t->rate);
  tb_table_real(table, "contacts", t->contacts);
  tb_table_real(table, "held", t->held);
  if (peer > 0) tb_table_real(table, "over_mujoco", t->rate / peer);
  if (peer > 0 && target) tb_table_bool(table, "reached_3x", t->rate >= 3 * peer);
}

void bench_throughput(tbBench* bench, int nthread, int only) {
  bool brief = tb_bench_short(bench);
  tbTable* table = tb_bench_table(bench, "throughput");
  tbPlot* plot = tb_plot_new("Throughput of many hands (CF fig. 7)", 2, 1);
  Scene scenes[2] = {scene_hand(), scene_allegro()};
  int done = 0;
  for (int s = 0; s < 2; s++) {
    tbModel* m = scene_model(&scenes[s], TB_LAW_COMFREE);
    if (!m) {
      tb_bench_note(bench, "%s: its file is not there, left out", scenes[s].name);
      continue;
    }
    double least = INFINITY, worlds[16], rate[2][16];
    int first = only ? only : 256, last = only ? only : brief ? 512 : 4096, points = 0;
    for (int nworld = first; nworld <= last; nworld *= 2) {
      tb_bench_progress(bench, done++, only ? 2 : brief ? 4 : 10, scenes[s].name);
      // About as many steps for every number of worlds.
      int blocks = brief || nworld >= 2048 ? 1 : 2048 / nworld;
      Throughput peer = peer_worlds(m, &scenes[s], nworld, nthread, blocks);
      Throughput ours = run_worlds(&scenes[s], TB_LAW_COMFREE, nworld, nthread, blocks);
      add_row(table, &scenes[s], nworld, "comfree", &ours, peer.rate, true);
      worlds[points] = nworld;
      rate[0][points] = ours.ok ? ours.rate : NAN;
      rate[1][points++] = peer.ok ? peer.rate : NAN;
      if (peer.ok && ours.ok) least = fmin(least, ours.rate / peer.rate);
      if (nworld == first) {
        // The exact law takes its time in a crowd of fingers: a few worlds tell its rate.
        int few = nworld < 16 ? nworld : 16;
        Throughput exact = run_worlds(&scenes[s], TB_LAW_NCP, few, nthread, 1);
        add_row(table, &scenes[s], few, "ncp", &exact, peer.rate, false);
      }
      add_row(table, &scenes[s], nworld, "mujoco", &peer, 0, false);
    }
    tb_plot_panel(plot, scenes[s].name, "worlds", "world steps per second", true, false);
    tb_plot_line(plot, "comfree", worlds, rate[0], points, false);
    tb_plot_line(plot, "mujoco 2.2.2", worlds, rate[1], points, false);
    if (least < INFINITY) claim_throughput(bench, &scenes[s], least);
    tb_model_free(m);
  }
  tb_plot_write(plot, tb_bench_path(bench, "throughput.svg"));
  for (int s = 0; s < 2; s++) free(scenes[s].text);
}
