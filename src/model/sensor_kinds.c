#include "model/sensor_kinds.h"
#include "tribo/enums.h"

const tbSensorKind tb_sensor_kinds[TB_NSENSORTYPES] = {
#define X(TYPE, word, dim, TARGET, STAGE, CLAMP, NEEDS, REQUIRES, function) \
  [TB_SENS_##TYPE] = {word,                                                 \
                      dim,                                                  \
                      TB_SENSOR_##TARGET,                                   \
                      TB_STAGE_##STAGE,                                     \
                      TB_CLAMP_##CLAMP,                                     \
                      TB_NEEDS_##NEEDS,                                     \
                      TB_REQUIRES_##REQUIRES},
    TB_SENSORS(X)
#undef X
};

int tb_sensor_object(int target) {
  switch (target) {
    case TB_SENSOR_SITE:
    case TB_SENSOR_ON_CAMERA: return TB_OBJ_SITE;
    case TB_SENSOR_JOINT: return TB_OBJ_JOINT;
    case TB_SENSOR_TENDON: return TB_OBJ_TENDON;
    case TB_SENSOR_ACTUATOR: return TB_OBJ_ACTUATOR;
    case TB_SENSOR_BODY: return TB_OBJ_BODY;
    case TB_SENSOR_FRAME:
    case TB_SENSOR_REFERENCE:
    case TB_SENSOR_IN_SITE:
    case TB_SENSOR_PAIR: return TB_NOBJTYPES;
    default: return TB_OBJ_UNKNOWN;
  }
}
