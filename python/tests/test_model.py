import contextlib
import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tribo
from tribo import _core

TYPES = {"tbReal": np.float64, "int": np.int32, "float": np.float32, "uint16_t": np.uint16}


def test_every_field_of_the_list_is_a_view_of_its_shape_and_type(quadruped):
    m, _ = quadruped
    for name, type_, rows, columns, _, _ in _core.model_fields:
        if type_ == "char":
            continue
        array = getattr(m, name)
        assert array.dtype == TYPES[type_], name
        assert array.ndim == (1 if columns == "1" else 2), name
        assert array.shape[0] == getattr(m, rows), name
        assert array.flags.c_contiguous and not array.flags.owndata, name
        assert getattr(m, name) is array, name


def test_fields_have_documentation_with_shape():
    assert "shape (nbody,), kg" in tribo.Model.body_mass.__doc__
    for name, type_, *_ in _core.model_fields:
        if type_ != "char":
            assert "shape (" in getattr(tribo.Model, name).__doc__, name


def test_views_outlive_the_model(m):
    mass = m.body_mass
    before = mass.copy()
    del m
    for _ in range(20):
        tribo.Data(tribo.Model.from_xml_string("<mujoco><worldbody/></mujoco>"))
    assert np.array_equal(mass, before)


def test_numbers_are_written_through_and_indices_are_not(m):
    m.body_mass[1] = 3
    assert m.body("arm").mass[0] == 3
    m.geom_contype[:] = 0
    with pytest.raises(ValueError, match="read-only"):
        m.geom_bodyid[0] = 99


def test_assigned_indices_are_checked_and_a_bad_model_is_refused(m):
    before = m.geom_bodyid.copy()
    with pytest.raises(tribo.ModelError):
        m.geom_bodyid = np.full(m.ngeom, 99)
    assert np.array_equal(m.geom_bodyid, before)
    m.geom_condim = np.full(m.ngeom, 4)
    assert list(m.geom_condim) == [4] * m.ngeom


def test_a_wrong_size_is_refused(m):
    with pytest.raises(ValueError):
        m.body_mass = np.ones(m.nbody + 1)
    with pytest.raises(AttributeError):
        m.body_masss = 1


def test_options_take_numbers_and_words(m):
    for law in tribo.Law:
        m.opt.law = str(law)
        assert m.opt.law == law
        m.opt.law = law
    m.opt.integrator = "implicitfast"
    assert m.opt.integrator == tribo.Integrator.IMPLICITFAST
    m.opt.gravity = [0, 0, -1]
    assert m.opt.gravity is m.opt.gravity and m.opt.gravity[2] == -1
    m.opt.gravity = "0 0 -3"
    assert m.opt.gravity[2] == -3
    with pytest.raises(tribo.Error, match="ncp, ccp"):
        m.opt.law = "nnp"
    with pytest.raises(AttributeError):
        m.opt.timestepp = 1
    for name, _, count, *_ in _core.option_fields:
        value = getattr(m.opt, name)
        assert np.size(value) == count, name
        setattr(m.opt, name, value)


def test_enumerations_of_options_read_back_as_members(m):
    for word in ("ccp", "CCP", "Ccp", tribo.Law.CCP, 1):
        m.opt.law = "ncp"
        m.opt.law = word
        assert m.opt.law is tribo.Law.CCP
    law = m.opt.law
    assert law == 1 and law == "ccp" and law == "CCP" and law != "ncp" and law != 0
    assert str(law) == f"{law}" == "ccp" and f"{law:d}" == "1" and "CCP" in repr(law)
    assert {law: 2}[1] == 2 and isinstance(law, int)
    for word in ("pgs-exact", "PGS_EXACT", str(tribo.SolverKind.PGS_EXACT), tribo.SolverKind.PGS_EXACT):
        m.opt.solver = "auto"
        m.opt.solver = word
        assert m.opt.solver is tribo.SolverKind.PGS_EXACT
    for name, kind in (
        ("integrator", tribo.Integrator),
        ("cone", tribo.Cone),
        ("jacobian", tribo.Jacobian),
        ("mjsolver", tribo.MjSolver),
        ("solver", tribo.SolverKind),
        ("law", tribo.Law),
    ):
        for member in kind:
            for value in (member, int(member), str(member), member.name):
                setattr(m.opt, name, value)
                assert getattr(m.opt, name) is member
    m.opt.disableflags = tribo.DisableBit.CONTACT | tribo.DisableBit.LIMIT
    assert tribo.DisableBit.CONTACT in m.opt.disableflags and isinstance(m.opt.enableflags, tribo.EnableBit)
    with pytest.raises(tribo.Error, match=r"ncp, ccp.*99"):
        m.opt.law = 99
    assert m.opt.law == list(tribo.Law)[-1]


