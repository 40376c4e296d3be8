#!/usr/bin/env python3
"""Write a reference of the Python package, one page per subject, from its type stubs and docstrings.

  python_reference.py OUTPUT_FOLDER

Nothing is imported: stubs (.pyi) and sources (.py) are read. A name of a list that is not found is an error, as is a
public name of the package that no page has.
"""

import ast
import re
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "python" / "tribo"
RULE = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)

# Page: title, what it has, and its names; "file:*" is every public name of a file that no page lists.
PAGES: dict[str, tuple[str, str, list[str]]] = {
    "model": ("Models", "The constant description of a robot and its world.", ["Model"]),
    "data": (
        "Worlds",
        "State, inputs and results of one world; its contacts and its certificate.",
        ["Data", "Contact", "Contacts", "SolveInfo", "Residual", "Offender"],
    ),
    "functions": (
        "Functions",
        "What a model and a world are given to: steps, dynamics, Jacobians, queries, forces.",
        [
            *("step", "step1", "step2", "forward", "inverse", "InverseResult", "reset", "reset_to_key"),
            *("from_mujoco_data", "to_mujoco_data", "_core:*"),
        ],
    ),
    "batch": ("Many worlds", "Batches and rollouts.", ["Batch", "rollout", "state_size"]),
    "derivatives": (
        "Derivatives",
        "Of a step, under every law.",
        ["derivatives", "Derivatives", "DerivativeInfo", "step_differences"],
    ),
    "fit": ("Fitting", "Parameters of a model from recorded motions.", ["Log", "Parameter", "_fit:*"]),
    "gradients": (
        "Gradients of rollouts",
        "What `tribo.torch` and `tribo.jax` are made of.",
        ["_gradients:*"],
    ),
    "torch": ("PyTorch", "`tribo.torch`: steps and rollouts with gradients.", ["torch:*"]),
    "jax": ("JAX", "`tribo.jax`: steps and rollouts with gradients.", ["jax:*"]),
    "problems": (
        "Contact problems",
        "Problems of your own, their solvers, FCLIB files (`tribo.fclib`).",
        ["solve", "problem", "solvers", "Problem", "Block", "Solution", "step_problem", "fclib:*", "Fclib"],
    ),
    "spec": ("Models in memory", "Trees of elements that are edited and compiled.", ["Spec", "Element"]),
    "render": (
        "Pictures",
        "Worlds drawn into arrays, without a display.",
        ["Renderer", "Camera", "write_png", "force_scale"],
    ),
    "parts": ("Parts by name", "What `m.body(...)`, `d.joint(...)` and so on return.", ["_parts:*"]),
    "enums": ("Enumerations", "Words that are numbers.", ["_enums:*"]),
    "errors": (
        "Errors, the manual",
        "Exceptions and warnings; the pages and scenes on this machine.",
        ["_errors:*", "manual", "scene"],
    ),
    "gym": ("Gymnasium", "`tribo.gym`: environments, and tasks of your own.", ["gym/*:*"]),
}


CLASSES: dict[str, ast.ClassDef] = {}  # all of them, bases included


def read(path: Path) -> dict[str, ast.stmt]:
    """Classes and functions of a file by name; those of `__all__` where it has one."""
    tree = ast.parse(path.read_text())
    listed = None
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            listed = {word.value for word in getattr(node.value, "elts", [])}
    found = {n.name: n for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}
    CLASSES.update((k, n) for k, n in found.items() if isinstance(n, ast.ClassDef))
    return {
        k: n
        for k, n in found.items()
        if not k.startswith("_") and (listed is None or k in listed or path.suffix == ".pyi")
    }


def files() -> dict[str, dict[str, ast.stmt]]:
    """Module to names; a stub stands before the source of the same module."""
    found = {}
    for path in sorted([*PACKAGE.glob("*.py"), *PACKAGE.glob("gym/*.py")]):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        found[module] = read(path)
    for path in sorted(PACKAGE.glob("*.pyi")):
        found[path.stem] = read(path)
    return found


def escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def prose(doc: str) -> list[str]:
    """A docstring in NumPy's style as Markdown: sections become tables of name, type, meaning."""
    pieces = RULE.split(doc)
    out = [pieces[0].strip(), ""]
    for title, body in zip(pieces[1::2], pieces[2::2]):
        if title in ("Notes", "Examples"):
            out += [body.strip(), ""]
            continue
        out += [f"*{title}*", "", "| | | |", "|---|---|---|"]
        for entry in re.split(r"\n(?=\S)", body.strip("\n")):
            head, _, rest = entry.partition("\n")
            name, _, kind = head.partition(" : ")
            meaning = " ".join(line.strip() for line in rest.splitlines())
            out.append(f"| `{escaped(name)}` | {escaped(kind)} | {escaped(meaning)} |")
        out.append("")
    return out


