// Parts of a world by name: joints, actuators, sensors, and poses of bodies, geoms and sites.
//
// A name that the model does not have is TB_ERROR_ARGUMENT, and `error` (may be NULL) says the
// nearest one; so is a `count` that is not the number of values, and on setting a value that is not
// finite or a quaternion without a direction. Setting changes nothing else: a step, or tb_forward,
// computes what follows from it.
#ifndef TRIBO_NAMED_H_
#define TRIBO_NAMED_H_

#include "tribo/data.h"

TB_EXTERN_C_BEGIN

// Coordinates (hinge, slide 1; ball 4; free 7) and velocities (1, 3, 6) of a joint.
TB_API tbResult tb_joint_qpos(const tbModel* model, const tbData* data, const char* joint,
                              tbReal* qpos, int count, tbError* error);
TB_API tbResult tb_joint_qvel(const tbModel* model, const tbData* data, const char* joint,
                              tbReal* qvel, int count, tbError* error);
TB_API tbResult tb_set_joint_qpos(const tbModel* model, tbData* data, const char* joint,
                                  const tbReal* qpos, int count, tbError* error);
TB_API tbResult tb_set_joint_qvel(const tbModel* model, tbData* data, const char* joint,
                                  const tbReal* qvel, int count, tbError* error);

// Control of an actuator.
TB_API tbResult tb_actuator_ctrl(const tbModel* model, const tbData* data, const char* actuator,
                                 tbReal* ctrl, tbError* error);
TB_API tbResult tb_set_actuator_ctrl(const tbModel* model, tbData* data, const char* actuator,
                                     tbReal ctrl, tbError* error);

// The values of a sensor: sensor_dim of them.
TB_API tbResult tb_sensor_values(const tbModel* model, const tbData* data, const char* sensor,
                                 tbReal* values, int count, tbError* error);

// Position and orientation in the world (either may be NULL) of a body, geom or site (`type`
// TB_OBJ_BODY, TB_OBJ_GEOM or TB_OBJ_SITE), as of the last step or position stage.
TB_API tbResult tb_pose(const tbModel* model, const tbData* data, tbObjType type, const char* name,
                        tbReal pos[3], tbReal quat[4], tbError* error);

TB_EXTERN_C_END

#endif
