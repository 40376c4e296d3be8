"""Runs the tests that MuJoCo's wheel carries with tribo.mujoco in place of mujoco.

    python python/peer/mujoco_tests.py [file ...] [--update] [--show]

Files are copied to a temporary folder; nothing of them stays. `mujoco_not_passed.txt` lists the tests
that do not pass, each with its reason: a test that fails and is not on it is an error, and so is one on
it that passes. `--update` takes what passes off the list and adds new failures with the reason "new", to
be replaced.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST = HERE / "mujoco_not_passed.txt"
FILES = [
    "rollout_test",
    "batch_test",
    "thread_safety_test",
    "memory_leak_test",
    "gil_test",
    "bindings_test",
    "specs_test",
    "renderer_test",
    "vfs_test",
]
# Files that are about what Tribo does not have.
LEFT_OUT = {
    "egl_test": "OpenGL contexts",
    "render_test": "OpenGL rendering",
    "viewer_test": "MuJoCo's viewer",
    "minimize_test": "MuJoCo's optimiser, in Python of its own",
    "msh2obj_test": "a converter of MuJoCo's mesh files, of its own",
    "usd/exporter_test": "MuJoCo's exporter",
    "introspect": "the syntax tree of MuJoCo's headers",
}
# Data files of the tests are those of the wheel.
CONFTEST = """import tribo.mujoco
tribo.mujoco.install()
try:
    from etils import epath
    given = epath.resource_path
    epath.resource_path = lambda package: epath.Path({data!r}) if package == "mujoco" else given(package)
except ImportError:
    pass
"""


def folder_of_mujoco() -> Path:
    """Where the wheel is installed."""
    spec = importlib.util.find_spec("mujoco")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("the package mujoco is not installed: pip install mujoco==4.0.0 absl-py etils pytest")
    return Path(next(iter(spec.submodule_search_locations)))


def folder_of_tribo() -> Path:
    """Where the package tribo is: installed, or in this tree."""
    spec = importlib.util.find_spec("tribo")
    return HERE.parent if spec is None or spec.origin is None else Path(spec.origin).parents[1]


def run(source: Path, work: Path, limit: int) -> dict[str, tuple[str, str]]:
    """Outcome and message of each test of a file."""
    shutil.copy(source, work / source.name)
    report = work / (source.stem + ".xml")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--tb=line",
        f"--junitxml={report}",
        str(work / source.name),
    ]
    path = os.pathsep.join([str(folder_of_tribo()), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    try:
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, timeout=limit
        )
    except subprocess.TimeoutExpired:
        return {"(file)": ("failed", f"no end after {limit} s")}
    if not report.exists():
        return {"(file)": ("failed", (done.stdout + done.stderr)[-400:])}
    results = {}
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname', '').split('.')[-1]}.{case.get('name')}"
        problem = next((p for p in case if p.tag in ("failure", "error")), None)
        if problem is not None:
            results[name] = ("failed", (problem.get("message") or "").replace("\n", " "))
        elif case.find("skipped") is not None:
            results[name] = ("skipped", "")
        else:
            results[name] = ("passed", "")
    return results


def read_list() -> dict[str, str]:
    """Reason by test."""
    if not LIST.exists():
        return {}
    rows = (line.split("  ", 1) for line in LIST.read_text().splitlines() if line.strip() and line[0] != "#")
    return {row[0].strip(): (row[1].strip() if len(row) > 1 else "") for row in rows}


def write_list(known: dict[str, str]) -> None:
    """Write the list, ordered as the files are run."""
    head = [line for line in LIST.read_text().splitlines() if line.startswith("#")] if LIST.exists() else []
    order = {name: i for i, name in enumerate(FILES)}
    rows = sorted(known.items(), key=lambda row: (order.get(row[0].split("::")[0], 99), row[0]))
    LIST.write_text("\n".join([*head, *(f"{name}  {why}" for name, why in rows)]) + "\n")


def main() -> int:
    """Run the files, print the table, compare with the list."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", default=FILES)
    parser.add_argument("--update", action="store_true", help="write what passes and fails into the list")
    parser.add_argument("--show", action="store_true", help="print the message of every failure")
    parser.add_argument("--limit", type=int, default=600, help="seconds for a file")
    options = parser.parse_args()
    source, known, errors = folder_of_mujoco(), read_list(), []
    print(f"{'file':22} {'passed':>7} {'failed':>7} {'skipped':>8}")
    for name in options.files:
        with tempfile.TemporaryDirectory() as work:
            (Path(work) / "conftest.py").write_text(CONFTEST.format(data=str(source)))
            results = run(source / f"{name}.py", Path(work), options.limit)
        count = {
            kind: sum(r[0] == kind for r in results.values()) for kind in ("passed", "failed", "skipped")
        }
        print(f"{name:22} {count['passed']:7} {count['failed']:7} {count['skipped']:8}", flush=True)
        for test, (outcome, message) in results.items():
            full = f"{name}::{test}"
            if outcome == "failed" and options.show:
                print(f"  {test}: {message[:220]}")
            if outcome == "failed" and full not in known:
                errors.append(f"{full} fails and is not on the list: {message[:200]}")
                known[full] = "new"
            elif outcome != "failed" and full in known:
                errors.append(f"{full} is on the list and {outcome}: take it off")
                del known[full]
        for full in [k for k in known if k.startswith(f"{name}::") and k[len(name) + 2 :] not in results]:
            errors.append(f"{full} is on the list and is no test")
            del known[full]
    if options.update:
        write_list(known)
        return 0
    print("\n".join(errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
