"""Put a folder in the place of another one, with no time at which there is none.

swap.py NEW OLD
"""

import ctypes
import os
import sys
from pathlib import Path

HERE = -100  # AT_FDCWD: paths are against the present folder
EXCHANGE = 2  # RENAME_EXCHANGE


def swap(new: Path, old: Path) -> None:
    """Exchange two folders; where the file system cannot, `old` is absent for a moment."""
    if not old.exists():
        new.rename(old)
        return
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename and rename(HERE, os.fsencode(new), HERE, os.fsencode(old), EXCHANGE) == 0:
        return
    aside = new.with_name(new.name + "-old")
    old.rename(aside)
    new.rename(old)
    aside.rename(new)


if __name__ == "__main__":
    swap(Path(sys.argv[1]), Path(sys.argv[2]))
