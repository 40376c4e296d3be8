"""The functions `mju_...` on matrices: dense, sparse by rows, and banded."""

from typing import Any

import numpy as np

from .arrays import out, vector

__all__ = [
    "mju_band2Dense",
    "mju_bandDiag",
    "mju_bandMulMatVec",
    "mju_boxQP",
    "mju_cholFactor",
    "mju_cholFactorBand",
    "mju_cholSolve",
    "mju_cholSolveBand",
    "mju_cholUpdate",
    "mju_decodePyramid",
    "mju_dense2Band",
    "mju_dense2sparse",
    "mju_encodePyramid",
    "mju_eye",
    "mju_mulMatMat",
    "mju_mulMatMatT",
    "mju_mulMatTMat",
    "mju_mulMatTVec",
    "mju_mulMatTVec3",
    "mju_mulMatVec",
    "mju_mulMatVec3",
    "mju_mulVecMatVec",
    "mju_printMat",
    "mju_sparse2dense",
    "mju_sqrMatTD",
    "mju_symmetrize",
    "mju_transpose",
]

_TINY = 1e-15


def _matrix(value: Any, name: str) -> Any:
    array = np.asarray(value, np.float64)
    if array.ndim != 2:
        raise TypeError(f"{name}: expected a matrix")
    return array


def _put(res: Any, value: Any) -> None:
    if value.ndim == 1:
        target = out(res, value.shape, "res")
        target[...] = value.reshape(target.shape)
    else:
        out(res, value.shape, "res")[...] = value


def mju_mulMatVec(res: Any, mat: Any, vec: Any) -> None:
    """Matrix times vector."""
    matrix = _matrix(mat, "mat")
    _put(res, matrix @ vector(vec, matrix.shape[1], "vec"))


def mju_mulMatTVec(res: Any, mat: Any, vec: Any) -> None:
    """Transposed matrix times vector."""
    matrix = _matrix(mat, "mat")
    _put(res, matrix.T @ vector(vec, matrix.shape[0], "vec"))


def mju_mulMatVec3(res: Any, mat: Any, vec: Any) -> None:
    """3 x 3 matrix times vector."""
    _put(res, vector(mat, 9, "mat").reshape(3, 3) @ vector(vec, 3, "vec"))


def mju_mulMatTVec3(res: Any, mat: Any, vec: Any) -> None:
    """Transposed 3 x 3 matrix times vector."""
    _put(res, vector(mat, 9, "mat").reshape(3, 3).T @ vector(vec, 3, "vec"))


def mju_mulVecMatVec(vec1: Any, mat: Any, vec2: Any) -> float:
    """vec1' mat vec2."""
    matrix = _matrix(mat, "mat")
    return float(vector(vec1, matrix.shape[0], "vec1") @ matrix @ vector(vec2, matrix.shape[1], "vec2"))


def mju_mulMatMat(res: Any, mat1: Any, mat2: Any) -> None:
    """Product of matrices."""
    _put(res, _matrix(mat1, "mat1") @ _matrix(mat2, "mat2"))


def mju_mulMatMatT(res: Any, mat1: Any, mat2: Any) -> None:
    """mat1 mat2'."""
    _put(res, _matrix(mat1, "mat1") @ _matrix(mat2, "mat2").T)


def mju_mulMatTMat(res: Any, mat1: Any, mat2: Any) -> None:
    """mat1' mat2."""
    _put(res, _matrix(mat1, "mat1").T @ _matrix(mat2, "mat2"))


def mju_sqrMatTD(res: Any, mat: Any, diag: Any) -> None:
    """Mat' diag mat, or mat' mat."""
    matrix = _matrix(mat, "mat")
    scaled = matrix if diag is None else vector(diag, matrix.shape[0], "diag")[:, None] * matrix
    _put(res, matrix.T @ scaled)


def mju_transpose(res: Any, mat: Any) -> None:
    """Transposed matrix."""
    _put(res, _matrix(mat, "mat").T.copy())


def mju_symmetrize(res: Any, mat: Any) -> None:
    """(mat + mat') / 2."""
    matrix = _matrix(mat, "mat")
    _put(res, (matrix + matrix.T) / 2)


def mju_eye(mat: Any) -> None:
    """The identity."""
    _put(mat, np.eye(len(mat)))


def mju_printMat(mat: Any) -> None:
    """Print a matrix."""
    print(_matrix(mat, "mat"))


