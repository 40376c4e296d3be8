// The file that a URDF refers to: package:// and file:// URIs and plain paths. docs/manual/urdf.md
// has the rules.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/urdf/internal.h"

static bool is_file(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

// folder/rest if that is a file, or NULL.
static const char* join_if_file(tbUrdf* u, const char* folder, size_t length, const char* rest) {
  tbArenaMark mark = tb_arena_mark(&u->spec->arena);
  const char* path = tb_flat_format(u->spec, "%.*s/%s", (int)length, folder, rest);
  if (path && is_file(path)) return path;
  tb_arena_release(&u->spec->arena, mark);
  return NULL;
}

// Decodes percent-encoded characters such as "%20".
static const char* decode(tbUrdf* u, const char* text) {
  char* out = tb_arena_alloc(&u->spec->arena, strlen(text) + 1);
  if (!out) return NULL;
  char* at = out;
  for (; *text; text++) {
    unsigned code;
    char digits[3] = {0};
    if (*text == '%') strncpy(digits, text + 1, 2);
    if (strlen(digits) == 2 && strspn(digits, "0123456789abcdefABCDEF") == 2 &&
        sscanf(digits, "%x", &code) == 1 && code) {
      *at++ = (char)code;
      text += 2;
    } else {
      *at++ = *text;
    }
  }
  *at = 0;
  return out;
}

// Searches a package below `folder`, or `folder` itself if it has the package's name. `package` is
// empty if the URI names none.
static const char* in_folder(tbUrdf* u, const char* folder, size_t length, const char* package,
                             const char* rest) {
  while (length > 1 && folder[length - 1] == '/') length--;
  if (!*package) return join_if_file(u, folder, length, rest);
  const char* full = tb_flat_format(u->spec, "%s/%s", package, rest);
  if (!full) return NULL;
  const char* found = join_if_file(u, folder, length, full);
  if (found) return found;
  size_t n = strlen(package);
  bool same = length >= n && strncmp(folder + length - n, package, n) == 0 &&
              (length == n || folder[length - n - 1] == '/');
  return same ? join_if_file(u, folder, length, rest) : NULL;
}

// Searches a list of folders separated by colons; `below` is appended to each.
static const char* in_list(tbUrdf* u, const char* list, const char* below, const char* package,
                           const char* rest) {
  const char* found = NULL;
  while (list && *list && !found) {
    size_t length = strcspn(list, ":");
    if (length) {
      const char* folder = tb_flat_format(u->spec, "%.*s%s", (int)length, list, below);
      if (folder) found = in_folder(u, folder, strlen(folder), package, rest);
    }
    list += length + (list[length] == ':');
  }
  return found;
}

// Searches the folder of the URDF and every folder above it.
static const char* in_ancestors(tbUrdf* u, const char* package, const char* rest) {
  char* folder = (char*)tb_flat_text(u->spec, u->directory);
  if (!folder) return NULL;
  if (folder[0] != '/') {
    // From a relative path, go up by "..", up to 16 levels.
    const char* up = u->directory;
    for (int i = 0; i < 16 && up; i++) {
      const char* found = in_folder(u, up, strlen(up), package, rest);
      if (found) return found;
      up = tb_flat_format(u->spec, "%s/..", up);
    }
  }
  for (size_t length = strlen(folder); length > 0; length--) {
    if (folder[length] != '/' && folder[length] != 0) continue;
    const char* found = in_folder(u, folder, length, package, rest);
    if (found) return found;
  }
  return NULL;
}

static const char* search(tbUrdf* u, const char* package, const char* rest) {
  for (int i = 0; i < u->options->nsearch_paths; i++) {
    const char* folder = u->options->search_paths[i];
    const char* found = folder ? in_folder(u, folder, strlen(folder), package, rest) : NULL;
    if (found) return found;
  }
  const char* found = in_list(u, getenv("TRIBO_PACKAGE_PATH"), "", package, rest);
  if (!found) found = in_list(u, getenv("ROS_PACKAGE_PATH"), "", package, rest);
  if (!found) found = in_list(u, getenv("AMENT_PREFIX_PATH"), "/share", package, rest);
  return found ? found : in_ancestors(u, package, rest);
}

// Searches the URDF's own folder with the compiler's meshdir: by the whole path, or only the file's
// name.
static const char* in_mesh_folder(tbUrdf* u, const char* file) {
  const tbFlatCompiler* compiler = u->spec->compiler;
  const char *folder = u->directory, *below = tb_flat_slashes(u->spec, compiler->meshdir);
  if (below && *below) {
    folder = below[0] == '/' ? below : tb_flat_format(u->spec, "%s/%s", u->directory, below);
  }
  if (!folder) return NULL;
  const char* found = join_if_file(u, folder, strlen(folder), file);
  const char* slash = strrchr(file, '/');
  if (!found && slash && compiler->strippath) {
    found = join_if_file(u, folder, strlen(folder), slash + 1);
  }
  return found;
}

static const char* resolve(tbUrdf* u, const char* uri) {
  const char* scheme_end = strstr(uri, "://");
  // A file URI without a host: file:/folder/file.
  if (strncmp(uri, "file:/", 6) == 0 && !scheme_end) uri += 5;
  if (!scheme_end) {
    if (uri[0] == '/' && is_file(uri)) return tb_flat_text(u->spec, uri);
    const char* found = in_mesh_folder(u, uri);
    return found ? found : search(u, "", uri);
  }
  const char* rest = scheme_end + 3;
  if (strncmp(uri, "file://", 7) == 0) {
    if (is_file(rest)) return tb_flat_text(u->spec, rest);
    const char* found = search(u, "", rest + (*rest == '/'));
    return found ? found : in_mesh_folder(u, rest);
  }
  // package://PACKAGE/REST and, with an empty package, package:///REST.
  const char* slash = strchr(rest, '/');
  if (!slash) return in_mesh_folder(u, rest);
  const char* package = tb_flat_format(u->spec, "%.*s", (int)(slash - rest), rest);
  if (!package) return NULL;
  const char* found = search(u, package, slash + 1);
  if (!found && !*package && is_file(slash)) found = tb_flat_text(u->spec, slash);
  if (!found && !*package) {
    // The first folder may be the package's name.
    const char* second = strchr(slash + 1, '/');
    package = second ? tb_flat_format(u->spec, "%.*s", (int)(second - slash - 1), slash + 1) : NULL;
    if (package) found = search(u, package, second + 1);
  }
  return found ? found : in_mesh_folder(u, slash + 1);
}

const char* tb_urdf_resolve(tbUrdf* u, const xmlNode* node, const char* uri) {
  static const char* const KNOWN[] = {"package://", "file://", "model://"};
  uri = tb_flat_slashes(u->spec, uri);
  const char* scheme_end = strstr(uri, "://");
  bool known = !scheme_end;
  for (size_t i = 0; i < 3; i++) known = known || strncmp(uri, KNOWN[i], strlen(KNOWN[i])) == 0;
  if (!known) {
    tb_urdf_fail(u, TB_ERROR_UNSUPPORTED, node,
                 "'%s': expected a path, package://, model:// or file://", uri);
    return NULL;
  }
  const char* found = resolve(u, uri);
  if (!found && strchr(uri, '%')) {
    const char* plain = decode(u, uri);
    if (plain) found = resolve(u, plain);
  }
  if (!found) {
    tb_urdf_fail(u, TB_ERROR_FILE, node,
                 "the file '%s' was not found in the search paths, TRIBO_PACKAGE_PATH, "
                 "ROS_PACKAGE_PATH, AMENT_PREFIX_PATH, nor above '%s'%s",
                 uri, u->directory, strstr(uri, "$(") ? "; run xacro on the file first" : "");
  }
  return found;
}
