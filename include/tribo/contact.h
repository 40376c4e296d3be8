// Forces, velocities and states of the contacts of a world, and forces on its bodies.
//
// Forces are those of the last step (or tb_forward) and act ON the geom or body that is named; the
// other one of the pair gets the opposite wrench. A wrench is a force, N, and a torque, N m, in
// world axes; its torque is about the point that the function says.
//
// Errors: TB_ERROR_ARGUMENT, and `error` (may be NULL) names the argument.
#ifndef TRIBO_CONTACT_H_
#define TRIBO_CONTACT_H_

#include "tribo/data.h"

typedef enum {
  TB_CONTACT_OPEN,      // no normal force
  TB_CONTACT_STICKING,  // neither slides nor rolls
  TB_CONTACT_SLIDING,   // friction is at its limit, and the surfaces slip
  TB_CONTACT_ROLLING    // does not slide, but the bodies turn about an axis of the tangential plane
} tbContactState;

// Below these speeds a contact neither slides, m/s, nor rolls, rad/s.
#define TB_SLIDING_SPEED 1e-6
#define TB_ROLLING_SPEED 1e-4

TB_EXTERN_C_BEGIN

// The wrench of contact `contact` (an index of data->contact) on `on_geom`, one of its two geoms,
// about the contact's position.
TB_API tbResult tb_contact_wrench(const tbModel* model, const tbData* data, int contact,
                                  int on_geom, tbReal wrench[6], tbError* error);

// Sums over all contacts of a geom, of a body, and between two bodies, about the world point
// `about`; NULL: the geom's position, or the centre of mass of (on_)body. Body 0 is the world.
TB_API tbResult tb_geom_contact_wrench(const tbModel* model, const tbData* data, int geom,
                                       const tbReal about[3], tbReal wrench[6], tbError* error);
TB_API tbResult tb_body_contact_wrench(const tbModel* model, const tbData* data, int body,
                                       const tbReal about[3], tbReal wrench[6], tbError* error);
TB_API tbResult tb_pair_contact_wrench(const tbModel* model, const tbData* data, int on_body,
                                       int by_body, const tbReal about[3], tbReal wrench[6],
                                       tbError* error);

// Velocity of geom 2 relative to geom 1 at a contact, in its frame and in the order of its force:
// along the normal and both tangents, m/s; about them, rad/s. It is that of data->qvel at the place
// where the contact was detected: after tb_step the velocity at the end of the step, to which the
// exact law applies.
TB_API tbResult tb_contact_velocity(const tbModel* model, const tbData* data, int contact,
                                    tbReal velocity[6], tbError* error);

// Open, sticking, sliding or rolling, and the slip velocity in world axes (may be NULL).
TB_API tbResult tb_contact_state(const tbModel* model, const tbData* data, int contact,
                                 tbContactState* state, tbReal slip[3], tbError* error);

// "open", "sticking", "sliding", "rolling".
TB_API const char* tb_contact_state_name(tbContactState state);

// Accelerations and forces of all bodies, as MuJoCo's mj_rnePostConstraint: data->cacc, cfrc_int
// (on a body by its parent) and cfrc_ext (applied, contacts, equalities, tendons), each a torque
// and a force about the centre of mass of the kinematic tree. Under every law, after tb_forward, or
// after tb_step for the state in which it began (integrators with several evaluations: the last).
TB_API tbResult tb_rne_post_constraint(const tbModel* model, tbData* data, tbError* error);

TB_EXTERN_C_END

#endif