def test_a_wrong_option_is_an_attribute_error_with_the_nearest_one(m):
    with pytest.raises(AttributeError, match="no option 'lawz', did you mean 'law'"):
        m.opt.lawz = 1
    with pytest.raises(AttributeError, match="did you mean 'timestep'"):
        _ = m.opt.timestepp
    with pytest.raises(AttributeError, match="no option 'zzzz'"):
        _ = m.opt.zzzz
    assert not hasattr(m.opt, "__array__") and getattr(m.opt, "gravityy", None) is None


def test_the_two_tolerances_name_each_other():
    ours, theirs = tribo.Option.solve_tolerance.__doc__, tribo.Option.tolerance.__doc__
    assert "`tolerance`" in ours and "soft" in ours
    assert "`solve_tolerance`" in theirs and "soft" in theirs


def test_options_print_what_differs_from_the_default(m):
    text = repr(m.opt)
    assert "law ncp" in text and "timestep 0.002" in text and "gravity" not in text and "\n" not in text
    m.opt.law, m.opt.gravity, m.opt.disableflags = "soft", [0, 0, -1], tribo.DisableBit.CONTACT
    text = repr(m.opt)
    assert "law soft" in text and "gravity [0 0 -1]" in text and "disableflags contact" in text


def test_options_outlive_the_variable_of_their_model(m):
    opt = m.opt
    del m
    opt.timestep = 0.5
    assert opt.timestep == 0.5


def test_parts_by_name_are_live_rows(m, d):
    arm = m.body("arm")
    assert arm.id == 1 and arm.name == "arm"
    arm.mass = 4
    assert m.body_mass[1] == 4
    assert m.geom("floor").type[0] == tribo.GeomType.PLANE
    assert m.joint("hinge").damping[0] == 0.1
    assert m.actuator("motor").gear.shape == m.actuator_gear[0].shape
    assert m.joint(-1).name == "root"
    assert m.key("raised").qpos.shape == (m.nq,)
    d.joint("root").qpos[2] = 7
    assert d.qpos[3] == 7
    assert d.joint("root").qvel.shape == (6,)
    d.actuator("motor").ctrl = 0.5
    assert d.ctrl[0] == 0.5
    tribo.step(m, d)
    assert np.array_equal(d.sensor("place").data, d.sensordata[1:4])
    assert np.array_equal(d.body("ball").xpos, d.xpos[2])


def test_an_unknown_name_is_a_key_error_with_the_nearest_one(m, d):
    with pytest.raises(KeyError, match="did you mean 'hinge'"):
        m.joint("hing")
    with pytest.raises(KeyError, match="did you mean 'ball'"):
        d.body("bal")
    with pytest.raises(IndexError):
        m.body(99)


def test_names_and_ids_agree_for_every_kind(quadruped):
    m, _ = quadruped
    for kind, type_ in (
        ("body", tribo.ObjType.BODY),
        ("geom", tribo.ObjType.GEOM),
        ("joint", tribo.ObjType.JOINT),
    ):
        for i in range({"body": m.nbody, "geom": m.ngeom, "joint": m.njnt}[kind]):
            name = m.id2name(type_, i)
            if name:
                assert m.name2id(type_, name) == i
                assert getattr(m, kind)(name).id == i


def test_copies_and_pickles_step_with_the_same_bits(quadruped):
    m, d = quadruped
    tribo.step(m, d, 10)
    others = [
        copy.copy(m),
        copy.deepcopy(m),
        pickle.loads(pickle.dumps(m)),
        tribo.Model.from_binary(m.to_binary()),
    ]
    for other in others:
        e = tribo.Data(other)
        e.load_snapshot(d.snapshot())
        f = copy.copy(d)
        tribo.step(other, e, 10)
        tribo.step(m, f, 10)
        assert np.array_equal(e.qpos, f.qpos)
        assert other is not m


