// Model files below a folder, and a record of each file's outcome in a test.
#ifndef TRIBO_TEST_MODEL_FILES_H_
#define TRIBO_TEST_MODEL_FILES_H_

#include <stdbool.h>

#include "io/flat.h"

typedef struct {
  int compared, skipped, failed;
} tbTally;

// Paths of all files below `folder` whose names end in `ending`, in the order of their names.
// Folders and files whose names start with a dot are left out. Free with tb_test_files_free.
int tb_test_files(const char* folder, const char* ending, char*** paths);
void tb_test_files_free(char** paths, int n);

// The spec of an MJCF file, NULL and `error` where it is refused. Free with tb_flat_free.
tbFlat* tb_test_spec(const char* path, const tbLoadOptions* options, tbError* error);

// Name of a model in messages: its path below the folder of models.
const char* tb_test_model_name(const char* path);

// How a file says what bodies weigh.
typedef struct {
  bool by_mesh;  // some mesh contributes mass
  bool by_full;  // some inertia is a full matrix
} tbInertiaSource;
tbInertiaSource tb_test_inertia_source(const char* path);

#endif
