"""Checks of arguments: arrays that a function writes into, and vectors that it reads."""

from typing import Any

import numpy as np

__all__ = ["out", "vector"]


def out(value: Any, shape: tuple[int, ...], name: str, optional: bool = False) -> Any:
    """An array of doubles that is written: TypeError for another type, kind or size."""
    if value is None and optional:
        return None
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or not value.flags.writeable:
        raise TypeError(f"{name}: expected a writable array of float64")
    if value.shape == shape or (len(shape) == 1 and value.size == shape[0]):
        return value
    if len(shape) == 2 and value.ndim == 1 and value.size == shape[0] * shape[1]:
        return value.reshape(shape)
    raise TypeError(f"{name}: expected shape {shape}, got {value.shape}")


def vector(value: Any, size: int | None, name: str) -> Any:
    """Doubles that are read, as a vector; TypeError for another number of them."""
    array = np.ascontiguousarray(value, np.float64).reshape(-1)
    if size is not None and array.size != size:
        raise TypeError(f"{name}: expected {size} values, got {array.size}")
    return array
