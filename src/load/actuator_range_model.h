// A model with only some of another's actuators, and the tendons and sites that these need: length
// ranges are simulated one muscle at a time, and the paths of all other muscles would dominate the
// cost.
#ifndef TRIBO_LOAD_ACTUATOR_RANGE_MODEL_H_
#define TRIBO_LOAD_ACTUATOR_RANGE_MODEL_H_

#include "model/model.h"

// Shares the remaining arrays with the model that it is a part of, which must outlive it. Actuator
// k is actuator pulled[k] of that model. No activations, sensors and keyframes.
typedef struct {
  tbModel model;
  void* memory;
} tbModelPart;

// TB_ERROR_MEMORY when out of memory. Free with free(part->memory).
tbResult tb_model_part(const tbModel* model, const int* pulled, int count, tbModelPart* part);

#endif
