// Kinds that are added to the library from outside: sensors, gains, biases and dynamics of
// actuators, transmissions, equalities, joints. A build with -DTRIBO_EXTENSION=FOLDER reads the
// lists of FOLDER/extension.h here and appends them to its own (docs/manual/extending.md); without,
// they are empty. A line has the form of the list that it extends.
#ifndef TRIBO_EXTENSION_H_
#define TRIBO_EXTENSION_H_

#ifdef TRIBO_EXTENSION
#include TRIBO_EXTENSION
#endif

// TB_SENSORS, src/model/sensor_kinds.h
#ifndef TB_EXTENSION_SENSORS
#define TB_EXTENSION_SENSORS(X)
#endif

// TB_ACTUATOR_GAINS, TB_ACTUATOR_BIASES and TB_ACTUATOR_DYNAMICS, src/model/actuator_kinds.h
#ifndef TB_EXTENSION_GAINS
#define TB_EXTENSION_GAINS(X)
#endif
#ifndef TB_EXTENSION_BIASES
#define TB_EXTENSION_BIASES(X)
#endif
#ifndef TB_EXTENSION_DYNAMICS
#define TB_EXTENSION_DYNAMICS(X)
#endif

// TB_TRANSMISSIONS, src/model/transmission_kinds.h
#ifndef TB_EXTENSION_TRANSMISSIONS
#define TB_EXTENSION_TRANSMISSIONS(X)
#endif

// TB_EQUALITIES, src/model/equality_kinds.h
#ifndef TB_EXTENSION_EQUALITIES
#define TB_EXTENSION_EQUALITIES(X)
#endif

// TB_JOINTS, src/model/joint_kinds.h
#ifndef TB_EXTENSION_JOINTS
#define TB_EXTENSION_JOINTS(X)
#endif

#endif
