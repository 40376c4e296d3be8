#!/usr/bin/env python3
"""Times of every benchmark family, for the record (docs/notebook/times.md).

    scripts/times.py [--build build] [--out report/times] [--short] [FAMILY...]

Runs the programs of BUILD/bench one after the other (`--list` names the families), each into a folder
of its own, and writes OUT/times.md: geometric means over the rows of a table, by group. A family that
has been run is not run again unless it is named. Take a machine with nothing else on it.
"""

import argparse
import csv
import math
import os
import platform
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# family: (program, arguments, [(table, group columns, value columns)])
STEPS = ("steps", ["engine"], ["steps_per_s", "p50_us", "p99_us"])
FAMILIES = {
    "standing": ("sim", ["--mode", "standing"], [STEPS]),
    "held": ("sim", ["--mode", "held"], [STEPS]),
    "drop": ("sim", ["--mode", "drop"], [STEPS]),
    "many": ("sim", ["--mode", "many"], [STEPS]),
    "scaling": ("sim", ["--mode", "scaling"], [("scaling", ["engine", "bodies"], ["ms_per_step"])]),
    "dynamics": ("dynamics", [], [("dynamics", ["algorithm"], ["tribo_us", "mujoco_us"])]),
    "derivatives": ("derivatives", [],
                    [("steps", ["law"], ["step_us", "AB_us", "product_us", "mujoco_us"]),
                     ("rigid_bodies", [], ["rnea_us", "rnea_partials_us", "forward_partials_us"])]),
    "collide": ("collide", [],
                [("pairs", ["regime"], ["tribo", "tribo_warm", "mujoco", "fcl", "bullet"]),
                 ("broadphase", ["bodies"], ["tribo_us", "fcl_us", "bullet_us"])]),
    "batch": ("batch", [], [("batch", ["case"], ["us_call_of_1", "us_call_of_10"])]),
    "load": ("load", [], [("load", [], ["tribo_ms", "mujoco_ms"])]),
    "sparse": ("sparse", [], [("sparse", ["form"], ["unsymmetric_ms", "symmetric_ms", "solve_ms"])]),
    "fclib": ("fclib", ["--limit", "2", "--repeats", "3"],
              [("summary", ["solver"], ["solved", "geomean_seconds_of_solved"])]),
    "admm": ("admm", [], [("fig5_timings", ["scene", "method"], ["microseconds", "iterations"])]),
    "cm": ("cm", [], [("fig17_timings", ["solver"], ["cold_us", "warm_us"])]),
    "expo": ("expo", [], [("times", ["integrator"], ["step_us"])]),
    "comfree": ("comfree", [],
                [("kernel", ["layout"], ["ns_per_contact"]),
                 ("throughput", ["engine", "scene"], ["world_steps_per_second"])]),
    "engines": ("engines", [], [("fig6_engines", ["engine"], ["steps_per_second"])]),
    "ablation": ("ablation", [], [("ablation", ["without", "family"], ["time"])]),
}
LONGEST = 470  # s, of a family


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


def mean(values):
    """Geometric mean of the positive ones, with the number of rows."""
    good = [x for x in values if x > 0 and math.isfinite(x)]
    return math.exp(sum(map(math.log, good)) / len(good)) if good else math.nan


def summary(path, groups, columns):
    """Lines of a Markdown table."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = [c for c in columns if any(math.isfinite(number(r.get(c))) for r in rows)]
    found = {}
    for row in rows:
        found.setdefault(tuple(row.get(g) or "" for g in groups), []).append(row)
    yield "| " + " | ".join([*groups, "rows", *columns]) + " |"
    yield "|" + "---|" * (len(groups) + 1 + len(columns))
    for key, some in found.items():
        cells = [f"{mean([number(r.get(c)) for r in some]):.4g}" for c in columns]
        if set(cells) != {"nan"}:
            yield "| " + " | ".join([*key, str(len(some)), *cells]).replace("nan", "") + " |"


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def run(family, build, out, short):
    program, arguments, _ = FAMILIES[family]
    path = os.path.join(build, "bench", f"tribo-bench-{program}")
    if not os.path.exists(path):
        print(f"{family}: {path} is not built")
        return False
    folder = os.path.join(out, family)
    os.makedirs(folder, exist_ok=True)
    command = [path, *arguments, *(["--short"] if short else []), "--out", folder]
    start = time.time()
    with open(os.path.join(folder, "log.txt"), "w", encoding="utf-8") as log:
        try:
            code = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, timeout=LONGEST).returncode
        except subprocess.TimeoutExpired:
            code = f"stopped after {LONGEST} s"
    with open(os.path.join(folder, "seconds.txt"), "w", encoding="utf-8") as file:
        file.write(f"{time.time() - start:.0f}\n")
    print(f"{family}: exit {code}, {time.time() - start:.0f} s", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--out", default=os.path.join(ROOT, "report", "times"))
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("family", nargs="*")
    args = parser.parse_args()
    if args.list:
        print(" ".join(FAMILIES))
        return 0
    for family in args.family:
        if family not in FAMILIES:
            parser.error(f"{family}: one of {' '.join(FAMILIES)}")
    for family in args.family or FAMILIES:
        done = os.path.exists(os.path.join(args.out, family, "seconds.txt"))
        if args.family or not done:
            run(family, args.build, args.out, args.short)

    lines = [f"{processor()}, {os.cpu_count()} threads, {platform.system()}.", ""]
    for family, (program, arguments, tables) in FAMILIES.items():
        folder = os.path.join(args.out, family)
        if not os.path.exists(os.path.join(folder, "seconds.txt")):
            continue
        lines += [f"## {family}", "", f"`tribo bench {' '.join([program, *arguments])}`", ""]
        for table, groups, columns in tables:
            path = os.path.join(folder, f"{table}.csv")
            if os.path.exists(path):
                lines += [*summary(path, groups, columns), ""]
    os.makedirs(args.out, exist_ok=True)
    with open(os.path.join(args.out, "times.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
    print(os.path.join(args.out, "times.md"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
