// Files of a simulation over time: recordings of any quantity, with the names of the
// model's parts in their headers, and series of controls or states to be followed.
//
// Columns of a header are FIELD:NAME for a value of the part NAME (joint, actuator, sensor, body,
// ...), FIELD:NAME:I for its value number I where it has several, and FIELDI (as qpos3) for value I
// of a field whose part has no name.
#ifndef TRIBO_RECORD_H_
#define TRIBO_RECORD_H_

#include "tribo/data.h"

// The list that tb_record_open uses if it gets none.
#define TB_RECORD_DEFAULT "time,qpos,qvel,ctrl,energy,ncon,residual_exact"

// Columns of the contacts of a recording, a row per contact: geoms by number (the normal points
// from the first to the second, which the force acts on), position, m, normal, distance, m, force
// in the contact's frame and in world axes, N, and tbContactState. In CSV two further columns,
// TB_RECORD_CONTACT_NAMES, have the names of the geoms; in HDF5 the text names/geom has the names
// of all geoms, a line each, in the order of their numbers.
#define TB_RECORD_CONTACT                                                                     \
  "time,geom1,geom2,x,y,z,normal_x,normal_y,normal_z,dist,force_n,force_t1,force_t2,force_x," \
  "force_y,force_z,state"
#define TB_RECORD_CONTACT_NAMES "geom1_name,geom2_name"
enum { TB_RECORD_CONTACT_WIDTH = 17 };

typedef struct tbRecording tbRecording;

// A field over time: rows x width values.
typedef struct {
  int rows, width;
  tbReal* value;
  tbReal* time;  // s, one per row, not decreasing; NULL: a row per time step
} tbSeries;

TB_EXTERN_C_BEGIN

// Record to a file, a row per call of tb_record_append. `what` (NULL: the default) is a list of
// "time", "energy" (potential, kinetic, as in tbData), "ncon", "residual_exact", "contacts" and
// arrays of tbData by name ("sensordata", "xpos", "qfrc_constraint", ...), separated by commas.
// ".csv": one table with a line of column names; "contacts" have a row per contact, and so a file
// of their own. ".h5" (or ".hdf5"): a dataset per field, column names in names/FIELD. A ".part"
// behind these is ignored. NULL, and `error` says what was expected.
TB_API tbRecording* tb_record_open(const char* path, const tbModel* model, const char* what,
                                   tbError* error);
TB_API tbResult tb_record_append(tbRecording* record, const tbModel* model, const tbData* data,
                                 tbError* error);

// Finish and free. Write errors are reported here at the latest.
TB_API tbResult tb_record_close(tbRecording* record, tbError* error);

// Read the field "qpos", "qvel", "ctrl" or "act" of a model from a recording or a file of one's
// own: ".csv" with a line of column names in any order (further columns are ignored; controls also
// by the actuator's name alone), or with exactly `width` numbers in every row; ".npy", rows x
// width;
// ".h5" with a dataset of that name. "time" is read where it is there. On success the caller frees
// the arrays with tb_series_free; on an error the series is empty.
TB_API tbResult tb_series_read(const char* path, const tbModel* model, const char* field,
                               tbSeries* series, tbError* error);
TB_API void tb_series_free(tbSeries* series);

// The row that holds `elapsed` seconds after the first one: the last whose time, less the time of
// the first row, is not above it; without times the row number elapsed / timestep. After the end
// the last row; -1 if there are no rows.
TB_API int tb_series_row(const tbSeries* series, tbReal elapsed, tbReal timestep);

TB_EXTERN_C_END

#endif
