#!/usr/bin/env python3
"""Instructions of steps, derivatives, pairs of shapes and solves: two versions compared.

    scripts/instructions.py OLD NEW [PATTERN]

OLD and NEW are checkouts with build/libtribo.so (cmake --build build --target tribo_shared). The
cases are scripts/instructions.c, compiled for both and run under valgrind (callgrind), whose counts
do not depend on the load of the machine. PATTERN: a regular expression of the cases to run. Fails if
a case takes more than 1 % more.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCENES = os.path.join(ROOT, "scenes")
SHARED = os.path.join(ROOT, "..", "shared")
ROBOTS = os.path.join(SHARED, "models", "mujoco_menagerie")
FCLIB = os.path.join(SHARED, "fclib", "local")
SHAPES = {"plane": 0, "sphere": 2, "capsule": 3, "ellipsoid": 4, "cylinder": 5, "box": 6}
INTEGRATORS = {"rk4": 1, "implicitfast": 3, "expo": 4}

STEPS = """stack ncp 20 60; stack viscoelastic 20 60 expo; quadruped_torque ncp 50 300;
quadruped_torque ccp 50 100; quadruped_torque lcp 50 100; quadruped_torque raisim 50 100;
quadruped_torque soft 50 300; quadruped_torque comfree 50 300; quadruped_torque viscoelastic 50 60;
humanoid ncp 100 200; humanoid soft 100 200; humanoid soft 50 100 rk4; wall ncp 20 10; arm ncp 10 500;
arm ncp 10 300 implicitfast; ragdoll_stairs ncp 100 60; hills ncp 50 60; cable_finger soft 20 100;
drop soft 100 5; drop ncp 150 5; muscle_leg ncp 10 300; coupled_hand ncp 20 100;
rope_bridge comfree 20 50; slider_crank ncp 10 300; unitree_go2/scene ncp 100 100;
agility_cassie/scene ncp 100 100; pal_talos/scene_position ncp 100 100;
leap_hand/scene_right ncp 100 100; universal_robots_ur5e/scene ncp 100 100;
unitree_go2/scene soft 100 100; pal_talos/scene_position soft 100 50"""
LINEARIZE = """quadruped_torque ncp 60 20; quadruped_torque soft 60 20; quadruped_torque comfree 60 20;
quadruped_torque viscoelastic 60 20; humanoid ncp 100 5"""
PAIRS = """plane box; plane cylinder; sphere sphere; sphere box; capsule capsule; capsule box;
capsule cylinder; ellipsoid ellipsoid; ellipsoid box; cylinder cylinder; cylinder box; box box"""
SOLVES = """Capsules-i100-1090 ncp auto; Capsules-i100-1090 ccp auto; Capsules-i100-889 ncp pgs;
Capsules-i100-889 ncp admm; Box_Stacks-i0122-82-5-condensed ncp auto; CubeH8-condensed ncp auto"""


def cases():
    for kind, text in (("step", STEPS), ("linearize", LINEARIZE)):
        for case in text.split(";"):
            model, law, warm, calls, *integrator = case.split()
            folder = ROBOTS if "/" in model else SCENES
            yield (f"{kind} {model} {' '.join([law, *integrator])}",
                   [kind, os.path.join(folder, model + ".xml"), law, warm, calls,
                    *(str(INTEGRATORS[i]) for i in integrator)])
    for case in PAIRS.split(";"):
        yield f"collide {case.strip()}", ["collide", *(str(SHAPES[s]) for s in case.split())]
    for case in SOLVES.split(";"):
        file, law, solver = case.split()
        yield f"solve {case.strip()}", ["solve", os.path.join(FCLIB, file + ".hdf5"), law, solver]


def program(tree, folder, name):
    path, build = os.path.join(folder, name), os.path.join(os.path.abspath(tree), "build")
    subprocess.run([os.environ.get("CC", "cc"), "-std=c17", "-O2", f"-I{tree}/include",
                    os.path.join(ROOT, "scripts", "instructions.c"), "-o", path, f"-L{build}",
                    "-ltribo", f"-Wl,-rpath,{build}", "-lm"], check=True)
    return path


def count(path, arguments):
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                          "--toggle-collect=counted_*", path, *arguments], capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    return (int(found.group(1)) if found and run.returncode == 0 else 0), run.stdout.strip()


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    pattern = re.compile(sys.argv[3] if len(sys.argv) > 3 else "")
    slower = 0
    print("| case | old | new | |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        old, new = (program(tree, folder, name) for tree, name in zip(sys.argv[1:3], ("old", "new")))
        for name, arguments in cases():
            if not pattern.search(name) or not (name.startswith("collide") or os.path.exists(arguments[1])):
                continue
            (a, did_a), (b, did_b) = count(old, arguments), count(new, arguments)
            if not a or not b:
                print(f"| {name} | {a or 'failed'} | {b or 'failed'} | |", flush=True)
                continue
            slower += b > 1.01 * a
            note = "" if did_a == did_b else f", other work: {did_a}; {did_b}"
            print(f"| {name} | {a:,} | {b:,} | {100 * (b / a - 1):+.2f} %{note} |", flush=True)
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
