// Contact problems of one's own, and files of them.
#include <cmath>
#include <cstring>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "array.h"
#include "bind.h"
#include "error.h"
#include "memory.h"
#include "path.h"

struct Problem {
  std::shared_ptr<tbProblem> of;
  bool busy = false;
  explicit Problem(tbProblem* problem) : of(problem, tb_problem_free) {}
};

static Problem* made(tbProblem* problem, const tbError& error) {
  if (!problem) raise(error.code, error.message);
  return new Problem(problem);
}

// Blocks from tuples (type, dim, mu..., lower, upper): five coefficients, two bounds.
static std::vector<tbBlock> blocks_of(nb::list rows) {
  std::vector<tbBlock> blocks;
  int row = 0;
  for (nb::handle item : rows) {
    nb::tuple t = nb::borrow<nb::tuple>(item);
    tbBlock block{};
    block.type = nb::cast<int>(t[0]);
    block.dim = nb::cast<int>(t[1]);
    block.row = row;
    for (int i = 0; i < TB_MAX_BLOCK_DIM - 1; i++) block.mu[i] = nb::cast<double>(t[2][i]);
    block.lower = nb::cast<double>(t[3]);
    block.upper = nb::cast<double>(t[4]);
    row += block.dim;
    blocks.push_back(block);
  }
  return blocks;
}

static int rows_of(const std::vector<tbBlock>& blocks) {
  int rows = 0;
  for (const tbBlock& block : blocks) rows += block.dim;
  return rows;
}

static Problem* from_dense(nb::handle G, nb::handle g, nb::list rows, nb::handle R) {
  std::vector<tbBlock> blocks = blocks_of(rows);
  int n = rows_of(blocks);
  Reals matrix(G, (long)n * n, "G"), velocity(g, n, "g"), compliance(R, n, "R", true);
  tbError error;
  return made(tb_problem_create_dense((int)blocks.size(), blocks.data(), matrix.data(),
                                      compliance.data(), velocity.data(), &error),
              error);
}

// Compressed rows with checked sizes: the library checks columns and values.
struct Rows {
  std::vector<int> start, column;
  Reals value;
  Rows(nb::handle indptr, nb::handle indices, nb::handle data, const char* name)
      : start(integers(indptr, name)), column(integers(indices, name)), value(data, -1, name) {
    bool sound = !start.empty() && start[0] == 0 && start.back() == (int)column.size() &&
                 column.size() == value.size();
    for (size_t i = 1; sound && i < start.size(); i++) sound = start[i] >= start[i - 1];
    if (!sound)
      throw nb::value_error((std::string(name) + ": inconsistent compressed rows").c_str());
  }
};

static Problem* from_csr(nb::tuple G, nb::handle g, nb::list rows, nb::handle R) {
  std::vector<tbBlock> blocks = blocks_of(rows);
  int n = rows_of(blocks);
  Rows matrix(G[0], G[1], G[2], "G");
  if ((int)matrix.start.size() != n + 1) throw nb::value_error("G: expected a row for each of g");
  Reals velocity(g, n, "g"), compliance(R, n, "R", true);
  tbError error;
  return made(tb_problem_create_csr((int)blocks.size(), blocks.data(), matrix.start.data(),
                                    matrix.column.data(), matrix.value.data(), compliance.data(),
                                    velocity.data(), &error),
              error);
}

static Problem* from_mass(nb::tuple M, nb::tuple J, nb::handle v_free, nb::list rows, nb::handle R,
                          nb::handle gamma) {
  std::vector<tbBlock> blocks = blocks_of(rows);
  int n = rows_of(blocks);
  Rows mass(M[0], M[1], M[2], "M"), jacobian(J[0], J[1], J[2], "J");
  int nv = (int)mass.start.size() - 1;
  if ((int)jacobian.start.size() != n + 1) throw nb::value_error("J: expected a row per impulse");
  Reals velocity(v_free, nv, "v_free"), compliance(R, n, "R", true), extra(gamma, n, "gamma", true);
  tbError error;
  return made(tb_problem_create_mass((int)blocks.size(), blocks.data(), nv, mass.start.data(),
                                     mass.column.data(), mass.value.data(), jacobian.start.data(),
                                     jacobian.column.data(), jacobian.value.data(),
                                     compliance.data(), velocity.data(), extra.data(), &error),
              error);
}

static nb::dict residual_dict(const tbResidual& r) {
  nb::dict d;
  d["primal"] = r.primal;
  d["dual"] = r.dual;
  d["complementarity"] = r.complementarity;
  d["relative"] = r.relative;
  return d;
}

