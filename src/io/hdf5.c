#include "io/hdf5.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

tbHdf5 tb_h5;

// Names of the shared library: of Debian, where serial and MPI versions live side by side, and of
// everybody else, by interface version (1.10, 1.12, 1.14, 2.0); then whatever a developer has.
static const char* const LIBRARIES[] = {
    "libhdf5_serial.so.103", "libhdf5_serial.so.310", "libhdf5_serial.so.320",
    "libhdf5.so.103",        "libhdf5.so.200",        "libhdf5.so.310",
    "libhdf5.so.320",        "libhdf5_serial.so",     "libhdf5.so",
    "libhdf5.dylib",
};
enum { NLIBRARIES = sizeof LIBRARIES / sizeof LIBRARIES[0] };

static tbError failure;  // of the only attempt

// The address of a symbol; a missing one is noted in the error.
static void* find(void* library, const char* name, const char* symbol, bool* complete) {
  void* address = dlsym(library, symbol);
  if (!address) {
    tb_fail(&failure, TB_ERROR_UNSUPPORTED, "%s has no %s: not the HDF5 library?", name, symbol);
    *complete = false;
  }
  return address;
}

static bool find_functions(void* library, const char* name) {
  bool complete = true;
  // POSIX lets dlsym return functions as object pointers, C does not: copied as bytes.
  void* address;
#define FIND(result, function, parameters)                  \
  address = find(library, name, "H5" #function, &complete); \
  *(void**)&tb_h5.function = address;
  TB_H5_FUNCTIONS(FIND)
#undef FIND
  return complete;
}

// Before 1.10 objects had numbers of 32 bits.
static bool is_recent(const char* name) {
  unsigned major = 0, minor = 0, release = 0;
  tb_h5.get_libversion(&major, &minor, &release);
  if (major > 1 || (major == 1 && minor >= 10)) return true;
  tb_fail(&failure, TB_ERROR_UNSUPPORTED, "%s is HDF5 %u.%u.%u: Tribo needs 1.10 or later", name,
          major, minor, release);
  return false;
}

// The types and kinds have numbers once the library is initialised.
static bool find_objects(void* library, const char* name) {
  bool complete = tb_h5.open() >= 0;
  const tbH5* variable;
#define FIND(object, symbol)                          \
  variable = find(library, name, #symbol, &complete); \
  if (variable) tb_h5.object = *variable;
  TB_H5_OBJECTS(FIND)
#undef FIND
  return complete;
}

// Fill the table from an open library. Its clean-up at exit crashes on files that it could not
// close (a full disk), and every file here is closed before: the clean-up stays only if
// other code of the process has loaded the library before.
static bool use(void* library, const char* name, bool shared) {
  if (!find_functions(library, name)) return false;
  if (!shared) tb_h5.dont_atexit();  // before any other call
  return is_recent(name) && find_objects(library, name);
}

static bool use_file(const char* name) {
  void* loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  void* library = loaded ? loaded : dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  if (use(library, name, loaded != NULL)) return true;
  dlclose(library);
  return false;
}

// The library that the program itself is linked with: two in one process would mix their symbols.
static bool use_linked(void) {
  void* program = dlopen(NULL, RTLD_NOW);
  return program && dlsym(program, "H5open") && use(program, "the program", true);
}

static bool use_installed(void) {
  for (int i = 0; i < NLIBRARIES; i++) {
    if (use_file(LIBRARIES[i])) return true;
  }
  if (failure.code != TB_OK) return false;  // there is one, but not of use
  tb_fail(&failure, TB_ERROR_UNSUPPORTED,
          "HDF5 is not installed: on Debian 'apt install hdf5-tools' brings its library, elsewhere "
          "TRIBO_HDF5=/path/to/libhdf5.so names it");
  return false;
}

static void load(void) {
  const char* chosen = getenv("TRIBO_HDF5");
  if (chosen && *chosen) {
    if (use_file(chosen)) {
      tb_error_clear(&failure);
    } else if (failure.code == TB_OK) {
      tb_fail(&failure, TB_ERROR_UNSUPPORTED, "TRIBO_HDF5=%s cannot be loaded", chosen);
    }
  } else if (use_linked() || use_installed()) {
    tb_error_clear(&failure);
  }
}

tbResult tb_h5_load(const char* path, tbError* error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  if (failure.code == TB_OK) return TB_OK;
  return tb_fail(error, failure.code, "%s: %s", path, failure.message);
}

tbH5Quiet tb_h5_silence(void) {
  tbH5Quiet quiet = {NULL, NULL};
  tb_h5.Eget_auto2(TB_H5_DEFAULT, &quiet.printer, &quiet.data);
  tb_h5.Eset_auto2(TB_H5_DEFAULT, NULL, NULL);
  return quiet;
}

void tb_h5_restore(tbH5Quiet quiet) {
  tb_h5.Eset_auto2(TB_H5_DEFAULT, quiet.printer, quiet.data);
}
