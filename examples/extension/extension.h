// Kinds of this extension. Sensor: an actuator's power. Gain: a motor whose torque falls with its
// speed. Dynamics: a command that cannot jump. Transmission and equality: a Scotch yoke, whose
// slide goes as the sine of its crank's angle. Joint: a screw.
#define TB_EXTENSION_SENSORS(X) X(POWER, "power", 1, ACTUATOR, ACC, REAL, NOTHING, ANY, power)
#define TB_EXTENSION_GAINS(X) X(TORQUE_SPEED, "torquespeed", 0, torque_speed)
#define TB_EXTENSION_DYNAMICS(X) X(SLEW, "slew", 0, slew)
#define TB_EXTENSION_TRANSMISSIONS(X) X(YOKE, "yoke", JOINT, NONE, NULL, CONFIGURATION, yoke)
#define TB_EXTENSION_EQUALITIES(X) X(YOKE, "yoke", JOINTS, yoke)
#define TB_EXTENSION_JOINTS(X) X(SCREW, "screw", 1, 1, 0, 2, TB_WITH_AXIS | TB_WITH_ANGLE, screw)

// Advance of a screw per turn, m. A joint's functions are given its anchor, axis and coordinates,
// so that screws of another pitch are another line.
#define SCREW_PITCH 0.05
