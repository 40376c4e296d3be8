// For realpath.
#define _XOPEN_SOURCE 700
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

static const char PART[] = ".part";

static void free_names(Output* o) {
  free(o->target);
  free(o->write);
  *o = (Output){NULL, NULL};
}

// Create an empty temporary file with the permissions of the file that it replaces (`there` NULL:
// of a new one).
static bool make_part(const Output* o, const struct stat* there) {
  int file = open(o->write, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) return false;
  // If the file has another owner, the permissions may have to stay those of a new file.
  if (there && fchmod(file, there->st_mode & 07777) != 0) errno = 0;
  return close(file) == 0;
}

bool output_begin(Output* o, const char* path, const char* command) {
  *o = (Output){NULL, NULL};
  if (!path) return true;
  struct stat there;
  bool exists = stat(path, &there) == 0, regular = !exists || S_ISREG(there.st_mode);
  if (exists && S_ISDIR(there.st_mode)) {
    return complain(command, "cannot write %s: it is a folder", path);
  }
  // If the path is a symbolic link, its target is replaced, not the link.
  o->target = exists && regular ? realpath(path, NULL) : strdup(path);
  size_t size = o->target ? strlen(o->target) + sizeof PART : 0;
  o->write = size ? malloc(size) : NULL;
  if (!o->write) {
    free_names(o);
    return complain(command, "cannot write %s: out of memory", path);
  }
  snprintf(o->write, size, "%s%s", o->target, regular ? PART : "");
  bool ok = !exists || access(path, W_OK) == 0;
  if (ok && regular) ok = make_part(o, exists ? &there : NULL);
  if (ok) return true;
  complain(command, "cannot write %s: %s", path, strerror(errno));
  free_names(o);
  return false;
}

bool output_is_aside(const Output* o) {
  return o->write && strcmp(o->write, o->target) != 0;
}

bool outputs_collide(const Output* one, const Output* other) {
  struct stat a, b;
  return output_is_aside(one) && output_is_aside(other) && stat(one->write, &a) == 0 &&
         stat(other->write, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool output_end(Output* o, bool keep, const char* command) {
  bool ok = true;
  if (output_is_aside(o)) {
    if (keep) ok = rename(o->write, o->target) == 0;
    if (!ok) complain(command, "cannot write %s: %s", o->target, strerror(errno));
    if (!keep || !ok) remove(o->write);
  }
  free_names(o);
  return ok;
}
