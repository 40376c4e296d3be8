// Gradients of whole trajectories, and derivatives of the rigid-body algorithms.
//
// A tape keeps the states of a forward pass over the worlds of a batch; its backward pass goes
// through the steps in reverse by transposed products of each step's linearisation, without A and
// B. The sensitivities of a trajectory by parameters of the model go forward with the steps.
#include <algorithm>
#include <cstring>
#include <mutex>

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "array.h"
#include "batch.h"
#include "bind.h"
#include "error.h"
#include "memory.h"

using Row = std::vector<tbReal>;

// ---- the tangent space of qpos ------------------------------------------------------------------

// The product of a quaternion with the unit vector k, (0, e_k).
static void turn(const tbReal* q, int k, tbReal out[4]) {
  static const int from[3][4] = {{1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
  static const int sign[3][4] = {{-1, 1, 1, -1}, {-1, -1, 1, 1}, {-1, 1, -1, 1}};
  for (int i = 0; i < 4; i++) out[i] = sign[k][i] * q[from[k][i]];
}

// y (nv) += the transpose of d qpos / d (displacement) times g (nq).
static void pull_back(const tbModel* m, const tbReal* qpos, const tbReal* g, tbReal* y) {
  for (int j = 0; j < m->njnt; j++) {
    int at = m->jnt_qposadr[j], dof = m->jnt_dofadr[j], type = m->jnt_type[j];
    int straight = type == TB_JOINT_FREE ? 3 : type == TB_JOINT_BALL ? 0 : 1;
    for (int i = 0; i < straight; i++) y[dof + i] += g[at + i];
    if (type != TB_JOINT_FREE && type != TB_JOINT_BALL) continue;
    const tbReal* q = qpos + at + straight;
    for (int k = 0; k < 3; k++) {
      tbReal e[4], sum = 0;
      turn(q, k, e);
      for (int i = 0; i < 4; i++) sum += e[i] * g[at + straight + i];
      y[dof + straight + k] += sum / 2;
    }
  }
}

// g (nq) = the transpose of d (displacement) / d qpos times y (nv), where quaternions of any length
// stand for their direction.
static void push_out(const tbModel* m, const tbReal* qpos, const tbReal* y, tbReal* g) {
  for (int j = 0; j < m->njnt; j++) {
    int at = m->jnt_qposadr[j], dof = m->jnt_dofadr[j], type = m->jnt_type[j];
    int straight = type == TB_JOINT_FREE ? 3 : type == TB_JOINT_BALL ? 0 : 1;
    for (int i = 0; i < straight; i++) g[at + i] = y[dof + i];
    if (type != TB_JOINT_FREE && type != TB_JOINT_BALL) continue;
    const tbReal* q = qpos + at + straight;
    tbReal square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    for (int i = 0; i < 4; i++) g[at + straight + i] = 0;
    for (int k = 0; k < 3; k++) {
      tbReal e[4];
      turn(q, k, e);
      for (int i = 0; i < 4; i++) g[at + straight + i] += 2 / square * e[i] * y[dof + straight + k];
    }
  }
}

// ---- settings -----------------------------------------------------------------------------------

static tbDerivativeSettings settings_of(nb::dict given) {
  tbDerivativeSettings s = tbDefaultDerivativeSettings();
  for (auto [key, value] : given) {
    std::string name = nb::cast<std::string>(key);
    if (value.is_none()) continue;
    if (name == "relaxation")
      s.relaxation = nb::cast<double>(value);
    else if (name == "proximal")
      s.proximal = nb::cast<double>(value);
    else if (name == "mode_tolerance")
      s.mode_tolerance = nb::cast<double>(value);
    else if (name == "samples")
      s.samples = nb::cast<int>(value);
    else if (name == "spread")
      s.spread = nb::cast<double>(value);
    else if (name == "seed")
      s.seed = nb::cast<uint64_t>(value);
    else if (name == "hold_contacts")
      s.hold_contacts = nb::cast<bool>(value);
    else
      throw nb::type_error(("'" + name + "' is no setting of derivatives").c_str());
  }
  return s;
}

// Memory for linearisations, one per thread at a time.
class Pool {
 public:
  ~Pool() {
    for (tbDerivatives* one : free_) tb_derivatives_free(one);
  }
  tbDerivatives* take(const tbModel* m) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!free_.empty()) {
        tbDerivatives* one = free_.back();
        free_.pop_back();
        return one;
      }
    }
    return tb_derivatives_new(m);
  }
  void give(tbDerivatives* one) {
    std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(one);
  }

 private:
  std::mutex mutex_;
  std::vector<tbDerivatives*> free_;
};