static nb::tuple solve(Problem& problem, nb::dict settings, nb::handle guess, int history) {
  const tbProblem* p = problem.of.get();
  tbSolveSettings s = tbDefaultSolveSettings();
  tbError error;
  std::vector<std::string> texts;
  texts.reserve(settings.size());
  for (auto [key, value] : settings) {
    texts.push_back(nb::cast<std::string>(nb::str(value)));
    check(
        tb_solve_settings_set(&s, nb::cast<std::string>(key).c_str(), texts.back().c_str(), &error),
        error);
  }
  std::vector<tbSolveHistory> rows(history > 0 ? history : 0);
  s.history = rows.empty() ? nullptr : rows.data();
  s.history_capacity = (int)rows.size();
  tbReal *lambda, *sigma;
  nb::object impulse = array_new({(size_t)p->n}, &lambda);
  nb::object velocity = array_new({(size_t)p->n}, &sigma);
  Reals first(guess, p->n, "guess", true);
  if (first.data()) {
    memcpy(lambda, first.data(), sizeof(tbReal) * p->n);
    s.warm_start = 1;
  }
  tbSolveInfo info{};
  tbResult result;
  {
    nb::gil_scoped_release release;
    result = tb_solve(p, &s, lambda, nullptr, &info, &error);
    if (result == TB_OK) result = tb_problem_velocity(p, lambda, sigma, &error);
  }
  check(result, error);
  nb::list past;
  for (int i = 0; i < info.history_count; i++)
    past.append(nb::make_tuple(rows[i].iteration, rows[i].seconds, residual_dict(rows[i].residual),
                               rows[i].penalty));
  nb::tuple about =
      nb::make_tuple(info.status, info.law ? info.law : "", info.solver ? info.solver : "",
                     info.iterations, info.factorizations, info.seconds,
                     residual_dict(info.residual), residual_dict(info.residual_exact));
  return nb::make_tuple(impulse, velocity, about, past);
}

static nb::dict residual(const Problem& problem, nb::handle impulse, const char* law) {
  const tbProblem* p = problem.of.get();
  Reals lambda(impulse, p->n, "impulse");
  tbLaw which = tb_law_find(law);
  if (which == TB_LAW_COUNT) raise(TB_ERROR_ARGUMENT, "law: expected ncp, ccp, lcp or raisim");
  std::vector<tbReal> sigma(p->n);
  tbError error;
  check(tb_problem_velocity(p, lambda.data(), sigma.data(), &error), error);
  return residual_dict(tb_residual(p, which, lambda.data(), sigma.data()));
}

static nb::object velocity(const Problem& problem, nb::handle impulse) {
  const tbProblem* p = problem.of.get();
  Reals lambda(impulse, p->n, "impulse");
  tbReal* sigma;
  nb::object result = array_new({(size_t)p->n}, &sigma);
  tbError error;
  check(tb_problem_velocity(p, lambda.data(), sigma, &error), error);
  return result;
}

static nb::object free_velocity(const Problem& problem) {
  return array_copy(problem.of->g, "real", {(size_t)problem.of->n});
}

static nb::list blocks(const Problem& problem) {
  nb::list list;
  for (int i = 0; i < problem.of->nblock; i++) {
    const tbBlock& b = problem.of->block[i];
    nb::list mu;
    for (int k = 0; k < b.dim - 1 && b.type == TB_BLOCK_CONE; k++) mu.append(b.mu[k]);
    list.append(nb::make_tuple(b.type, b.row, b.dim, nb::tuple(mu), b.lower, b.upper));
  }
  return list;
}

// ---- files --------------------------------------------------------------------------------------

struct Fclib {
  std::shared_ptr<tbFclib> of;
  explicit Fclib(tbFclib* fclib) : of(fclib, tb_fclib_free) {}
};

static nb::object vector_or_none(const tbReal* values, int count) {
  if (!values) return nb::none();
  return array_copy(values, "real", {(size_t)count});
}

static nb::dict solution(const Fclib& f, const Path& path, int guess) {
  tbFclibSolution s{};
  tbError error;
  check(tb_fclib_read_solution(path.c_str(), f.of.get(), guess, &s, &error), error);
  int rows = f.of->spacedim * f.of->contacts;
  nb::dict d;
  d["v"] = vector_or_none(s.v, f.of->M.rows);
  d["u"] = vector_or_none(s.u, rows);
  d["r"] = vector_or_none(s.r, rows);
  d["l"] = vector_or_none(s.l, f.of->global ? f.of->G.cols : f.of->V.cols);
  tb_fclib_solution_free(&s);
  return d;
}

