// From cameras to views, and what is seen of a world.
#ifndef TRIBO_RENDER_CAMERA_H_
#define TRIBO_RENDER_CAMERA_H_

#include <stdbool.h>

#include "render/raster.h"
#include "tribo/render.h"

// Whether a geom is drawn, and whether it is of a body that moves.
bool tb_geom_is_seen(const tbModel* model, int geom);
bool tb_geom_moves(const tbModel* model, int geom);

// Axes of a free camera.
void tb_camera_axes(const tbCamera* camera, tbReal right[3], tbReal up[3], tbReal forward[3]);

// Aim `view`, whose width and height are set, as the camera of this world. The point that is looked
// at and its distance give the size of everything that is drawn for the eye (arrows, dots, tiles).
void tb_camera_view(const tbCamera* camera, const tbModel* model, const tbData* data, tbView* view,
                    tbReal lookat[3], tbReal* distance);

// World force of a contact, and the tip of its arrow.
void tb_contact_arrow(const tbContact* contact, tbReal force_scale, tbReal force[3], tbReal tip[3]);

#endif
