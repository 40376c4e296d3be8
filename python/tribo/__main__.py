"""The command line: ``python -m tribo sim model.xml``."""

import os
import sys
from pathlib import Path

__all__ = ["main"]


def program() -> Path:
    """The program that the package carries."""
    return Path(__file__).with_name("_cli") / "bin" / "tribo"


def main() -> None:
    """Run the command line in place of this process."""
    path = program()
    if not path.exists():
        sys.exit("tribo: this installation has no command line (built with TRIBO_BUILD_CLI=OFF)")
    os.execv(path, ["tribo", *sys.argv[1:]])


if __name__ == "__main__":
    main()
