#include "drive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "message.h"

// ---- controls ----------------------------------------------------------------------------------

bool drive_read(Drive* drive, const char* path, const tbModel* m, const tbData* d,
                const char* command) {
  tbError error;
  *drive = (Drive){.path = path, .start = d->time, .timestep = m->opt.timestep};
  if (!path || tb_series_read(path, m, "ctrl", &drive->series, &error) == TB_OK) return true;
  return complain(command, "%s", error.message);
}

void drive_set(const Drive* drive, tbData* d) {
  const tbSeries* s = &drive->series;
  int row = tb_series_row(s, d->time - drive->start, drive->timestep);
  if (row < 0) return;
  memcpy(d->ctrl, s->value + (size_t)row * (size_t)s->width, (size_t)s->width * sizeof *d->ctrl);
}

void drive_warn(const Drive* drive, const tbData* d, Warnings* w) {
  const tbSeries* s = &drive->series;
  tbReal elapsed = d->time - drive->start, h = drive->timestep;
  if (s->rows < 2) return;
  // With times, the last row holds as long as the one before it.
  tbReal end = s->time ? 2 * s->time[s->rows - 1] - s->time[s->rows - 2] - s->time[0] : s->rows * h;
  if (elapsed > end + 0.5 * h) {
    warn(w, "the controls of %s end after %g s of %g s; the last row was held", drive->path, end,
         elapsed);
  }
}

void drive_free(Drive* drive) {
  tb_series_free(&drive->series);
}

// ---- recordings --------------------------------------------------------------------------------

// The default fields and those of --record, without `contacts` where they are apart.
static void join_fields(const char* what, bool without_contacts, char* list, size_t size) {
  size_t used = (size_t)snprintf(list, size, "%s", TB_RECORD_DEFAULT);
  while (what && *what) {
    size_t n = strcspn(what, ",");
    bool contacts = n == strlen("contacts") && strncmp(what, "contacts", n) == 0;
    if (n > 0 && !(contacts && without_contacts) && used < size) {
      used += (size_t)snprintf(list + used, size - used, ",%.*s", (int)n, what);
    }
    what += n + (what[n] == ',');
  }
}

static bool has_contacts(const char* what) {
  while (what && *what) {
    size_t n = strcspn(what, ",");
    if (n == strlen("contacts") && strncmp(what, "contacts", n) == 0) return true;
    what += n + (what[n] == ',');
  }
  return false;
}

// "NAME.contacts.csv" beside "NAME.csv".
static void contacts_path(const char* path, char* out, size_t size) {
  snprintf(out, size, "%.*s.contacts.csv", (int)(strlen(path) - strlen(".csv")), path);
}

static tbRecording* open_record(const char* path, const tbModel* m, const char* what) {
  tbError error;
  tbRecording* record = tb_record_open(path, m, what, &error);
  if (!record) complain("sim", "%s", error.message);
  return record;
}

bool recording_open(Recording* r, const char* path, const char* what, const tbModel* m) {
  *r = (Recording){{NULL, NULL}, {NULL, NULL}, NULL, NULL};
  if (!path) return !what || complain("sim", "--record needs a file: --out FILE.csv or FILE.h5");
  if (!output_begin(&r->rows, path, "sim")) return false;
  const char* end = strrchr(path, '.');
  bool apart = has_contacts(what) && end && strcmp(end, ".csv") == 0;
  char list[2048], beside[4096];
  join_fields(what, apart, list, sizeof list);
  r->record = open_record(r->rows.write, m, list);
  if (!r->record || !apart) return r->record != NULL;
  contacts_path(path, beside, sizeof beside);
  if (!output_begin(&r->contacts, beside, "sim")) return false;
  r->contact_record = open_record(r->contacts.write, m, "contacts");
  return r->contact_record != NULL;
}

bool recording_append(Recording* r, const tbModel* m, const tbData* d) {
  tbError error = {TB_OK, ""};
  bool ok = tb_record_append(r->record, m, d, &error) == TB_OK &&
            (!r->contact_record || tb_record_append(r->contact_record, m, d, &error) == TB_OK);
  return ok || complain("sim", "%s", error.message);
}

bool recording_close(Recording* r, bool keep) {
  tbError error = {TB_OK, ""};
  bool ok = tb_record_close(r->record, &error) == TB_OK;
  ok = tb_record_close(r->contact_record, &error) == TB_OK && ok;
  if (!ok) complain("sim", "%s", error.message);
  ok = output_end(&r->rows, keep && ok, "sim") && ok;
  ok = output_end(&r->contacts, keep && ok, "sim") && ok;
  return ok;
}

// ---- contact problems --------------------------------------------------------------------------

