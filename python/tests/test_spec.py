import numpy as np
import pytest

import tribo


def box() -> tribo.Spec:
    spec = tribo.Spec()
    spec.world.add("geom", "floor", type="plane", size=[1, 1, 0.1])
    body = spec.world.add("body", "box", pos=[0, 0, 1])
    body.add("freejoint", "root")
    body.add("geom", "shape", type="box", size=[0.1, 0.1, 0.1])
    return spec


def test_a_spec_is_built_and_compiled():
    m = box().compile()
    assert m.nbody == 2 and m.geom("shape").size[0,] == 0.1
    d = tribo.Data(m)
    tribo.step(m, d, 600)
    assert d.qpos[2] == pytest.approx(0.1, abs=1e-3)


def test_texts_round_trip():
    spec = box()
    again = tribo.Spec.from_string(spec.to_xml())
    assert again == spec and spec.copy() == spec
    again.find("geom", "shape")["size"] = "0.2 0.2 0.2"
    assert again != spec


def test_attributes_are_text_and_numbers():
    shape = box().find("geom", "shape")
    assert shape["size"] == "0.1 0.1 0.1" and np.allclose(shape.reals("size"), 0.1)
    assert shape["rgba"] is None and shape.reals("rgba") is None
    shape.set(size=[0.3, 0.2, 0.1], rgba="1 0 0 1")
    assert shape.reals("size")[0] == 0.3
    shape["rgba"] = None
    assert shape["rgba"] is None and shape.tag == "geom" and shape.name == "shape"
    with pytest.raises(ValueError, match="size"):
        shape["sise"] = [1]
    with pytest.raises(KeyError, match="did you mean 'box'"):
        box().find("body", "bax")


def test_elements_keep_their_spec_and_form_a_tree():
    body = box().find("body", "box")
    assert [c.tag for c in body.children] == ["freejoint", "geom"]
    assert body.children[0].parent == body and hash(body.children[0].parent) == hash(body)
    body.children[0].delete()
    assert len(body.children) == 1
    body.add_xml("<geom name='other' size='0.1'/>")
    with pytest.raises(ValueError):
        body.add("geom", "third", sise=3)
    assert len(body.children) == 2


def test_recompiling_keeps_the_state_and_old_arrays():
    spec = box()
    m = spec.compile()
    d = tribo.Data(m)
    tribo.step(m, d, 100)
    z = d.qpos[2]
    spec.find("geom", "shape")["size"] = [0.2, 0.2, 0.2]
    spec.world.add("body", "second", pos=[3, 0, 1]).add("geom", size=[0.1])
    n, e = spec.recompile(m, d)
    assert n is not m and e.model is n and e.qpos[2] == z and e.time == d.time
    assert n.geom("shape").size[0] == 0.2 and m.geom("shape").size[0] == 0.1
    tribo.step(n, e, 10)
    tribo.step(m, d, 10)


def test_parts_are_attached():
    world, arm = box(), tribo.Spec()
    link = arm.world.add("body", "link")
    link.add("joint", "hinge")
    link.add("geom", size=[0.1])
    world.find("body", "box").attach(arm, "left_")
    world.world.add("frame", "place", pos=[1, 0, 0]).attach(link, "right_")
    m = world.compile()
    assert m.joint("left_hinge").id >= 0 and m.body("right_link").pos[0] == 1


def test_files_and_models(tmp_path, scenes):
    spec = tribo.Spec.from_file(str(scenes / "arm.xml"))
    m = spec.compile()
    again = tribo.Spec.from_model(m).compile()
    assert again.nq == m.nq and np.allclose(again.body_mass, m.body_mass)
    spec.save(str(tmp_path / "arm.xml"))
    assert tribo.Model.from_xml_path(str(tmp_path / "arm.xml")).nq == m.nq
    with pytest.raises(tribo.Error):
        tribo.Spec.from_string("<mujoco><geom/></mujoco>")
