// Contacts as Python objects.
#ifndef TRIBO_PYTHON_CONTACT_H_
#define TRIBO_PYTHON_CONTACT_H_

#include "memory.h"

// A contact whose parameters may be changed, and what it has become.
nanobind::object contact_for_callback(const tbContact& contact);
tbContact contact_after_callback(nanobind::handle contact);

#endif
