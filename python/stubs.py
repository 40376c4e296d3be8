"""Write the type stubs of what is generated: the compiled part, enumerations, parts, fields of a batch.

    stubs.py OUTPUT... [--check]

They are written to each folder OUTPUT; with --check nothing is written, and a stub of the first folder that
differs from what it would be is an error.
"""

import importlib
import importlib.util
import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any

ARRAY = {"tbReal": "float64", "int": "int32", "float": "float32", "uint16_t": "uint16"}
GENERIC = {"list": "list[Any]", "dict": "dict[str, Any]", "tuple": "tuple[Any, ...]"}
HEAD = '"""Written by python/stubs.py."""\n\n'


def compiled() -> tuple[str, dict[str, set[str]]]:
    """The stub of the module alone, and what its classes have before the package adds to them."""
    from nanobind.stubgen import StubGen

    # The module needs the package's exceptions, not the package.
    package = types.ModuleType("tribo")
    package.__path__ = [str(Path(importlib.util.find_spec("tribo").submodule_search_locations[0]))]  # type: ignore
    sys.modules["tribo"] = package
    core = importlib.import_module("tribo._core")
    generator = StubGen(core, quiet=True, include_private=True)
    generator.put(core)
    before = {name: set(vars(value)) for name, value in vars(core).items() if isinstance(value, type)}
    # The rest of the package may now see the real one.
    for name in [
        name
        for name in sys.modules
        if name == "tribo" or (name.startswith("tribo.") and name != "tribo._core")
    ]:
        del sys.modules[name]
    return generator.get(), before


def annotation(value: Any) -> str:
    """How an annotation is written."""
    if value is inspect.Parameter.empty:
        return "Any"
    if isinstance(value, str):
        return value
    if value is None or value is type(None):
        return "None"
    return (
        value.__name__
        if isinstance(value, type)
        else str(value).replace("typing.", "").replace("collections.abc.", "")
    )


def member(name: str, value: Any) -> list[str]:
    """Lines of a member that Python code gave to a class."""
    if isinstance(value, property):
        doc = inspect.getdoc(value) or ""
        of = value.fget
        result = annotation(inspect.signature(of).return_annotation) if inspect.isfunction(of) else "Option"
        lines = ["    @property", f"    def {name}(self) -> {result}:", f'        """{doc}"""']
        if value.fset:
            lines += [f"    @{name}.setter", f"    def {name}(self, value: Any, /) -> None: ..."]
        return [*lines, ""]
    static = isinstance(value, staticmethod)
    function = value.__func__ if static else value
    signature = inspect.signature(function)
    words = []
    star = False
    for i, p in enumerate(signature.parameters.values()):
        if i == 0 and not static:
            words.append("self")
            continue
        if p.kind == p.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        mark = "**" if p.kind == p.VAR_KEYWORD else "*" if p.kind == p.VAR_POSITIONAL else ""
        text = f"{mark}{p.name}: {annotation(p.annotation)}"
        words.append(text if p.default is p.empty else f"{text} = {p.default!r}")
    doc = inspect.getdoc(function) or ""
    doc = doc.replace("\n", "\n        ")
    head = ["    @staticmethod"] if static else []
    return [
        *head,
        f"    def {name}({', '.join(words)}) -> {annotation(signature.return_annotation)}:",
        f'        """{doc}"""',
        "",
    ]


def core_stub() -> str:
    """The stub of tribo._core with what the package gives to its classes."""
    text, before = compiled()
    importlib.import_module("tribo")
    core = sys.modules["tribo._core"]
    parts = importlib.import_module("tribo._parts")
    for name, known in before.items():
        added: list[str] = []
        for key, value in vars(getattr(core, name)).items():
            if key not in known:
                added += member(key, value)
        if added:
            start = (
                text.index(f"\nclass {name}:")
                if f"\nclass {name}:" in text
                else text.index(f"\nclass {name}(")
            )
            end = text.find("\nclass ", start + 1)
            other = text.find("\ndef ", start + 1)
            end = min(e for e in (end, other, len(text)) if e > 0)
            text = text[:end].rstrip() + "\n\n" + "\n".join(added) + "\n" + text[end:]
    first = text.index("import numpy")
    text = text[:first] + re.sub(
        r"^(\w+): (list|dict|tuple)\b(?!\[).*$",
        lambda m: f"{m[1]}: {GENERIC[m[2]]}",
        text[first:],
        flags=re.M,
    )
    text = re.sub(r"^(__all__|functions): .*\n+", "", text, flags=re.M)
    text = re.sub(r"-> (list|dict|tuple):", lambda m: f"-> {GENERIC[m[1]]}:", text)
    text = (
        text.replace("tribo._core.", "")
        .replace(": dict, ", ": dict[str, Any], ")
        .replace(": list, ", ": list[Any], ")
    )
    # What a class does with any attribute says nothing about its own.
    text = re.sub(r"    def __(get|set|del)attr\w*__\(.*\):\n        \"\"\".*\"\"\"\n\n", "", text)
    text = re.sub(r"\bos\.PathLike\b(?!\[)", "os.PathLike[str]", text)
    text = text.replace("from tribo._core import _dropin as _dropin\n", "_dropin: Any\n")
    text = text.replace(": tuple, ", ": tuple[Any, ...], ").replace("**kwargs)", "**kwargs: Any)")
    text = text.replace(", **attributes)", ", **attributes: Any)")
    extra = [
        "import os",
        "from typing import Any",
        "from tribo._derivatives import DerivativeInfo",
        "from tribo._parts import " + ", ".join(n for n in parts.__all__ if n not in ("KINDS", "Part")),
        "from tribo._problem import Block, Solution",
        "from tribo._world import Offender, Residual, SolveInfo",
        "from tribo._enums import ContactState",
        "from collections.abc import Sequence",
        "import tribo",
    ]
    every = "__all__ = [" + ", ".join(f'"{n}"' for n in sorted(core.__all__)) + "]\n\n"
    return (
        HEAD
        + "import typing\n"
        + "\n".join(extra)
        + "\n"
        + text[first:].replace("import numpy.typing\n", "import numpy.typing\n\n" + every, 1)
    )


