"""Write the enumerations of the public headers as tables of the module.

enums.py INCLUDE_FOLDER OUTPUT
"""

import re
import sys
from pathlib import Path

# Enumerations whose members are in two lists: the laws of a problem and those of a step.
JOINED = {"TB_LAW_SOFT": "tbLaw"}
COUNTS = re.compile(r"TB_(N\w+TYPES|\w+_COUNT)$")


def enumerations(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """Members (name, comment) of every enumeration by the name of its type."""
    found: dict[str, list[tuple[str, str]]] = {}
    for header in sorted(folder.glob("*.h")):
        text = header.read_text()
        for body, name in re.findall(r"^(?:typedef )?enum \{(.*?)\}\s*(\w*);", text, re.S | re.M):
            members = []
            for line in body.split("\n"):
                code, _, comment = line.partition("//")
                if code.lstrip().startswith("#"):
                    continue
                for member in re.findall(r"\b(TB_[A-Z][A-Z0-9_]*)\b\s*(?:=[^,]*)?(?:,|$)", code.strip()):
                    if not COUNTS.match(member) and "(" not in code.split(member)[0]:
                        members.append((member, comment.strip()))
            owner = name or JOINED.get(members[0][0] if members else "", "")
            if owner:
                found.setdefault(owner, []).extend(members)
    return found


def prefix(names: list[str]) -> str:
    """What all members start with, up to an underscore."""
    common = names[0]
    for name in names:
        while not name.startswith(common):
            common = common[:-1]
    return common[: common.rindex("_") + 1]


def main() -> None:
    """Write the file."""
    lines = [
        "// Written by python/enums.py from the public headers.",
        '#include "tribo/tribo.h"',
        "",
        "static nanobind::dict enum_tables() {",
        "  nanobind::dict tables;",
    ]
    for name, members in enumerations(Path(sys.argv[1])).items():
        start = prefix([member for member, _ in members])
        lines += ["  {", "    nanobind::list list;"]
        for member, comment in members:
            comment = comment.replace('"', "'")
            lines.append(
                f'    list.append(nanobind::make_tuple("{member[len(start) :]}", (int){member}, '
                f'"{comment}"));'
            )
        lines += [f'    tables["{name[2:]}"] = list;', "  }"]
    lines += ["  return tables;", "}", ""]
    Path(sys.argv[2]).write_text("\n".join(lines))


if __name__ == "__main__":
    main()