// Where the steps of one world were not differentiable.
struct Kinks {
  int count = 0, first = -1, differenced = 0;
  std::string reason;
  void add(const tbDerivativeInfo& info, int step) {
    if (info.finite_differences) differenced++;
    if (info.differentiable) return;
    count++;
    // Steps are visited from either end; the earliest is kept.
    if (first < 0 || step < first) {
      first = step;
      reason = info.reason;
    }
  }
};

static nb::list kinks_list(const std::vector<Kinks>& kinks) {
  nb::list list;
  for (const Kinks& k : kinks)
    list.append(nb::make_tuple(k.count, k.first, k.reason, k.differenced));
  return list;
}

// ---- initial states and inputs ------------------------------------------------------------------

struct Start {
  size_t nworld = 0, steps = 0, nq = 0, nv = 0, na = 0, nu = 0;
  Row qpos, qvel, act, ctrl, force;  // ctrl, force: empty where the batch's own are held

  Start(tbBatch* b, nb::handle q, nb::handle v, nb::handle a, nb::handle u, nb::handle f,
        int nstep) {
    const tbModel* m = b->model;
    if (nstep < 1) throw nb::value_error("nstep: expected 1 or more");
    nworld = (size_t)b->nworld;
    steps = (size_t)nstep;
    nq = (size_t)m->nq;
    nv = (size_t)m->nv;
    na = (size_t)m->na;
    nu = (size_t)m->nu;
    fill(qpos, q, nworld * nq, "qpos");
    fill(qvel, v, nworld * nv, "qvel");
    fill(act, a, nworld * na, "act");
    fill(ctrl, u, nworld * steps * nu, "ctrl");
    fill(force, f, nworld * steps * nv, "qfrc_applied");
    if (qpos.empty() && nq) throw nb::type_error("qpos: expected an array");
    if (qvel.empty() && nv) throw nb::type_error("qvel: expected an array");
    if (act.empty()) act.assign(nworld * na + 1, 0);
  }

  // The world begins without memory of earlier steps, with the batch's mocap poses and forces.
  void begin(const tbModel* m, tbData* d, int w) const {
    Row held;
    auto keep = [&](const tbReal* from, size_t count) {
      held.insert(held.end(), from, from + count);
    };
    size_t nmocap = (size_t)m->nmocap, nuser = (size_t)m->nuserdata, nbody = (size_t)m->nbody;
    keep(d->mocap_pos, 3 * nmocap);
    keep(d->mocap_quat, 4 * nmocap);
    keep(d->userdata, nuser);
    keep(d->ctrl, nu);
    keep(d->qfrc_applied, nv);
    keep(d->xfrc_applied, 6 * nbody);
    std::vector<int> active(d->eq_active, d->eq_active + m->neq);
    tb_reset(m, d);
    const tbReal* at = held.data();
    auto put = [&](tbReal* to, size_t count) {
      memcpy(to, at, sizeof(tbReal) * count);
      at += count;
    };
    put(d->mocap_pos, 3 * nmocap);
    put(d->mocap_quat, 4 * nmocap);
    put(d->userdata, nuser);
    put(d->ctrl, nu);
    put(d->qfrc_applied, nv);
    put(d->xfrc_applied, 6 * nbody);
    if (m->neq) memcpy(d->eq_active, active.data(), sizeof(int) * active.size());
    size_t row = (size_t)w;
    memcpy(d->qpos, qpos.data() + row * nq, sizeof(tbReal) * nq);
    tb_normalize_quat(m, d->qpos);
    memcpy(d->qvel, qvel.data() + row * nv, sizeof(tbReal) * nv);
    memcpy(d->act, act.data() + row * na, sizeof(tbReal) * na);
  }

  void inputs(tbData* d, int w, size_t step) const {
    size_t at = (size_t)w * steps + step;
    if (!ctrl.empty()) memcpy(d->ctrl, ctrl.data() + at * nu, sizeof(tbReal) * nu);
    if (!force.empty()) memcpy(d->qfrc_applied, force.data() + at * nv, sizeof(tbReal) * nv);
  }

 private:
  static void fill(Row& to, nb::handle value, size_t count, const char* name) {
    Reals r(value, (long)count, name, true);
    if (r.data()) to.assign(r.data(), r.data() + count);
  }
};

// ---- the tape -----------------------------------------------------------------------------------

using Bytes = std::vector<unsigned char>;

struct Tape {
  nb::object batch;
  Start start;
  size_t every;
  Row qpos;                                // after each step, nworld x steps x nq
  std::vector<std::vector<Bytes>> states;  // by world: snapshots before every such step
  Row *out_v = nullptr, *out_a = nullptr;

  // Of the backward pass.
  tbDerivativeSettings settings{};
  const tbReal *gq = nullptr, *gv = nullptr, *ga = nullptr;
  tbReal *dq = nullptr, *dv = nullptr, *da = nullptr, *du = nullptr, *df = nullptr, *ds = nullptr;
  std::vector<Kinks> kinks;
  Pool pool;

