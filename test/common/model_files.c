#include "common/model_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"

typedef struct {
  char** paths;
  int n;
} List;

static void append(List* list, const char* path) {
  // Grow by doubling.
  if ((list->n & (list->n - 1)) == 0) {
    list->paths = realloc(list->paths, (size_t)(list->n ? 2 * list->n : 1) * sizeof(char*));
  }
  char* copy = malloc(strlen(path) + 1);
  strcpy(copy, path);
  list->paths[list->n++] = copy;
}

static void walk(List* list, const char* folder, const char* ending) {
  struct dirent** entries;
  int n = scandir(folder, &entries, NULL, alphasort);
  for (int i = 0; i < n; i++) {
    char path[2048];
    const char* name = entries[i]->d_name;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    struct stat info;
    size_t length = strlen(name), tail = strlen(ending);
    if (name[0] != '.' && stat(path, &info) == 0) {
      bool fits = length > tail && strcmp(name + length - tail, ending) == 0;
      if (S_ISDIR(info.st_mode)) {
        walk(list, path, ending);
      } else if (fits) {
        append(list, path);
      }
    }
    free(entries[i]);
  }
  if (n >= 0) free(entries);
}

int tb_test_files(const char* folder, const char* ending, char*** paths) {
  List list = {NULL, 0};
  walk(&list, folder, ending);
  *paths = list.paths;
  return list.n;
}

void tb_test_files_free(char** paths, int n) {
  for (int i = 0; i < n; i++) free(paths[i]);
  free(paths);
}

tbFlat* tb_test_spec(const char* path, const tbLoadOptions* options, tbError* error) {
  tbArena arena;
  tb_arena_init(&arena);
  const unsigned char* bytes;
  size_t size;
  tbFlat* spec = NULL;
  if (tb_read_file(path, &arena, &bytes, &size, error) == TB_OK) {
    spec = tb_flat_parse_mjcf((const char*)bytes, size, path, options, error);
  }
  tb_arena_free(&arena);
  return spec;
}

const char* tb_test_model_name(const char* path) {
  const char* below = strstr(path, "models/");
  return below ? below + 7 : path;
}

tbInertiaSource tb_test_inertia_source(const char* path) {
  tbInertiaSource result = {false, false};
  tbFlat* spec = tb_test_spec(path, NULL, NULL);
  for (int i = 0; spec && i < spec->ngeom; i++) {
    const tbFlatGeom* g = &spec->geom[i];
    const tbFlatBody* b = &spec->body[g->body];
    int from_geom = b->compiler->inertiafromgeom;
    bool inferred = from_geom == 1 || (from_geom == TB_AUTO && !b->has_inertial);
    bool massless = TB_GIVEN(geom, g, mass) ? g->mass == 0 : g->density == 0;
    result.by_mesh |= g->mesh && g->body > 0 && inferred && !massless;
  }
  for (int i = 0; spec && i < spec->nbody; i++) {
    const tbFlatBody* b = &spec->body[i];
    result.by_full |= b->has_inertial && TB_GIVEN(inertial, &b->inertial, fullinertia);
  }
  tb_flat_free(spec);
  return result;
}
