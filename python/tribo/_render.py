"""Pictures of worlds, without a display."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np

from . import _core, _named
from ._core import Model

__all__ = ["Camera", "Renderer", "write_png"]


@dataclass
class Camera:
    """A free camera, upright, that looks at a point.

    Attributes
    ----------
    lookat : sequence of float
        Point, m, shape (3,).
    distance : float
        From that point, m.
    azimuth : float
        Degrees: it looks along +x at 0, along +y at 90.
    elevation : float
        Degrees: above 0 the camera is above `lookat` and looks down.
    fovy : float
        Vertical field of view, degrees.
    """

    lookat: Sequence[float] = (0.0, 0.0, 0.0)
    distance: float = 3.0
    azimuth: float = 125.0
    elevation: float = 18.0
    fovy: float = 40.0


class Renderer:
    """Draws worlds of a model into arrays.

    Parameters
    ----------
    model : Model
        The model.
    height, width : int
        Pixels, 1 to 8192 each.

    Attributes
    ----------
    force_scale : float
        Length of the arrows of contact forces, m per N. 0 (the default): `render(forces=True)` chooses.
    """

    def __init__(self, model: Model, height: int = 240, width: int = 320) -> None:
        self.model = model
        self._picture: Any = _core._Picture(width, height)
        self._size = (height, width)
        self._scene: tuple[Any, Any] | None = None
        #: Length of the arrows of contact forces, m per N; 0: no arrows unless `render` is asked for them.
        self.force_scale = 0.0

    @property
    def height(self) -> int:
        """Rows of a picture."""
        return self._size[0]

    @property
    def width(self) -> int:
        """Columns of a picture."""
        return self._size[1]

    def __enter__(self) -> "Renderer":
        """The renderer itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Free its memory; drawing raises afterwards."""
        self._picture = None

    def _camera(self, camera: Any) -> Any:
        if camera is None or (isinstance(camera, int) and camera == -1):
            return None
        if isinstance(camera, Camera):
            return (camera.lookat, camera.distance, camera.azimuth, camera.elevation, camera.fovy)
        return _named.index(self.model, "camera", camera)

    def update_scene(self, data: Any, camera: Any = None) -> None:
        """What the next `render` draws.

        Parameters
        ----------
        data : Data or sequence of Data
            The world; several are drawn into each other, each in a colour of its own.
        camera : int, str, Camera or None
            A camera of the file by number or name, a free one, or one that sees everything.
        """
        worlds = [data] if isinstance(data, _core.Data) else list(data)
        self._scene = (worlds, self._camera(camera))

    def render(
        self,
        *,
        out: np.ndarray[Any, Any] | None = None,
        labels: Sequence[str] = (),
        forces: bool | None = None,
    ) -> np.ndarray[Any, Any]:
        """Draw the scene as its worlds are now.

        Parameters
        ----------
        out : numpy.ndarray, optional
            Where the picture is written to, shape (height, width, 3), uint8.
        labels : sequence of str
            Words at the top, one per world, in its colour.
        forces : bool, optional
            Whether contact forces are drawn as arrows, of the scale `force_scale` or, where that is 0, of
            `tribo.force_scale` of the first world: the weight of all bodies is half the scene. Default: if
            `force_scale` is not 0.

        Returns
        -------
        numpy.ndarray
            Colours, shape (height, width, 3), uint8, rows from the top.
        """
        if self._picture is None:
            raise RuntimeError("the renderer is closed")
        if self._scene is None:
            raise RuntimeError("call update_scene first")
        worlds, camera = self._scene
        scale = 0.0 if forces is False else self.force_scale
        if forces and not scale and worlds:
            scale = _core.force_scale(self.model, worlds[0])
        picture: np.ndarray[Any, Any] = self._picture.draw(self.model, worlds, list(labels), camera, scale)
        if out is None:
            return picture
        out[...] = picture
        return out


def write_png(path: str | PathLike[str], frames: Any, delay: int = 40) -> None:
    """Write one picture, or an animation, as a PNG file.

    Parameters
    ----------
    path : str
        The file.
    frames : array or sequence of arrays
        Pictures, each of shape (height, width, 3), uint8.
    delay : int
        Milliseconds that each is shown.
    """
    pictures = [frames] if isinstance(frames, np.ndarray) and frames.ndim == 3 else list(frames)
    _core._write_png(fspath(path), [np.ascontiguousarray(p, dtype=np.uint8) for p in pictures], delay)
