#include "common/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char* label;
  double *x, *y;
  int n;
  bool steps, points;
} Series;

typedef struct {
  char *title, *x_label, *y_label;
  bool log_x, log_y;
  Series* series;
  int count;
} Panel;

struct tbPlot {
  char* title;
  int columns, rows, count;
  Panel* panels;
};

// Room of one panel and of what stands around its axes, in pixels.
enum { PANEL_WIDTH = 560, PANEL_HEIGHT = 380, LEFT = 70, RIGHT = 20, TOP = 36, BOTTOM = 52 };
enum { TITLE_HEIGHT = 30 };

// Hues that stay apart on white, also for most colour-blind readers.
static const char* const PALETTE[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#444444", "#8c564b",
                                      "#7f3c8d", "#999900", "#11a579", "#f2b701"};
enum { PALETTE_SIZE = sizeof PALETTE / sizeof PALETTE[0] };

static void* need(void* pointer) {
  if (!pointer) {
    fprintf(stderr, "out of memory\n");
    exit(3);
  }
  return pointer;
}

static char* copy_text(const char* text) {
  size_t size = strlen(text) + 1;
  return memcpy(need(malloc(size)), text, size);
}

tbPlot* tb_plot_new(const char* title, int columns, int rows) {
  tbPlot* plot = need(calloc(1, sizeof *plot));
  plot->title = copy_text(title);
  plot->columns = columns > 0 ? columns : 1;
  plot->rows = rows > 0 ? rows : 1;
  plot->panels = need(calloc((size_t)(plot->columns * plot->rows), sizeof(Panel)));
  return plot;
}

void tb_plot_panel(tbPlot* plot, const char* title, const char* x_label, const char* y_label,
                   bool log_x, bool log_y) {
  if (plot->count == plot->columns * plot->rows) {
    plot->rows++;
    size_t n = (size_t)(plot->columns * plot->rows);
    plot->panels = need(realloc(plot->panels, n * sizeof(Panel)));
  }
  plot->panels[plot->count++] =
      (Panel){copy_text(title), copy_text(x_label), copy_text(y_label), log_x, log_y, NULL, 0};
}

static bool visible(const Panel* panel, double x, double y) {
  return isfinite(x) && isfinite(y) && !(panel->log_x && x <= 0) && !(panel->log_y && y <= 0);
}

static void add_series(tbPlot* plot, Series series, const double* x, const double* y, int n) {
  if (plot->count == 0) tb_plot_panel(plot, "", "", "", false, false);
  Panel* panel = &plot->panels[plot->count - 1];
  series.x = need(malloc((size_t)(n + 1) * sizeof(double)));
  series.y = need(malloc((size_t)(n + 1) * sizeof(double)));
  for (int i = 0; i < n; i++) {
    if (!visible(panel, x[i], y[i])) continue;
    series.x[series.n] = panel->log_x ? log10(x[i]) : x[i];
    series.y[series.n++] = panel->log_y ? log10(y[i]) : y[i];
  }
  panel->series = need(realloc(panel->series, (size_t)(panel->count + 1) * sizeof(Series)));
  panel->series[panel->count++] = series;
}

void tb_plot_line(tbPlot* plot, const char* label, const double* x, const double* y, int n,
                  bool steps) {
  add_series(plot, (Series){copy_text(label), NULL, NULL, 0, steps, false}, x, y, n);
}

void tb_plot_points(tbPlot* plot, const char* label, const double* x, const double* y, int n) {
  add_series(plot, (Series){copy_text(label), NULL, NULL, 0, false, true}, x, y, n);
}

// ---- writing -----------------------------------------------------------------------------------

typedef struct {
  double low, high;
  bool log;
  double start, size;  // pixels; size is negative for y
} Axis;

static double to_pixel(Axis axis, double v) {
  return axis.start + axis.size * (v - axis.low) / (axis.high - axis.low);
}

static void escape(FILE* f, const char* text) {
  for (; *text; text++) {
    if (*text == '<') {
      fputs("&lt;", f);
    } else if (*text == '>') {
      fputs("&gt;", f);
    } else if (*text == '&') {
      fputs("&amp;", f);
    } else {
      fputc(*text, f);
    }
  }
}