def test_a_saved_model_loads(m, tmp_path):
    path = tmp_path / "model.tbm"
    m.save(str(path))
    assert tribo.Model.from_xml_path(str(path)).nq == m.nq
    assert tribo.Model.from_binary(path.read_bytes()).nv == m.nv


def test_errors_carry_the_message_of_the_engine(tmp_path):
    with pytest.raises(ValueError, match="did you mean 'size'"):
        tribo.Model.from_xml_string("<mujoco><worldbody><geom sixe='1'/></worldbody></mujoco>")
    with pytest.raises(tribo.FileError, match="no such file"):
        tribo.Model.from_xml_path(str(tmp_path / "nothing.xml"))
    with pytest.raises(OSError):
        tribo.Model.from_xml_path(str(tmp_path / "nothing.xml"))
    with pytest.raises(tribo.Error):
        tribo.Model.from_binary(b"no model")
    with pytest.raises(TypeError):
        tribo.Model.from_xml_string(3)


def test_errors_call_a_text_by_its_name(tmp_path):
    wrong = "<mujoco><worldbody><geom sixe='1'/></worldbody></mujoco>"
    later = "<mujoco><worldbody><geom type='mesh' mesh='q'/></worldbody></mujoco>"
    for load in (tribo.Model.from_xml_string, tribo.Spec.from_string):
        with pytest.raises(tribo.ParseError, match=r"^<string>:1: "):
            load(wrong)
        with pytest.raises(tribo.ParseError, match=r"^<string>:1: "):
            load(wrong, tmp_path)
        with pytest.raises(tribo.ParseError, match=r"^robot:1: "):
            load(wrong, str(tmp_path), name="robot")
    for spec in (tribo.Spec.from_string(later), tribo.Spec.from_string(later).copy()):
        with pytest.raises(tribo.ModelError, match=r"^<string>:1: "):
            spec.compile()
    with pytest.raises(tribo.ModelError, match=r"^robot:1: "):
        tribo.Spec.from_string(later, name="robot").compile()
    # A file whose name begins as the place of texts does.
    other = tmp_path / "string.xml"
    other.write_text(wrong)
    with pytest.raises(tribo.ParseError, match=r"string\.xml:1: "):
        tribo.Model.from_xml_path(other)


def test_notes_call_a_text_by_its_name():
    text = "<mujoco><size njmax='5'/><visual><map/></visual></mujoco>"
    for model in (tribo.Model.from_xml_string(text), tribo.Spec.from_string(text).compile()):
        lines = model.notes.splitlines()
        assert len(lines) == 2 and all(line.startswith("<string>:1: ") for line in lines)


def test_paths_may_be_those_of_pathlib(m, tmp_path, scenes):
    assert isinstance(scenes, Path)
    assert tribo.Model.from_xml_path(scenes / "stack.xml", search_paths=[tmp_path]).nbody > 1
    m.save(tmp_path / "model.tbm")
    assert tribo.Model.from_xml_path(tmp_path / "model.tbm").nq == m.nq
    arm = tribo.Model.from_xml_string(
        "<mujoco><worldbody><body><joint name='a'/><geom size='1'/></body></worldbody></mujoco>"
    )
    arm.save_urdf(tmp_path / "arm.urdf")
    assert tribo.Model.from_urdf(tmp_path / "arm.urdf", search_paths=[tmp_path]).nv == 1
    (tmp_path / "part.xml").write_text("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    whole = "<mujoco><include file='part.xml'/></mujoco>"
    assert tribo.Model.from_xml_string(whole, tmp_path).ngeom == 1
    spec = tribo.Spec.from_string(whole, tmp_path)
    spec.save(tmp_path / "spec.xml")
    assert tribo.Spec.from_file(tmp_path / "spec.xml").compile().ngeom == 1
    with pytest.raises(TypeError):
        tribo.Model.from_xml_path(3)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_crash_the_loader(data):
    with pytest.raises(tribo.Error):
        tribo.Model.from_binary(data)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=80))
def test_no_text_crashes_the_parser(text):
    with contextlib.suppress(tribo.Error, ValueError):
        tribo.Model.from_xml_string(text)


def test_a_urdf_loads_with_a_free_base(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text("""<robot name="r"><link name="base"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>""")
    assert tribo.Model.from_urdf(str(path), floating_base=True).nv == 6
    assert tribo.Model.from_urdf(str(path)).nv == 0
