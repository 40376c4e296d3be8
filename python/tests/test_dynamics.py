import numpy as np
import pytest

import tribo


@pytest.fixture
def moving(quadruped):
    m, d = quadruped
    d.qvel = np.random.default_rng(0).normal(size=m.nv) * 0.3
    tribo.forward(m, d)
    return m, d


def test_m_is_the_matrix_of_its_products(moving):
    m, d = moving
    M = tribo.full_m(m, d)
    assert M.shape == (m.nv, m.nv) and np.allclose(M, M.T)
    v = np.random.default_rng(1).normal(size=m.nv)
    assert np.allclose(M @ v, tribo.mul_m(m, d, v))
    tribo.factor_m(m, d)
    assert np.allclose(tribo.solve_m(m, d, M @ v), v)
    assert np.allclose(
        tribo.solve_m(m, d, np.stack([M @ v, v])), np.linalg.solve(M, np.stack([M @ v, v]).T).T
    )
    with pytest.raises(ValueError):
        tribo.mul_m(m, d, v[:-1])


def test_newton_euler_and_articulated_bodies_are_inverse(moving):
    m, d = moving
    qacc = np.random.default_rng(2).normal(size=m.nv)
    tau = tribo.rne(m, d, qacc)
    assert np.allclose(tau, tribo.full_m(m, d) @ qacc + d.qfrc_bias)
    assert np.allclose(tribo.aba(m, d, tau), qacc)


def test_jacobians_map_velocities(moving):
    m, d = moving
    for body in (1, "FL_KFE" if m.name2id(tribo.ObjType.BODY, "FL_KFE") >= 0 else 4):
        jacp, jacr = tribo.jac_body(m, d, body)
        assert jacp.shape == jacr.shape == (3, m.nv)
        id = body if isinstance(body, int) else m.body(body).id
        velocity = tribo.object_velocity(m, d, tribo.ObjType.XBODY, id)
        assert np.allclose(jacr @ d.qvel, velocity[:3]) and np.allclose(jacp @ d.qvel, velocity[3:])
        both = tribo.jac(m, d, body, d.xpos[id])
        assert np.allclose(both[0], jacp)
    step = 1e-7
    before = d.subtree_com[1].copy()
    com = tribo.jac_subtree_com(m, d, 1)
    v = d.qvel.copy()
    d.qpos = tribo.integrate_pos(m, d.qpos, v, step)
    tribo.forward(m, d)
    assert np.allclose((d.subtree_com[1] - before) / step, com @ v, atol=1e-5)
    with pytest.raises(KeyError):
        tribo.jac_geom(m, d, "nothing")
    with pytest.raises(IndexError):
        tribo.jac_site(m, d, 10**6)
    with pytest.raises(IndexError):
        tribo.jac_body(m, d, -1)
    with pytest.raises(IndexError):
        tribo.object_velocity(m, d, tribo.ObjType.GEOM, m.ngeom)
    with pytest.raises(ValueError):
        tribo.object_acceleration(m, d, tribo.ObjType.KEY, 0)


def test_positions_integrate_and_differentiate(moving):
    m, d = moving
    q = tribo.integrate_pos(m, d.qpos, d.qvel, 0.1)
    assert np.allclose(tribo.differentiate_pos(m, 0.1, d.qpos, q), d.qvel)
    assert np.allclose(tribo.normalize_quat(m, q), q)


def test_rays_and_distances(m, d):
    tribo.forward(m, d)
    x, geom, normal = tribo.ray(m, d, [1, 0, 3], [0, 0, -1])
    assert geom == m.geom("sphere").id and x == pytest.approx(3 - 0.199) and np.allclose(normal, [0, 0, 1])
    x, geom, _ = tribo.ray(m, d, [1, 0, 3], [0, 0, 1])
    assert x == -1 and geom == -1
    distance, fromto = tribo.geom_distance(m, d, "floor", "sphere")
    assert distance == pytest.approx(-0.001) and fromto.shape == (6,)
    assert [list(p) for p in tribo.pairs(m, d)] == [[0, 2]]
    tribo.find_contacts(m, d)
    assert d.ncon == 1
    with pytest.raises(ValueError):
        tribo.ray(m, d, [1, 0], [0, 0, 1])


def test_inverse_dynamics_gives_the_forces_of_a_step(quadruped):
    m, d = quadruped
    tribo.step(m, d, 100)
    tribo.forward(m, d)
    qacc = d.qacc.copy()
    qfrc, info = tribo.inverse(m, d, qacc)
    assert qfrc.shape == (m.nv,) and isinstance(info["feasible"], bool)
    found = tribo.inverse(m, d, qacc)
    assert isinstance(found, tribo.InverseResult) and np.array_equal(found.qfrc, qfrc)
    assert found.feasible == info["feasible"] and found.info == info and "qfrc" not in info
    assert found.iterations > 0 and found.residual >= 0 and "feasible=" in repr(found)
    m.opt.law = "viscoelastic"
    with pytest.raises(NotImplementedError):
        tribo.inverse(m, d, qacc)


def test_derivatives_agree_with_differences(m, d):
    d.qpos[3] = 2
    d.qvel[:] = 0.3
    r = tribo.derivatives(m, d)
    A, B = tribo.step_differences(m, d)
    assert r.A.shape == (2 * m.nv, 2 * m.nv) and r.B.shape == (2 * m.nv, m.nu)
    assert r.A is r.A and r.info.differentiable
    assert np.allclose(r.A, A, atol=1e-6) and np.allclose(r.B, B, atol=1e-6)
    rng = np.random.default_rng(0)
    dx, du, y = rng.normal(size=2 * m.nv), rng.normal(size=m.nu), rng.normal(size=2 * m.nv)
    assert np.allclose(r.apply(dx, du), r.A @ dx + r.B @ du)
    assert np.allclose(r.apply(du=du), r.B @ du)
    back = r.apply_transposed(y)
    assert np.allclose(back["dx"], r.A.T @ y) and np.allclose(back["du"], r.B.T @ y)
    assert r.force(np.ones(m.nv)).shape == (2 * m.nv,) and r.acceleration()[0].shape == (m.nv, m.nv)
    assert r.inertial(1).shape == (2 * m.nv, 10)
    with pytest.raises(ValueError):
        r.apply(dx[:-1])
