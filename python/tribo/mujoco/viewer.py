"""Places of MuJoCo's viewer: raise until Tribo's interactive viewer is there."""

from typing import Any

__all__ = ["launch", "launch_from_path", "launch_passive"]

_WHY = "Tribo has no interactive viewer yet: draw pictures with Renderer, or record with tribo.write_png"


def launch(*_: Any, **__: Any) -> Any:
    """Raises: there is no interactive viewer yet."""
    raise NotImplementedError(f"mujoco.viewer.launch: {_WHY}")


def launch_passive(*_: Any, **__: Any) -> Any:
    """Raises: there is no interactive viewer yet."""
    raise NotImplementedError(f"mujoco.viewer.launch_passive: {_WHY}")


def launch_from_path(*_: Any, **__: Any) -> Any:
    """Raises: there is no interactive viewer yet."""
    raise NotImplementedError(f"mujoco.viewer.launch_from_path: {_WHY}")
