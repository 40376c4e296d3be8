// Functions of the user that a step calls: controls, further forces, parameters of contacts,
// actuators and sensors of kind "user".
//
// A model holds a pointer to them (tbModel.callbacks; NULL: none), so that all its worlds, batches
// and differences call them; the struct must outlive these. Every member may be NULL. Within a step
// they are called in the order below, each one by ascending index, by the thread that makes the
// step: a callback whose result depends on its arguments alone gives the same bits on any number of
// threads. Worlds of a batch call it from several threads at once.
//
// What a callback returns or writes is checked as any input: a value that is not finite, or a
// negative coefficient, fails the step, and data->message names it. A callback must not call a
// step, tb_forward or tb_reset with the world that it gets.
//
// Derivatives of a step with callbacks are finite differences of whole steps that call them, so of
// the closed loop. Worlds whose model has `control` or `passive` do not sleep (tbOption.sleep).
#ifndef TRIBO_CALLBACKS_H_
#define TRIBO_CALLBACKS_H_

#include "tribo/data.h"

struct tbCallbacks {
  // 1. Nonzero: these geoms do not collide now. Asked for pairs that pass all other filters and are
  // near each other.
  int (*contact_filter)(const tbModel* model, const tbData* data, int geom1, int geom2,
                        const void* user);

  // 2. For each detected contact: may change friction, restitution, compliance, tangentcompliance,
  // damping, comfree, solref, solreffriction, solimp and exclude, as functions of place, distance,
  // geoms or time.
  void (*contact)(const tbModel* model, const tbData* data, tbContact* contact, const void* user);

  // 3. Further forces: adds to data->qfrc_passive (nv), which is current with all else that depends
  // on position and velocity.
  void (*passive)(const tbModel* model, tbData* data, const void* user);

  // 4. Sets data->ctrl, and qfrc_applied or xfrc_applied. Called by tb_step, tb_step1 and
  // tb_forward, and in each evaluation of integrators with several.
  void (*control)(const tbModel* model, tbData* data, const void* user);

  // 5. Rate of the activation, gain and bias of actuators whose dyntype, gaintype or biastype is
  // "user". NULL: 0, 1 and 0.
  tbReal (*act_dyn)(const tbModel* model, const tbData* data, int actuator, const void* user);
  tbReal (*act_gain)(const tbModel* model, const tbData* data, int actuator, const void* user);
  tbReal (*act_bias)(const tbModel* model, const tbData* data, int actuator, const void* user);

  // 6. The values of a sensor of type "user" (sensor_dim of them, in data->sensordata), when the
  // forces of the step are known. NULL: they stay as the user wrote them.
  void (*sensor)(const tbModel* model, const tbData* data, int sensor, tbReal* values,
                 const void* user);

  const void* user;  // passed to each
};

#endif
