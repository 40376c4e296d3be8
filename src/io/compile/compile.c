// Compilation of the flat spec to a model. Each stage below has its own file.
#include "io/compile/compile.h"

#include "base/minmax.h"
#include "io/compile/internal.h"
#include "io/flat_tables.h"
#include "model/joint_kinds.h"
#include "model/model.h"

// Number of user values per element of a kind: that of the size element, or else the longest list.
#define COUNT_USER(c, width, asked, member, element)                                             \
  do {                                                                                           \
    *(width) = (asked) > 0 ? (asked) : 0;                                                        \
    for (int i = 0; i < (c)->spec->n##member; i++) {                                             \
      int n = (c)->spec->member[i].user.n;                                                       \
      if (n <= *(width)) continue;                                                               \
      if ((asked) >= 0) {                                                                        \
        return TB_FLAT_FAIL((c)->error, TB_ERROR_MODEL, &(c)->spec->member[i],                   \
                            "%s %d has %d user values, but the size element allows %d", element, \
                            i, n, (asked));                                                      \
      }                                                                                          \
      *(width) = n;                                                                              \
    }                                                                                            \
  } while (0)

static tbResult count_user(const tbCompile* c, tbModel* sizes) {
  const tbFlat* spec = c->spec;
  COUNT_USER(c, &sizes->nuser_body, spec->size.nuser_body, body, "body");
  COUNT_USER(c, &sizes->nuser_jnt, spec->size.nuser_jnt, joint, "joint");
  COUNT_USER(c, &sizes->nuser_geom, spec->size.nuser_geom, geom, "geom");
  COUNT_USER(c, &sizes->nuser_site, spec->size.nuser_site, site, "site");
  COUNT_USER(c, &sizes->nuser_tendon, spec->size.nuser_tendon, tendon, "tendon");
  COUNT_USER(c, &sizes->nuser_actuator, spec->size.nuser_actuator, actuator, "actuator");
  COUNT_USER(c, &sizes->nuser_sensor, spec->size.nuser_sensor, sensor, "sensor");
  sizes->nuserdata = spec->size.nuserdata;
  return TB_OK;
}

// The stages that determine the sizes of the model.
static tbResult measure(tbCompile* c, tbModel* sizes) {
  tbResult result = tb_compile_index_names(c);
  if (!result) result = tb_compile_bodies(c);
  if (!result) result = tb_compile_assets(c);
  if (!result) result = tb_compile_geoms(c);
  if (!result) result = tb_compile_inertias(c);
  if (!result) result = tb_compile_order(c, sizes);
  if (!result) result = tb_compile_check_mass(c);
  if (!result) result = tb_compile_joints(c, sizes);
  if (!result) result = tb_compile_order_pairs(c);
  if (!result) result = tb_compile_tendons(c, sizes);
  if (!result) result = tb_compile_count_actuators(c, sizes);
  if (!result) result = tb_compile_count_sensors(c, sizes);
  if (!result) result = tb_compile_count_custom(c, sizes);
  if (!result) result = count_user(c, sizes);
  if (result) return result;
  tb_compile_count_assets(c, sizes);
  tb_compile_count_names(c, sizes);
  sizes->npair = c->spec->npair;
  sizes->nexclude = c->spec->nexclude;
  sizes->neq = c->spec->nequality;
  sizes->opt = c->spec->option;
  return TB_OK;
}

static tbResult fill(const tbCompile* c, tbModel* m) {
  tb_compile_copy_geoms(c, m);
  tb_compile_copy_bodies(c, m);
  tb_compile_copy_joints(c, m);
  tb_compile_copy_frames(c, m);
  tb_compile_copy_assets(c, m);
  tb_compile_copy_pairs(c, m);
  tb_compile_copy_tendons(c, m);
  tbResult result = tb_compile_copy_equalities(c, m);
  if (!result) result = tb_compile_copy_actuators(c, m);
  if (!result) result = tb_compile_copy_sensors(c, m);
  if (!result) result = tb_compile_copy_custom(c, m);
  if (!result) result = tb_compile_copy_keys(c, m);
  if (!result) tb_compile_copy_names(c, m);
  return result;
}

tbModel* tb_compile(const tbFlat* spec, const tbLoadOptions* options, tbError* error) {
  (void)options;
  tbCompile c = {.spec = spec, .error = error};
  tb_arena_init(&c.arena);
  tb_arena_init(&c.scratch);
  tbModel sizes = {0}, *model = NULL;
  if (measure(&c, &sizes) == TB_OK) model = tb_model_new(&sizes, error);
  if (model && fill(&c, model) != TB_OK) {
    tb_model_free(model);
    model = NULL;
  }
  tb_arena_free(&c.arena);
  tb_arena_free(&c.scratch);
  return model;
}

void tb_compile_finish(const tbFlat* spec, tbModel* m) {
  // A spring-damper's time constant and damping ratio refer to the joint's inertia at qpos0:
  // 1/stiffness = (time * ratio)^2 / inertia, damping = 2 inertia / time.
  for (int i = 0; i < m->njnt; i++) {
    const tbReal* given = spec->joint[i].springdamper;
    if (!(given[0] > 0 && given[1] > 0)) continue;
    int first = m->jnt_dofadr[i];
    int n = tb_joint_nv(m->jnt_type[i]);
    tbReal mean = 0;
    for (int k = 0; k < n; k++) mean += m->dof_invweight0[first + k] / n;
    tbReal inertia = 1 / tb_max(mean, TB_COMPILE_TINY);
    m->jnt_stiffness[i] =
        inertia / tb_max(given[0] * given[0] * given[1] * given[1], TB_COMPILE_TINY);
    for (int k = 0; k < n; k++) {
      m->dof_damping[first + k] = 2 * inertia / tb_max(given[0], TB_COMPILE_TINY);
    }
  }
  tb_compile_anchor_welds(m);
  if (TB_GIVEN(statistic, &spec->statistic, extent)) m->extent = spec->statistic.extent;
  if (TB_GIVEN(statistic, &spec->statistic, meaninertia)) {
    m->mean_inertia = spec->statistic.meaninertia;
  }
}
