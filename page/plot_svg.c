// Drawing of a figure: panels, axes with ticks, series, one legend under all panels.
#include <math.h>
#include <string.h>

#include "plot_data.h"

// Room of one panel and of the texts around its axes, in pixels.
enum { PANEL_HEIGHT = 340, LEFT = 82, RIGHT = 18, TOP = 40, BOTTOM = 54 };
enum { TITLE_HEIGHT = 34, LEGEND_ROW = 22, LEGEND_MARGIN = 12, FEW_POINTS = 24 };

// Hues that stay apart on white, also for most colour-blind readers; dashes tell lines apart that
// lie on each other.
static const char* const PALETTE[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                      "#e69f00", "#56b4e9", "#444444", "#8c564b",
                                      "#7f3c8d", "#999900", "#11a579", "#f2b701"};
enum { PALETTE_SIZE = sizeof PALETTE / sizeof PALETTE[0] };
static const char* const DASHES[] = {"none", "8 4", "2 3", "9 3 2 3"};

// Three panels side by side are as wide as the column of a page, one alone is a little wider.
static int panel_width(const struct tbPlot* plot) {
  return plot->columns == 1 ? 560 : plot->columns == 2 ? 480 : 385;
}

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
    switch (*text) {
      case '<': fputs("&lt;", f); break;
      case '>': fputs("&gt;", f); break;
      case '&': fputs("&amp;", f); break;
      default: fputc(*text, f);
    }
  }
}

static void write_text(FILE* f, double x, double y, const char* style, const char* text) {
  fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
  escape(f, text);
  fputs("</text>\n", f);
}

// ---- ranges and ticks --------------------------------------------------------------------------

// The range of one coordinate over all series of a panel, with a small margin.
static void find_range(const PlotPanel* panel, bool vertical, double* low, double* high) {
  bool bars = false;
  *low = INFINITY;
  *high = -INFINITY;
  for (int s = 0; s < panel->count; s++) {
    const PlotSeries* series = &panel->series[s];
    bars = bars || series->kind == PLOT_BARS;
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
  // Bars stand on zero, or on a full power of ten; their categories have half a place at each end.
  if (bars && !vertical) {
    *low = -0.5;
    *high = panel->categories > 0 ? panel->categories - 0.5 : *high + 0.5;
    return;
  }
  // What hardly varies is drawn flat, not as noise.
  bool log = vertical ? panel->log_y : panel->log_x;
  double largest = fmax(fabs(*low), fabs(*high)), margin = 0.04 * (*high - *low);
  if (margin < 1e-9 * (1 + *high)) margin = 0.5;
  if (!log && *high - *low < 1e-4 * largest) margin = 0.1 * largest;
  if (bars) *low = panel->log_y ? floor(*low - 0.1) : fmin(0, *low);
  if (!bars) *low -= margin;
  *high += margin;
}

// A round distance between ticks: 1, 2 or 5 times a power of ten, at most about seven of them.
static double tick_step(const Axis* axis) {
  double raw = (axis->high - axis->low) / 6, power = pow(10, floor(log10(raw)));
  double step = raw <= power       ? power
                : raw <= 2 * power ? 2 * power
                : raw <= 5 * power ? 5 * power
                                   : 10 * power;
  return axis->log && step < 1 ? 1 : step;
}

// 10 to a power with a raised exponent.
static void power_text(char* out, int exponent) {
  static const char* const DIGIT[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  char digits[16];
  snprintf(digits, sizeof digits, "%d", exponent);
  strcpy(out, "10");
  for (const char* c = digits; *c; c++) strcat(out, *c == '-' ? "⁻" : DIGIT[*c - '0']);
}

// The power of ten taken out of the labels of a linear axis: 0 for numbers of everyday size.
static int common_exponent(const Axis* axis) {
  double largest = fmax(fabs(axis->low), fabs(axis->high));
  if (axis->log || (largest >= 0.02 && largest < 1e5)) return 0;
  return (int)floor(log10(largest));
}

static void tick_text(const Axis* axis, double v, double step, char* label, size_t size) {
  if (axis->log) {
    bool plain = axis->low > -2.9 && axis->high < 4.2;
    if (plain || fabs(v - round(v)) > 1e-9) {
      snprintf(label, size, "%.6g", pow(10, v));
    } else {
      power_text(label, (int)lround(v));
    }
    return;
  }
  double scale = pow(10, common_exponent(axis));
  int decimals = (int)fmax(0, -floor(log10(step / scale) + 1e-9));
  snprintf(label, size, "%.*f", decimals > 8 ? 8 : decimals, v / scale + 0.0);
}

static void write_tick(FILE* f, Axis axis, Axis other, bool vertical, double v, const char* label) {
  double p = to_pixel(axis, v), a = other.start, b = other.start + other.size;
  if (vertical) {
    fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e2e2e2\"/>\n", a, p,
            b, p);
    write_text(f, a - 6, p + 4.5, "text-anchor=\"end\"", label);
  } else {
    fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e2e2e2\"/>\n", p, a,
            p, b);
    write_text(f, p, a + 18, "text-anchor=\"middle\"", label);
  }
}