static void write_text(FILE* f, double x, double y, const char* style, const char* text) {
  fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
  escape(f, text);
  fputs("</text>\n", f);
}

// The range of one coordinate over all series of a panel, with a small margin.
static void find_range(const Panel* panel, bool vertical, double* low, double* high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (int s = 0; s < panel->count; s++) {
    const Series* series = &panel->series[s];
    for (int i = 0; i < series->n; i++) {
      double v = vertical ? series->y[i] : series->x[i];
      *low = fmin(*low, v);
      *high = fmax(*high, v);
    }
  }
  if (!(*low <= *high)) {
    *low = 0;
    *high = 1;
  }
  double margin = 0.03 * (*high - *low);
  if (margin < 1e-9 * (1 + fabs(*high))) margin = 0.5;
  *low -= margin;
  *high += margin;
}

// A round distance between ticks: 1, 2 or 5 times a power of ten, at most about eight of them.
static double tick_step(const Axis* axis) {
  double raw = (axis->high - axis->low) / 7, power = pow(10, floor(log10(raw)));
  double step = raw <= power       ? power
                : raw <= 2 * power ? 2 * power
                : raw <= 5 * power ? 5 * power
                                   : 10 * power;
  return axis->log && step < 1 ? 1 : step;
}

static void write_axis(FILE* f, Axis axis, Axis other, bool vertical) {
  double step = tick_step(&axis);
  for (double v = ceil(axis.low / step) * step; v <= axis.high + 1e-9 * step; v += step) {
    char label[32];
    double p = to_pixel(axis, v);
    if (fabs(v) < 1e-9 * step) v = 0;
    if (axis.log) {
      snprintf(label, sizeof label, "1e%.3g", v);
    } else {
      snprintf(label, sizeof label, "%.4g", v);
    }
    double a = other.start, b = other.start + other.size;
    if (vertical) {
      fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", a, p,
              b, p);
      write_text(f, a - 6, p + 4, "text-anchor=\"end\"", label);
    } else {
      fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", p, a,
              p, b);
      write_text(f, p, a + 16, "text-anchor=\"middle\"", label);
    }
  }
}

static void write_series(FILE* f, const Series* series, Axis ax, Axis ay, const char* colour,
                         int dash) {
  static const char* const DASHES[] = {"", "6 3", "2 3", "8 3 2 3"};
  if (series->points) {
    for (int i = 0; i < series->n; i++) {
      fprintf(f, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3\" fill=\"%s\"/>\n",
              to_pixel(ax, series->x[i]), to_pixel(ay, series->y[i]), colour);
    }
    return;
  }
  fprintf(f,
          "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" stroke-dasharray=\"%s\" "
          "points=\"",
          colour, DASHES[dash % 4]);
  // Points that no eye tells from the last one drawn are left out.
  double drawn_x = -1e9, drawn_y = -1e9;
  for (int i = 0; i < series->n; i++) {
    double x = to_pixel(ax, series->x[i]), y = to_pixel(ay, series->y[i]);
    bool near = fabs(x - drawn_x) < 1 && fabs(y - drawn_y) < 0.5;
    if (near && i + 1 < series->n) continue;
    drawn_x = x;
    drawn_y = y;
    if (series->steps && i > 0) fprintf(f, "%.2f,%.2f ", x, to_pixel(ay, series->y[i - 1]));
    fprintf(f, "%.2f,%.2f ", x, y);
  }
  fputs("\"/>\n", f);
}

// The index of a label among all labels of the figure, in order of first appearance: its colour.
static int label_index(const tbPlot* plot, const char* label) {
  int index = 0;
  for (int p = 0; p < plot->count; p++) {
    for (int s = 0; s < plot->panels[p].count; s++) {
      const char* here = plot->panels[p].series[s].label;
      if (strcmp(here, label) == 0) return index;
      // Count a label only where it appears first.
      bool seen = false;
      for (int q = 0; q <= p && !seen; q++) {
        int end = q == p ? s : plot->panels[q].count;
        for (int k = 0; k < end && !seen; k++) {
          seen = strcmp(plot->panels[q].series[k].label, here) == 0;
        }
      }
      if (!seen) index++;
    }
  }
  return index;
}