  Tape(nb::handle of, Start from, size_t apart)
      : batch(nb::borrow(of)), start(std::move(from)), every(apart) {}
  size_t memory() const {
    size_t bytes = sizeof(tbReal) * (qpos.size() + start.ctrl.size() + start.force.size());
    for (const auto& world : states)
      for (const Bytes& one : world) bytes += one.size();
    return bytes;
  }
};

static tbResult save(const tbModel* m, const tbData* d, Bytes& to) {
  to.resize(tb_snapshot_size(m, d));
  return tb_snapshot_save(m, d, to.data(), to.size());
}

static tbResult load(const tbModel* m, tbData* d, const Bytes& from) {
  tbError error;
  tbResult result = tb_snapshot_load(m, d, from.data(), from.size(), &error);
  if (result != TB_OK) snprintf(d->message, sizeof d->message, "%.200s", error.message);
  return result;
}

static tbResult forward_world(const tbModel* m, tbData* d, int w, void* argument) {
  Tape& tape = *static_cast<Tape*>(argument);
  const Start& s = tape.start;
  s.begin(m, d, w);
  for (size_t t = 0; t < s.steps; t++) {
    s.inputs(d, w, t);
    if (t % tape.every == 0) {
      tbResult result = save(m, d, tape.states[w][t / tape.every]);
      if (result != TB_OK) return result;
    }
    tbResult result = tb_step(m, d);
    if (result != TB_OK) return result;
    size_t row = (size_t)w * s.steps + t;
    memcpy(tape.qpos.data() + row * s.nq, d->qpos, sizeof(tbReal) * s.nq);
    memcpy(tape.out_v->data() + row * s.nv, d->qvel, sizeof(tbReal) * s.nv);
    memcpy(tape.out_a->data() + row * s.na, d->act, sizeof(tbReal) * s.na);
  }
  return TB_OK;
}

// What a step takes from the one before besides the state, and derivatives hold; NULL: nothing.
static const char* carried(const tbModel* m, const tbData* d) {
  for (int i = 0; i < 6 * m->neq; i++)
    if (d->eq_load[i] != 0)
      return "the load of a taut connection carries over from step to step and is held";
  for (int i = 0; i < m->ntendon; i++)
    if (d->ten_load[i] != 0)
      return "the load of a taut tendon carries over from step to step and is held";
  return nullptr;
}

// One step back: y (nx) becomes the adjoint of the state before step t.
static tbResult back(Tape& tape, tbDerivatives* of, const tbModel* m, tbData* d, int w, size_t t,
                     Row& y, Row& next, Row& friction) {
  const Start& s = tape.start;
  size_t row = (size_t)w * s.steps + t, nv = s.nv;
  if (tape.gq) pull_back(m, tape.qpos.data() + row * s.nq, tape.gq + row * s.nq, y.data());
  for (size_t i = 0; tape.gv && i < nv; i++) y[nv + i] += tape.gv[row * nv + i];
  for (size_t i = 0; tape.ga && i < s.na; i++) y[2 * nv + i] += tape.ga[row * s.na + i];
  tbDerivativeInfo info;
  const char* held = carried(m, d);
  tbResult result = tb_step_linearize(m, d, &tape.settings, of, &info);
  if (result != TB_OK) return result;
  // Springs remember where they were attached, which is no part of the state either.
  if (m->opt.law == TB_LAW_VISCOELASTIC && s.steps > 1 && d->ncon > 0)
    held = "the anchors of viscoelastic contacts carry over from step to step and are held";
  if (held && info.differentiable) {
    info.differentiable = 0;
    snprintf(info.reason, sizeof info.reason, "%s", held);
  }
  tape.kinks[w].add(info, (int)t);
  friction.assign((size_t)d->ncon + 1, 0);
  tb_derivatives_apply_transposed(of, y.data(), next.data(), tape.du + row * s.nu,
                                  tape.df + row * nv, tape.ds ? friction.data() : nullptr);
  // Every coefficient of a contact is proportional to friction_scale.
  for (int c = 0; tape.ds && c < d->ncon; c++)
    if (d->contact[c].dim > 1 && m->opt.friction_scale > 0)
      tape.ds[w] += friction[c] * d->contact[c].friction[0] / m->opt.friction_scale;
  y.swap(next);
  return TB_OK;
}