# ---- factors --------------------------------------------------------------------------------------


def mju_cholFactor(mat: Any, mindiag: float) -> int:
    """Cholesky factor in the lower triangle, in place; returns the rank."""
    n, rank = len(mat), len(mat)
    target = out(mat, (n, n), "mat")
    for j in range(n):
        pivot = target[j, j] - target[j, :j] @ target[j, :j]
        if pivot < mindiag:
            pivot, rank = mindiag, rank - 1
        target[j, j] = np.sqrt(pivot)
        target[j + 1 :, j] = (target[j + 1 :, j] - target[j + 1 :, :j] @ target[j, :j]) / target[j, j]
    return rank


def _substitute(lower: Any, right: Any) -> Any:
    x = np.array(right, np.float64)
    n = len(lower)
    for i in range(n):
        x[i] = (x[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    for i in range(n - 1, -1, -1):
        x[i] = (x[i] - lower[i + 1 :, i] @ x[i + 1 :]) / lower[i, i]
    return x


def mju_cholSolve(res: Any, mat: Any, vec: Any) -> None:
    """Solve with a factor of mju_cholFactor."""
    matrix = _matrix(mat, "mat")
    _put(res, _substitute(matrix, vector(vec, len(matrix), "vec")))


def mju_cholUpdate(mat: Any, x: Any, flg_plus: int) -> int:
    """Factor of mat mat' + x x' (or - x x'), in place; returns the rank."""
    lower = np.tril(_matrix(mat, "mat"))
    v = vector(x, len(lower), "x")
    square = lower @ lower.T + (1 if flg_plus else -1) * np.outer(v, v)
    upper = np.triu(mat, 1)
    target = out(mat, lower.shape, "mat")
    target[...] = square
    rank = mju_cholFactor(target, _TINY)
    target[...] = np.tril(target) + upper
    return rank


def mju_boxQP(res: Any, R: Any, index: Any, H: Any, g: Any, lower: Any, upper: Any) -> int:
    """Minimum of x'Hx/2 + x'g within bounds; returns the number of free coordinates, -1 on failure."""
    hessian, gradient = _matrix(H, "H"), vector(g, len(H), "g")
    n = len(gradient)
    low = np.full(n, -np.inf) if lower is None else vector(lower, n, "lower")
    high = np.full(n, np.inf) if upper is None else vector(upper, n, "upper")
    x = np.clip(np.array(res, np.float64).reshape(-1), low, high)
    free = np.ones(n, bool)
    for _ in range(100):
        slope = hessian @ x + gradient
        held = ((x <= low) & (slope > 0)) | ((x >= high) & (slope < 0))
        free = ~held
        if not free.any() or np.linalg.norm(slope[free]) < 1e-14:
            break
        try:
            np.linalg.cholesky(hessian[np.ix_(free, free)])
        except np.linalg.LinAlgError:
            return -1
        step = np.zeros(n)
        step[free] = -np.linalg.solve(hessian[np.ix_(free, free)], slope[free])
        before, scale, cost = x, 1.0, 0.5 * x @ hessian @ x + gradient @ x
        while scale > 1e-12:
            x = np.clip(before + scale * step, low, high)
            if 0.5 * x @ hessian @ x + gradient @ x <= cost:
                break
            scale *= 0.6
        if np.array_equal(x, before):
            break
    count = int(free.sum())
    _put(res, x)
    if index is not None:
        index[:count] = np.flatnonzero(free)
    if count:
        R.reshape(-1)[: count * count] = np.linalg.cholesky(hessian[np.ix_(free, free)]).reshape(-1)
    return count


# ---- sparse ---------------------------------------------------------------------------------------


def mju_dense2sparse(res: Any, mat: Any, rownnz: Any, rowadr: Any, colind: Any) -> int:
    """A matrix as rows of its nonzero entries; returns 1 if there is no room."""
    at = 0
    for i, row in enumerate(_matrix(mat, "mat")):
        columns = np.flatnonzero(row)
        if at + len(columns) > res.size:
            return 1
        rownnz[i], rowadr[i] = len(columns), at
        res[at : at + len(columns)] = row[columns]
        colind[at : at + len(columns)] = columns
        at += len(columns)
    return 0


def mju_sparse2dense(res: Any, mat: Any, rownnz: Any, rowadr: Any, colind: Any) -> None:
    """A matrix from rows of its nonzero entries."""
    out(res, res.shape, "res")[...] = 0
    for i, (first, count) in enumerate(zip(rowadr, rownnz, strict=True)):
        res[i, colind[first : first + count]] = mat[first : first + count]


# ---- banded: each row of the band, its diagonal last, then dense rows -----------------------------


def mju_bandDiag(i: int, ntotal: int, nband: int, ndense: int) -> int:
    """Address of a diagonal entry in a banded matrix."""
    sparse = ntotal - ndense
    if i < sparse:
        return i * nband + nband - 1
    return sparse * nband + (i - sparse) * ntotal + i


def _band_rows(ntotal: int, nband: int, ndense: int) -> Any:
    """Row, columns and address of the first of them."""
    for i in range(ntotal):
        width = min(i + 1, nband) if i < ntotal - ndense else i + 1
        yield i, slice(i + 1 - width, i + 1), mju_bandDiag(i, ntotal, nband, ndense) + 1 - width


def mju_dense2Band(res: Any, mat: Any, ntotal: int, nband: int, ndense: int) -> None:
    """A symmetric matrix as a banded one."""
    matrix, target = _matrix(mat, "mat"), out(res, res.shape, "res")
    target[...] = 0
    for i, columns, at in _band_rows(ntotal, nband, ndense):
        target[at : at + columns.stop - columns.start] = matrix[i, columns]


def _dense(mat: Any, ntotal: int, nband: int, ndense: int, symmetric: bool) -> Any:
    matrix = np.zeros((ntotal, ntotal))
    for i, columns, at in _band_rows(ntotal, nband, ndense):
        matrix[i, columns] = mat[at : at + columns.stop - columns.start]
    return np.tril(matrix) + np.tril(matrix, -1).T if symmetric else matrix


def mju_band2Dense(res: Any, mat: Any, ntotal: int, nband: int, ndense: int, flg_sym: int) -> None:
    """A banded matrix as a dense one."""
    out(res, (ntotal, ntotal), "res")[...] = _dense(mat, ntotal, nband, ndense, bool(flg_sym))


def mju_bandMulMatVec(
    res: Any, mat: Any, vec: Any, ntotal: int, nband: int, ndense: int, nvec: int, flg_sym: int
) -> None:
    """A banded matrix times vectors."""
    rows = np.asarray(vec, np.float64).reshape(nvec, ntotal)
    res[...] = (rows @ _dense(mat, ntotal, nband, ndense, bool(flg_sym)).T).reshape(res.shape)


def mju_cholFactorBand(
    mat: Any, ntotal: int, nband: int, ndense: int, diagadd: float, diagmul: float
) -> float:
    """Cholesky factor of a banded matrix, in place; returns the smallest diagonal entry, 0 on failure."""
    matrix = _dense(mat, ntotal, nband, ndense, True)
    diagonal = matrix.diagonal().copy()
    matrix[np.diag_indices(ntotal)] += diagadd + diagmul * diagonal
    try:
        lower = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return 0.0
    mju_dense2Band(mat, lower, ntotal, nband, ndense)
    return float(lower.diagonal().min())


def mju_cholSolveBand(res: Any, mat: Any, vec: Any, ntotal: int, nband: int, ndense: int) -> None:
    """Solve with a factor of mju_cholFactorBand."""
    lower = _dense(mat, ntotal, nband, ndense, False)
    res[...] = _substitute(lower, vector(vec, ntotal, "vec")).reshape(res.shape)


# ---- friction pyramids ----------------------------------------------------------------------------


def mju_encodePyramid(pyramid: Any, force: Any, mu: Any) -> None:
    """Edges of a pyramid from a force with its normal first."""
    f, coefficients = vector(force, None, "force"), vector(mu, None, "mu")
    n = f.size - 1
    share = f[0] / n
    tangents = np.clip(f[1:] / coefficients[:n], -share, share)
    pyramid[0 : 2 * n : 2] = (share + tangents) / 2
    pyramid[1 : 2 * n : 2] = (share - tangents) / 2


def mju_decodePyramid(force: Any, pyramid: Any, mu: Any) -> None:
    """A force from the edges of a pyramid."""
    edges, coefficients = vector(pyramid, None, "pyramid"), vector(mu, None, "mu")
    n = np.size(force) - 1
    force[0] = edges.sum()
    if n:
        force[1:] = (edges[0::2] - edges[1::2]) * coefficients[:n]
