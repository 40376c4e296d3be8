#include "pictures/movie.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "message.h"
#include "tribo/render.h"

struct Movie {
  const char* command;
  tbPng* png;  // or
  FILE* pipe;  // to ffmpeg
  pid_t ffmpeg;
  size_t size;  // bytes of a picture
  int written;
};

static bool ends_in(const char* path, const char* end) {
  const char* dot = strrchr(path, '.');
  return dot && strcmp(dot, end) == 0;
}

// Whether a program is in one of the folders of PATH.
static bool is_installed(const char* program) {
  const char* folders = getenv("PATH");
  while (folders && *folders) {
    char path[4096];
    size_t n = strcspn(folders, ":");
    snprintf(path, sizeof path, "%.*s/%s", (int)n, folders, program);
    if (access(path, X_OK) == 0) return true;
    folders += n + (folders[n] == ':');
  }
  return false;
}

bool movie_can_write(const char* path, const char* command) {
  if (ends_in(path, ".png")) return true;
  if (!ends_in(path, ".mp4")) {
    return complain(command, "'%s': expected a file name that ends in .png or .mp4", path);
  }
  if (is_installed("ffmpeg")) return true;
  return complain(command,
                  "'%s': MP4 needs the program ffmpeg, which is not installed (Debian: apt-get "
                  "install ffmpeg); .png gives an animated PNG without it",
                  path);
}

// ---- ffmpeg ------------------------------------------------------------------------------------

// In the child: ffmpeg with raw pictures on its standard input. An interrupt ends the pictures, not
// the program, so that the file is complete.
static void become_ffmpeg(const char* path, int width, int height, double rate) {
  char size[32], frames[32];
  snprintf(size, sizeof size, "%dx%d", width, height);
  snprintf(frames, sizeof frames, "%.6g", rate);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  // H.264 needs even sizes.
  execlp("ffmpeg", "ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24",
         "-s", size, "-r", frames, "-i", "-", "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt",
         "yuv420p", "-movflags", "+faststart", "-f", "mp4", path, (char*)NULL);
  _exit(127);
}

static bool start_ffmpeg(Movie* m, const char* path, int width, int height, double rate) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  m->ffmpeg = fork();
  if (m->ffmpeg == 0) {
    dup2(ends[0], STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    become_ffmpeg(path, width, height, rate);
  }
  close(ends[0]);
  m->pipe = m->ffmpeg > 0 ? fdopen(ends[1], "wb") : NULL;
  if (!m->pipe) close(ends[1]);
  // A failure of ffmpeg is seen by its exit code.
  signal(SIGPIPE, SIG_IGN);
  return m->pipe != NULL;
}

static bool end_ffmpeg(Movie* m) {
  int status = 0;
  bool ok = fclose(m->pipe) == 0;
  while (waitpid(m->ffmpeg, &status, 0) < 0 && errno == EINTR) continue;
  signal(SIGPIPE, SIG_DFL);
  return ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// ---- both --------------------------------------------------------------------------------------

Movie* movie_open(const char* path, const char* target, int width, int height, int frames,
                  double seconds, const char* command) {
  tbError error = {TB_OK, ""};
  Movie* m = calloc(1, sizeof *m);
  if (!m) {
    complain(command, "out of memory");
    return NULL;
  }
  *m = (Movie){.command = command, .size = 3 * (size_t)width * (size_t)height};
  double interval = frames > 1 ? seconds / (frames - 1) : 0;
  bool ok;
  if (ends_in(target, ".mp4")) {
    ok = start_ffmpeg(m, path, width, height, interval > 0 ? 1 / interval : 25);
    if (!ok) complain(command, "cannot start ffmpeg: %s", strerror(errno));
  } else {
    m->png = tb_png_open(path, width, height, frames, (int)lround(1000 * interval), &error);
    ok = m->png != NULL;
    if (!ok) complain(command, "%s", error.message);
  }
  if (ok) return m;
  free(m);
  return NULL;
}

bool movie_add(Movie* m, const unsigned char* rgb) {
  tbError error = {TB_OK, ""};
  bool ok = m->png ? tb_png_frame(m->png, rgb, &error) == TB_OK
                   : fwrite(rgb, 1, m->size, m->pipe) == m->size;
  if (ok) m->written++;
  return ok || complain(m->command, "%s", m->png ? error.message : "ffmpeg ended early");
}

int movie_close(Movie* m) {
  int written = m->png ? tb_png_close(m->png) : end_ffmpeg(m) ? m->written : 0;
  free(m);
  return written;
}
