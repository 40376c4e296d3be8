// Every kind of transmission, once: what an actuator acts on, with which moment.
//
//   X(TYPE, "word", FIRST, SECOND, "second", ARM, function)
//
// TYPE      TB_TRN_TYPE
// "word"    the attribute of MJCF that names the object
// FIRST     JOINT, TENDON, SITE or BODY: the kind of the object, actuator_trnid[0]
// SECOND    NONE, OPTIONAL or REQUIRED: whether there is a second object of this kind,
//           actuator_trnid[1] (-1: none)
// "second"  the attribute that names it; NULL: none
// ARM       tbTransmissionArm: what is known about the moment without computing it
// function  tb_transmission_<function> of dynamics/transmission/length.h
//
// The actuator's force has moments on the dofs of its joint, on those of its tendon, on those that
// move its sites or its body, or on all (CONTACTS). The loader, the checks of a model, the
// sparsity, the forces, the sensors and the derivatives read this list. A transmission is a line
// here, its enumerator in tribo/enums.h and its function; one of an extension is a line in the
// extension's list and its function (tribo/extension.h).
#ifndef TRIBO_MODEL_TRANSMISSION_KINDS_H_
#define TRIBO_MODEL_TRANSMISSION_KINDS_H_

#include <stdbool.h>

#include "base/kernel.h"
#include "tribo/extension.h"
#include "tribo/model.h"

#define TB_TRANSMISSIONS(X)                                                             \
  X(JOINT, "joint", JOINT, NONE, NULL, GEAR, joint)                                     \
  X(JOINTINPARENT, "jointinparent", JOINT, NONE, NULL, GEAR, joint_in_parent)           \
  X(SLIDERCRANK, "cranksite", SITE, REQUIRED, "slidersite", CONFIGURATION, slidercrank) \
  X(TENDON, "tendon", TENDON, NONE, NULL, GEAR, tendon)                                 \
  X(SITE, "site", SITE, OPTIONAL, "refsite", WRENCH, site)                              \
  X(BODY, "body", BODY, NONE, NULL, CONTACTS, body)                                     \
  TB_EXTENSION_TRANSMISSIONS(X)

typedef enum {
  TB_ARM_GEAR,           // gear times the rate of the joint's or the tendon's own coordinate
  TB_ARM_WRENCH,         // gear is a force and a torque in the axes of a site
  TB_ARM_CONFIGURATION,  // any function of the configuration; of a joint: a scalar one
  TB_ARM_CONTACTS        // computed after the contacts (forces/adhesion.c)
} tbTransmissionArm;

typedef enum { TB_SECOND_NONE, TB_SECOND_OPTIONAL, TB_SECOND_REQUIRED } tbTransmissionSecond;

typedef struct {
  const char *word, *second_word;
  int first, second, arm;  // tbObjType, tbTransmissionSecond, tbTransmissionArm
} tbTransmissionKind;

// By tbTransmission, TB_NTRNTYPES of them.
extern const tbTransmissionKind tb_transmission_kinds[];

// Their words, " joint jointinparent ...", for messages.
extern const char tb_transmission_words[];

// Whether a type has this arm; and its first object if the arm is the gear, else -1. Switches over
// the list, which compilers fold to comparisons, and which device code can use.
TB_ANY_INLINE bool tb_transmission_has_arm(int type, int arm) {
#define X(TYPE, word, FIRST, SECOND, second, ARM, function) \
  case TB_TRN_##TYPE: return TB_ARM_##ARM == arm;
  switch (type) {
    TB_TRANSMISSIONS(X)
    default: return false;
  }
#undef X
}
TB_ANY_INLINE int tb_geared_kind(int type) {
#define X(TYPE, word, FIRST, SECOND, second, ARM, function) \
  case TB_TRN_##TYPE: return TB_ARM_##ARM == TB_ARM_GEAR ? TB_OBJ_##FIRST : -1;
  switch (type) {
    TB_TRANSMISSIONS(X)
    default: return -1;
  }
#undef X
}

// The joint or the tendon whose coordinate, times the gear, is the length of an actuator; -1: none.
TB_ANY_INLINE int tb_geared_object(const tbModel* m, int actuator, int object) {
  bool is_geared = tb_geared_kind(m->actuator_trntype[actuator]) == object;
  return is_geared ? m->actuator_trnid[2 * actuator] : -1;
}
TB_ANY_INLINE int tb_geared_joint(const tbModel* m, int actuator) {
  return tb_geared_object(m, actuator, TB_OBJ_JOINT);
}
TB_ANY_INLINE int tb_geared_tendon(const tbModel* m, int actuator) {
  return tb_geared_object(m, actuator, TB_OBJ_TENDON);
}

// Whether the moment is constant: of a scalar joint, or of a tendon over joints.
bool tb_transmission_is_constant(const tbModel* model, int actuator);

#endif
