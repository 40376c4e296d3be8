"""Members that the package gives to compiled classes."""

from typing import Any

__all__ = ["attach"]


def attach(owner: Any, **members: Any) -> None:
    """Set attributes of a class."""
    for name, value in members.items():
        setattr(owner, name, value)