def enum_stub() -> str:
    """The stub of tribo._enums."""
    enums = importlib.import_module("tribo._enums")
    lines = [
        "from enum import IntEnum, IntFlag",
        "",
        "class _Word(IntEnum):  # type: ignore[misc]",
        '    """Members print as the words of files and options, and equal them."""',
        "    def __eq__(self, other: object) -> bool: ...",
        "    def __ne__(self, other: object) -> bool: ...",
        "    def __hash__(self) -> int: ...",
        "",
        "__all__ = [" + ", ".join(f'"{n}"' for n in enums.__all__) + "]",
        "",
    ]
    for name in enums.__all__:
        value = getattr(enums, name)
        flag = "IntFlag" if name.endswith("Bit") else "_Word"
        lines += [f"class {name}({flag}):", f'    """{value.__doc__}"""', ""]
        lines += [f"    {m.name} = {int(m)}" for m in value]
        lines.append("")
    return HEAD + "\n".join(lines)


def part_stub() -> str:
    """The stub of tribo._parts."""
    parts = importlib.import_module("tribo._parts")
    core = sys.modules["tribo._core"]
    types_ = {row[0]: ARRAY[row[1]] for row in [*core.model_fields, *core.data_fields] if row[1] in ARRAY}
    lines = [
        "from typing import Any",
        "",
        "import numpy",
        "import numpy.typing",
        "",
        "__all__ = [" + ", ".join(f'"{n}"' for n in parts.__all__) + "]",
        "",
        "KINDS: dict[str, tuple[Any, str, str, tuple[str, ...]]]",
        "",
        "class Part:",
        '    """One object of a model or of a world."""',
        "",
        "    id: int",
        "    name: str",
        "",
    ]
    for name in parts.__all__[2:]:
        lines += [f"class {name}(Part):", f'    """{getattr(parts, name).__doc__}"""', ""]
        for key, value in vars(getattr(parts, name)).items():
            if isinstance(value, property):
                field = value.__doc__.rsplit("`", 2)[1]
                lines += [
                    "    @property",
                    f"    def {key}(self) -> numpy.typing.NDArray[numpy.{types_[field]}]:",
                    f'        """{value.__doc__}"""',
                    f"    @{key}.setter",
                    f"    def {key}(self, value: numpy.typing.ArrayLike, /) -> None: ...",
                ]
        lines.append("")
    return HEAD + "\n".join(lines)


def field_stub() -> str:
    """The stub of tribo._fields."""
    fields = importlib.import_module("tribo._fields")
    core = sys.modules["tribo._core"]
    types_ = {row[0]: ARRAY[row[1]] for row in core.data_fields}
    types_.update(status="int32", ncon="int32")
    lines = [
        "import numpy",
        "import numpy.typing",
        "",
        "from tribo._core import _Batch",
        "",
        '__all__ = ["FIELDS", "BatchFields"]',
        "",
        "FIELDS: tuple[str, ...]",
        "",
        "class BatchFields(_Batch):",
        '    """The compiled batch with live arrays, a row per world."""',
        "",
    ]
    for name in fields.FIELDS:
        kind = types_.get(name, "float64")
        lines += [
            "    @property",
            f"    def {name}(self) -> numpy.typing.NDArray[numpy.{kind}]:",
            f'        """{getattr(fields.BatchFields, name).__doc__}"""',
            f"    @{name}.setter",
            f"    def {name}(self, value: numpy.typing.ArrayLike, /) -> None: ...",
        ]
    return HEAD + "\n".join(lines) + "\n"


def main() -> int:
    """Write or check."""
    # The sources beside this script are no package: the installed one is.
    sys.path.pop(0)
    folders = [Path(a) for a in sys.argv[1:] if not a.startswith("--")]
    stubs = {
        "_core.pyi": core_stub(),
        "_enums.pyi": enum_stub(),
        "_parts.pyi": part_stub(),
        "_fields.pyi": field_stub(),
    }
    for name, text in stubs.items():
        for folder in folders:
            path = folder / name
            if path.exists() and path.read_text() == text:
                continue
            if "--check" in sys.argv:
                print(f"{path} is out of date: make python writes it")
                return 1
            path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
