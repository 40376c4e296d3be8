#include "pages/compare_page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pictures/film.h"
#include "html.h"
#include "interrupt.h"
#include "message.h"
#include "output.h"
#include "plot.h"

const MeasuredColumn MEASURED_COLUMN[MEASURED_COLUMNS] = {
    {"path", "path mm s", 1e3, "%.3g",
     "distance from the reference law's path, integrated over time, of the body that deviates "
     "most"},
    {"end", "end mm", 1e3, "%.3g", "the same distance when the run ends"},
    {"energy_gain", "energy gain J", 1, "%.2e",
     "energy error: the largest rise of the energy that actuators and applied forces do not "
     "explain"},
    {"energy_end", "energy - ref J", 1, "%.2e", "energy at the end, less the reference law's"},
    {"internal", "internal N", 1, "%.3g",
     "internal forces: the part of the contact forces that balances itself (joints of floating "
     "robots "
     "locked); mean over steps"},
    {"consistency", "self-cons. mm s", 1e3, "%.3g",
     "self-consistency: distance from the law's own path with finer time steps, integrated"},
    {"penetration", "depth mm", 1e3, "%.2g", "deepest overlap of all contacts of all steps"},
    {"penetration_mean", "mean depth mm", 1e3, "%.2g", "its mean over all contacts of all steps"},
    {"lift", "lift mm", 1e3, "%.3g", "largest height of a body above that under the reference law"},
    {"gap", "gap mm", 1e3, "%.3g",
     "largest gap across which a contact pushes when its step ends: 0 under the exact law"},
    {"residual_exact", "exact law max", 1, "%.1e",
     "relative residual of the exact law, worst step; - where no step has one"},
    {"residual_exact_mean", "exact law mean", 1, "%.1e", "its mean over the steps"},
    {"unconverged_steps", "not converged", 1, "%.0f", "steps whose solver did not converge"},
    {"microseconds_per_step", "us/step", 1, "%.1f", "time per step, microseconds"}};

double measured_value(const Measured* m, int c) {
  const double values[MEASURED_COLUMNS] = {
      m->path,         m->end,           m->energy_gain,         m->energy_end,  m->internal,
      m->consistency,  m->depth_max,     m->depth_mean,          m->lift,        m->gap,
      m->residual_max, m->residual_mean, (double)m->unconverged, m->microseconds};
  return values[c];
}

const char* measured_text(const Measured* m, int c, char text[32]) {
  double value = measured_value(m, c) * MEASURED_COLUMN[c].scale;
  snprintf(text, 32, MEASURED_COLUMN[c].format, value);
  return isnan(value) ? "-" : text;
}

// ---- figures -----------------------------------------------------------------------------------

static void draw_lines(tbPlot* plot, const Measured* all, int count, size_t offset) {
  for (int i = 0; i < count; i++) {
    const Trace* t = &all[i].trace;
    const tbReal* y = *(tbReal* const*)(const void*)((const char*)t + offset);
    tb_plot_line(plot, tb_step_law_name(all[i].law), t->time, y, t->rows, false);
  }
}

static bool draw_figure(const char* path, const Measured* all, int count, int reference) {
  char title[96];
  tbPlot* plot = tb_plot_new("Over time", 2, 2);
  snprintf(title, sizeof title, "distance from the path under %s",
           tb_step_law_name(all[reference].law));
  tb_plot_panel(plot, title, "time (s)", "m", false, false);
  draw_lines(plot, all, count, offsetof(Trace, distance));
  tb_plot_panel(plot, "mechanical energy", "time (s)", "J", false, false);
  draw_lines(plot, all, count, offsetof(Trace, energy));
  tb_plot_panel(plot, "deepest overlap", "time (s)", "m", false, false);
  draw_lines(plot, all, count, offsetof(Trace, depth));
  tb_plot_panel(plot, "residual of the exact law", "time (s)", "relative", false, true);
  draw_lines(plot, all, count, offsetof(Trace, residual));
  return tb_plot_write(plot, path);
}

