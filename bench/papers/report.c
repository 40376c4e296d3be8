#include "report.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "csv.h"

enum { PATH = 2048, FILES = 128, NAME = 256 };

static const char STYLE[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1150px;margin:2em auto;padding:0 1em;"
    "color:#222}h1{font-size:1.7em}h2{border-bottom:2px solid #ccc;margin-top:2.5em}"
    "table{border-collapse:collapse;font-size:13px;margin:.6em 0}td,th{border:1px solid #ddd;"
    "padding:3px 8px;text-align:left;vertical-align:top}th{background:#f3f3f3}"
    ".claim{border-left:6px solid #999;padding:.4em 1em;margin:1em 0;background:#fafafa}"
    ".reproduced{border-color:#2a8}.better{border-color:#06c}.worse{border-color:#c22}"
    ".differs{border-color:#e90}.verdict{font-weight:bold;float:right}code{background:#eee;"
    "padding:1px 5px}svg,img{max-width:100%;height:auto}details{margin:.5em 0}"
    ".gallery{display:flex;flex-wrap:wrap;gap:10px}.gallery figure{margin:0;width:270px}"
    ".gallery figcaption{font-size:12px;color:#555}";

static void escape(FILE* f, const char* text) {
  for (; *text; text++) {
    switch (*text) {
      case '<': fputs("&lt;", f); break;
      case '>': fputs("&gt;", f); break;
      case '&': fputs("&amp;", f); break;
      case '"': fputs("&quot;", f); break;
      default: fputc(*text, f);
    }
  }
}

// ---- pictures ----------------------------------------------------------------------------------

static void write_svg(FILE* f, const char* path) {
  long size;
  char* text = read_text(path, &size);
  if (text) fputs(text, f);
  free(text);
}

static void write_png(FILE* f, const char* path) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  long size;
  char* bytes = read_text(path, &size);
  if (!bytes) return;
  fputs("<img alt=\"\" src=\"data:image/png;base64,", f);
  for (long i = 0; i < size; i += 3) {
    unsigned b[3] = {(unsigned char)bytes[i], i + 1 < size ? (unsigned char)bytes[i + 1] : 0,
                     i + 2 < size ? (unsigned char)bytes[i + 2] : 0};
    unsigned word = b[0] << 16 | b[1] << 8 | b[2];
    fputc(digits[word >> 18], f);
    fputc(digits[word >> 12 & 63], f);
    fputc(i + 1 < size ? digits[word >> 6 & 63] : '=', f);
    fputc(i + 2 < size ? digits[word & 63] : '=', f);
  }
  fputs("\"/>", f);
  free(bytes);
}

static bool ends_with(const char* text, const char* end) {
  size_t n = strlen(text), k = strlen(end);
  return n >= k && strcmp(text + n - k, end) == 0;
}

static void write_image(FILE* f, const char* folder, const char* file) {
  char path[PATH];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  if (ends_with(file, ".svg")) write_svg(f, path);
  if (ends_with(file, ".png")) write_png(f, path);
}

// ---- tables ------------------------------------------------------------------------------------

static void write_table(FILE* f, const Csv* csv) {
  fputs("<table>", f);
  for (int r = 0; r < csv->rows && r < 400; r++) {
    fputs("<tr>", f);
    for (int c = 0; c < csv->columns; c++) {
      fprintf(f, r ? "<td>" : "<th>");
      escape(f, csv->cell[r * csv->columns + c]);
      fprintf(f, r ? "</td>" : "</th>");
    }
    fputs("</tr>\n", f);
  }
  fputs("</table>", f);
  if (csv->rows > 400) fprintf(f, "<p>%d more rows in the file.</p>", csv->rows - 400);
}

static int compare_names(const void* a, const void* b) {
  return strcmp(a, b);
}

// Files of a folder with that ending, sorted.
static int list_files(const char* folder, const char* end, char names[FILES][NAME]) {
  DIR* dir = opendir(folder);
  int count = 0;
  if (!dir) return 0;
  for (struct dirent* entry; (entry = readdir(dir)) && count < FILES;) {
    if (ends_with(entry->d_name, end) && strlen(entry->d_name) < NAME) {
      strcpy(names[count++], entry->d_name);
    }
  }
  closedir(dir);
  qsort(names, (size_t)count, NAME, compare_names);
  return count;
}

// ---- a part ------------------------------------------------------------------------------------

static void count_verdict(Verdicts* verdicts, const char* word) {
  verdicts->reproduced += strcmp(word, "reproduced") == 0;
  verdicts->better += strcmp(word, "better") == 0;
  verdicts->worse += strcmp(word, "worse") == 0;
  verdicts->differs += strcmp(word, "differs") == 0;
}

static void write_claim(FILE* f, const char* folder, const Csv* claims, int row) {
  const char *verdict = csv_get(claims, row, "verdict"), *image = csv_get(claims, row, "image");
  const char* because = csv_get(claims, row, "because");
  fprintf(f, "<div class=\"claim %s\"><span class=\"verdict\">%s</span><b>", verdict, verdict);
  escape(f, csv_get(claims, row, "figure"));
  fputs("</b><br/>", f);
  escape(f, csv_get(claims, row, "claim"));
  fputs("<table><tr><th>paper</th><td>", f);
  escape(f, csv_get(claims, row, "paper"));
  fputs("</td></tr><tr><th>ours</th><td>", f);
  escape(f, csv_get(claims, row, "ours"));
  fputs("</td></tr></table>", f);
  if (*because) {
    fputs("<p>", f);
    escape(f, because);
    fputs("</p>", f);
  }
  if (*image) write_image(f, folder, image);
  fputs("</div>\n", f);
}

