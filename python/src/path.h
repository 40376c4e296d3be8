// Arguments that name files: text or pathlib's objects.
#ifndef TRIBO_PYTHON_PATH_H_
#define TRIBO_PYTHON_PATH_H_

#include <nanobind/stl/filesystem.h>

using Path = std::filesystem::path;

#endif
