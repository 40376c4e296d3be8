"""Pictures with the calls of mujoco.Renderer, drawn without OpenGL."""

from typing import Any

import numpy as np

from .._render import Camera
from .._render import Renderer as _Renderer
from .scene import MjvScene, mjv_updateScene
from .structs import MjvCamera, MjvOption

__all__ = ["Renderer"]


class Renderer:
    """Draws a world into an array.

    Parameters
    ----------
    model : MjModel
        The model.
    height, width : int
        Pixels.
    max_geom : int
        Geoms that `scene` lists; the picture has all of them.
    """

    def __init__(
        self, model: Any, height: int = 240, width: int = 320, max_geom: int = 10000, **_: Any
    ) -> None:
        shown = model.vis.global_
        for size, limit, word in ((width, shown.offwidth, "width"), (height, shown.offheight, "height")):
            if size > limit:
                raise ValueError(
                    f"Image {word} {size} > framebuffer {word} {limit}: set model.vis.global_.off{word}"
                )
        self.model = model
        self.scene = MjvScene(model, max_geom)
        self._inner = _Renderer(model, height, width)
        self._closed = False

    @property
    def height(self) -> int:
        """Rows of a picture."""
        return self._inner.height

    @property
    def width(self) -> int:
        """Columns of a picture."""
        return self._inner.width

    def __enter__(self) -> "Renderer":
        """The renderer itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Free its memory; drawing raises afterwards."""
        self._closed = True
        self._inner.close()

    def _camera(self, camera: Any, data: Any) -> Any:
        if isinstance(camera, str):
            found = self.model.name2id(7, camera)
            if found < 0:
                raise ValueError(f'The camera "{camera}" does not exist.')
            return int(found)
        if not isinstance(camera, MjvCamera):
            if not -1 <= camera < self.model.ncam:
                raise ValueError(f"The camera id {camera} is out of range [-1, {self.model.ncam}).")
            return None if camera == -1 else int(camera)
        if camera.type == 2:
            return int(camera.fixedcamid)
        if camera.type not in (0, 1):
            raise NotImplementedError("a camera of type mjCAMERA_USER: use a free, tracking or fixed one")
        point = camera.lookat if camera.type == 0 else data.subtree_com[camera.trackbodyid]
        fovy = self.model.vis.global_.fovy
        return Camera(tuple(point), camera.distance, camera.azimuth, camera.elevation, fovy)

    def update_scene(self, data: Any, camera: Any = -1, scene_option: Any = None) -> None:
        """Choose the world and the camera: a number, a name or an MjvCamera; -1: one that sees everything."""
        if self._closed:
            raise RuntimeError("update_scene cannot be called after close.")
        chosen = self._camera(camera, data)
        option = scene_option or MjvOption()
        mjv_updateScene(self.model, data, option, None, MjvCamera(), 7, self.scene)
        self._inner.update_scene(data, chosen)

    def render(self, *, out: Any = None) -> Any:
        """The picture, shape (height, width, 3), uint8."""
        if self._closed:
            raise RuntimeError("render cannot be called after close.")
        shape = (self.height, self.width, 3)
        if out is not None and np.shape(out) != shape:
            raise ValueError(f"Expected `out.shape == {shape}`. Got `out.shape={np.shape(out)}`")
        return self._inner.render(out=out)

    def enable_depth_rendering(self) -> None:
        """Raises: Tribo draws colours."""
        raise NotImplementedError("depth pictures: use mj_ray, or mj_multiRay")

    def disable_depth_rendering(self) -> None:
        """Nothing to do: Tribo draws colours."""

    def enable_segmentation_rendering(self) -> None:
        """Raises: Tribo draws colours."""
        raise NotImplementedError("segmentation pictures: use mj_ray, or mj_multiRay")

    def disable_segmentation_rendering(self) -> None:
        """Nothing to do: Tribo draws colours."""
