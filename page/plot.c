#include "plot.h"

#include <math.h>
#include <stdlib.h>

#include "plot_data.h"
#include "text.h"

enum { MOST_COLUMNS = 3 };

tbPlot* tb_plot_new(const char* title, int columns, int rows) {
  tbPlot* plot = page_need(calloc(1, sizeof *plot));
  plot->title = page_text_copy(title);
  int panels = (columns > 0 ? columns : 1) * (rows > 0 ? rows : 1);
  plot->columns = columns < 1 ? 1 : columns < MOST_COLUMNS ? columns : MOST_COLUMNS;
  plot->rows = (panels + plot->columns - 1) / plot->columns;
  plot->panels = page_need(calloc((size_t)(plot->columns * plot->rows), sizeof(PlotPanel)));
  return plot;
}

void tb_plot_panel(tbPlot* plot, const char* title, const char* x_label, const char* y_label,
                   bool log_x, bool log_y) {
  if (plot->count == plot->columns * plot->rows) {
    plot->rows++;
    size_t n = (size_t)(plot->columns * plot->rows);
    plot->panels = page_need(realloc(plot->panels, n * sizeof(PlotPanel)));
  }
  plot->panels[plot->count++] = (PlotPanel){page_text_copy(title),
                                            page_text_copy(x_label),
                                            page_text_copy(y_label),
                                            log_x,
                                            log_y,
                                            NULL,
                                            0,
                                            NULL,
                                            0};
}

static PlotPanel* current_panel(tbPlot* plot) {
  if (plot->count == 0) tb_plot_panel(plot, "", "", "", false, false);
  return &plot->panels[plot->count - 1];
}

static bool visible(const PlotPanel* panel, double x, double y) {
  return isfinite(x) && isfinite(y) && !(panel->log_x && x <= 0) && !(panel->log_y && y <= 0);
}

// `x` NULL: the index.
static void add_series(tbPlot* plot, const char* label, PlotKind kind, const double* x,
                       const double* y, int n) {
  PlotPanel* panel = current_panel(plot);
  PlotSeries series = {page_text_copy(label), NULL, NULL, 0, kind};
  series.x = page_need(malloc((size_t)(n + 1) * sizeof(double)));
  series.y = page_need(malloc((size_t)(n + 1) * sizeof(double)));
  for (int i = 0; i < n; i++) {
    double at = x ? x[i] : i;
    if (!visible(panel, at, y[i])) continue;
    series.x[series.n] = panel->log_x ? log10(at) : at;
    series.y[series.n++] = panel->log_y ? log10(y[i]) : y[i];
  }
  panel->series =
      page_need(realloc(panel->series, (size_t)(panel->count + 1) * sizeof(PlotSeries)));
  panel->series[panel->count++] = series;
}

void tb_plot_line(tbPlot* plot, const char* label, const double* x, const double* y, int n,
                  bool steps) {
  add_series(plot, label, steps ? PLOT_STEPS : PLOT_LINE, x, y, n);
}

void tb_plot_points(tbPlot* plot, const char* label, const double* x, const double* y, int n) {
  add_series(plot, label, PLOT_POINTS, x, y, n);
}

void tb_plot_bars(tbPlot* plot, const char* label, const double* y, int n) {
  add_series(plot, label, PLOT_BARS, NULL, y, n);
}

void tb_plot_categories(tbPlot* plot, const char* const* names, int n) {
  PlotPanel* panel = current_panel(plot);
  panel->category = page_need(calloc((size_t)n + 1, sizeof(char*)));
  panel->categories = n;
  for (int i = 0; i < n; i++) panel->category[i] = page_text_copy(names[i]);
}

static void free_panel(PlotPanel* panel) {
  for (int s = 0; s < panel->count; s++) {
    free(panel->series[s].label);
    free(panel->series[s].x);
    free(panel->series[s].y);
  }
  for (int i = 0; i < panel->categories; i++) free(panel->category[i]);
  free(panel->category);
  free(panel->series);
  free(panel->title);
  free(panel->x_label);
  free(panel->y_label);
}

bool tb_plot_write(tbPlot* plot, const char* path) {
  FILE* f = path ? fopen(path, "w") : NULL;
  bool ok = f != NULL || path == NULL;
  if (f) {
    plot_write_svg(f, plot);
    ok = fclose(f) == 0;
  }
  for (int p = 0; p < plot->count; p++) free_panel(&plot->panels[p]);
  free(plot->panels);
  free(plot->title);
  free(plot);
  return ok;
}