def signature(node: ast.FunctionDef, name: str) -> str:
    """As it is called, without `self` and without modules of types."""
    text = ast.unparse(node.args)
    text = re.sub(r"^self(, /)?(, )?", "", text)
    text = re.sub(r"\bnumpy\.typing\.|\bnumpy\.|\bnp\.|\btribo\._\w+\.", "", text)
    result = (
        ""
        if node.returns is None
        else re.sub(r"\bnumpy\.typing\.|\bnumpy\.|\bnp\.|\btribo\._\w+\.", "", ast.unparse(node.returns))
    )
    return f"{name}({text})" + (f" -> {result}" if result not in ("", "None") else "")


def decorators(node: ast.FunctionDef) -> set[str]:
    return {ast.unparse(d).rsplit(".", 1)[-1] for d in node.decorator_list}


def function(node: ast.FunctionDef, level: str, owner: str = "") -> list[str]:
    name = f"{owner}.{node.name}" if owner else node.name
    return [
        f"{level} {node.name}",
        "",
        "```python",
        signature(node, name),
        "```",
        "",
        *prose(ast.get_docstring(node) or ""),
    ]


def members(node: ast.ClassDef) -> list[ast.stmt]:
    """Its own, then those of private bases that it does not replace."""
    own = list(node.body)
    for base in node.bases:
        inherited = CLASSES.get(ast.unparse(base))
        if inherited is not None and inherited.name in ("_Batch", "BatchFields"):
            names = {getattr(n, "name", "") for n in own}
            own += [n for n in members(inherited) if getattr(n, "name", "") not in names]
    return own


def class_(node: ast.ClassDef) -> list[str]:
    """Docstring, then a table of attributes, then methods."""
    out = [f"## {node.name}", ""]
    init = next((n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"), None)
    if init is not None:
        out += ["```python", signature(init, node.name).partition(" -> ")[0], "```", ""]
    out += prose(ast.get_docstring(node) or "")
    rows, methods = [], []
    for part in members(node):
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.Constant):
            rows.append(f"| `{ast.unparse(part.targets[0])}` | {part.value.value} | |")
        if not isinstance(part, ast.FunctionDef) or part.name.startswith("_") or "setter" in decorators(part):
            continue
        if "property" in decorators(part):
            kind = re.sub(
                r"numpy\.typing\.NDArray\[numpy\.(\w+)\]",
                r"\1 array",
                ast.unparse(part.returns) if part.returns else "",
            )
            kind = kind.rsplit("._", 1)[-1].rsplit(".", 1)[-1]
            rows.append(
                f"| `{part.name}` | {escaped(kind)} | {escaped((ast.get_docstring(part) or '').strip())} |"
            )
        else:
            methods.append(part)
    if rows:
        out += ["| attribute | type or value | meaning |", "|---|---|---|", *rows, ""]
    for method in methods:
        owner = node.name if {"staticmethod", "classmethod"} & decorators(method) else node.name[0].lower()
        out += function(method, "###", owner)
    return out


def entries(words: list[str], modules: dict[str, dict[str, ast.stmt]], taken: set[str]) -> list[ast.stmt]:
    found = []
    for word in words:
        module, star, _ = word.partition(":*")
        if not star:
            places = [names[word] for names in modules.values() if word in names]
            if not places:
                sys.exit(f"python_reference: the package has no {word}")
            # A stub of the compiled part is what its name means.
            found.append(modules["_core"].get(word, places[0]))
            continue
        if module == "gym/*":
            listed = (PACKAGE / "gym/__init__.py").read_text().partition("\n__all__ = [")[2].partition("]")[0]
            public = re.findall(r'"(\w+)"', listed)
            found += [
                names[name]
                for name in public
                for m, names in modules.items()
                if m.startswith("gym/") and name in names
            ]
            continue
        found += [node for name, node in modules[module].items() if name not in taken]
    return found


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    modules = files()
    taken = {word for _, _, words in PAGES.values() for word in words if ":*" not in word}
    written = set()
    index = [
        "# Python reference",
        "",
        "The names of `tribo`, from the package's docstrings. The [manual](../../manual/python.md) says how they are used.",
        "",
    ]
    for page, (title, what, words) in PAGES.items():
        lines = [f"# {title}", "", what, ""]
        for node in entries(words, modules, taken):
            lines += class_(node) if isinstance(node, ast.ClassDef) else function(node, "##")
            written.add(node.name)
        (out / f"{page}.md").write_text("\n".join(lines))
        index.append(f"* [{title}]({page}.md): {what}")
    (out / "index.md").write_text("\n".join(index) + "\n")
    source = (PACKAGE / "__init__.py").read_text()
    public = set(re.findall(r'^    "(\w+)",$', source.partition("\n__all__ = [")[2], re.M)) | set(
        modules["_core"]
    )
    internal = {"fclib", "install"}
    missing = sorted(public - written - internal)
    if missing:
        sys.exit(f"python_reference: no page has {', '.join(missing)}")


main()
