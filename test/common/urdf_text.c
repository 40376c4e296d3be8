#include "common/urdf_text.h"

#include "common/test.h"

enum { MOST = 1 << 20 };

static char* slurp(const char* path) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  char* text = calloc(1, MOST);
  size_t size = fread(text, 1, MOST - 1, file);
  assert_true(size < MOST - 1);
  fclose(file);
  return text;
}

char* tb_test_urdf_text(const char* path, const char* settings, const char* packages) {
  static const char PACKAGE[] = "package://example-robot-data/robots";
  char *text = slurp(path), *out = calloc(1, 4 * MOST), *to = out;
  bool placed = false;
  for (const char* at = text; *at;) {
    const char* end = strncmp(at, "<collision", 10) == 0 ? strstr(at, "</collision>") : NULL;
    const char* dae = end ? strstr(at, ".dae") : NULL;
    if (dae && dae < end) {
      at = end + strlen("</collision>");
    } else if (packages && strncmp(at, PACKAGE, sizeof PACKAGE - 1) == 0) {
      to += sprintf(to, "%s", packages);
      at += sizeof PACKAGE - 1;
    } else if (!placed && strncmp(at, "<robot", 6) == 0) {
      const char* close = strchr(at, '>') + 1;
      to += sprintf(to, "%.*s<mujoco>%s</mujoco>", (int)(close - at), at, settings);
      at = close;
      placed = true;
    } else {
      *to++ = *at++;
    }
  }
  free(text);
  return out;
}