static bool shown_by_claim(const Csv* claims, const char* file) {
  for (int r = 1; r < claims->rows; r++) {
    if (strcmp(csv_get(claims, r, "image"), file) == 0) return true;
  }
  return false;
}

static void write_part(FILE* f, const char* report, const Part* part, bool short_run,
                       Verdicts* verdicts) {
  char folder[PATH], path[PATH + NAME + 1];
  static char names[FILES][NAME];
  snprintf(folder, sizeof folder, "%s/%s", report, part->name);
  if (access(folder, R_OK) != 0) return;
  fprintf(f, "<h2 id=\"%s\">%s</h2><p>%s Again: <code>tribo bench %s --out DIR%s</code></p>\n",
          part->name, part->title, part->intro, part->name, short_run ? " --short" : "");
  snprintf(path, sizeof path, "%s/claims.csv", folder);
  Csv claims = csv_read(path);
  for (int r = 1; r < claims.rows; r++) {
    count_verdict(verdicts, csv_get(&claims, r, "verdict"));
    write_claim(f, folder, &claims, r);
  }

  // Figures that no claim shows, then every table.
  int count = list_files(folder, ".svg", names);
  for (int i = 0; i < count; i++) {
    if (!shown_by_claim(&claims, names[i])) write_image(f, folder, names[i]);
  }
  count = list_files(folder, ".csv", names);
  for (int i = 0; i < count; i++) {
    if (strcmp(names[i], "claims.csv") == 0) continue;
    snprintf(path, sizeof path, "%s/%.*s", folder, NAME - 1, names[i]);
    Csv csv = csv_read(path);
    fprintf(f, "<details><summary>%s (%d rows)</summary>", names[i], csv.rows - 1);
    write_table(f, &csv);
    fputs("</details>\n", f);
    csv_free(&csv);
  }
  csv_free(&claims);
}

static void write_gallery(FILE* f, const char* report) {
  static char names[FILES][NAME];
  char folder[PATH];
  snprintf(folder, sizeof folder, "%s/gallery", report);
  int count = list_files(folder, ".png", names);
  if (count == 0) return;
  fputs("<h2 id=\"gallery\">Gallery</h2><div class=\"gallery\">\n", f);
  for (int i = 0; i < count; i++) {
    fputs("<figure>", f);
    write_image(f, folder, names[i]);
    fprintf(f, "<figcaption>%.*s</figcaption></figure>\n", (int)strlen(names[i]) - 4, names[i]);
  }
  fputs("</div>\n", f);
}

// ---- the page ----------------------------------------------------------------------------------

static void write_machine(FILE* f) {
  struct utsname system;
  char line[512], cpu[256] = "";
  FILE* info = fopen("/proc/cpuinfo", "r");
  while (info && fgets(line, sizeof line, info)) {
    char* colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) == 0 && colon) {
      snprintf(cpu, sizeof cpu, "%s, ", colon + 2);
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
  fprintf(f, "<p>Run on %s: %s %s, %ld cores, %s, compiler " __VERSION__ ".</p>\n", date,
          system.machine, cpu, sysconf(_SC_NPROCESSORS_ONLN), system.sysname);
}

Verdicts write_report(const char* folder, const Part* parts, int count, bool short_run) {
  Verdicts verdicts = {0};
  char path[PATH], body[PATH];
  snprintf(path, sizeof path, "%s/index.html", folder);
  snprintf(body, sizeof body, "%s/.body", folder);

  // The parts first, since the head of the page counts their verdicts.
  FILE* f = fopen(body, "w");
  if (!f) return verdicts;
  for (int i = 0; i < count; i++) write_part(f, folder, &parts[i], short_run, &verdicts);
  fclose(f);
  f = fopen(path, "w");
  if (!f) return verdicts;
  fprintf(f,
          "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"/><title>Tribo: the papers "
          "again</title><style>%s</style><h1>Tribo: four papers on contact, run again</h1>\n",
          STYLE);
  fprintf(f,
          "<p>Every claim below was measured by one command, <code>tribo bench papers%s</code>: "
          "<b>%d</b> reproduced, <b>%d</b> better, <b>%d</b> differ (with the reason), <b>%d</b> "
          "worse.</p>\n",
          short_run ? " --short" : "", verdicts.reproduced, verdicts.better, verdicts.differs,
          verdicts.worse);
  write_machine(f);
  fputs("<ul>", f);
  for (int i = 0; i < count; i++) {
    fprintf(f, "<li><a href=\"#%s\">%s</a></li>", parts[i].name, parts[i].title);
  }
  fputs("</ul>\n", f);
  write_gallery(f, folder);
  long size;
  char* text = read_text(body, &size);
  if (text) fputs(text, f);
  free(text);
  fputs("</html>\n", f);
  fclose(f);
  remove(body);
  return verdicts;
}
