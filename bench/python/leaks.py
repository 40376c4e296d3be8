"""Memory of this process before and after many models and worlds were made and dropped.

build/python-env/bin/python bench/python/leaks.py [COUNT]

It ends with 1 where the memory grew by more than 1 MiB.
"""

import contextlib
import gc
import sys
import time
from pathlib import Path

import tribo

PENDULUM = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/><body pos="0 0 .3">
<joint name="hinge" axis="0 1 0"/><geom size="0.1" pos="0.3 0 -.25"/></body></worldbody>
<actuator><motor joint="hinge"/></actuator></mujoco>"""
BEFORE = 1000  # made first, so that the allocator has what it keeps
LIMIT = 1.0  # MiB


def resident() -> float:
    """Memory of this process, MiB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def worlds(count: int) -> None:
    """A model and a world each time: arrays are used, parts named, a step made."""
    for i in range(count):
        m = tribo.Model.from_xml_string(PENDULUM)
        m.opt.law = "soft" if i % 2 else "ncp"
        d = tribo.Data(m)
        d.ctrl[:] = 0.1
        tribo.step(m, d)
        d.body(1).xpos.sum()
        if i % 4 == 0:
            m.control_callback = lambda m, d: None


def errors(count: int) -> None:
    """Models that do not load."""
    for _ in range(count):
        with contextlib.suppress(tribo.Error):
            tribo.Model.from_xml_string("<mujoco><worldbody><geom sixe='1'/></worldbody></mujoco>")


def views(count: int) -> None:
    """Contacts, options and derivatives of one world."""
    m = tribo.Model.from_xml_string(PENDULUM)
    d = tribo.Data(m)
    tribo.step(m, d, 200)
    for _ in range(count):
        len(d.contact.force), repr(d.contact), repr(m.opt.law), d.solve
        tribo.derivatives(m, d, kinks="ignore").A.sum()


def main() -> int:
    """Print a table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    status = 0
    print(f"{'made and dropped':28} {'count':>8} {'before':>10} {'after':>10} {'grown':>10} {'time':>8}")
    for what, function in (("models and worlds", worlds), ("errors", errors), ("views, derivatives", views)):
        function(BEFORE)
        gc.collect()
        before, start = resident(), time.perf_counter()
        function(count)
        gc.collect()
        seconds, after = time.perf_counter() - start, resident()
        grown = after - before
        print(f"{what:28} {count:8} {before:6.1f} MiB {after:6.1f} MiB {grown:+6.2f} MiB {seconds:6.1f} s")
        status |= grown > LIMIT
    if status:
        print(f"leaks: grown by more than {LIMIT:g} MiB", file=sys.stderr)
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
