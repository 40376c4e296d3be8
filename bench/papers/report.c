#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "checklist.h"
#include "page/csv.h"
#include "gallery.h"
#include "page/html.h"

enum { MOST_PARTS = 16, MOST_ROWS = 200, PATH = HTML_PATH };

// A run: the claims of every part.
typedef struct {
  const char* folder;
  const Part* parts;
  int count;
  bool short_run, partial;
  Csv claims[MOST_PARTS];
  Verdicts verdicts;
} Report;

// "worse" with a reason in the list is its own class.
static void judge(Report* r, const char* figure, const char* claim, const char* verdict) {
  Verdicts* v = &r->verdicts;
  bool worse = strcmp(verdict, "worse") == 0;
  const Allowed* allowed = allowed_worse(figure, claim);
  v->reproduced += strcmp(verdict, "reproduced") == 0;
  v->better += strcmp(verdict, "better") == 0;
  v->differs += strcmp(verdict, "differs") == 0;
  v->worse += worse && !allowed;
  v->allowed += worse && allowed;
  bool stale = !worse && allowed && !allowed->timed;
  v->stale += stale;
  if (worse) {
    fprintf(stderr, "worse%s: %s: %s\n", allowed ? " (allowed)" : "", figure, claim);
  } else if (stale) {
    fprintf(stderr, "holds again, take it off the list: %s: %s\n", figure, claim);
  }
}

// ---- a part ------------------------------------------------------------------------------------

static void write_claim(FILE* f, const Report* r, int part, int row) {
  const Csv* claims = &r->claims[part];
  const char *verdict = csv_get(claims, row, "verdict"), *image = csv_get(claims, row, "image");
  const char *because = csv_get(claims, row, "because"), *figure = csv_get(claims, row, "figure");
  const char* sentence = csv_get(claims, row, "claim");
  char folder[PATH];
  snprintf(folder, sizeof folder, "%s/%s", r->folder, r->parts[part].name);
  fprintf(f, "<div class=\"claim %s\" id=\"%s-%d\"><span class=\"badge %s\">%s</span><b>", verdict,
          r->parts[part].name, row, verdict, verdict);
  html_escape(f, figure);
  fputs("</b><p>", f);
  html_escape(f, sentence);
  fputs("</p><table><tr><th>paper</th><td>", f);
  html_escape(f, csv_get(claims, row, "paper"));
  fputs("</td></tr><tr><th>ours</th><td>", f);
  html_escape(f, csv_get(claims, row, "ours"));
  fputs("</td></tr></table>", f);
  if (*because) {
    fputs("<p class=\"soft\">", f);
    html_escape(f, because);
    fputs("</p>", f);
  }
  const Allowed* allowed = strcmp(verdict, "worse") == 0 ? allowed_worse(figure, sentence) : NULL;
  if (allowed) {
    fputs("<p class=\"soft\">May be worse: ", f);
    html_escape(f, allowed->reason);
    fputs("</p>", f);
  }
  // A figure that several claims share is shown with the first of them.
  int first = 1;
  while (first < row && strcmp(csv_get(claims, first, "image"), image) != 0) first++;
  if (*image && first == row) html_image(f, folder, image, sentence);
  if (*image && first < row) {
    fprintf(f, "<p><a href=\"#%s-%d\">Figure %s</a></p>", r->parts[part].name, first, image);
  }
  fputs("</div>\n", f);
}

static bool shown_by_claim(const Csv* claims, const char* file) {
  for (int r = 1; r < claims->rows; r++) {
    if (strcmp(csv_get(claims, r, "image"), file) == 0) return true;
  }
  return false;
}

