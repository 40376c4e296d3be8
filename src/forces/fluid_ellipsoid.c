// Forces of the medium on geoms as ellipsoids: added mass, Magnus and Kutta lift, blunt, slender
// and angular drag (MuJoCo's ellipsoid model, chapter "Fluid forces").
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "model/workspace.h"
#include "spatial/vec3.h"
#include "forces/forces.h"
#include "tribo/dynamics.h"

static const tbReal PI = 3.14159265358979323846, SMALLEST = 1e-15;

static tbReal square(tbReal x) {
  return x * x;
}

static tbReal fourth(tbReal x) {
  return x * x * x * x;
}

static void semiaxes(const tbModel* m, int geom, tbReal s[3]) {
  const tbReal* size = m->geom_size + 3 * geom;
  switch (m->geom_type[geom]) {
    case TB_GEOM_SPHERE: tb_set3(s, size[0], size[0], size[0]); break;
    case TB_GEOM_CAPSULE: tb_set3(s, size[0], size[0], size[1] + size[0]); break;
    case TB_GEOM_CYLINDER: tb_set3(s, size[0], size[0], size[1]); break;
    default: tb_copy3(s, size);
  }
}

// Carlson's integral R_D(x, y, z) by duplication, until the three arguments agree to rounding in
// the series.
static tbReal carlson_rd(tbReal x, tbReal y, tbReal z) {
  tbReal sum = 0, power = 1;
  for (int i = 0; i < 60; i++) {
    tbReal mean = (x + y + 3 * z) / 5;
    tbReal X = (mean - x) / mean, Y = (mean - y) / mean, Z = (mean - z) / mean;
    if (tb_max(fabs(X), tb_max(fabs(Y), fabs(Z))) < 1e-3) {
      tbReal xy = X * Y, zz = Z * Z;
      tbReal E2 = xy - 6 * zz, E3 = (3 * xy - 8 * zz) * Z, E4 = 3 * (xy - zz) * zz,
             E5 = xy * zz * Z;
      tbReal series = 1 - 3 * E2 / 14 + E3 / 6 + 9 * E2 * E2 / 88 - 3 * E4 / 22 - 9 * E2 * E3 / 52 +
                      3 * E5 / 26;
      return 3 * sum + power * series / (mean * sqrt(mean));
    }
    tbReal rx = sqrt(x), ry = sqrt(y), rz = sqrt(z), shift = rx * ry + ry * rz + rz * rx;
    sum += power / (rz * (z + shift));
    power /= 4;
    x = (x + shift) / 4;
    y = (y + shift) / 4;
    z = (z + shift) / 4;
  }
  return 3 * sum;
}

// kappa = a b c int_0^inf dl / ((a^2 + l)^3/2 sqrt((b^2 + l)(c^2 + l))) = 2/3 a b c R_D(b^2, c^2,
// a^2)
static tbReal kappa(tbReal a, tbReal b, tbReal c) {
  return 2.0 / 3 * a * b * c * carlson_rd(b * b, c * c, a * a);
}

// Volume and inertia of the fluid that moves along (per density), of an ellipsoid.
typedef struct {
  tbReal s[3], mass[3], inertia[3];
} Entrained;

static void entrain(const tbReal s[3], Entrained* e) {
  tbReal volume = 4.0 / 3 * PI * s[0] * s[1] * s[2], k[3];
  for (int i = 0; i < 3; i++) k[i] = kappa(s[i], s[(i + 1) % 3], s[(i + 2) % 3]);
  for (int i = 0; i < 3; i++) {
    int j = (i + 1) % 3, l = (i + 2) % 3;
    tbReal difference = s[j] * s[j] - s[l] * s[l], sum = s[j] * s[j] + s[l] * s[l];
    tbReal denominator = fabs(2 * difference + sum * (k[j] - k[l]));
    e->s[i] = s[i];
    e->mass[i] = volume * k[i] / tb_max(SMALLEST, 2 - k[i]);
    e->inertia[i] =
        volume / 5 * square(difference) * fabs(k[l] - k[j]) / tb_max(SMALLEST, denominator);
  }
}

// The same for a geom: the integrals cost as much as everything else, so they are kept between
// steps.
static const Entrained* entrained_by(const tbModel* m, tbData* d, int g, const tbReal s[3],
                                     Entrained* room) {
  if (!d->work->entrained) d->work->entrained = calloc((size_t)m->ngeom, sizeof(Entrained));
  Entrained* e = d->work->entrained ? (Entrained*)d->work->entrained + g : room;
  bool same = e->s[0] == s[0] && e->s[1] == s[1] && e->s[2] == s[2];
  if (!same || e == room) entrain(s, e);
  return e;
}

static void added_mass(const Entrained* e, tbReal density, const tbReal spin[3],
                       const tbReal speed[3], tbReal torque[3], tbReal force[3]) {
  tbReal linear[3], angular[3], term[3];
  for (int i = 0; i < 3; i++) {
    linear[i] = density * e->mass[i] * speed[i];
    angular[i] = density * e->inertia[i] * spin[i];
  }
  tb_cross(term, linear, spin);
  tb_add3(force, force, term);
  tb_cross(term, linear, speed);
  tb_add3(torque, torque, term);
  tb_cross(term, angular, spin);
  tb_add3(torque, torque, term);
}

