import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import tribo
from tribo import fclib


def random_problem(contacts: int, seed: int):
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(3 * contacts, 3 * contacts + 3))
    return J @ J.T, rng.normal(size=3 * contacts), rng.uniform(0.1, 1, size=contacts)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 8), st.integers(0, 10**6), st.sampled_from(["ncp", "ccp"]))
def test_solutions_satisfy_their_law(contacts, seed, law):
    G, g, mu = random_problem(contacts, seed)
    s = tribo.solve(G, g, mu, law=law, tol=1e-8)
    assert s.converged and s.info.law == law
    assert np.allclose(s.velocity, G @ s.impulse + g)
    f = s.impulse.reshape(-1, 3)
    assert (np.linalg.norm(f[:, 1:], axis=1) <= mu * f[:, 0] + 1e-6).all()
    assert tribo.problem(G, g, mu).residual(s.impulse, law).relative <= 1e-8
    sparse = tribo.solve(sp.csr_matrix(G), g, mu, law=law, tol=1e-8)
    assert np.allclose(sparse.velocity, s.velocity, atol=1e-5)


@pytest.mark.parametrize("law,solver", tribo.solvers())
def test_every_registered_solver_is_reachable(law, solver):
    G, g, mu = random_problem(3, 5)
    s = tribo.solve(G, g, mu, law=law, solver=solver, max_iter=20000)
    assert s.info.residual.relative < 1e-3


def test_solvers_of_a_law_are_names():
    pairs = tribo.solvers()
    for law in dict(pairs):
        assert tribo.solvers(law) == [solver for of, solver in pairs if of == law]
    assert "pgs" in tribo.solvers("ncp")
    assert tribo.solvers("NCP") == tribo.solvers(tribo.Law.NCP) == tribo.solvers("ncp")
    with pytest.raises(ValueError, match="laws with solvers: ncp"):
        tribo.solvers("npc")


def test_blocks_of_every_kind():
    blocks = [
        tribo.Block("equality", 1),
        tribo.Block("one_sided", 1),
        tribo.Block("box", 1, lower=-0.5, upper=0.5),
        tribo.Block("cone", 3, mu=[0.5, 0.4]),
    ]
    p = tribo.problem(np.eye(6), [1.0, 2.0, 3.0, -1.0, 0.0, 4.0], blocks=blocks)
    assert p.n == 6 and [b.dim for b in p.blocks] == [1, 1, 1, 3] and p.blocks[3].mu == (0.5, 0.4)
    s = p.solve(tol=1e-12)
    assert np.allclose(s.impulse[:3], [-1, 0, -0.5])
    assert np.array_equal(p.velocity(s.impulse), s.velocity)
    assert np.allclose(p.g, [1, 2, 3, -1, 0, 4])


def test_mass_and_jacobian_make_the_same_problem():
    rng = np.random.default_rng(0)
    M, J = sp.diags(rng.uniform(1, 2, 9)).tocsr(), sp.csr_matrix(rng.normal(size=(6, 9)))
    v = rng.normal(size=9)
    p = tribo.Problem.from_mass(M, J, v, 0.5)
    G = (J @ sp.diags(1 / M.diagonal()) @ J.T).toarray()
    assert np.allclose(p.velocity(np.ones(6)), G @ np.ones(6) + J @ v)


def test_bad_problems_are_refused():
    G, g, mu = random_problem(2, 0)
    for arguments in (
        (G[:-1], g, mu),
        (G, g[:-1], mu),
        (G, g, mu[:-1]),
        (G * np.nan, g, mu),
        (-G, g, mu),
        (G, g, -mu),
    ):
        with pytest.raises(ValueError):
            tribo.solve(*arguments)
    with pytest.raises(tribo.Error, match="solver"):
        tribo.solve(G, g, mu, solver="nothing")
    with pytest.raises(tribo.Error):
        tribo.solve(G, g, mu, tolerance=1)
    with pytest.raises(TypeError):
        tribo.solve(G, g)


def test_history_and_guess():
    G, g, mu = random_problem(5, 1)
    s = tribo.solve(G, g, mu, solver="pgs", history=50, tol=1e-6)
    assert 0 < len(s.history) <= 50 and s.history[-1][2].relative <= s.history[0][2].relative
    again = tribo.solve(G, g, mu, solver="pgs", guess=s.impulse, tol=1e-6)
    assert again.info.iterations <= 2


def test_the_problem_of_a_step(quadruped):
    m, d = quadruped
    tribo.step(m, d, 50)
    tribo.forward(m, d)
    p = tribo.step_problem(m, d)
    s = p.solve(tol=1e-10)
    normal = sum(c.force[0] for c in d.contact) * m.opt.timestep
    assert s.impulse.reshape(-1, 3)[:, 0].sum() == pytest.approx(normal, rel=1e-3)
    m.opt.law = "soft"
    tribo.forward(m, d)
    with pytest.raises(tribo.Error):
        tribo.step_problem(m, d)


def test_files_hold_problems(tmp_path):
    G, g, mu = random_problem(3, 4)
    path = tmp_path / "problem.hdf5"
    p = tribo.problem(G, g, mu)
    try:
        fclib.write(p, path)
    except tribo.UnsupportedError:
        pytest.skip("no HDF5 library")
    q = fclib.read(path)
    assert np.allclose(q.g, g) and np.allclose(q.velocity(g), G @ g + g)
    f = fclib.load(path)
    assert f.contacts == 3 and f.spacedim == 3 and np.allclose(f.mu, mu)
    assert fclib.guess_count(path) == 0
    with pytest.raises(fclib.NoSolutionError, match="no solution"):
        fclib.read_solution(path)
    with pytest.raises(LookupError, match="no guess 2; guesses: 0"):
        fclib.read_solution(path, 2)
    with pytest.raises(OSError):
        fclib.read_solution(tmp_path / "nothing.hdf5")
    with pytest.raises(OSError):
        fclib.read(tmp_path / "nothing.hdf5")