static tbResult backward_world(const tbModel* m, tbData* d, int w, void* argument) {
  Tape& tape = *static_cast<Tape*>(argument);
  const Start& s = tape.start;
  tbDerivatives* of = tape.pool.take(m);
  if (!of) return TB_ERROR_MEMORY;
  size_t nx = 2 * s.nv + s.na;
  Row y(nx + 1, 0), next(nx + 1), friction;
  std::vector<Bytes> between(tape.every);
  tbResult result = TB_OK;
  for (size_t k = tape.states[w].size(); k-- > 0 && result == TB_OK;) {
    size_t first = k * tape.every,
           end = first + tape.every < s.steps ? first + tape.every : s.steps;
    // States between two that were kept are stepped through again.
    if (end - first > 1) {
      result = load(m, d, tape.states[w][k]);
      for (size_t t = first + 1; t < end && result == TB_OK; t++) {
        result = tb_step(m, d);
        s.inputs(d, w, t);
        if (result == TB_OK) result = save(m, d, between[t - first]);
      }
    }
    for (size_t t = end; t-- > first && result == TB_OK;) {
      result = load(m, d, t == first ? tape.states[w][k] : between[t - first]);
      if (result == TB_OK) result = back(tape, of, m, d, w, t, y, next, friction);
    }
  }
  tape.pool.give(of);
  if (result != TB_OK) return result;
  size_t row = (size_t)w;
  push_out(m, s.qpos.data() + row * s.nq, y.data(), tape.dq + row * s.nq);
  memcpy(tape.dv + row * s.nv, y.data() + s.nv, sizeof(tbReal) * s.nv);
  memcpy(tape.da + row * s.na, y.data() + 2 * s.nv, sizeof(tbReal) * s.na);
  return TB_OK;
}

static nb::tuple tape_record(nb::handle batch, nb::handle qpos, nb::handle qvel, nb::handle act,
                             nb::handle ctrl, nb::handle force, int nstep, int every) {
  tbBatch* b = batch_of(batch);
  if (every < 1) throw nb::value_error("checkpoint: expected 1 or more");
  Tape* tape = new Tape(batch, Start(b, qpos, qvel, act, ctrl, force, nstep), (size_t)every);
  nb::object owner = nb::cast(tape, nb::rv_policy::take_ownership);
  const Start& s = tape->start;
  size_t rows = s.nworld * s.steps;
  Row v(rows * s.nv + 1), a(rows * s.na + 1);
  tape->qpos.resize(rows * s.nq);
  tape->out_v = &v;
  tape->out_a = &a;
  tape->states.assign(s.nworld, std::vector<Bytes>((s.steps + tape->every - 1) / tape->every));
  batch_apply(batch, forward_world, tape);
  nb::object q = array_copy(tape->qpos.data(), "real", {s.nworld, s.steps, s.nq});
  return nb::make_tuple(owner, q, array_copy(v.data(), "real", {s.nworld, s.steps, s.nv}),
                        array_copy(a.data(), "real", {s.nworld, s.steps, s.na}));
}

static nb::dict tape_backward(Tape& tape, nb::handle gq, nb::handle gv, nb::handle ga,
                              bool friction_scale, nb::dict settings) {
  const Start& s = tape.start;
  size_t n = s.nworld, T = s.steps;
  Reals yq(gq, (long)(n * T * s.nq), "qpos", true), yv(gv, (long)(n * T * s.nv), "qvel", true);
  Reals ya(ga, (long)(n * T * s.na), "act", true);
  tape.settings = settings_of(settings);
  tape.gq = yq.data();
  tape.gv = yv.data();
  tape.ga = ya.data();
  nb::dict result;
  result["qpos"] = array_new({n, s.nq}, &tape.dq);
  result["qvel"] = array_new({n, s.nv}, &tape.dv);
  result["act"] = array_new({n, s.na}, &tape.da);
  result["ctrl"] = array_new({n, T, s.nu}, &tape.du);
  result["qfrc_applied"] = array_new({n, T, s.nv}, &tape.df);
  tape.ds = nullptr;
  if (friction_scale) result["friction_scale"] = array_new({n}, &tape.ds);
  tape.kinks.assign(n, Kinks());
  batch_apply(tape.batch, backward_world, &tape);
  result["kinks"] = kinks_list(tape.kinks);
  return result;
}

static int tape_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Tape>(self)->batch.ptr());
  return 0;
}

static PyType_Slot tape_slots[] = {{Py_tp_traverse, (void*)tape_traverse}, {0, nullptr}};

// ---- sensitivities by parameters ----------------------------------------------------------------

// How a parameter changes a step at a fixed state; a parameter may have many such terms.
enum TermKind {
  TERM_INERTIAL,   // body: the ten inertial parameters change by `weight`
  TERM_GEOM,       // geom: sliding friction of contacts that have it from this geom
  TERM_PAIR,       // pair: sliding friction of its contacts
  TERM_SCALE,      // friction_scale
  TERM_ARMATURE,   // dof
  TERM_DAMPING,    // dof
  TERM_STIFFNESS,  // joint: hinge or slide
  TERM_GAIN,       // actuator: weight[0] ctrl, weight[1] length, weight[2] velocity, weight[3]
  TERM_CTRL,       // input: column `index` of the given derivatives of ctrl
  TERM_COUNT
};