// Ticks of a logarithmic axis of less than two decades: round numbers where it is almost linear,
// else 1, 2 and 5 times each power.
static void write_narrow_axis(FILE* f, Axis axis, Axis other, bool vertical) {
  char label[64];
  if (axis.high - axis.low < 0.7) {
    Axis plain = {pow(10, axis.low), pow(10, axis.high), false, 0, 1};
    double step = tick_step(&plain);
    for (double v = ceil(plain.low / step) * step; v <= plain.high; v += step) {
      snprintf(label, sizeof label, "%.6g", v);
      write_tick(f, axis, other, vertical, log10(v), label);
    }
    return;
  }
  for (double v = floor(axis.low); v <= axis.high; v += 1) {
    for (int k = 0; k < 3; k++) {
      double at = v + log10(k == 0 ? 1 : k == 1 ? 2 : 5);
      if (at < axis.low || at > axis.high) continue;
      tick_text(&axis, at, 1, label, sizeof label);
      write_tick(f, axis, other, vertical, at, label);
    }
  }
}

static void write_axis(FILE* f, Axis axis, Axis other, bool vertical) {
  char label[64];
  double step = tick_step(&axis);
  if (axis.log && axis.high - axis.low < 1.6) {
    write_narrow_axis(f, axis, other, vertical);
    return;
  }
  for (double v = ceil(axis.low / step - 1e-9) * step; v <= axis.high + 1e-9 * step; v += step) {
    if (fabs(v) < 1e-9 * step) v = 0;
    tick_text(&axis, v, step, label, sizeof label);
    write_tick(f, axis, other, vertical, v, label);
  }
  int exponent = common_exponent(&axis);
  if (exponent == 0) return;
  strcpy(label, "×");
  power_text(label + strlen(label), exponent);
  if (vertical) {
    write_text(f, other.start, axis.start + axis.size - 6, "text-anchor=\"start\"", label);
  } else {
    write_text(f, axis.start + axis.size, other.start + 34, "text-anchor=\"end\"", label);
  }
}

// Names under groups of bars, tilted where they would run into each other.
static void write_categories(FILE* f, const PlotPanel* panel, Axis ax, Axis ay) {
  double place = ax.size / (ax.high - ax.low);
  size_t longest = 0;
  for (int i = 0; i < panel->categories; i++) {
    size_t n = strlen(panel->category[i]);
    longest = n > longest ? n : longest;
  }
  bool tilt = 8.6 * (double)longest > place;
  for (int i = 0; i < panel->categories; i++) {
    double x = to_pixel(ax, i), y = ay.start + (tilt ? 14 : 18);
    char style[128] = "text-anchor=\"middle\"";
    if (tilt) {
      snprintf(style, sizeof style,
               "text-anchor=\"end\" font-size=\"11\" transform=\"rotate(-25 %.1f %.1f)\"", x, y);
    }
    write_text(f, x, y, style, panel->category[i]);
  }
}

// ---- series ------------------------------------------------------------------------------------

// The index of a label among all labels of the figure, in order of first appearance.
static int label_index(const struct tbPlot* plot, const char* label, const char** names) {
  int count = 0;
  const char* found[256];
  for (int p = 0; p < plot->count; p++) {
    for (int s = 0; s < plot->panels[p].count; s++) {
      const char* here = plot->panels[p].series[s].label;
      int k = 0;
      while (k < count && strcmp(found[k], here) != 0) k++;
      if (k == count && count < 256) found[count++] = here;
      if (label && strcmp(here, label) == 0) return k;
    }
  }
  for (int k = 0; names && k < count; k++) names[k] = found[k];
  return count;
}

