#include "laws.h"

#include <stdio.h>
#include <string.h>

#include "message.h"
#include "nearest.h"
#include "tribo/step.h"

static int find_law(const char* name) {
  for (int i = 0; i < TB_STEP_LAW_COUNT; i++) {
    if (strcmp(name, tb_step_law_name(i)) == 0) return i;
  }
  return -1;
}

bool law_list_read(LawList* list, const char* text, const char* flag, const char* command) {
  list->count = 0;
  while (*text) {
    char name[32];
    size_t n = strcspn(text, ",");
    snprintf(name, sizeof name, "%.*s", (int)(n < sizeof name ? n : sizeof name - 1), text);
    int law = find_law(name);
    if (law < 0 || list->count == MOST_LAWS) {
      Nearest nearest = {.word = name};
      for (int i = 0; i < TB_STEP_LAW_COUNT; i++) nearest_offer(&nearest, tb_step_law_name(i));
      if (law >= 0) nearest.best[0] = 0;
      return complain(command, "%s expects up to %d laws (ncp,soft,...), not '%s'%s", flag,
                      MOST_LAWS, name, nearest_hint(&nearest));
    }
    list->law[list->count++] = law;
    text += n + (text[n] == ',');
  }
  return list->count > 0 || complain(command, "%s expects laws, as ncp,soft", flag);
}