static void write_part(FILE* f, const Report* r, int index) {
  const Part* part = &r->parts[index];
  char folder[PATH], path[PATH + HTML_NAME + 1];
  static char names[HTML_FILES][HTML_NAME];
  snprintf(folder, sizeof folder, "%s/%s", r->folder, part->name);
  if (access(folder, R_OK) != 0) return;
  fprintf(f, "<h2 id=\"%s\">%s</h2><p>%s Again: <code>tribo bench %s --out DIR%s</code></p>\n",
          part->name, part->title, part->intro, part->name, r->short_run ? " --short" : "");
  for (int row = 1; row < r->claims[index].rows; row++) write_claim(f, r, index, row);

  // Figures that no claim shows, then every table.
  int count = list_files(folder, ".svg", names);
  for (int i = 0; i < count; i++) {
    if (!shown_by_claim(&r->claims[index], names[i])) html_image(f, folder, names[i], names[i]);
  }
  count = list_files(folder, ".csv", names);
  for (int i = 0; i < count; i++) {
    if (strcmp(names[i], "claims.csv") == 0) continue;
    snprintf(path, sizeof path, "%s/%.*s", folder, HTML_NAME - 1, names[i]);
    Csv csv = csv_read(path);
    fprintf(f, "<details id=\"%s-%s\"><summary>%s/%s (%d rows)</summary>", part->name, names[i],
            part->name, names[i], csv.rows - 1);
    html_table(f, &csv, MOST_ROWS);
    fputs("</details>\n", f);
    csv_free(&csv);
  }
}

// ---- the papers --------------------------------------------------------------------------------

static const struct {
  const char *key, *title;
} PAPERS[] = {{"CM", "Contact Models in Robotics: a Comparative Analysis"},
              {"EXP", "Exponential Integration for Multibody Simulation with Stiff Contacts"},
              {"CF", "ComFree-Sim: contact without complementarity"},
              {"ADMM", "From Compliant to Rigid Contact Simulation"}};
enum { PAPER_COUNT = sizeof PAPERS / sizeof *PAPERS };

// The paper of a claim's figure ("CM fig. 9"); PAPER_COUNT for measurements that are in none.
static int paper_of(const char* figure) {
  for (int p = 0; p < PAPER_COUNT; p++) {
    size_t n = strlen(PAPERS[p].key);
    if (strncmp(figure, PAPERS[p].key, n) == 0 && figure[n] == ' ') return p;
  }
  return PAPER_COUNT;
}

enum { VERDICT_COUNT = 4 };
static const char* const VERDICTS[VERDICT_COUNT] = {"reproduced", "better", "differs", "worse"};

static int verdict_of(const Csv* claims, int row) {
  const char* text = csv_get(claims, row, "verdict");
  for (int k = 0; k < VERDICT_COUNT; k++) {
    if (strcmp(text, VERDICTS[k]) == 0) return k;
  }
  return VERDICT_COUNT - 1;
}

// How many claims of each paper have each verdict.
static void write_scores(FILE* f, const Report* r) {
  int count[PAPER_COUNT + 1][VERDICT_COUNT] = {{0}};
  for (int i = 0; i < r->count; i++) {
    for (int row = 1; row < r->claims[i].rows; row++) {
      int paper = paper_of(csv_get(&r->claims[i], row, "figure"));
      count[paper][verdict_of(&r->claims[i], row)]++;
    }
  }
  fputs("<div class=\"wide\"><table><tr><th>paper</th>", f);
  for (int k = 0; k < VERDICT_COUNT; k++) {
    fprintf(f, "<th><span class=\"badge %s\">%s</span></th>", VERDICTS[k], VERDICTS[k]);
  }
  fputs("</tr>\n", f);
  for (int p = 0; p <= PAPER_COUNT; p++) {
    if (p < PAPER_COUNT) {
      fprintf(f, "<tr><td><a href=\"#checklist-%s\">%s</a> (%s)</td>", PAPERS[p].key,
              PAPERS[p].title, PAPERS[p].key);
    } else {
      fputs("<tr><td>Beyond the papers: all laws on one cube, Siconos, MuJoCo</td>", f);
    }
    for (int k = 0; k < VERDICT_COUNT; k++) fprintf(f, "<td class=\"number\">%d</td>", count[p][k]);
    fputs("</tr>\n", f);
  }
  fputs("</table></div>\n", f);
}

// The claims that do not simply hold, first of all.
static void write_exceptions(FILE* f, const Report* r) {
  fputs("<h2 id=\"exceptions\">What does not hold here, or holds in another way</h2>\n<ul>", f);
  for (int verdict = VERDICT_COUNT - 1; verdict > 1; verdict--) {
    for (int i = 0; i < r->count; i++) {
      for (int row = 1; row < r->claims[i].rows; row++) {
        const Csv* claims = &r->claims[i];
        if (verdict_of(claims, row) != verdict) continue;
        const char *figure = csv_get(claims, row, "figure"), *text = csv_get(claims, row, "claim");
        const Allowed* allowed = verdict == 3 ? allowed_worse(figure, text) : NULL;
        fprintf(f, "<li><span class=\"badge %s\">%s</span> <a href=\"#%s-%d\">", VERDICTS[verdict],
                VERDICTS[verdict], r->parts[i].name, row);
        html_escape(f, figure);
        fputs("</a>: ", f);
        html_escape(f, text);
        fputs(" <span class=\"soft\">Here: ", f);
        html_escape(f, csv_get(claims, row, "ours"));
        fputs(". ", f);
        html_escape(f, allowed ? allowed->reason : csv_get(claims, row, "because"));
        fputs("</span></li>\n", f);
      }
    }
  }
  fputs("</ul>\n", f);
}