static void write_points(FILE* f, const PlotSeries* series, Axis ax, Axis ay, const char* colour) {
  for (int i = 0; i < series->n; i++) {
    fprintf(f,
            "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"3.2\" fill=\"%s\" stroke=\"white\" "
            "stroke-width=\"0.6\"/>\n",
            to_pixel(ax, series->x[i]), to_pixel(ay, series->y[i]), colour);
  }
}

static void write_line(FILE* f, const PlotSeries* series, Axis ax, Axis ay, const char* colour,
                       const char* dash) {
  fprintf(f,
          "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" "
          "stroke-linejoin=\"round\" points=\"",
          colour, dash);
  // Points that no eye tells from the last one drawn are left out.
  double drawn_x = -1e9, drawn_y = -1e9;
  for (int i = 0; i < series->n; i++) {
    double x = to_pixel(ax, series->x[i]), y = to_pixel(ay, series->y[i]);
    bool near = fabs(x - drawn_x) < 0.8 && fabs(y - drawn_y) < 0.5;
    if (near && i + 1 < series->n) continue;
    drawn_x = x;
    drawn_y = y;
    if (series->kind == PLOT_STEPS && i > 0)
      fprintf(f, "%.2f,%.2f ", x, to_pixel(ay, series->y[i - 1]));
    fprintf(f, "%.2f,%.2f ", x, y);
  }
  fputs("\"/>\n", f);
  if (series->kind == PLOT_LINE && series->n <= FEW_POINTS) write_points(f, series, ax, ay, colour);
}

// Bar number `place` of `places` in every group.
static void write_bars(FILE* f, const PlotSeries* series, Axis ax, Axis ay, const char* colour,
                       int place, int places) {
  double width = (places > 1 ? 0.82 : 0.5) * ax.size / (ax.high - ax.low) / places;
  for (int i = 0; i < series->n; i++) {
    double left = to_pixel(ax, series->x[i]) + width * (place - 0.5 * places);
    double top = to_pixel(ay, series->y[i]), floor_y = to_pixel(ay, ay.log ? ay.low : 0);
    fprintf(f,
            "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\" "
            "stroke=\"white\" stroke-width=\"0.5\"/>\n",
            left, fmin(top, floor_y), width, fabs(floor_y - top), colour);
  }
}

// Most bars over one category: a single one stands in the middle.
static int most_bars(const PlotPanel* panel) {
  int most = 0;
  for (int i = 0; i < panel->categories; i++) {
    int here = 0;
    for (int s = 0; s < panel->count; s++) {
      const PlotSeries* series = &panel->series[s];
      for (int k = 0; k < series->n && series->kind == PLOT_BARS; k++)
        here += fabs(series->x[k] - i) < 0.5;
    }
    most = here > most ? here : most;
  }
  return most;
}

static void write_all_series(FILE* f, const struct tbPlot* plot, const PlotPanel* panel, Axis ax,
                             Axis ay) {
  int bars = 0, bar = 0;
  for (int s = 0; s < panel->count; s++) bars += panel->series[s].kind == PLOT_BARS;
  bool alone = bars > 1 && most_bars(panel) == 1;
  for (int s = 0; s < panel->count; s++) {
    const PlotSeries* series = &panel->series[s];
    int label = label_index(plot, series->label, NULL);
    const char* colour = PALETTE[label % PALETTE_SIZE];
    switch (series->kind) {
      case PLOT_BARS:
        write_bars(f, series, ax, ay, colour, alone ? 0 : bar++, alone ? 1 : bars);
        break;
      case PLOT_POINTS: write_points(f, series, ax, ay, colour); break;
      default: write_line(f, series, ax, ay, colour, DASHES[label % 4]);
    }
  }
}

// ---- panels and legend -------------------------------------------------------------------------

