// Tribo: contact physics for robots. This header is all of the public API.
//
// Load a model (model.h), make a world (data.h), step it (step.h); or build a contact problem of
// your own and solve it (problem.h). Nothing here keeps global state: any number of models and
// worlds may live in any number of threads, each world in one thread at a time.
//
// A pointer may be NULL where its function says so. Otherwise functions return an error for NULL,
// or do nothing if they have no result. Indices of bodies, joints and dofs that are arguments of
// dynamics.h and derivatives.h are not checked.
#ifndef TRIBO_TRIBO_H_
#define TRIBO_TRIBO_H_

#include "tribo/batch.h"
#include "tribo/callbacks.h"
#include "tribo/collide.h"
#include "tribo/contact.h"
#include "tribo/control.h"
#include "tribo/data.h"
#include "tribo/derivatives.h"
#include "tribo/dynamics.h"
#include "tribo/enums.h"
#include "tribo/fclib.h"
#include "tribo/inverse.h"
#include "tribo/measure.h"
#include "tribo/model.h"
#include "tribo/named.h"
#include "tribo/option.h"
#include "tribo/problem.h"
#include "tribo/query.h"
#include "tribo/record.h"
#include "tribo/render.h"
#include "tribo/report.h"
#include "tribo/spec.h"
#include "tribo/step.h"
#include "tribo/trajectory.h"
#include "tribo/types.h"

#endif
