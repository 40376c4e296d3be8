// What a figure holds, shared by plot.c (which fills it) and plot_svg.c (which draws it).
#ifndef TRIBO_PAGE_PLOT_DATA_H_
#define TRIBO_PAGE_PLOT_DATA_H_

#include <stdbool.h>
#include <stdio.h>

typedef enum { PLOT_LINE, PLOT_STEPS, PLOT_POINTS, PLOT_BARS } PlotKind;

typedef struct {
  char* label;
  double *x, *y;  // on a logarithmic axis the logarithm
  int n;
  PlotKind kind;
} PlotSeries;

typedef struct {
  char *title, *x_label, *y_label;
  bool log_x, log_y;
  PlotSeries* series;
  int count;
  char** category;  // names on the x axis, or NULL
  int categories;
} PlotPanel;

struct tbPlot {
  char* title;
  int columns, rows, count;
  PlotPanel* panels;
};

// The whole figure as SVG.
void plot_write_svg(FILE* file, const struct tbPlot* plot);

#endif
