#!/usr/bin/env python3
"""Draw the gallery: scenes of the project in motion, as pictures and one page.

gallery.py OUTPUT_FOLDER
"""

import sys
from pathlib import Path

import numpy as np

import tribo

SCENES = Path(__file__).resolve().parent.parent / "scenes"
SIZE = (300, 460)  # pixels: height, width
# Scene, keyframe, seconds, contact forces as arrows, caption.
PICTURES: list[tuple[str, str | None, float, bool, str]] = [
    ("quadruped", "stand", 1.0, True, "A quadruped on position servos; arrows are contact forces."),
    ("hand", "grasp", 0.5, False, "A hand that holds an object."),
    ("dominoes", "push", 1.2, False, "Dominoes."),
    ("arch", None, 1.0, True, "An arch of blocks, held by friction alone."),
    ("card_house", None, 0.5, False, "A house of cards."),
    ("wall", None, 1.0, False, "A wall of bricks."),
    ("stack", None, 1.0, True, "A stack of boxes of very different masses."),
    ("tendon_cradle", None, 0.6, False, "Balls on tendons that hand an impact on."),
    ("chain_drum", None, 1.0, False, "A chain over a drum."),
    ("rope_bridge", None, 1.0, False, "A bridge of ropes and planks."),
    ("ragdoll_stairs", None, 2.0, False, "A doll on stairs."),
    ("humanoid", None, 0.6, False, "A humanoid on its feet, without a controller."),
]


def picture(name: str, key: str | None, seconds: float, arrows: bool) -> "np.ndarray":
    m = tribo.Model.from_xml_path(str(SCENES / f"{name}.xml"))
    d = tribo.Data(m)
    if key is not None:
        tribo.reset_to_key(m, d, key)
    tribo.step(m, d, round(seconds / m.opt.timestep))
    with tribo.Renderer(m, *SIZE) as renderer:
        renderer.force_scale = tribo.force_scale(m, d) if arrows else 0.0
        renderer.update_scene(d)
        return renderer.render()


def main() -> int:
    """Draw all."""
    out = Path(sys.argv[1])
    (out / "gallery").mkdir(parents=True, exist_ok=True)
    lines = [
        "# Gallery",
        "",
        "Scenes of the project under the exact law, drawn by `tribo.Renderer` when the site was built. Each file is in `scenes/`;",
        "the [first notebook](notebooks/first-steps.md) shows how such a picture is made.",
        "",
        "| | |",
        "|---|---|",
    ]
    cells = []
    for name, key, seconds, arrows, caption in PICTURES:
        tribo.write_png(out / "gallery" / f"{name}.png", picture(name, key, seconds, arrows))
        start = f", keyframe `{key}`" if key else ""
        cells.append(f"![{caption}](gallery/{name}.png) {caption} `{name}.xml`{start}, after {seconds:g} s")
    lines += [f"| {left} | {right} |" for left, right in zip(cells[::2], cells[1::2], strict=True)]
    (out / "gallery.md").write_text("\n".join([*lines, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
