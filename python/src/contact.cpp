#include "contact.h"

#include <cstring>

#include <nanobind/stl/string.h>

#include "array.h"
#include "bind.h"
#include "error.h"

struct Member {
  const char *name, *type;
  size_t offset;
  int count;
  bool parameter;  // a contact callback may change it
  const char* doc;
};

#define REAL(name, count, parameter, doc) \
  { #name, "real", offsetof(tbContact, name), count, parameter, doc }
#define INT(name, count, parameter, doc) \
  { #name, "int", offsetof(tbContact, name), count, parameter, doc }
static const Member MEMBERS[] = {
    REAL(dist, 1, false, "Distance, m; negative when overlapping."),
    REAL(pos, 3, false, "Position midway between the surfaces, m; shape (3,)."),
    REAL(frame, 9, false, "Rows: normal from geom 1 to geom 2, two tangents; shape (9,)."),
    REAL(includemargin, 1, false, "Force acts only where dist is below this, m."),
    REAL(friction, 5, true, "Two sliding, torsional, two rolling; shape (5,)."),
    REAL(solref, TB_NREF, true, "Soft law: reference; shape (2,)."),
    REAL(solreffriction, TB_NREF, true, "Soft law: reference of friction; shape (2,)."),
    REAL(solimp, TB_NIMP, true, "Soft law: impedance; shape (5,)."),
    REAL(restitution, 1, true, "Rigid laws: coefficient of restitution."),
    REAL(compliance, 1, true, "Compliance along the normal, m/N."),
    REAL(tangentcompliance, 1, true, "Compliance along the tangents, m/N."),
    REAL(damping, 1, true, "Damping, N s/m."),
    REAL(comfree, 2, true, "Comfree law: stiffness and damping of a pair, or -1; shape (2,)."),
    REAL(force, 6, false, "Force and torque of the last step in `frame`, N and N m; shape (6,)."),
    INT(dim, 1, false, "1, 3, 4 or 6."),
    INT(geom, 2, false, "The two geoms; shape (2,)."),
    INT(exclude, 1, true, "1: detected, but in the gap, so without force."),
    INT(row, 1, false, "First row in the problem, or -1."),
};
#undef REAL
#undef INT

// A copy of a contact; what follows from the world is computed while it still has the contact.
struct Contact {
  tbContact c;
  nb::object data;
  int index;
  bool parameters;
};

struct Contacts {
  nb::object data;
};

static nb::object member(nb::handle self, const Member& m) {
  Contact& contact = *nb::inst_ptr<Contact>(self);
  char* at = reinterpret_cast<char*>(&contact.c) + m.offset;
  if (m.count > 1)
    return array_view(at, m.type, {(size_t)m.count}, self, contact.parameters && m.parameter);
  return strcmp(m.type, "int") == 0 ? nb::object(nb::int_(*(int*)at))
                                    : nb::object(nb::float_(*(tbReal*)at));
}

static void set_member(nb::handle self, const Member& m, nb::handle value) {
  Contact& contact = *nb::inst_ptr<Contact>(self);
  if (!contact.parameters || !m.parameter) {
    std::string text =
        std::string(m.name) + " is read-only: change parameters of contacts in a contact callback";
    throw nb::attribute_error(text.c_str());
  }
  char* at = reinterpret_cast<char*>(&contact.c) + m.offset;
  if (m.count > 1)
    array_assign(array_view(at, m.type, {(size_t)m.count}, self, true), value);
  else if (strcmp(m.type, "int") == 0)
    *(int*)at = nb::cast<int>(value);
  else
    *(tbReal*)at = nb::cast<double>(value);
}

nb::object contact_for_callback(const tbContact& contact) {
  return nb::cast(Contact{contact, nb::object(), -1, true});
}

tbContact contact_after_callback(nb::handle contact) {
  return nb::inst_ptr<Contact>(contact)->c;
}

// The world of a contact, which must not have moved on.
static tbData* current_world(const Contact& contact) {
  if (!contact.data.is_valid()) throw std::runtime_error("no forces yet: the step is being made");
  tbData* d = nb::inst_ptr<Data>(contact.data)->get();
  if (contact.index >= d->ncon || d->contact[contact.index].key != contact.c.key ||
      memcmp(d->contact[contact.index].pos, contact.c.pos, sizeof contact.c.pos) != 0)
    throw std::runtime_error("the world has new contacts: take this one from d.contact again");
  return d;
}

static const tbModel* model_behind(const Contact& contact) {
  return nb::inst_ptr<Data>(contact.data)->made_from();
}

static nb::object velocity(const Contact& contact) {
  const tbData* d = current_world(contact);
  tbReal* values;
  nb::object array = array_new({6}, &values);
  tbError error;
  check(tb_contact_velocity(model_behind(contact), d, contact.index, values, &error), error);
  return array;
}

static nb::object slip(const Contact& contact) {
  const tbData* d = current_world(contact);
  tbReal* values;
  nb::object array = array_new({3}, &values);
  tbContactState state;
  tbError error;
  check(tb_contact_state(model_behind(contact), d, contact.index, &state, values, &error), error);
  return array;
}

static int state_of(const Contact& contact) {
  const tbData* d = current_world(contact);
  tbContactState state;
  tbError error;
  check(tb_contact_state(model_behind(contact), d, contact.index, &state, nullptr, &error), error);
  return state;
}

static nb::object wrench(const Contact& contact, nb::handle on_geom) {
  const tbData* d = current_world(contact);
  int geom = on_geom.is_none() ? contact.c.geom[1] : nb::cast<int>(on_geom);
  tbReal* values;
  nb::object array = array_new({6}, &values);
  tbError error;
  check(tb_contact_wrench(model_behind(contact), d, contact.index, geom, values, &error), error);
  return array;
}

// One member of all contacts as a new array.
static nb::object gather(const Contacts& contacts, const Member& m) {
  const tbData* d = nb::inst_ptr<Data>(contacts.data)->get();
  size_t width = m.count * (strcmp(m.type, "int") == 0 ? sizeof(int) : sizeof(tbReal));
  std::string bytes;
  bytes.reserve(width * d->ncon);
  for (int i = 0; i < d->ncon; i++)
    bytes.append(reinterpret_cast<const char*>(&d->contact[i]) + m.offset, width);
  std::vector<size_t> shape{(size_t)d->ncon};
  if (m.count > 1) shape.push_back(m.count);
  return array_copy(bytes.data(), m.type, shape);
}

// For each contact a row of `width` values.
template <typename Function>
static nb::object rows(const Contacts& contacts, size_t width, Function fill) {
  const Data* data = nb::inst_ptr<Data>(contacts.data);
  const tbData* d = data->get();
  tbReal* values;
  nb::object array = array_new({(size_t)d->ncon, width}, &values);
  tbError error;
  for (int i = 0; i < d->ncon; i++)
    check(fill(data->made_from(), d, i, values + width * i, &error), error);
  return array;
}

static nb::object states(const Contacts& contacts) {
  const Data* data = nb::inst_ptr<Data>(contacts.data);
  const tbData* d = data->get();
  std::vector<int> values(d->ncon);
  tbError error;
  for (int i = 0; i < d->ncon; i++) {
    tbContactState state;
    check(tb_contact_state(data->made_from(), d, i, &state, nullptr, &error), error);
    values[i] = state;
  }
  return array_copy(values.data(), "int", {values.size()});
}

static Contact item(const Contacts& contacts, int index) {
  const tbData* d = nb::inst_ptr<Data>(contacts.data)->get();
  int i = index < 0 ? index + d->ncon : index;
  if (i < 0 || i >= d->ncon) {
    std::string text =
        "contact " + std::to_string(index) + ": there are " + std::to_string(d->ncon);
    throw nb::index_error(text.c_str());
  }
  return Contact{d->contact[i], contacts.data, i, false};
}

static std::string signature_of(const Member& m, bool all) {
  bool array = all || m.count > 1;
  const char* type = strcmp(m.type, "int") == 0
                         ? (array ? "numpy.typing.NDArray[numpy.int32]" : "int")
                         : (array ? TB_ARRAY : "float");
  return "def " + std::string(m.name) + "(self) -> " + type;
}

template <typename T>
static int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<T>(self)->data.ptr());
  return 0;
}