struct Term {
  int parameter, kind, index;
  tbReal weight[TB_NINERTIAL];
};

struct Sensitivities {
  Start start;
  tbDerivativeSettings settings{};
  std::vector<Term> terms;
  size_t count = 0, ninput = 0;  // parameters, columns of derivatives of ctrl
  bool states = false;
  Row by_ctrl;  // nworld x steps x ninput x nu
  tbReal *q = nullptr, *v = nullptr, *a = nullptr, *S = nullptr, *Phi = nullptr, *exact = nullptr,
         *kink = nullptr;
  std::vector<Kinks> kinks;
  Pool pool;
  explicit Sensitivities(Start from) : start(std::move(from)) {}
};

// The geom or pair that a contact's friction comes from: -1 - pair, or a geom; equal geoms: the
// first, with `other` the second.
static int friction_source(const tbModel* m, const tbContact& c, int* other) {
  int a = c.geom[0], b = c.geom[1];
  *other = -1;
  for (int p = 0; p < m->npair; p++)
    if ((m->pair_geom1[p] == a && m->pair_geom2[p] == b) ||
        (m->pair_geom1[p] == b && m->pair_geom2[p] == a))
      return -1 - p;
  if (m->geom_priority[a] != m->geom_priority[b])
    return m->geom_priority[a] > m->geom_priority[b] ? a : b;
  tbReal fa = m->geom_friction[3 * a], fb = m->geom_friction[3 * b];
  if (fa == fb) *other = b;
  return fa >= fb ? a : b;
}

// D (count rows of nx): the change of the next state by each parameter.
static tbResult direct(Sensitivities& x, tbDerivatives* of, const tbModel* m, tbData* d, int w,
                       size_t t, Row& D) {
  const Start& s = x.start;
  size_t nv = s.nv, nx = 2 * nv + s.na;
  std::fill(D.begin(), D.end(), 0);
  Row column(nx + 1), by_body, force(nv * x.count + 1, 0);
  std::vector<char> pushes(x.count, 0);
  int body = -1;
  tbReal h = m->opt.timestep;
  const tbReal* next = x.v + ((size_t)w * s.steps + t) * nv;
  bool implicit = !(m->opt.disableflags & TB_DISABLE_EULERDAMP) ||
                  m->opt.integrator == TB_INTEGRATOR_IMPLICITFAST;
  auto add = [&](const Term& term, const tbReal* by, tbReal share) {
    for (size_t i = 0; i < nx; i++) D[term.parameter * nx + i] += share * by[i];
  };
  for (const Term& term : x.terms) {
    int i = term.index;
    tbReal* f = force.data() + (size_t)term.parameter * nv;
    if (term.kind == TERM_INERTIAL) {
      if (i != body) {
        by_body.assign(nx * TB_NINERTIAL, 0);
        tbResult result = tb_derivatives_inertial(of, m, d, i, by_body.data());
        if (result != TB_OK) return result;
        body = i;
      }
      for (size_t r = 0; r < nx; r++)
        for (int k = 0; k < TB_NINERTIAL; k++)
          D[term.parameter * nx + r] += by_body[r * TB_NINERTIAL + k] * term.weight[k];
    } else if (term.kind == TERM_GEOM || term.kind == TERM_PAIR || term.kind == TERM_SCALE) {
      for (int c = 0; c < d->ncon; c++) {
        const tbContact& contact = d->contact[c];
        if (contact.dim < 3 || contact.row < 0) continue;
        int other, source = friction_source(m, contact, &other);
        tbReal share = m->opt.friction_scale;
        if (term.kind == TERM_SCALE)
          share = contact.friction[0] / m->opt.friction_scale;
        else if (term.kind == TERM_PAIR && source != -1 - i)
          continue;
        else if (term.kind == TERM_GEOM && source != i && other != i)
          continue;
        // A contact of two geoms of the same parameter counts once.
        if (term.kind == TERM_GEOM && source != i &&
            std::any_of(x.terms.begin(), x.terms.end(), [&](const Term& t) {
              return t.kind == TERM_GEOM && t.parameter == term.parameter && t.index == source;
            }))
          continue;
        tbResult result = tb_derivatives_friction(of, c, column.data());
        if (result != TB_OK) return result;
        add(term, column.data(), share);
      }
    } else if (term.kind == TERM_CTRL) {
      const tbReal* du = x.by_ctrl.data() + (((size_t)w * s.steps + t) * x.ninput + i) * s.nu;
      tb_derivatives_apply(of, nullptr, du, column.data());
      add(term, column.data(), 1);
    } else {
      pushes[term.parameter] = 1;
      // Damping that is made implicit acts on the velocity after the step.
      if (term.kind == TERM_ARMATURE) f[i] -= (next[i] - d->qvel[i]) / h;
      if (term.kind == TERM_DAMPING) f[i] -= implicit ? next[i] : d->qvel[i];
      if (term.kind == TERM_STIFFNESS)
        f[m->jnt_dofadr[i]] -= d->qpos[m->jnt_qposadr[i]] - m->qpos_spring[m->jnt_qposadr[i]];
      if (term.kind == TERM_GAIN) {
        const tbReal* moment = d->actuator_moment + m->actuator_Jadr[i];
        const int* dof = m->Jmom_colind + m->actuator_Jadr[i];
        tbReal speed = d->actuator_velocity[i], u = d->ctrl[i];
        for (int k = 0; implicit && k < m->actuator_Jnnz[i]; k++)
          speed += moment[k] * (next[dof[k]] - d->qvel[dof[k]]);
        if (m->actuator_ctrllimited[i])
          u = std::min(std::max(u, m->actuator_ctrlrange[2 * i]), m->actuator_ctrlrange[2 * i + 1]);
        if (m->actuator_actnum[i] > 0) u = d->act[m->actuator_actadr[i]];
        tbReal scalar = term.weight[0] * u + term.weight[1] * d->actuator_length[i] +
                        term.weight[2] * speed + term.weight[3];
        for (int k = 0; k < m->actuator_Jnnz[i]; k++) f[dof[k]] += moment[k] * scalar;
      }
    }
  }
  for (size_t p = 0; p < x.count; p++) {
    if (!pushes[p]) continue;
    tb_derivatives_force(of, force.data() + p * nv, column.data());
    for (size_t i = 0; i < nx; i++) D[p * nx + i] += column[i];
  }
  return TB_OK;
}

