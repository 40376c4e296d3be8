// Functions of the user that a step calls.
#ifndef TRIBO_PYTHON_CALLBACK_H_
#define TRIBO_PYTHON_CALLBACK_H_

#include "memory.h"

// The world that this thread steps is seen by callbacks as `data`; others see a copy.
class CallbackScope {
 public:
  CallbackScope(const Model& model, nanobind::handle data);
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  // Raise the exception of a callback, if there is one. The GIL is held.
  void raise_pending();

 private:
  ModelMemory& memory_;
  bool active_;
  PyObject* outer_ = nullptr;
};

#endif