// All laws that ran, beside each other if they are few. Without a picture the page has none.
static bool draw_picture(const char* path, const Scenario* s, const Measured* all, int count) {
  Film film = {.model = s->model,
               .key = s->key,
               .ctrl = s->ctrl,
               .time = s->time,
               .frames = 24,
               .width = 1080,
               .height = 420,
               .command = s->command};
  Filmed filmed;
  for (int i = 0; i < count; i++) {
    if (all[i].ok) film.laws.law[film.laws.count++] = all[i].law;
  }
  film.beside = film.laws.count <= 3;
  return film.laws.count > 0 && film_draw(&film, path, path, &filmed) == 0;
}

// ---- the page ----------------------------------------------------------------------------------

static void write_table(FILE* f, const Measured* all, int count) {
  fputs("<div class=\"wide\"><table><tr><th>law</th>", f);
  for (int c = 0; c < MEASURED_COLUMNS; c++) fprintf(f, "<th>%s</th>", MEASURED_COLUMN[c].head);
  fputs("</tr>\n", f);
  for (int i = 0; i < count; i++) {
    fprintf(f, "<tr><td><b>%s</b></td>", tb_step_law_name(all[i].law));
    if (!all[i].ok) {
      fprintf(f, "<td colspan=\"%d\">", MEASURED_COLUMNS);
      html_escape(f, all[i].message);
      fputs("</td>", f);
    }
    for (int c = 0; c < MEASURED_COLUMNS && all[i].ok; c++) {
      char text[32];
      fprintf(f, "<td class=\"number\">%s</td>", measured_text(&all[i], c, text));
    }
    fputs("</tr>\n", f);
  }
  fputs("</table></div>\n<details><summary>What the columns mean</summary><ul>", f);
  for (int c = 0; c < MEASURED_COLUMNS; c++) {
    fprintf(f, "<li><b>%s</b>: %s</li>\n", MEASURED_COLUMN[c].head, MEASURED_COLUMN[c].what);
  }
  fputs("</ul></details>\n", f);
}

static void write_page(FILE* f, const char* folder, const char* model_path, const Scenario* s,
                       const Measured* all, int count, int reference, bool picture) {
  html_head(f, "Tribo: one scene, several laws");
  fputs("<h1>", f);
  html_escape(f, model_path);
  fprintf(f, ": %d contact law%s</h1>\n<p>%g s in steps of %g ms%s", count, count > 1 ? "s" : "",
          s->time, 1e3 * s->model->opt.timestep, s->key ? ", from the keyframe " : "");
  if (s->key) html_escape(f, s->key);
  fprintf(f, ". Paths and energies are compared with those under <b>%s</b>.",
          tb_step_law_name(all[reference].law));
  if (s->finer > 1) fprintf(f, " Self-consistency is against steps %d times as fine.", s->finer);
  fputs("</p>\n", f);
  write_table(f, all, count);
  if (picture) html_image(f, folder, "compare.png", "the scene under each law");
  html_image(f, folder, "compare.svg", "distance, energy, overlap and residual over time");
  fputs("</body></html>\n", f);
}

bool compare_page(const char* folder, const char* model_path, const Scenario* s,
                  const Measured* all, int count, int reference) {
  char figure[4096], picture[4096], page[4096];
  Output out;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    return complain(s->command, "cannot make the folder %s: %s", folder, strerror(errno));
  }
  snprintf(figure, sizeof figure, "%s/compare.svg", folder);
  snprintf(picture, sizeof picture, "%s/compare.png", folder);
  snprintf(page, sizeof page, "%s/index.html", folder);
  if (!draw_figure(figure, all, count, reference)) {
    return complain(s->command, "cannot write %s", figure);
  }
  bool drawn = draw_picture(picture, s, all, count);
  if (!output_begin(&out, page, s->command)) return false;
  FILE* f = fopen(out.write, "w");
  if (f) write_page(f, folder, model_path, s, all, count, reference, drawn);
  bool ok = f && !ferror(f);
  if (f) ok = fclose(f) == 0 && ok;
  if (!ok) complain(s->command, "cannot write %s", page);
  return output_end(&out, ok, s->command) && ok;
}
