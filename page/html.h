// Pieces of an HTML page that needs no other file.
#ifndef TRIBO_PAGE_HTML_H_
#define TRIBO_PAGE_HTML_H_

#include <stdbool.h>
#include <stdio.h>

#include "csv.h"

enum { HTML_PATH = 2048, HTML_FILES = 128, HTML_NAME = 256 };

// The head up to and with <body>: title, and a style that follows the reader's light or dark theme.
void html_head(FILE* f, const char* title);

void html_escape(FILE* f, const char* text);

// The image "<folder>/<file>" inside the page: SVG as it is, PNG as data.
void html_image(FILE* f, const char* folder, const char* file, const char* description);

// At most `most` rows of a table.
void html_table(FILE* f, const Csv* csv, int most);

// Files of a folder with that ending, sorted by name; their count.
int list_files(const char* folder, const char* end, char names[HTML_FILES][HTML_NAME]);

#endif
