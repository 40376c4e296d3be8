// Line plots as SVG, without any dependency: linear or logarithmic axes, legend, several panels.
#ifndef TRIBO_BENCH_PLOT_H_
#define TRIBO_BENCH_PLOT_H_

#include <stdbool.h>

typedef struct tbPlot tbPlot;

// A figure of `columns` x `rows` panels, filled row by row with tb_plot_panel.
tbPlot* tb_plot_new(const char* title, int columns, int rows);

// Start the next panel. Ranges come from the data.
void tb_plot_panel(tbPlot* plot, const char* title, const char* x_label, const char* y_label,
                   bool log_x, bool log_y);

// A line in the current panel. Points that are not finite, or not positive on a logarithmic axis,
// are left out. `steps` draws a staircase (for distribution functions). Equal labels get equal
// colours.
void tb_plot_line(tbPlot* plot, const char* label, const double* x, const double* y, int n,
                  bool steps);

// Points without a line.
void tb_plot_points(tbPlot* plot, const char* label, const double* x, const double* y, int n);

// Write the figure and free it. False if the file could not be written; `path` NULL only frees.
bool tb_plot_write(tbPlot* plot, const char* path);

#endif