// ---- the checklist -----------------------------------------------------------------------------

static int find_part(const Report* r, const char* name) {
  for (int i = 0; i < r->count; i++) {
    if (strcmp(r->parts[i].name, name) == 0) return i;
  }
  return -1;
}

// Verdict, claim, command, table and figure of an item that is measured.
static void write_measured(FILE* f, Report* r, const Item* item, const char* shared) {
  int part = find_part(r, item->part), found = 0;
  char image[HTML_NAME] = "";
  fputs("<td>", f);
  for (int i = 0; i < r->count; i++) {
    const Csv* claims = &r->claims[i];
    for (int row = 1; row < claims->rows; row++) {
      if (!claim_is_about(csv_get(claims, row, "figure"), item)) continue;
      const char *verdict = csv_get(claims, row, "verdict"), *file = csv_get(claims, row, "image");
      if (*file && !*image) {
        snprintf(image, sizeof image, "<a href=\"#%s-%d\">%.180s</a>", r->parts[i].name, row, file);
      }
      fprintf(f, "%s<span class=\"badge %s\">%s</span> <a href=\"#%s-%d\">", found ? "<br/>" : "",
              verdict, verdict, r->parts[i].name, row);
      html_escape(f, csv_get(claims, row, "claim"));
      fputs("</a>", f);
      found++;
    }
  }
  char needed[PATH];
  snprintf(needed, sizeof needed, "%s/%s", shared, item->needs ? item->needs : "");
  if (!found && item->needs && access(needed, R_OK) != 0) {
    fprintf(f, "<span class=\"badge\">not run</span> needs ../shared/%s", item->needs);
  } else if (!found && r->partial) {
    fputs("<span class=\"badge\">not in this run</span>", f);
  } else if (!found) {
    fputs("<span class=\"badge missing\">missing</span>", f);
    fprintf(stderr, "no claim: %s %s\n", item->paper, item->item);
    r->verdicts.missing++;
  }
  fprintf(f, "</td><td><code>tribo bench %s</code></td><td>", item->part);
  if (item->table && part >= 0) {
    fprintf(f, "<a href=\"#%s-%s.csv\">%s/%s.csv</a>", item->part, item->table, item->part,
            item->table);
  }
  fprintf(f, "</td><td>%s</td>", image);
}

static void write_checklist(FILE* f, Report* r, const char* shared) {
  fputs("<h2 id=\"checklist\">Every figure and table</h2>\n", f);
  for (int p = 0; p < PAPER_COUNT; p++) {
    fprintf(f,
            "<h3 id=\"checklist-%s\">%s (%s)</h3><div class=\"wide\"><table><tr><th>in the "
            "paper</th><th>shows</th>"
            "<th>claim and verdict</th><th>command</th><th>table</th><th>figure</th></tr>\n",
            PAPERS[p].key, PAPERS[p].title, PAPERS[p].key);
    for (int i = 0; i < CHECKLIST_COUNT; i++) {
      const Item* item = &CHECKLIST[i];
      if (strcmp(item->paper, PAPERS[p].key) != 0) continue;
      fprintf(f, "<tr><td style=\"white-space:nowrap\">%s</td><td>%s</td>", item->item,
              item->shows);
      if (item->part) {
        write_measured(f, r, item, shared);
      } else {
        fprintf(f, "<td colspan=\"4\" class=\"soft\">%s</td>", item->note);
      }
      fputs("</tr>\n", f);
    }
    fputs("</table></div>\n", f);
  }
}

// ---- the page ----------------------------------------------------------------------------------

