// A model with only some of another's actuators, and the tendons and sites that these need: length
// ranges pull at one muscle at a time, and the paths of all others would cost more than all else.
#ifndef TRIBO_LOAD_ACTUATOR_RANGE_MODEL_H_
#define TRIBO_LOAD_ACTUATOR_RANGE_MODEL_H_

#include "model/model.h"

// Shares what it does not have of its own with the model that it is a part of, which must outlive
// it. Actuator k is pulled[k] of that one. No activations, sensors and keyframes.
typedef struct {
  tbModel model;
  void* memory;
} tbModelPart;

// TB_ERROR_MEMORY where there is none. Free with free(part->memory).
tbResult tb_model_part(const tbModel* model, const int* pulled, int count, tbModelPart* part);

#endif
