// Trajectories: recordings of the default fields.
#include "tribo/trajectory.h"

#include "tribo/record.h"

// A tbTrajectory is a tbRecording under its own name.
static tbRecording* record_of(tbTrajectory* t) {
  return (tbRecording*)t;
}

tbTrajectory* tb_trajectory_open(const char* path, const tbModel* model, tbError* error) {
  return (tbTrajectory*)tb_record_open(path, model, NULL, error);
}

tbResult tb_trajectory_append(tbTrajectory* t, const tbModel* model, const tbData* data,
                              tbError* error) {
  return tb_record_append(record_of(t), model, data, error);
}

tbResult tb_trajectory_close(tbTrajectory* t, tbError* error) {
  return tb_record_close(record_of(t), error);
}
