#include "html.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const char STYLE[] =
    ":root{--ink:#1d2329;--soft:#5a6570;--page:#fff;--card:#f6f8fa;--line:#d5dbe1;--code:#eceff2;"
    "--good:#1a8754;--better:#0b62c4;--bad:#c62828;--other:#b26a00}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e8ec;--soft:#9aa6b2;--page:#14181c;"
    "--card:#1d2329;--line:#39434d;--code:#2a323a;--good:#4cc38a;--better:#6cb2ff;--bad:#ff7b72;"
    "--other:#f0b429}}"
    "*{box-sizing:border-box}body{font:15px/1.55 system-ui,-apple-system,'Segoe UI',sans-serif;"
    "max-width:1180px;margin:0 auto;padding:1.5em 1em 4em;color:var(--ink);background:var(--page)}"
    "h1{font-size:1.8em;line-height:1.2;margin:.3em 0}h2{margin:2.6em 0 .4em;padding-bottom:.2em;"
    "border-bottom:2px solid var(--line);line-height:1.25}h3{margin:1.6em 0 .3em}"
    "a{color:var(--better)}p{margin:.5em 0}.soft{color:var(--soft)}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:13px;margin:.6em 0}"
    "td,th{border:1px solid var(--line);padding:3px 8px;text-align:left;vertical-align:top}"
    "th{background:var(--card);font-weight:600}code{background:var(--code);padding:1px 5px;"
    "border-radius:4px;font-size:.92em;white-space:nowrap}"
    ".claim{border:1px solid var(--line);border-left:6px solid var(--soft);border-radius:6px;"
    "padding:.7em 1em;margin:1.1em 0;background:var(--card)}"
    ".claim.reproduced{border-left-color:var(--good)}.claim.better{border-left-color:var(--better)}"
    ".claim.worse{border-left-color:var(--bad)}.claim.differs{border-left-color:var(--other)}"
    ".badge{display:inline-block;border-radius:10px;padding:0 9px;font-size:12px;font-weight:600;"
    "color:#fff;background:var(--soft);white-space:nowrap}.badge.reproduced{background:#1a8754}"
    ".badge.better{background:#0b62c4}.badge.worse,.badge.missing{background:#c62828}"
    ".badge.differs{background:#b26a00}.claim .badge{float:right}"
    ".score{display:flex;flex-wrap:wrap;gap:10px;margin:1em 0}.score div{border:1px solid "
    "var(--line);border-radius:8px;padding:.4em 1.1em;background:var(--card)}"
    ".score b{font-size:1.6em;display:block;line-height:1.2}.score .reproduced b{color:var(--good)}"
    ".score .better b{color:var(--better)}.score .differs b{color:var(--other)}"
    ".score .worse b{color:var(--bad)}.number{text-align:right;white-space:nowrap}"
    "svg,img{max-width:100%;height:auto;border-radius:6px;display:block;margin:.6em auto}"
    ".figure{overflow-x:auto}"
    "details{margin:.4em 0}summary{cursor:pointer}"
    ".gallery{display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:14px}"
    "@media(max-width:640px){.figure svg{min-width:600px}"
    ".gallery{grid-template-columns:1fr 1fr;gap:10px}}"
    ".gallery figure{margin:0}.gallery img{width:100%;margin:0}"
    ".gallery figcaption{font-size:12.5px;color:var(--soft);line-height:1.35;margin-top:4px}"
    "pre{background:var(--code);padding:.7em 1em;border-radius:6px;overflow-x:auto}"
    ".full img{width:100%}"
    "@media print{.claim{break-inside:avoid}details{display:none}}";

void html_head(FILE* f, const char* title) {
  fprintf(f,
          "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>"
          "<title>%s</title><style>%s</style></head><body>\n",
          title, STYLE);
}

void html_escape(FILE* f, const char* text) {
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

// ---- images ------------------------------------------------------------------------------------

static void write_svg(FILE* f, const char* path, const char* description) {
  long size;
  char* text = read_text(path, &size);
  char* start = text ? strstr(text, "<svg") : NULL;
  if (start) {
    fputs("<div class=\"figure\"><svg role=\"img\" aria-label=\"", f);
    html_escape(f, description);
    fprintf(f, "\"%s</div>", start + strlen("<svg"));
  }
  free(text);
}

static void write_png(FILE* f, const char* path, const char* description) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  long size;
  char* bytes = read_text(path, &size);
  if (!bytes) return;
  fputs("<img alt=\"", f);
  html_escape(f, description);
  fputs("\" src=\"data:image/png;base64,", f);
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

void html_image(FILE* f, const char* folder, const char* file, const char* description) {
  char path[HTML_PATH];
  snprintf(path, sizeof path, "%s/%s", folder, file);
  if (ends_with(file, ".svg")) write_svg(f, path, description);
  if (ends_with(file, ".png")) write_png(f, path, description);
}

// ---- tables and files --------------------------------------------------------------------------

void html_table(FILE* f, const Csv* csv, int most) {
  fputs("<div class=\"wide\"><table>", f);
  for (int r = 0; r < csv->rows && r <= most; r++) {
    fputs("<tr>", f);
    for (int c = 0; c < csv->columns; c++) {
      fputs(r ? "<td>" : "<th>", f);
      html_escape(f, csv->cell[r * csv->columns + c]);
      fputs(r ? "</td>" : "</th>", f);
    }
    fputs("</tr>\n", f);
  }
  fputs("</table></div>", f);
  if (csv->rows > most + 1) fprintf(f, "<p>%d more rows in the file.</p>", csv->rows - most - 1);
}

static int compare_names(const void* a, const void* b) {
  return strcmp(a, b);
}

int list_files(const char* folder, const char* end, char names[HTML_FILES][HTML_NAME]) {
  DIR* dir = opendir(folder);
  int count = 0;
  if (!dir) return 0;
  for (struct dirent* entry; (entry = readdir(dir)) && count < HTML_FILES;) {
    if (ends_with(entry->d_name, end) && strlen(entry->d_name) < HTML_NAME) {
      strcpy(names[count++], entry->d_name);
    }
  }
  closedir(dir);
  qsort(names, (size_t)count, HTML_NAME, compare_names);
  return count;
}