static void write_machine(FILE* f) {
  struct utsname system;
  char line[512], cpu[256] = "";
  FILE* info = fopen("/proc/cpuinfo", "r");
  while (info && fgets(line, sizeof line, info)) {
    char* colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) == 0 && colon) {
      snprintf(cpu, sizeof cpu, "%.200s, ", colon + 2);
      cpu[strcspn(cpu, "\n")] = 0;
      break;
    }
  }
  if (info) fclose(info);
  time_t now = time(NULL);
  struct tm day;
  char date[64] = "";
  if (localtime_r(&now, &day)) strftime(date, sizeof date, "%Y-%m-%d %H:%M", &day);
  if (uname(&system) != 0) strcpy(system.machine, "unknown");
  fprintf(f, "<p class=\"soft\">Run on %s: %s %s%s%ld cores, %s, compiler " __VERSION__ ".</p>\n",
          date, system.machine, cpu, *cpu ? ", " : "", sysconf(_SC_NPROCESSORS_ONLN),
          system.sysname);
}

static void write_head(FILE* f, const Report* r) {
  const Verdicts* v = &r->verdicts;
  html_head(f, "Tribo: the papers again");
  fprintf(
      f,
      "<h1>Four papers on contact, run again</h1>\n<p>Tribo runs every contact model that "
      "robotics uses over one model format, one collision detector and one dynamics core. This "
      "page holds its answer to every figure and table of four papers, measured by one command, "
      "<code>tribo bench papers%s</code>, on one machine. Each claim has the paper's number, "
      "ours, a verdict computed from the measurement, and the command that repeats it.</p>\n",
      r->short_run ? " --short" : "");
  if (r->short_run) {
    fputs(
        "<p class=\"soft\">The short form: fewer steps, problems and repetitions than in the "
        "papers; <code>make bench</code> runs the whole.</p>\n",
        f);
  }
  fprintf(f,
          "<div class=\"score\"><div class=\"reproduced\"><b>%d</b>reproduced</div>"
          "<div class=\"better\"><b>%d</b>better</div><div class=\"differs\"><b>%d</b>differ, with "
          "the reason</div><div class=\"worse\"><b>%d</b>worse</div>"
          "<div><b>%d</b>missing</div></div>\n",
          v->reproduced, v->better, v->differs, v->worse + v->allowed, v->missing);
  write_scores(f, r);
  write_machine(f);
  fputs("<ul><li><a href=\"#gallery\">Gallery</a></li>", f);
  fputs("<li><a href=\"#exceptions\">What does not hold, or holds in another way</a></li>", f);
  fputs("<li><a href=\"#checklist\">Every figure and table, with its verdict</a></li>", f);
  for (int i = 0; i < r->count; i++) {
    fprintf(f, "<li><a href=\"#%s\">%s</a></li>", r->parts[i].name, r->parts[i].title);
  }
  fputs("</ul>\n", f);
}

Verdicts write_report(const Wanted* wanted, const Part* parts, int count) {
  const char* folder = wanted->folder;
  Report r = {.folder = folder,
              .parts = parts,
              .count = count,
              .short_run = wanted->brief,
              .partial = wanted->partial};
  char path[PATH], body[PATH];
  for (int i = 0; i < count && i < MOST_PARTS; i++) {
    snprintf(path, sizeof path, "%s/%s/claims.csv", folder, parts[i].name);
    r.claims[i] = csv_read(path);
    for (int row = 1; row < r.claims[i].rows; row++) {
      judge(&r, csv_get(&r.claims[i], row, "figure"), csv_get(&r.claims[i], row, "claim"),
            csv_get(&r.claims[i], row, "verdict"));
    }
  }

  // The checklist is written first, since the head of the page counts its missing entries.
  snprintf(path, sizeof path, "%s/index.html", folder);
  snprintf(body, sizeof body, "%s/.body", folder);
  FILE* f = fopen(body, "w");
  if (f) {
    write_checklist(f, &r, TB_SHARED_DIR);
    for (int i = 0; i < count; i++) write_part(f, &r, i);
    fclose(f);
  }
  f = f ? fopen(path, "w") : NULL;
  if (f) {
    long size;
    char* text = read_text(body, &size);
    write_head(f, &r);
    write_gallery(f, folder);
    write_exceptions(f, &r);
    if (text) fputs(text, f);
    free(text);
    fputs("</body></html>\n", f);
    fclose(f);
  }
  remove(body);
  for (int i = 0; i < count && i < MOST_PARTS; i++) csv_free(&r.claims[i]);
  return r.verdicts;
}
