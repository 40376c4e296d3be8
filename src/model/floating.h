// Trees that float in the world: whose first joint is free (tb_joint_floats).
#ifndef TRIBO_MODEL_FLOATING_H_
#define TRIBO_MODEL_FLOATING_H_

#include <stdbool.h>

#include "model/joint_kinds.h"
#include "tribo/model.h"

// Whether a dof is one of a free joint.
static inline bool tb_dof_floats(const tbModel* m, int dof) {
  return tb_joint_floats(m->jnt_type[m->dof_jntid[dof]]);
}

static inline bool tb_tree_floats(const tbModel* m, int tree) {
  return tb_dof_floats(m, m->tree_dofadr[tree]);
}

// Whether a tree is a single free-floating body, with bodies that are fixed to it.
static inline bool tb_tree_is_free_body(const tbModel* m, int tree) {
  return m->tree_dofnum[tree] == 6 && tb_tree_floats(m, tree);
}

#endif