static void write_panel(FILE* f, const tbPlot* plot, int index) {
  const Panel* panel = &plot->panels[index];
  double x0 = (double)(index % plot->columns) * PANEL_WIDTH;
  double y0 = TITLE_HEIGHT + (double)(index / plot->columns) * PANEL_HEIGHT;
  double width = PANEL_WIDTH - LEFT - RIGHT, height = PANEL_HEIGHT - TOP - BOTTOM;
  Axis ax = {0, 1, panel->log_x, x0 + LEFT, width};
  Axis ay = {0, 1, panel->log_y, y0 + TOP + height, -height};
  find_range(panel, false, &ax.low, &ax.high);
  find_range(panel, true, &ay.low, &ay.high);
  // Grid and ticks, then the frame and the titles.
  write_axis(f, ax, ay, false);
  write_axis(f, ay, ax, true);
  fprintf(f,
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
          "stroke=\"#444\"/>\n",
          ax.start, ay.start - height, width, height);
  write_text(f, ax.start + width / 2, y0 + TOP - 10, "text-anchor=\"middle\" font-weight=\"bold\"",
             panel->title);
  write_text(f, ax.start + width / 2, y0 + PANEL_HEIGHT - 14, "text-anchor=\"middle\"",
             panel->x_label);
  char rotate[128];
  double lx = x0 + 16, ly = y0 + TOP + height / 2;
  snprintf(rotate, sizeof rotate, "text-anchor=\"middle\" transform=\"rotate(-90 %.1f %.1f)\"", lx,
           ly);
  write_text(f, lx, ly, rotate, panel->y_label);
  // The lines, then their legend on a pale ground.
  size_t longest = 0;
  for (int s = 0; s < panel->count; s++) {
    int label = label_index(plot, panel->series[s].label);
    write_series(f, &panel->series[s], ax, ay, PALETTE[label % PALETTE_SIZE], label / PALETTE_SIZE);
    size_t length = strlen(panel->series[s].label);
    longest = length > longest ? length : longest;
  }
  double right = ax.start + width - 8, top = ay.start - height + 4;
  fprintf(f,
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"white\" "
          "fill-opacity=\"0.8\"/>\n",
          right - 30 - 7.0 * (double)longest, top, 34 + 7.0 * (double)longest, 15.0 * panel->count);
  for (int s = 0; s < panel->count; s++) {
    int label = label_index(plot, panel->series[s].label);
    double ty = top + 12 + 15.0 * s;
    fprintf(f,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
            "stroke-width=\"2\"/>\n",
            right - 18, ty - 4, right, ty - 4, PALETTE[label % PALETTE_SIZE]);
    write_text(f, right - 22, ty, "text-anchor=\"end\"", panel->series[s].label);
  }
}

static void free_plot(tbPlot* plot) {
  for (int p = 0; p < plot->count; p++) {
    Panel* panel = &plot->panels[p];
    for (int s = 0; s < panel->count; s++) {
      free(panel->series[s].label);
      free(panel->series[s].x);
      free(panel->series[s].y);
    }
    free(panel->series);
    free(panel->title);
    free(panel->x_label);
    free(panel->y_label);
  }
  free(plot->panels);
  free(plot->title);
  free(plot);
}

bool tb_plot_write(tbPlot* plot, const char* path) {
  FILE* f = path ? fopen(path, "w") : NULL;
  bool ok = f != NULL || path == NULL;
  if (f) {
    int width = plot->columns * PANEL_WIDTH, height = plot->rows * PANEL_HEIGHT + TITLE_HEIGHT;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            width, height, width, height);
    write_text(f, width / 2.0, 21, "text-anchor=\"middle\" font-size=\"15\" font-weight=\"bold\"",
               plot->title);
    for (int p = 0; p < plot->count; p++) write_panel(f, plot, p);
    fputs("</svg>\n", f);
    ok = fclose(f) == 0;
  }
  free_plot(plot);
  return ok;
}
