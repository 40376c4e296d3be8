// Forces of the medium on a body as a box of equal inertia (MuJoCo's inertia model), or on its
// geoms as ellipsoids if one of them selects that model.
#include <math.h>

#include "base/minmax.h"
#include "spatial/vec3.h"
#include "forces/forces.h"
#include "model/law_kinds.h"
#include "tribo/dynamics.h"
#include "tribo/step.h"

static const tbReal PI = 3.14159265358979323846;

// Side lengths of the box that has the body's mass and inertia.
static void equivalent_box(const tbModel* m, int body, tbReal box[3]) {
  const tbReal* I = m->body_inertia + 3 * body;
  tbReal total = I[0] + I[1] + I[2];
  for (int i = 0; i < 3; i++) {
    box[i] = sqrt(tb_max(1e-15, total - 2 * I[i]) / m->body_mass[body] * 6);
  }
}

tbReal tb_most_drag(const tbModel* m, tbReal inertia) {
  return tb_law_has(&m->opt, TB_TRAIT_UNBOUNDED) ? INFINITY : inertia / m->opt.timestep;
}

static tbReal at_most(tbReal x, tbReal most) {
  return x > most ? most : x < -most ? -most : x;
}

static void drag_on_box(const tbModel* m, tbData* d, int body) {
  tbReal box[3], velocity[6], wind[3], torque[3] = {0}, force[3] = {0};
  const tbReal* R = d->ximat + 9 * body;
  equivalent_box(m, body, box);

  // Velocity of the centre of mass relative to the medium, in principal axes.
  tb_object_velocity(m, d, TB_OBJ_BODY, body, 1, velocity);
  tb_mul_mat3t_vec3(wind, R, m->opt.wind);
  tbReal *spin = velocity, *speed = velocity + 3;
  tb_sub3(speed, speed, wind);

  // Stokes drag of the equivalent sphere.
  if (m->opt.viscosity > 0) {
    tbReal diameter = (box[0] + box[1] + box[2]) / 3;
    tb_scale3(torque, spin, -PI * diameter * diameter * diameter * m->opt.viscosity);
    tb_scale3(force, speed, -3 * PI * diameter * m->opt.viscosity);
  }
  // Pressure on the faces.
  if (m->opt.density > 0) {
    for (int i = 0; i < 3; i++) {
      tbReal a = box[(i + 1) % 3], b = box[(i + 2) % 3];
      force[i] -= 0.5 * m->opt.density * a * b * fabs(speed[i]) * speed[i];
      torque[i] -=
          m->opt.density * box[i] * (a * a * a * a + b * b * b * b) * fabs(spin[i]) * spin[i] / 64;
    }
  }
  tbReal most = tb_most_drag(m, m->body_mass[body]);
  for (int i = 0; i < 3; i++) {
    force[i] = at_most(force[i], most * fabs(speed[i]));
    torque[i] = at_most(torque[i], tb_most_drag(m, m->body_inertia[3 * body + i]) * fabs(spin[i]));
  }
  tb_mul_mat3_vec3(force, R, force);
  tb_mul_mat3_vec3(torque, R, torque);
  tb_apply_wrench(m, d, body, d->xipos + 3 * body, force, torque, d->qfrc_fluid);
}

int tb_has_fluid(const tbModel* m) {
  int both = TB_DISABLE_SPRING | TB_DISABLE_DAMPER;
  return (m->opt.density > 0 || m->opt.viscosity > 0) && (m->opt.disableflags & both) != both;
}

void tb_fluid(const tbModel* m, tbData* d) {
  for (int i = 1; i < m->nbody; i++) {
    if (m->body_mass[i] < 1e-15) continue;
    if (!tb_fluid_ellipsoids(m, d, i)) drag_on_box(m, d, i);
  }
}