static tbResult sensitivity_world(const tbModel* m, tbData* d, int w, void* argument) {
  Sensitivities& x = *static_cast<Sensitivities*>(argument);
  const Start& s = x.start;
  tbDerivatives* of = x.pool.take(m);
  if (!of) return TB_ERROR_MEMORY;
  size_t nx = 2 * s.nv + s.na, columns = x.count + (x.states ? nx : 0);
  // Rows are columns of the sensitivity: of parameters, then of the initial state.
  Row S(columns * nx + 1, 0), D(x.count * nx + 1), moved(nx + 1);
  Bytes before, after;
  for (size_t i = 0; x.states && i < nx; i++) S[(x.count + i) * nx + i] = 1;
  tbResult result = TB_OK;
  s.begin(m, d, w);
  for (size_t t = 0; t < s.steps; t++) {
    s.inputs(d, w, t);
    size_t row = (size_t)w * s.steps + t;
    // The step comes first: its velocity is needed where damping is made implicit.
    if (result == TB_OK) result = save(m, d, before);
    if (result == TB_OK) result = tb_step(m, d);
    if (result != TB_OK) break;
    memcpy(x.q + row * s.nq, d->qpos, sizeof(tbReal) * s.nq);
    memcpy(x.v + row * s.nv, d->qvel, sizeof(tbReal) * s.nv);
    memcpy(x.a + row * s.na, d->act, sizeof(tbReal) * s.na);
    x.exact[row] = d->solve.residual_exact.relative;
    result = save(m, d, after);
    if (result == TB_OK) result = load(m, d, before);
    const char* held = carried(m, d);
    tbDerivativeInfo info;
    if (result == TB_OK) result = tb_step_linearize(m, d, &x.settings, of, &info);
    if (result == TB_OK) result = direct(x, of, m, d, w, t, D);
    if (result != TB_OK) break;
    if (held) info.differentiable = 0;
    x.kinks[w].add(info, (int)t);
    x.kink[row] = !info.differentiable;
    for (size_t p = 0; p < columns; p++) {
      if (t > 0 || p >= x.count) {
        tb_derivatives_apply(of, S.data() + p * nx, nullptr, moved.data());
        memcpy(S.data() + p * nx, moved.data(), sizeof(tbReal) * nx);
      }
      for (size_t i = 0; p < x.count && i < nx; i++) S[p * nx + i] += D[p * nx + i];
    }
    for (size_t i = 0; i < nx; i++) {
      for (size_t p = 0; p < x.count; p++) x.S[(row * nx + i) * x.count + p] = S[p * nx + i];
      for (size_t k = 0; x.states && k < nx; k++)
        x.Phi[(row * nx + i) * nx + k] = S[(x.count + k) * nx + i];
    }
    result = load(m, d, after);
    if (result != TB_OK) break;
  }
  x.pool.give(of);
  return result;
}