static void write_panel(FILE* f, const struct tbPlot* plot, int index) {
  const PlotPanel* panel = &plot->panels[index];
  double x0 = (double)(index % plot->columns) * panel_width(plot);
  double y0 = TITLE_HEIGHT + (double)(index / plot->columns) * PANEL_HEIGHT;
  double width = panel_width(plot) - LEFT - RIGHT, height = PANEL_HEIGHT - TOP - BOTTOM;
  Axis ax = {0, 1, panel->log_x, x0 + LEFT, width};
  Axis ay = {0, 1, panel->log_y, y0 + TOP + height, -height};
  find_range(panel, false, &ax.low, &ax.high);
  find_range(panel, true, &ay.low, &ay.high);
  // Grid and ticks, the series, then the frame and the titles.
  if (panel->category) {
    write_categories(f, panel, ax, ay);
  } else {
    write_axis(f, ax, ay, false);
  }
  write_axis(f, ay, ax, true);
  write_all_series(f, plot, panel, ax, ay);
  fprintf(f,
          "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
          "stroke=\"#444\"/>\n",
          ax.start, ay.start - height, width, height);
  write_text(f, ax.start + width / 2, y0 + TOP - 12,
             "text-anchor=\"middle\" font-size=\"14\" font-weight=\"bold\"", panel->title);
  write_text(f, ax.start + width / 2, y0 + PANEL_HEIGHT - 14, "text-anchor=\"middle\"",
             panel->x_label);
  char rotate[128];
  double lx = x0 + 15, ly = y0 + TOP + height / 2;
  snprintf(rotate, sizeof rotate, "text-anchor=\"middle\" transform=\"rotate(-90 %.1f %.1f)\"", lx,
           ly);
  write_text(f, lx, ly, rotate, panel->y_label);
}

// About how wide a label is with its mark, in a sans-serif font of 13 pixels.
static double entry_width(const char* label) {
  double width = 56;
  for (; *label; label++) {
    width += strchr("mwMW", *label) ? 12.2 : strchr("fijlrt./,:()' ", *label) ? 5 : 8.1;
  }
  return width;
}

// The kind of mark that stands for a label: that of its first series.
static PlotKind label_kind(const struct tbPlot* plot, const char* label) {
  for (int p = 0; p < plot->count; p++) {
    for (int s = 0; s < plot->panels[p].count; s++) {
      if (strcmp(plot->panels[p].series[s].label, label) == 0)
        return plot->panels[p].series[s].kind;
    }
  }
  return PLOT_LINE;
}

// Entries from left to right, in rows as wide as the figure; the count of rows. Draws nothing
// without a file.
static int write_legend(FILE* f, const struct tbPlot* plot, double y0) {
  const char* names[256];
  int count = label_index(plot, NULL, names), rows = 0;
  double width = (double)plot->columns * panel_width(plot);
  for (int first = 0, last; first < count; first = last, rows++) {
    double used = entry_width(names[first]);
    for (last = first + 1; last < count && used + entry_width(names[last]) < width - 20; last++)
      used += entry_width(names[last]);
    double x = 0.5 * (width - used) + 8, y = y0 + LEGEND_ROW * (rows + 0.5);
    for (int k = first; k < last && f; k++) {
      const char* colour = PALETTE[k % PALETTE_SIZE];
      PlotKind kind = label_kind(plot, names[k]);
      if (kind == PLOT_BARS) {
        fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"22\" height=\"11\" fill=\"%s\"/>\n", x,
                y - 5.5, colour);
      } else if (kind == PLOT_POINTS) {
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x + 14, y, colour);
      } else {
        fprintf(f,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                "stroke-width=\"2.4\" stroke-dasharray=\"%s\"/>\n",
                x, y, x + 30, y, colour, DASHES[k % 4]);
      }
      write_text(f, x + 36, y + 4.5, "", names[k]);
      x += entry_width(names[k]);
    }
  }
  return rows;
}

void plot_write_svg(FILE* f, const struct tbPlot* plot) {
  const char* names[256];
  bool legend = label_index(plot, NULL, names) > 1;
  int rows = (plot->count + plot->columns - 1) / plot->columns;
  int width = plot->columns * panel_width(plot), panels = rows * PANEL_HEIGHT + TITLE_HEIGHT;
  int height = panels + (legend ? write_legend(NULL, plot, 0) * LEGEND_ROW + LEGEND_MARGIN : 0);
  fprintf(f,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
          "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n"
          "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
          width, height, width, height);
  write_text(f, width / 2.0, 23, "text-anchor=\"middle\" font-size=\"16\" font-weight=\"bold\"",
             plot->title);
  for (int p = 0; p < plot->count; p++) write_panel(f, plot, p);
  if (legend) write_legend(f, plot, panels + 2);
  fputs("</svg>\n", f);
}
