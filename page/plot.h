// Figures as SVG, without any dependency: lines, points and bars on linear or logarithmic axes,
// several panels, one legend for the whole figure under them.
#ifndef TRIBO_PAGE_PLOT_H_
#define TRIBO_PAGE_PLOT_H_

#include <stdbool.h>

typedef struct tbPlot tbPlot;

// A figure of `columns` x `rows` panels, filled row by row with tb_plot_panel. At most three panels
// stand side by side, so that a page shows them large enough to read; more rows follow.
tbPlot* tb_plot_new(const char* title, int columns, int rows);

// Start the next panel. Ranges come from the data.
void tb_plot_panel(tbPlot* plot, const char* title, const char* x_label, const char* y_label,
                   bool log_x, bool log_y);

// A line in the current panel. Points that are not finite, or not positive on a logarithmic axis,
// are left out. `steps` draws a staircase (for distribution functions). Equal labels get equal
// colours and dashes.
void tb_plot_line(tbPlot* plot, const char* label, const double* x, const double* y, int n,
                  bool steps);

// Points without a line.
void tb_plot_points(tbPlot* plot, const char* label, const double* x, const double* y, int n);

// Bars of the current panel, side by side over its categories: y[i] stands over category i.
// Values that cannot be shown (not finite) leave their place empty.
void tb_plot_bars(tbPlot* plot, const char* label, const double* y, int n);

// The names under the bars of the current panel, in place of numbers on its x axis.
void tb_plot_categories(tbPlot* plot, const char* const* names, int n);

// Write the figure and free it. False if the file could not be written; `path` NULL only frees.
bool tb_plot_write(tbPlot* plot, const char* path);

#endif
