// Inputs and outputs of a run of `tribo sim`, step by step: controls from a file, recordings, and
// the contact problems of its steps as FCLIB files.
#ifndef TRIBO_CLI_DRIVE_H_
#define TRIBO_CLI_DRIVE_H_

#include <stdbool.h>

#include "output.h"
#include "statistics.h"
#include "tribo/tribo.h"

// ---- controls ----------------------------------------------------------------------------------

typedef struct {
  const char* path;
  tbSeries series;
  tbReal start;     // s: when its first row holds
  tbReal timestep;  // s: of its rows, where they have no times
} Drive;

// `path` NULL: no controls. False after a complaint.
bool drive_read(Drive* drive, const char* path, const tbModel* model, const tbData* data,
                const char* command);
void drive_set(const Drive* drive, tbData* data);

// A warning if the file ended before the run.
void drive_warn(const Drive* drive, const tbData* data, Warnings* warnings);
void drive_free(Drive* drive);

// ---- recordings --------------------------------------------------------------------------------

typedef struct {
  Output rows, contacts;
  tbRecording *record, *contact_record;
} Recording;

// Open the file of --out and, for contacts in CSV, NAME.contacts.csv. `what`: fields of --record,
// or NULL. False after a complaint.
bool recording_open(Recording* recording, const char* path, const char* what, const tbModel* model);
bool recording_append(Recording* recording, const tbModel* model, const tbData* data);

// Finish the files, and keep them or not. False after a complaint.
bool recording_close(Recording* recording, bool keep);

// ---- contact problems --------------------------------------------------------------------------

typedef struct {
  const char* folder;  // NULL: no problems are written
  long every;          // write each n-th step; 0: those that did not converge
  tbData* before;      // the state before the current step
  tbReal* state;
  long written, left_out;
  char reason[192];  // why the first one was left out
} Problems;

// Make the folder. `of`: "all" or NULL, "unconverged", or N for every N-th. False after a
// complaint.
bool problems_open(Problems* problems, const char* folder, const char* of, const tbModel* model);

// Before step number `step`, and after it. False after a complaint.
void problems_before(Problems* problems, const tbModel* model, const tbData* data);
bool problems_after(Problems* problems, const tbModel* model, const tbData* data, long step);
void problems_warn(const Problems* problems, Warnings* warnings);
void problems_free(Problems* problems);

#endif