static void bind_fclib(nb::module_& m) {
  nb::class_<Fclib> c(m, "Fclib", "The contents of an FCLIB file.");
  c.def_static(
      "read",
      [](const Path& path) {
        tbFclib* fclib = nullptr;
        tbError error;
        check(tb_fclib_read(path.c_str(), &fclib, &error), error);
        return new Fclib(fclib);
      },
      nb::arg("path"), "Read the local or global problem of a file.");
  c.def_static(
      "of_problem",
      [](const Problem& problem) {
        tbFclib* fclib = nullptr;
        tbError error;
        check(tb_fclib_of_problem(problem.of.get(), &fclib, &error), error);
        return new Fclib(fclib);
      },
      nb::arg("problem"), "A problem as a local problem of FCLIB.");
  c.def(
      "write",
      [](const Fclib& f, const Path& path, int encoding) {
        tbError error;
        check(tb_fclib_write(f.of.get(), (tbFclibEncoding)encoding, path.c_str(), &error), error);
      },
      nb::arg("path"), nb::arg("encoding") = (int)TB_FCLIB_CSC, "Write a new file.");
  c.def(
      "problem",
      [](const Fclib& f) {
        tbProblem* problem = nullptr;
        tbError error;
        check(tb_fclib_problem(f.of.get(), &problem, &error), error);
        return new Problem(problem);
      },
      "The contact problem: a cone per contact, then the equalities.");
  c.def("_solution", &solution, nb::arg("path"), nb::arg("guess"));
  c.def_prop_ro(
      "contacts", [](const Fclib& f) { return f.of->contacts; }, "Contacts.");
  c.def_prop_ro(
      "spacedim", [](const Fclib& f) { return f.of->spacedim; }, "Rows of a contact.");
  c.def_prop_ro(
      "is_global", [](const Fclib& f) { return f.of->global != 0; },
      "Whether bodies are unknowns too.");
  c.def_prop_ro(
      "mu", [](const Fclib& f) { return vector_or_none(f.of->mu, f.of->contacts); },
      nb::sig("def mu(self) -> " TB_ARRAY), "Friction coefficients, shape (contacts,).");
  c.def_prop_ro(
      "title", [](const Fclib& f) { return f.of->title ? f.of->title : ""; }, "Its title.");
  c.def_prop_ro(
      "description", [](const Fclib& f) { return f.of->description ? f.of->description : ""; },
      "Its description.");
  m.def("_fclib_guess_count", [](const Path& path) {
    int count;
    tbError error;
    check(tb_fclib_guess_count(path.c_str(), &count, &error), error);
    return count;
  });
}

void bind_problem(nb::module_& m) {
  nb::class_<Problem> c(m, "Problem", "A contact problem: blocks of impulses, G, R and g.");
  c.def_static("_dense", &from_dense, nb::arg("G"), nb::arg("g"), nb::arg("blocks"),
               nb::arg("R").none());
  c.def_static("_csr", &from_csr, nb::arg("G"), nb::arg("g"), nb::arg("blocks"),
               nb::arg("R").none());
  c.def_static("_mass", &from_mass, nb::arg("M"), nb::arg("J"), nb::arg("v_free"),
               nb::arg("blocks"), nb::arg("R").none(), nb::arg("gamma").none());
  c.def("_solve", &solve, nb::arg("settings"), nb::arg("guess").none(), nb::arg("history"));
  c.def("_residual", &residual, nb::arg("impulse"), nb::arg("law"));
  c.def("velocity", &velocity, nb::arg("impulse"),
        nb::sig("def velocity(self, impulse: numpy.typing.ArrayLike) -> " TB_ARRAY),
        "(G + R) impulse + g, m/s, shape (n,).");
  c.def_prop_ro(
      "n", [](const Problem& p) { return p.of->n; }, "Rows.");
  c.def_prop_ro("g", &free_velocity, nb::sig("def g(self) -> " TB_ARRAY),
                "Free velocity, m/s, shape (n,); a copy.");
  c.def_prop_ro("_blocks", &blocks);
  m.def(
      "step_problem",
      [](Model& model, Data& data) {
        tbModel* raw = model_of(model, data);
        Busy busy(data);
        tbError error;
        return made(tb_step_problem(raw, data.get(), &error), error);
      },
      nb::arg("m"), nb::arg("d"),
      "The contact problem of the state at which forward was last called under a rigid law.");
  nb::list solvers;
  for (int i = 0; i < tb_solver_count(); i++)
    solvers.append(nb::make_tuple(tb_law_name(tb_solver_law(i)), tb_solver_name(i)));
  m.attr("solvers") = solvers;
  nb::list settings;
#define X(type, name, value, allowed, meaning) \
  settings.append(nb::make_tuple(#name, #type, meaning));
  TB_SOLVE_SETTINGS(X)
#undef X
  m.attr("solve_settings") = settings;
  bind_fclib(m);
}
