#include "pages/demo_page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "pictures/film.h"
#include "html.h"
#include "interrupt.h"
#include "message.h"
#include "output.h"

// Laws of the stack, beside each other.
static const int STACK_LAWS[] = {TB_LAW_NCP, TB_LAW_SOFT, TB_LAW_COMFREE};
enum { STACK_COUNT = sizeof STACK_LAWS / sizeof *STACK_LAWS };

static const DemoOutcome* outcome_of(const DemoOutcome outcome[DEMO_LAWS], int law) {
  for (int i = 0; i < DEMO_LAWS; i++) {
    if (DEMO_LAW[i].law == law && outcome[i].ok) return &outcome[i];
  }
  return NULL;
}

// ---- pictures ----------------------------------------------------------------------------------

static bool draw(const char* folder, const char* name, const Film* film) {
  char path[4096];
  Filmed filmed;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return film->laws.count > 0 && film_draw(film, path, path, &filmed) == 0;
}

// The cube under every law that ran.
static bool draw_cube(const char* folder, tbModel* m, const DemoOutcome outcome[DEMO_LAWS]) {
  Film film = {.model = m,
               .key = "0",
               .time = 0.9,
               .frames = 31,
               .width = 1080,
               .height = 460,
               .trail = true,
               .camera = "100,42",
               .command = "demo"};
  for (int i = 0; i < DEMO_LAWS; i++) {
    if (outcome[i].ok) film.laws.law[film.laws.count++] = DEMO_LAW[i].law;
  }
  return draw(folder, "cube.png", &film);
}

static bool draw_stack(const char* folder, tbModel* m, const DemoOutcome outcome[DEMO_LAWS]) {
  Film film = {.model = m,
               .time = 0.8,
               .frames = 25,
               .width = 1080,
               .height = 460,
               .beside = true,
               .camera = "125,12,3.9",
               .lookat = "0,0,0.95",
               .command = "demo"};
  for (int i = 0; i < STACK_COUNT; i++) {
    if (outcome_of(outcome, STACK_LAWS[i])) film.laws.law[film.laws.count++] = STACK_LAWS[i];
  }
  return draw(folder, "stack.png", &film);
}

// ---- the page ----------------------------------------------------------------------------------

static void write_number(FILE* f, const char* format, double value) {
  fputs("<td class=\"number\">", f);
  if (isnan(value)) {
    fputs("-", f);
  } else {
    fprintf(f, format, value);
  }
  fputs("</td>", f);
}

static void write_table(FILE* f, const DemoOutcome outcome[DEMO_LAWS]) {
  fputs(
      "<div class=\"wide\"><table><tr><th>law</th><th>what it relaxes</th><th>distance m</th>"
      "<th>sideways mm</th><th>lift mm</th><th>overlap mm</th><th>exact law</th><th>us/step</th>"
      "</tr>\n",
      f);
  for (int i = 0; i < DEMO_LAWS; i++) {
    const DemoOutcome* o = &outcome[i];
    unsigned char rgb[3];
    if (!o->ok) continue;
    // The colours of the picture go by the order in it.
    int index = 0;
    for (int k = 0; k < i; k++) index += outcome[k].ok;
    tb_render_colour(index, rgb);
    fprintf(f, "<tr><td><b style=\"color:#%02x%02x%02x\">%s</b></td><td>", rgb[0], rgb[1], rgb[2],
            tb_step_law_name(DEMO_LAW[i].law));
    html_escape(f, DEMO_LAW[i].what);
    fputs("</td>", f);
    write_number(f, "%.4f", o->distance);
    write_number(f, "%.3f", 1e3 * o->sideways);
    write_number(f, "%.3f", 1e3 * fmax(0, o->lift));
    write_number(f, "%.3f", 1e3 * o->sink);
    write_number(f, "%.0e", o->residual);
    write_number(f, "%.1f", o->microseconds);
    fputs("</tr>\n", f);
  }
  fputs("</table></div>\n", f);
}

static const char CUBE[] =
    "<h1>One scene, seven contact laws</h1>\n"
    "<p>A cube is thrown along the floor. Scene, collisions and dynamics are the same; only the "
    "contact law changes. By Coulomb&#39;s law it goes straight, stays on the floor and stops "
    "where friction has used up its speed. <b>exact law</b> is the certificate of every step: the "
    "worst relative residual of the exact law of rigid contact.</p>\n";

static const char NEXT[] =
    "<h2>Your robot next</h2>\n<p>The same for a model of your own, MJCF or URDF:</p>\n"
    "<pre>tribo info robot.xml                                  # what is in it, and what is not "
    "used\n"
    "tribo sim robot.xml --time 2 --out run.csv            # simulate; --law chooses the law\n"
    "tribo render robot.xml --forces --out robot.png       # a picture with contact forces\n"
    "tribo compare robot.xml --time 2 --out compared       # every law on it, measured\n"
    "tribo sim robot.xml --ctrl moves.csv --record sensordata,contacts --out run.csv\n"
    "tribo help sim                                        # everything else</pre>\n";

static void write_stack(FILE* f, const char* folder, const DemoOutcome outcome[DEMO_LAWS]) {
  fputs(
      "<h2>Ten boxes, the top one a thousand times heavier</h2>\n<p>The same stack under three "
      "laws. Furthest overlap of two boxes within two seconds:",
      f);
  const char* separator = "";
  for (int i = 0; i < STACK_COUNT; i++) {
    const DemoOutcome* o = outcome_of(outcome, STACK_LAWS[i]);
    if (!o) continue;
    fprintf(f, "%s <b>%s</b> %.3g mm", separator, tb_step_law_name(STACK_LAWS[i]), 1e3 * o->sink);
    separator = ",";
  }
  fputs(".</p>\n<div class=\"full\">", f);
  html_image(f, folder, "stack.png", "the stack under three laws beside each other");
  fputs("</div>\n", f);
}

static void write_page(FILE* f, const char* folder, bool cube, bool stack,
                       DemoOutcome outcome[DEMO_EXPERIMENTS][DEMO_LAWS]) {
  html_head(f, "Tribo: one scene, seven contact laws");
  fputs(CUBE, f);
  write_table(f, outcome[DEMO_CUBE]);
  fputs("<div class=\"full\">", f);
  if (cube) html_image(f, folder, "cube.png", "the thrown cube under every law");
  fputs("</div>\n", f);
  if (stack) write_stack(f, folder, outcome[DEMO_STACK]);
  fputs(NEXT, f);
  fputs("</body></html>\n", f);
}

bool demo_page(const char* folder, tbModel* const models[DEMO_EXPERIMENTS],
               DemoOutcome outcome[DEMO_EXPERIMENTS][DEMO_LAWS]) {
  char page[4096];
  Output out;
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    return complain("demo", "cannot make the folder %s: %s", folder, strerror(errno));
  }
  bool cube = draw_cube(folder, models[DEMO_CUBE], outcome[DEMO_CUBE]);
  bool stack = draw_stack(folder, models[DEMO_STACK], outcome[DEMO_STACK]);
  snprintf(page, sizeof page, "%s/index.html", folder);
  if (interrupt_signal() || !output_begin(&out, page, "demo")) return false;
  FILE* f = fopen(out.write, "w");
  if (f) write_page(f, folder, cube, stack, outcome);
  bool ok = f && !ferror(f);
  if (f) ok = fclose(f) == 0 && ok;
  if (!ok) complain("demo", "cannot write %s", page);
  return output_end(&out, ok, "demo") && ok;
}