static PyType_Slot contact_slots[] = {{Py_tp_traverse, (void*)traverse<Contact>}, {0, nullptr}};
static PyType_Slot contacts_slots[] = {{Py_tp_traverse, (void*)traverse<Contacts>}, {0, nullptr}};

static void bind_one(nb::module_& m) {
  nb::class_<Contact> c(
      m, "Contact", nb::type_slots(contact_slots),
      "A contact as the last step saw it: a copy, which later steps do not change.");
  for (const Member& member_of : MEMBERS) {
    const Member* at = &member_of;
    std::string setter =
        "def " + std::string(at->name) + "(self, value: numpy.typing.ArrayLike, /) -> None";
    c.def_prop_rw(
        at->name, [at](nb::handle_t<Contact> self) { return member(self, *at); },
        [at](nb::handle_t<Contact> self, nb::handle value) { set_member(self, *at, value); },
        nb::for_getter(nb::sig(signature_of(*at, false).c_str())),
        nb::for_setter(nb::sig(setter.c_str())), at->doc);
  }
  c.def_prop_ro("_state", &state_of);
  c.def_prop_ro(
      "_data",
      [](const Contact& contact) { return contact.data.is_valid() ? contact.data : nb::none(); },
      nb::sig("def _data(self) -> Data | None"));
  c.def_prop_ro(
      "key", [](const Contact& contact) { return contact.c.key; },
      "Geom pair and feature: the same contact has the same key in the next step.");
  c.def_prop_ro(
      "velocity", &velocity, nb::sig("def velocity(self) -> " TB_ARRAY),
      "Velocity of geom 2 relative to geom 1 in the contact's frame: along the normal and\n"
      "tangents, m/s; about them, rad/s; shape (6,).");
  c.def_prop_ro("slip", &slip, nb::sig("def slip(self) -> " TB_ARRAY),
                "Slip velocity in world axes, m/s; shape (3,).");
  c.def("wrench", &wrench, nb::arg("on_geom") = nb::none(),
        nb::sig("def wrench(self, on_geom: int | None = None) -> " TB_ARRAY),
        "Force, N, and torque, N m, about `pos` in world axes, on one of its geoms (geom 2 unless\n"
        "told); shape (6,).");
}

