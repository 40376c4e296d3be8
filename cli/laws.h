// Lists of laws on the command line: "ncp,lcp".
#ifndef TRIBO_CLI_LAWS_H_
#define TRIBO_CLI_LAWS_H_

#include <stdbool.h>

enum { MOST_LAWS = 7 };

typedef struct {
  int count;
  int law[MOST_LAWS];
} LawList;

// Parse the value of `flag`. False after a complaint: an unknown law with the nearest known one, an
// empty list or too many.
bool law_list_read(LawList* list, const char* text, const char* flag, const char* command);

#endif