// Magnus force, and Kutta lift from the projection of the ellipsoid along its velocity. Returns the
// projected area.
static tbReal lift(const tbReal s[3], tbReal density, const tbReal coef[5], const tbReal spin[3],
                   const tbReal speed[3], tbReal force[3]) {
  tbReal volume = 4.0 / 3 * PI * s[0] * s[1] * s[2], term[3], normal[3], circulation[3];
  tb_cross(term, spin, speed);
  tb_scale3(term, term, coef[4] * density * volume);
  tb_add3(force, force, term);
  tbReal denominator = 0, numerator = 0;
  for (int i = 0; i < 3; i++) {
    tbReal area = s[(i + 1) % 3] * s[(i + 2) % 3];
    denominator += fourth(area) * square(speed[i]);
    numerator += square(area * speed[i]);
    normal[i] = square(area) * speed[i];
  }
  tbReal area = PI * sqrt(denominator / tb_max(SMALLEST, numerator));
  tbReal cosine = numerator / tb_max(SMALLEST, tb_norm3(speed) * denominator);
  tb_cross(circulation, normal, speed);
  tb_scale3(circulation, circulation, coef[3] * density * cosine * area);
  tb_cross(term, circulation, speed);
  tb_add3(force, force, term);
  return area;
}

// Upper bound of drag over speed and over spin (tb_most_drag), for one of `count` geoms of a body:
// with the body's inertia at the geom's centre.
typedef struct {
  tbReal linear, angular;
} Bound;

static Bound bound_of(const tbModel* m, const tbData* d, int g, int count) {
  int body = m->geom_bodyid[g];
  const tbReal *I = m->body_inertia + 3 * body, least = tb_min(I[0], tb_min(I[1], I[2]));
  tbReal arm[3];
  tb_sub3(arm, d->geom_xpos + 3 * g, d->xipos + 3 * body);
  tbReal yields = 1 / m->body_mass[body] + tb_dot3(arm, arm) / least;
  return (Bound){tb_most_drag(m, 1 / yields / count), tb_most_drag(m, least / count)};
}

static void drag(Bound bound, const tbReal s[3], tbReal density, tbReal viscosity,
                 const tbReal coef[5], tbReal area, const tbReal spin[3], const tbReal speed[3],
                 tbReal torque[3], tbReal force[3]) {
  tbReal most = tb_max(s[0], tb_max(s[1], s[2])), least = tb_min(s[0], tb_min(s[1], s[2]));
  tbReal middle = s[0] + s[1] + s[2] - most - least, largest = PI * most * middle;
  tbReal moment[3], largest_moment = 8.0 / 15 * PI * middle * fourth(most);
  for (int i = 0; i < 3; i++) {
    tbReal own = 8.0 / 15 * PI * s[i] * fourth(tb_max(s[(i + 1) % 3], s[(i + 2) % 3]));
    moment[i] = spin[i] * (coef[2] * own + coef[1] * (largest_moment - own));
  }
  // Stokes drag of the sphere of mean diameter, plus the quadratic terms.
  tbReal diameter = 2.0 / 3 * (s[0] + s[1] + s[2]);
  tbReal linear = viscosity * 3 * PI * diameter +
                  density * tb_norm3(speed) * (area * coef[0] + coef[1] * (largest - area));
  tbReal angular = viscosity * PI * diameter * diameter * diameter + density * tb_norm3(moment);
  linear = tb_min(linear, bound.linear);
  angular = tb_min(angular, bound.angular);
  for (int i = 0; i < 3; i++) {
    force[i] -= linear * speed[i];
    torque[i] -= angular * spin[i];
  }
}

static void fluid_on_geom(const tbModel* m, tbData* d, int g, int count) {
  tbReal velocity[6], wind[3], s[3], torque[3] = {0}, force[3] = {0};
  const tbReal *R = d->geom_xmat + 9 * g, *coef = m->geom_fluidcoef + 5 * g;
  tb_object_velocity(m, d, TB_OBJ_GEOM, g, 1, velocity);
  tb_mul_mat3t_vec3(wind, R, m->opt.wind);
  tbReal *spin = velocity, *speed = velocity + 3;
  tb_sub3(speed, speed, wind);
  semiaxes(m, g, s);
  Entrained room = {0};
  added_mass(entrained_by(m, d, g, s, &room), m->opt.density, spin, speed, torque, force);
  tbReal area = lift(s, m->opt.density, coef, spin, speed, force);
  drag(bound_of(m, d, g, count), s, m->opt.density, m->opt.viscosity, coef, area, spin, speed,
       torque, force);
  tb_mul_mat3_vec3(force, R, force);
  tb_mul_mat3_vec3(torque, R, torque);
  tb_apply_wrench(m, d, m->geom_bodyid[g], d->geom_xpos + 3 * g, force, torque, d->qfrc_fluid);
}

int tb_fluid_ellipsoids(const tbModel* m, tbData* d, int body) {
  int first = m->body_geomadr[body], end = first + m->body_geomnum[body], found = 0;
  for (int g = first; g < end; g++) found += m->geom_fluid[g] != 0;
  for (int g = first; found && g < end; g++) {
    if (m->geom_fluid[g]) fluid_on_geom(m, d, g, found);
  }
  return found > 0;
}
