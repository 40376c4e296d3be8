// Pictures of the experiments.
#ifndef TRIBO_BENCH_PAPERS_GALLERY_H_
#define TRIBO_BENCH_PAPERS_GALLERY_H_

#include <stdbool.h>
#include <stdio.h>

// Draw the pictures into "<report>/gallery/" with the command line `tribo`; those that are there
// are left unless `again`.
void draw_gallery(const char* tribo, const char* report, bool again);

// The pictures as a section of the page.
void write_gallery(FILE* f, const char* report);

#endif