// "all", "unconverged" or a number; -1: none of them.
static long read_every(const char* of) {
  char rest;
  long every;
  if (!of || strcmp(of, "all") == 0) return 1;
  if (strcmp(of, "unconverged") == 0) return 0;
  return sscanf(of, "%ld%c", &every, &rest) == 1 && every > 0 ? every : -1;
}

bool problems_open(Problems* p, const char* folder, const char* of, const tbModel* m) {
  *p = (Problems){.folder = folder, .every = read_every(of)};
  if (!folder) return !of || complain("sim", "--problems-of needs --problems FOLDER");
  if (p->every < 0) {
    return complain("sim", "--problems-of expects all, unconverged or N (every N-th), not '%s'",
                    of);
  }
  if (m->opt.law >= (int)TB_LAW_COUNT) {
    return complain("sim",
                    "--problems: law %s solves no contact problem of FCLIB's form; expected "
                    "--law ncp, ccp, lcp or raisim",
                    tb_step_law_name(m->opt.law));
  }
  if (m->opt.integrator == TB_INTEGRATOR_RK4) {
    return complain("sim", "--problems: rk4 has four problems per step; use --integrator euler");
  }
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    return complain("sim", "cannot make the folder %s: %s", folder, strerror(errno));
  }
  p->before = tb_data_new(m);
  p->state = malloc(((size_t)tb_state_size(m) + 1) * sizeof *p->state);
  return (p->before && p->state) || complain("sim", "out of memory");
}

void problems_before(Problems* p, const tbModel* m, const tbData* d) {
  if (!p->folder) return;
  tb_state_get(m, d, p->state);
  tb_state_set(m, p->before, p->state);
#define X(type, name, rows, columns, unit, what) \
  memcpy(p->before->name, d->name, sizeof(type) * (size_t)m->rows * (columns));
  TB_DATA_INPUT(X)
#undef X
}

// The problem as a file's content: NULL where the step has no contacts, or (with *left_out and the
// error's message) none that FCLIB can express. False after a complaint.
static bool take_problem(const Problems* p, const tbModel* m, tbFclib** fclib, bool* left_out,
                         tbError* error) {
  tbData* d = p->before;
  *fclib = NULL;
  if (tb_forward(m, d) != TB_OK) return complain("sim", "--problems: %s", d->message);
  tbProblem* problem = tb_step_problem(m, d, error);
  if (!problem) return complain("sim", "--problems: %s", error->message);
  tbResult result = problem->n > 0 ? tb_fclib_of_problem(problem, fclib, error) : TB_OK;
  tb_problem_free(problem);
  if (*fclib && (*fclib)->contacts == 0) {
    tb_fclib_free(*fclib);
    *fclib = NULL;
  }
  *left_out = result == TB_ERROR_UNSUPPORTED;
  return result == TB_OK || *left_out || complain("sim", "--problems: %s", error->message);
}

static bool write_problem(const Problems* p, const tbModel* m, long step, tbFclib* fclib) {
  char path[4096], title[128], description[256];
  tbError error;
  snprintf(title, sizeof title, "step %ld", step);
  snprintf(description, sizeof description,
           "contact problem of a time step of %g s at %.9g s; impulses in N s", m->opt.timestep,
           p->before->time);
  fclib->title = strdup(title);
  fclib->description = strdup(description);
  snprintf(path, sizeof path, "%s/step_%06ld.hdf5", p->folder, step);
  return tb_fclib_write(fclib, TB_FCLIB_CSR, path, &error) == TB_OK ||
         complain("sim", "%s", error.message);
}

bool problems_after(Problems* p, const tbModel* m, const tbData* d, long step) {
  tbError error = {TB_OK, ""};
  tbFclib* fclib;
  bool left_out = false;
  bool wanted =
      p->folder && (p->every > 0 ? step % p->every == 0 : d->solve.status != TB_SOLVE_CONVERGED);
  if (!wanted) return true;
  bool ok = take_problem(p, m, &fclib, &left_out, &error);
  if (left_out && p->left_out++ == 0) {
    snprintf(p->reason, sizeof p->reason, "%.180s", error.message);
  }
  if (fclib) {
    ok = write_problem(p, m, step, fclib);
    p->written += ok;
  }
  tb_fclib_free(fclib);
  return ok;
}

void problems_warn(const Problems* p, Warnings* w) {
  if (!p->left_out) return;
  warn(w, "the contact problems of %ld steps were left out (%ld written); the first: %s",
       p->left_out, p->written, p->reason);
}

void problems_free(Problems* p) {
  tb_data_free(p->before);
  free(p->state);
  *p = (Problems){0};
}