static nb::dict sensitivities(nb::handle batch, nb::handle qpos, nb::handle qvel, nb::handle act,
                              nb::handle ctrl, int nstep, int count, nb::list terms,
                              nb::handle by_ctrl, bool states, nb::dict settings) {
  tbBatch* b = batch_of(batch);
  const tbModel* m = b->model;
  Sensitivities x(Start(b, qpos, qvel, act, ctrl, nb::none(), nstep));
  const Start& s = x.start;
  x.settings = settings_of(settings);
  x.count = (size_t)count;
  x.states = states;
  Reals du(by_ctrl, -1, "by_ctrl", true);
  if (du.data()) {
    size_t one = s.nworld * s.steps * s.nu;
    if (!one || du.size() % one) throw nb::value_error("by_ctrl: expected (n, nstep, inputs, nu)");
    x.ninput = du.size() / one;
    x.by_ctrl.assign(du.data(), du.data() + du.size());
  }
  const int limit[TERM_COUNT] = {m->nbody, m->ngeom, m->npair,     1, m->nv, m->nv,
                                 m->njnt,  m->nu,    (int)x.ninput};
  for (nb::handle one : terms) {
    auto [parameter, kind, index, weight] =
        nb::cast<std::tuple<int, int, int, std::vector<double>>>(one);
    if (parameter < 0 || parameter >= count || kind < 0 || kind >= TERM_COUNT || index < 0 ||
        index >= limit[kind] || weight.size() > TB_NINERTIAL)
      throw nb::value_error("terms: out of range");
    Term term{parameter, kind, index, {}};
    std::copy(weight.begin(), weight.end(), term.weight);
    x.terms.push_back(term);
  }
  size_t nx = 2 * s.nv + s.na;
  nb::dict result;
  result["qpos"] = array_new({s.nworld, s.steps, s.nq}, &x.q);
  result["qvel"] = array_new({s.nworld, s.steps, s.nv}, &x.v);
  result["act"] = array_new({s.nworld, s.steps, s.na}, &x.a);
  result["residual_exact"] = array_new({s.nworld, s.steps}, &x.exact);
  result["kink"] = array_new({s.nworld, s.steps}, &x.kink);
  result["by_parameters"] = array_new({s.nworld, s.steps, nx, x.count}, &x.S);
  if (states) result["by_state"] = array_new({s.nworld, s.steps, nx, nx}, &x.Phi);
  x.kinks.assign(s.nworld, Kinks());
  batch_apply(batch, sensitivity_world, &x);
  result["kinks"] = kinks_list(x.kinks);
  return result;
}

// ---- rigid-body algorithms ----------------------------------------------------------------------

static nb::tuple rne_derivatives(Model& model, Data& data, nb::handle qacc, nb::handle xfrc) {
  tbModel* m = model_of(model, data);
  size_t nv = (size_t)m->nv;
  Reals a(qacc, m->nv, "qacc", true), f(xfrc, (long)m->nbody * 6, "xfrc", true);
  tbReal *q, *v;
  nb::object dq = array_new({nv, nv}, &q), dv = array_new({nv, nv}, &v);
  Busy busy(data);
  tbResult code = tb_rne_derivatives(m, data.get(), a.data(), f.data(), q, v);
  if (code != TB_OK)
    raise(code, "rne_derivatives: spatial tendons with armature are not supported");
  return nb::make_tuple(dq, dv);
}

static nb::tuple forward_derivatives(Model& model, Data& data, nb::handle qacc, nb::handle xfrc) {
  tbModel* m = model_of(model, data);
  size_t nv = (size_t)m->nv;
  Reals a(qacc, m->nv, "qacc"), f(xfrc, (long)m->nbody * 6, "xfrc", true);
  tbReal *q, *v, *t;
  nb::object dq = array_new({nv, nv}, &q), dv = array_new({nv, nv}, &v);
  nb::object dt = array_new({nv, nv}, &t);
  Busy busy(data);
  tbResult code = tb_forward_derivatives(m, data.get(), a.data(), f.data(), q, v, t);
  if (code != TB_OK)
    raise(code, "forward_derivatives: spatial tendons with armature are not supported");
  return nb::make_tuple(dq, dv, dt);
}

static nb::object rne_regressor(Model& model, Data& data, nb::handle qacc) {
  tbModel* m = model_of(model, data);
  Reals a(qacc, m->nv, "qacc", true);
  tbReal* values;
  nb::object Y = array_new({(size_t)m->nv, (size_t)m->nbody * TB_NINERTIAL}, &values);
  Busy busy(data);
  tb_rne_regressor(m, data.get(), a.data(), values);
  return Y;
}

