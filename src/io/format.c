#include "io/format.h"

#include <string.h>

// The name of the root element: the first '<' that opens neither a declaration nor a comment.
tbFormat tb_format_detect(const char* text, size_t size) {
  if (size >= 8 && memcmp(text, "TRIBOTBM", 8) == 0) return TB_FORMAT_BINARY;
  size_t i = 0;
  while (i + 4 < size) {
    if (text[i] != '<') {
      i++;
    } else if (memcmp(text + i, "<!--", 4) == 0) {
      for (i += 4; i + 2 < size && memcmp(text + i, "-->", 3) != 0; i++) continue;
    } else if (text[i + 1] == '?' || text[i + 1] == '!') {
      i += 2;
    } else {
      const char* name = text + i + 1;
      size_t left = size - i - 1;
      if (left > 6 && memcmp(name, "mujoco", 6) == 0) return TB_FORMAT_MJCF;
      if (left > 5 && memcmp(name, "robot", 5) == 0) return TB_FORMAT_URDF;
      return TB_FORMAT_UNKNOWN;
    }
  }
  return TB_FORMAT_UNKNOWN;
}
