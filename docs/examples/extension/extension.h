// Kinds of this extension: a sensor of an actuator's power, a motor whose torque falls with its
// speed, and a command that cannot jump.
#define TB_EXTENSION_SENSORS(X) X(POWER, "power", 1, ACTUATOR, ACC, REAL, NOTHING, ANY, power)
#define TB_EXTENSION_GAINS(X) X(TORQUE_SPEED, "torquespeed", 0, torque_speed)
#define TB_EXTENSION_DYNAMICS(X) X(SLEW, "slew", 0, slew)