static nb::object inertial_get(Model& model, int body) {
  if (body < 0 || body >= model.get()->nbody) throw nb::index_error("body: out of range");
  tbReal* values;
  nb::object parameters = array_new({TB_NINERTIAL}, &values);
  tb_inertial_get(model.get(), body, values);
  return parameters;
}

static void inertial_set(Model& model, int body, nb::handle parameters) {
  if (body < 0 || body >= model.get()->nbody) throw nb::index_error("body: out of range");
  Reals p(parameters, TB_NINERTIAL, "parameters");
  tbResult code = tb_inertial_set(model.get(), body, p.data());
  if (code != TB_OK) raise(code, "no body of positive density has these inertial parameters");
}

void bind_gradients(nb::module_& m) {
  nb::class_<Tape> tape(m, "_Tape", nb::type_slots(tape_slots));
  tape.def(
      "backward", &tape_backward, nb::arg("qpos").none(), nb::arg("qvel").none(),
      nb::arg("act").none(), nb::arg("friction_scale"), nb::arg("settings"),
      nb::sig("def backward(self, qpos: typing.Any, qvel: typing.Any, act: typing.Any, "
              "friction_scale: bool, settings: dict[str, typing.Any]) -> dict[str, typing.Any]"));
  tape.def_prop_ro("memory_bytes", [](const Tape& t) { return t.memory(); });
  m.def("_tape", &tape_record, nb::arg("batch"), nb::arg("qpos"), nb::arg("qvel"),
        nb::arg("act").none(), nb::arg("ctrl").none(), nb::arg("qfrc_applied").none(),
        nb::arg("nstep"), nb::arg("checkpoint"));
  m.def(
      "_sensitivities", &sensitivities, nb::arg("batch"), nb::arg("qpos"), nb::arg("qvel"),
      nb::arg("act").none(), nb::arg("ctrl").none(), nb::arg("nstep"), nb::arg("count"),
      nb::arg("terms"), nb::arg("by_ctrl").none(), nb::arg("states"), nb::arg("settings"),
      nb::sig(
          "def _sensitivities(batch: typing.Any, qpos: typing.Any, qvel: typing.Any, act: "
          "typing.Any, "
          "ctrl: typing.Any, nstep: int, count: int, terms: list[typing.Any], by_ctrl: typing.Any, "
          "states: bool, settings: dict[str, typing.Any]) -> dict[str, typing.Any]"));
#define PAIR "tuple[" TB_ARRAY ", " TB_ARRAY
  m.def(
      "rne_derivatives", &rne_derivatives, nb::arg("m"), nb::arg("d"), nb::arg("qacc") = nb::none(),
      nb::arg("xfrc") = nb::none(),
      nb::sig("def rne_derivatives(m: Model, d: Data, qacc: numpy.typing.ArrayLike | None = None, "
              "xfrc: numpy.typing.ArrayLike | None = None) -> " PAIR "]"),
      "Partials of rne by q and v, each (nv, nv); by qacc it is M. After compute_velocity.");
  m.def("forward_derivatives", &forward_derivatives, nb::arg("m"), nb::arg("d"), nb::arg("qacc"),
        nb::arg("xfrc") = nb::none(),
        nb::sig("def forward_derivatives(m: Model, d: Data, qacc: numpy.typing.ArrayLike, xfrc: "
                "numpy.typing.ArrayLike | None = None) -> " PAIR ", " TB_ARRAY "]"),
        "Partials of the acceleration without contacts by q, v and the generalised force, each\n"
        "(nv, nv), at that acceleration. After compute_velocity.");
#undef PAIR
  m.def("rne_regressor", &rne_regressor, nb::arg("m"), nb::arg("d"), nb::arg("qacc") = nb::none(),
        nb::sig("def rne_regressor(m: Model, d: Data, qacc: numpy.typing.ArrayLike | None = None) "
                "-> " TB_ARRAY),
        "Y, shape (nv, 10 nbody): rne is Y times the inertial parameters of all bodies, plus\n"
        "armature. After com_velocity.");
  m.def(
      "inertial_get", &inertial_get, nb::arg("m"), nb::arg("body"),
      nb::sig("def inertial_get(m: Model, body: int) -> " TB_ARRAY),
      "Mass, mass times centre of mass (x, y, z), inertia about the body frame's origin (xx, xy,\n"
      "yy, xz, yz, zz), shape (10,).");
  m.def(
      "inertial_set", &inertial_set, nb::arg("m"), nb::arg("body"), nb::arg("parameters"),
      nb::sig("def inertial_set(m: Model, body: int, parameters: numpy.typing.ArrayLike) -> None"),
      "Set what inertial_get gives; call m.set_constants() afterwards.");
}
