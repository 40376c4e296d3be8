"""Steps and rollouts of PyTorch against differences."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from worlds import CONTACT_LAWS, SMOOTH_LAWS, snippet, world  # noqa: E402

import tribo  # noqa: E402
import tribo.torch  # noqa: E402

CASES = [("smooth", law) for law in SMOOTH_LAWS] + [("contacts", law) for law in CONTACT_LAWS]


def tensors(*arrays):
    return [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in arrays]


def gradcheck(function, *arrays, eps=1e-6, atol=2e-5, rtol=1e-4):
    """By all inputs that are not empty."""
    inputs = tensors(*arrays)
    varied = [i for i, value in enumerate(inputs) if value.numel()]

    def of(*values):
        given = list(inputs)
        for i, value in zip(varied, values, strict=True):
            given[i] = value
        return tuple(state for state in function(*given) if state.numel())

    return torch.autograd.gradcheck(of, tuple(inputs[i] for i in varied), eps=eps, atol=atol, rtol=rtol)


@pytest.mark.parametrize(("kind", "law"), CASES)
def test_gradcheck_of_a_rollout(kind, law):
    m, *arrays = world(kind, law)
    sim = tribo.torch.Simulation(m, kinks="raise")
    assert gradcheck(sim.rollout, *arrays)


@pytest.mark.parametrize(("kind", "law"), CASES)
def test_gradcheck_of_a_step(kind, law):
    m, qpos, qvel, act, ctrl = world(kind, law)
    sim = tribo.torch.Simulation(m, kinks="raise")
    force = 0.1 * np.random.default_rng(2).normal(size=(2, m.nv))
    assert gradcheck(sim.step, qpos, qvel, act, ctrl[:, 0], force)


@pytest.mark.parametrize("law", ("viscoelastic",))
def test_gradcheck_of_a_step_with_springs(law):
    m, qpos, qvel, act, ctrl = world("contacts", law)
    sim = tribo.torch.Simulation(m, kinks="raise")
    assert gradcheck(sim.step, qpos, qvel, act, ctrl[:, 0], eps=1e-7, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("law", CONTACT_LAWS)
def test_gradcheck_of_friction(law):
    m, qpos, qvel, act, ctrl = world("contacts", law)
    sim = tribo.torch.Simulation(m, kinks="raise")
    fixed = tensors(qpos, qvel, act, ctrl)

    def velocity(scale):
        return sim.rollout(*fixed, friction_scale=scale)[1]

    scale = torch.tensor([0.9, 1.1], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(velocity, (scale,), eps=1e-6, atol=2e-5, rtol=1e-4)


def test_checkpoints_change_nothing_but_memory():
    m, *arrays = world("contacts", "ncp")
    arrays[3] = np.tile(arrays[3], (1, 10, 1))
    grads, sizes = [], []
    for checkpoint in (1, 7):
        sim = tribo.torch.Simulation(m, checkpoint=checkpoint, kinks="ignore")
        inputs = tensors(*arrays)
        sum(s.square().sum() for s in sim.rollout(*inputs)).backward()
        grads.append([i.grad for i in inputs])
        sizes.append(sim.trajectories.forward(*arrays).memory_bytes)
    assert all(torch.equal(a, b) for a, b in zip(*grads, strict=True))
    assert sizes[1] < 0.4 * sizes[0]


def test_memory_is_linear_in_steps():
    m, qpos, qvel, act, _ = world("contacts", "ncp")
    of = tribo.Trajectories(m)
    sizes = [of.forward(qpos, qvel, act, nstep=n).memory_bytes for n in (50, 100, 200)]
    assert sizes[2] - sizes[1] < 2.5 * (sizes[1] - sizes[0])


def test_single_world_and_float32():
    m, qpos, qvel, act, ctrl = world("smooth", "ncp")
    sim = tribo.torch.Simulation(m)
    u = torch.tensor(ctrl[0], dtype=torch.float32, requires_grad=True)
    q, v, a = sim.rollout(*(torch.tensor(x[0], dtype=torch.float32) for x in (qpos, qvel, act)), ctrl=u)
    assert q.shape == (4, m.nq) and v.shape == (4, m.nv) and a.shape == (4, m.na)
    assert q.dtype == torch.float32
    v.sum().backward()
    assert u.grad.shape == u.shape and u.grad.dtype == torch.float32 and torch.isfinite(u.grad).all()


def test_rollout_is_the_batch():
    m, qpos, qvel, act, ctrl = world("contacts", "ncp")
    found = tribo.torch.Simulation(m).rollout(*map(torch.tensor, (qpos, qvel, act, ctrl)))[0]
    same = tribo.Batch(m, 2).rollout(4, qpos=qpos, qvel=qvel, act=act, ctrl=ctrl)["qpos"]
    np.testing.assert_allclose(found.numpy(), same, rtol=0, atol=1e-14)


def resting():
    """A ball that touches the floor exactly, where the gap's term has a kink."""
    m = tribo.Model.from_xml_string("""<mujoco><worldbody><geom type="plane" size="1 1 .1"/>
<body pos="0 0 .1"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>""")
    return m, torch.tensor(m.qpos0.copy()), torch.zeros(m.nv, dtype=torch.float64, requires_grad=True)


def test_kinks_are_told():
    m, qpos, qvel = resting()
    with pytest.warns(tribo.NotDifferentiableWarning, match="world 0, step 0"):
        tribo.torch.Simulation(m).step(qpos, qvel)[1].sum().backward()
    with pytest.raises(tribo.NotDifferentiableError, match="not differentiable"):
        tribo.torch.Simulation(m, kinks="raise").step(qpos, qvel)[1].sum().backward()


def test_anchors_of_springs_are_told():
    m, *arrays = world("contacts", "viscoelastic")
    inputs = tensors(*arrays)
    with pytest.warns(tribo.NotDifferentiableWarning, match="anchors"):
        tribo.torch.Simulation(m).rollout(*inputs)[1].sum().backward()


def test_no_second_derivatives():
    m, *arrays = world("smooth", "ncp")
    inputs = tensors(*arrays)
    loss = tribo.torch.Simulation(m).rollout(*inputs)[1].square().sum()
    (grad,) = torch.autograd.grad(loss, inputs[:1], create_graph=True)
    with pytest.raises(RuntimeError):
        grad.sum().backward()


def test_optimisation_of_a_control():
    m, qpos, qvel, act, _ = world("smooth", "ncp")
    sim = tribo.torch.Simulation(m)
    start = [torch.tensor(x[:1]) for x in (qpos, qvel, act)]
    u = torch.zeros((1, 20, m.nu), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([u], max_iter=30, line_search_fn="strong_wolfe")

    def loss():
        optimiser.zero_grad()
        value = (sim.rollout(*start, ctrl=u)[0][0, -1, 0] - 0.5) ** 2
        value.backward()
        return value

    first = float(loss().detach())
    optimiser.step(loss)
    assert float(loss().detach()) < 1e-6 * first


def test_lines_of_the_manual():
    m, qpos, qvel, _, ctrl = world("contacts", "soft")
    names = {"torch": torch, "tribo": tribo, "m": m, "steps": 3, "u": torch.tensor(ctrl[0, 0]), "goal": 0.1}
    names |= {"qpos0": torch.tensor(qpos[0]), "qvel0": torch.tensor(qvel[0])}
    exec(snippet("tribo.torch"), names)
    assert torch.isfinite(names["ctrl"].grad).all() and names["ctrl"].grad.abs().max() > 0
