// The paper's quadruped, Solo-12, from its URDF file: spheres for feet, a floor, a standing pose.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "page/text.h"

#define SOLO TB_SHARED_DIR "/models/example-robot-data/robots/solo_description/robots/solo12.urdf"
static const double FOOT = 0.016;  // m

// The file without `<tag ...> ... </tag>`, in place.
static void remove_elements(char* text, const char* tag) {
  char open[32], close[32];
  snprintf(open, sizeof open, "<%s", tag);
  snprintf(close, sizeof close, "</%s>", tag);
  for (char* at = text; (at = strstr(at, open));) {
    char* end = strstr(at, close);
    if (!end) return;
    end += strlen(close);
    memmove(at, end, strlen(end) + 1);
  }
}

static char* read_file(const char* path) {
  enum { ROOM = 1 << 20 };
  FILE* f = fopen(path, "rb");
  char* text = f ? calloc(1, ROOM) : NULL;
  if (text) text[fread(text, 1, ROOM - 1, f)] = 0;
  if (f) fclose(f);
  return text;
}

static void copy_range(PageText* out, const char* from, const char* to) {
  for (int n; from < to; from += n) {
    n = to - from < 1000 ? (int)(to - from) : 1000;
    page_text_add(out, "%.*s", n, from);
  }
}

// Copy `text` up to and including `mark` to `out`. Returns the text after it, or NULL without the
// mark.
static const char* copy_past(PageText* out, const char* text, const char* mark) {
  const char* at = strstr(text, mark);
  if (!at) return NULL;
  copy_range(out, text, at + strlen(mark));
  return at + strlen(mark);
}

tbModel* solo_scene(void) {
  static const char* const leg[4] = {"FL", "FR", "HL", "HR"};
  char* text = read_file(SOLO);
  if (!text) return NULL;
  remove_elements(text, "collision");
  remove_elements(text, "visual");
  PageText out = {0};
  const char* rest = text;
  for (int i = 0; i < 4 && rest; i++) {
    char mark[32];
    snprintf(mark, sizeof mark, "<link name=\"%s_FOOT\">", leg[i]);
    rest = copy_past(&out, rest, mark);
    page_text_add(&out,
                  "<collision name=\"foot_%s\"><geometry><sphere radius=\"%g\"/></geometry>"
                  "</collision>",
                  leg[i], FOOT);
  }
  // The floor hangs on the world, and so does the base, by a floating joint.
  const char* end = rest ? strstr(rest, "</robot>") : NULL;
  tbModel* m = NULL;
  tbError error = {0};
  if (end) {
    copy_range(&out, rest, end);
    page_text_add(&out,
                  "<link name=\"world\"><collision name=\"floor\"><origin xyz=\"0 0 -0.1\"/>"
                  "<geometry><box size=\"40 40 0.2\"/></geometry></collision></link>"
                  "<joint name=\"root\" type=\"floating\"><parent link=\"world\"/>"
                  "<child link=\"base_link\"/></joint></robot>");
    m = tb_load_string(out.text, NULL, NULL, &error);
  }
  if (!m) fprintf(stderr, "%s: %s\n", SOLO, end ? error.message : "no feet or no end");
  free(out.text);
  free(text);
  return m;
}

void solo_stand(const tbModel* m, tbData* d) {
  // Knees bent outwards, front legs and hind legs alike.
  for (int j = 0; j < m->njnt; j++) {
    const char* name = tb_id2name(m, TB_OBJ_JOINT, j);
    double sign = name[0] == 'F' ? 1 : -1;
    if (strstr(name, "HFE")) d->qpos[m->jnt_qposadr[j]] = 0.8 * sign;
    if (strstr(name, "KFE")) d->qpos[m->jnt_qposadr[j]] = -1.6 * sign;
  }
  tb_forward(m, d);
  double low = INFINITY;
  for (int g = 0; g < m->ngeom; g++) {
    if (m->geom_bodyid[g] > 0) low = fmin(low, d->geom_xpos[3 * g + 2]);
  }
  if (isfinite(low)) d->qpos[2] += FOOT - low;
}
