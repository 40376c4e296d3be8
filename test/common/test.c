#include "common/test.h"

#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

void tb_test_near(double a, double b, double tolerance, const char* file, int line) {
  double scale = fmax(1, fmax(fabs(a), fabs(b)));
  if (!(fabs(a - b) <= tolerance * scale)) {
    print_error("%.17g and %.17g differ by %.3g (allowed %.3g)\n", a, b, fabs(a - b),
                tolerance * scale);
    _fail(file, line);
  }
}

void tb_test_near_array(const double* a, const double* b, int n, double tolerance, const char* file,
                        int line) {
  double scale = 1;
  for (int i = 0; i < n; i++) scale = fmax(scale, fmax(fabs(a[i]), fabs(b[i])));
  for (int i = 0; i < n; i++) {
    if (!(fabs(a[i] - b[i]) <= tolerance * scale)) {
      print_error("entry %d: %.17g and %.17g differ by %.3g (allowed %.3g)\n", i, a[i], b[i],
                  fabs(a[i] - b[i]), tolerance * scale);
      _fail(file, line);
    }
  }
}

bool tb_test_shared(const char* path, char* full, size_t size) {
  snprintf(full, size, "%s/%s", TB_SHARED_DIR, path);
  if (access(full, R_OK) == 0) return true;
  print_message("skipped: %s is not here\n", full);
  return false;
}

int tb_test_setting(const char* name, int fallback) {
  const char* text = getenv(name);
  return text ? atoi(text) : fallback;
}

bool tb_test_comma(const char* name) {
  if (!name) return setlocale(LC_ALL, "C") != NULL;
  char folder[1024], path[1100], command[2300];
  snprintf(folder, sizeof folder, "%s/%s", TB_BUILD_DIR, name);
  mkdir(folder, 0777);
  snprintf(path, sizeof path, "%s/comma.txt", folder);
  FILE* file = fopen(path, "w");
  if (!file) return false;
  fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\nEND LC_NUMERIC\n", file);
  fclose(file);
  // Categories that are not defined are warnings, which localedef answers with 1.
  snprintf(command, sizeof command, "localedef -c -i '%s' '%s/comma' >/dev/null 2>&1", path,
           folder);
  int made = system(command);
  (void)made;
  setenv("LOCPATH", folder, 1);
  if (setlocale(LC_NUMERIC, "comma") && strcmp(localeconv()->decimal_point, ",") == 0) return true;
  print_message("skipped: no locale with a comma\n");
  return false;
}