static void bind_all(nb::module_& m) {
  nb::class_<Contacts> c(
      m, "Contacts", nb::type_slots(contacts_slots),
      "The contacts of the last step: a sequence of Contact. Its attributes are\n"
      "new arrays over all contacts.");
  c.def("__len__",
        [](const Contacts& contacts) { return nb::inst_ptr<Data>(contacts.data)->get()->ncon; });
  c.def("__getitem__", &item, nb::arg("index"), "Contact number `index`.");
  c.def_prop_ro(
      "_data", [](const Contacts& contacts) { return contacts.data; },
      nb::sig("def _data(self) -> Data"));
  for (const Member& member_of : MEMBERS) {
    const Member* at = &member_of;
    c.def_prop_ro(
        at->name, [at](const Contacts& all) { return gather(all, *at); },
        nb::sig(signature_of(*at, true).c_str()),
        (std::string("Of each contact: ") + at->doc).c_str());
  }
  c.def_prop_ro("state", &states, nb::sig("def state(self) -> numpy.typing.NDArray[numpy.int32]"),
                "ContactState of each contact; shape (ncon,).");
  c.def_prop_ro(
      "velocity",
      [](const Contacts& all) {
        return rows(all, 6, [](auto* model, auto* d, int i, tbReal* out, tbError* error) {
          return tb_contact_velocity(model, d, i, out, error);
        });
      },
      nb::sig("def velocity(self) -> " TB_ARRAY),
      "Velocity of geom 2 relative to geom 1 in each frame; shape (ncon, 6).");
  c.def_prop_ro(
      "slip",
      [](const Contacts& all) {
        return rows(all, 3, [](auto* model, auto* d, int i, tbReal* out, tbError* error) {
          tbContactState state;
          return tb_contact_state(model, d, i, &state, out, error);
        });
      },
      nb::sig("def slip(self) -> " TB_ARRAY), "Slip velocities, world axes, m/s; shape (ncon, 3).");
  c.def_prop_ro(
      "wrench",
      [](const Contacts& all) {
        return rows(all, 6, [](auto* model, auto* d, int i, tbReal* out, tbError* error) {
          return tb_contact_wrench(model, d, i, d->contact[i].geom[1], out, error);
        });
      },
      nb::sig("def wrench(self) -> " TB_ARRAY),
      "Force and torque on geom 2 of each contact, world axes; shape (ncon, 6).");
}

void bind_contact(nb::module_& m) {
  bind_one(m);
  bind_all(m);
  m.def("_contacts", [](nb::handle_t<Data> of) { return Contacts{nb::borrow(of)}; });
}
