// Joints: type, pose, axis, limits, friction, and mimics as equality constraints.
#include <math.h>
#include <string.h>

#include "base/elementary.h"
#include "base/text.h"
#include "io/urdf/internal.h"
#include "model/joint_kinds.h"
#include "spatial/quat.h"

static const char* const TYPES[TB_NURDFJOINTS] = {"revolute", "continuous", "prismatic", "fixed",
                                                  "floating", "planar",     "spherical"};

static const char* nearest_type(const char* type) {
  int best = 0;
  for (int i = 1; i < TB_NURDFJOINTS; i++) {
    if (tb_edit_distance(type, TYPES[i]) < tb_edit_distance(type, TYPES[best])) best = i;
  }
  return TYPES[best];
}

bool tb_urdf_read_joint(tbUrdf* u, const xmlNode* node, tbUrdfJoint* joint) {
  const char *type, *name;
  if (!tb_urdf_required(u, node, "name", &name)) return false;
  if (!tb_urdf_required(u, node, "type", &type)) return false;
  *joint = (tbUrdfJoint){.node = node, .sibling = -1, .parent = -1, .child = -1};
  joint->name = tb_flat_text(u->spec, name);
  if (!joint->name) return tb_urdf_no_memory(u);
  while (joint->type < TB_NURDFJOINTS && strcmp(type, TYPES[joint->type]) != 0) joint->type++;
  if (strcmp(type, "ball") == 0) joint->type = TB_URDF_SPHERICAL;
  if (joint->type == TB_NURDFJOINTS) {
    return tb_urdf_fail(u, TB_ERROR_PARSE, node,
                        "unknown joint type '%s', expected revolute, continuous, prismatic, fixed, "
                        "floating or planar; did you mean '%s'?",
                        type, nearest_type(type));
  }
  if (!tb_urdf_origin(u, node, joint->pos, joint->quat)) return false;
  tb_set3(joint->axis, 1, 0, 0);
  const xmlNode* axis = tb_urdf_child(node, "axis");
  if (axis && !tb_urdf_numbers(u, axis, "xyz", 3, joint->axis, NULL)) return false;
  bool needs_axis = joint->type <= TB_URDF_PRISMATIC || joint->type == TB_URDF_PLANAR;
  if (needs_axis && !(tb_norm3(joint->axis) > 1e-10)) {
    return tb_urdf_fail(u, TB_ERROR_MODEL, node, "the axis of joint '%s' is zero", name);
  }
  tb_normalize3(joint->axis);
  return true;
}

// Reads a number that may be infinite, which means no limit.
static bool read_limit(tbUrdf* u, const xmlNode* node, const char* name, tbReal* value,
                       bool* found) {
  const char* text = tb_urdf_text(node, name);
  const char* word = text ? text + strspn(text, " \t+-") : NULL;
  if (word && (strncmp(word, "inf", 3) == 0 || strncmp(word, "Inf", 3) == 0)) {
    *found = true;
    *value = memchr(text, '-', (size_t)(word - text)) ? -INFINITY : INFINITY;
    return true;
  }
  return tb_urdf_numbers(u, node, name, 1, value, found);
}

// Range, effort, damping and friction of one coordinate.
static bool read_limits(tbUrdf* u, const tbUrdfJoint* joint, tbFlatJoint* out) {
  const xmlNode* dynamics = tb_urdf_child(joint->node, "dynamics");
  bool found;
  if (dynamics && (!tb_urdf_numbers(u, dynamics, "damping", 1, out->damping, NULL) ||
                   !tb_urdf_numbers(u, dynamics, "friction", 1, &out->frictionloss, NULL))) {
    return false;
  }
  if (out->damping[0] < 0 || out->frictionloss < 0) {
    return tb_urdf_fail(u, TB_ERROR_MODEL, dynamics, "damping and friction must not be negative");
  }
  const xmlNode* limit = tb_urdf_child(joint->node, "limit");
  if (!limit) return true;
  bool lower, upper, velocity;
  tbReal effort = 0, ignored = 0;
  if (!read_limit(u, limit, "lower", &out->range[0], &lower) ||
      !read_limit(u, limit, "upper", &out->range[1], &upper) ||
      !read_limit(u, limit, "effort", &effort, &found) ||
      !read_limit(u, limit, "velocity", &ignored, &velocity)) {
    return false;
  }
  bool scalar = joint->type == TB_URDF_REVOLUTE || joint->type == TB_URDF_PRISMATIC;
  bool endless = out->range[0] == -INFINITY && out->range[1] == INFINITY;
  if ((lower || upper) && !endless && (!scalar || !(out->range[0] < out->range[1]))) {
    tb_flat_note(u->spec, u->path, tb_urdf_line(limit),
                 scalar ? "a joint whose lower limit is not below the upper one has no limits"
                        : "limits of a continuous, planar or floating joint are not used");
  }
  if (!scalar || endless || !(out->range[0] < out->range[1])) {
    out->range[0] = out->range[1] = 0;
  } else {
    TB_SET_GIVEN(joint, out, range);
  }
  if (velocity && ignored != 0 && isfinite(ignored)) {
    tb_flat_note(u->spec, u->path, tb_urdf_line(limit), "velocity limits of joints are not used");
  }
  if (effort != 0 && isfinite(effort) && joint->type <= TB_URDF_PRISMATIC) {
    out->actuatorfrcrange[0] = -fabs(effort);
    out->actuatorfrcrange[1] = fabs(effort);
    TB_SET_GIVEN(joint, out, actuatorfrcrange);
  }
  return true;
}

static bool add_one(tbUrdf* u, const tbUrdfJoint* joint, int body, int type, const char* suffix,
                    const tbReal axis[3]) {
  tbFlatJoint* out = tb_flat_add_joint(u->spec);
  if (!out) return tb_urdf_no_memory(u);
  out->name = *suffix ? tb_flat_format(u->spec, "%s%s", joint->name, suffix) : joint->name;
  if (!out->name) return tb_urdf_no_memory(u);
  out->source = u->path;
  out->line = tb_urdf_line(joint->node);
  out->body = body;
  out->type = type;
  tb_copy3(out->axis, axis);
  return tb_joint_floats(type) || read_limits(u, joint, out);
}

// A planar joint: two slides in the plane and a hinge about its normal. The plane's axes follow
// from the shortest rotation from z to the normal.
static bool add_planar(tbUrdf* u, const tbUrdfJoint* joint, int body) {
  const tbReal z[3] = {0, 0, 1};
  tbReal turn[4] = {1, 0, 0, 0}, R[9], x[3], y[3], normal[3];
  tb_cross(turn + 1, z, joint->axis);
  tbReal sine = tb_norm3(turn + 1);
  if (sine > 1e-10) {
    tb_copy3(normal, turn + 1);
    tb_normalize3(normal);
    tb_quat_from_axis_angle(turn, normal, tb_atan2(sine, joint->axis[2]));
  } else {
    tb_zero3(turn + 1);
    if (joint->axis[2] < 0) turn[0] = 0, turn[1] = 1;
  }
  tb_quat_to_mat(R, turn);
  tb_set3(x, R[0], R[3], R[6]);
  tb_set3(y, R[1], R[4], R[7]);
  return add_one(u, joint, body, TB_JOINT_SLIDE, "_TX", x) &&
         add_one(u, joint, body, TB_JOINT_SLIDE, "_TY", y) &&
         add_one(u, joint, body, TB_JOINT_HINGE, "_RZ", joint->axis);
}

bool tb_urdf_add_joint(tbUrdf* u, const tbUrdfJoint* joint, int body) {
  static const char* const KNOWN[] = {"parent", "child",    "origin", "axis",
                                      "limit",  "dynamics", "mimic"};
  for (const xmlNode* c = joint->node->children; c; c = c->next) {
    bool known = c->type != XML_ELEMENT_NODE;
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) known |= tb_urdf_is(c, KNOWN[i]);
    if (!known) tb_urdf_note_unused(u, c, "joint");
  }
  switch (joint->type) {
    case TB_URDF_REVOLUTE:
    case TB_URDF_CONTINUOUS: return add_one(u, joint, body, TB_JOINT_HINGE, "", joint->axis);
    case TB_URDF_PRISMATIC: return add_one(u, joint, body, TB_JOINT_SLIDE, "", joint->axis);
    case TB_URDF_FLOATING: return add_one(u, joint, body, TB_JOINT_FREE, "", joint->axis);
    case TB_URDF_SPHERICAL: return add_one(u, joint, body, TB_JOINT_BALL, "", joint->axis);
    case TB_URDF_PLANAR: return add_planar(u, joint, body);
    default: return true;
  }
}

// q = multiplier * q_other + offset
static bool add_mimic(tbUrdf* u, const tbUrdfJoint* joint, const xmlNode* mimic) {
  const char* name;
  tbReal multiplier = 1, offset = 0;
  if (!tb_urdf_required(u, mimic, "joint", &name)) return false;
  if (!tb_urdf_numbers(u, mimic, "multiplier", 1, &multiplier, NULL)) return false;
  if (!tb_urdf_numbers(u, mimic, "offset", 1, &offset, NULL)) return false;
  int other = tb_urdf_find(u->joint_name, u->njoint, name);
  if (other < 0) {
    return tb_urdf_fail(u, TB_ERROR_MODEL, mimic, "there is no joint called '%s'", name);
  }
  if (joint->type == TB_URDF_FIXED) {
    tb_flat_note(u->spec, u->path, tb_urdf_line(mimic), "<mimic> on a fixed joint is not used");
    return true;
  }
  const tbUrdfJoint* leader = &u->joint[other];
  bool held = leader->type == TB_URDF_FIXED;
  if (joint->type > TB_URDF_PRISMATIC || (!held && leader->type > TB_URDF_PRISMATIC)) {
    return tb_urdf_fail(u, TB_ERROR_UNSUPPORTED, mimic,
                        "only revolute, continuous and prismatic joints can mimic each other");
  }
  if (leader == joint) {
    return tb_urdf_fail(u, TB_ERROR_MODEL, mimic, "joint '%s' mimics itself", joint->name);
  }
  tbFlatEquality* equality = tb_flat_add_equality(u->spec);
  if (!equality) return tb_urdf_no_memory(u);
  equality->source = u->path;
  equality->line = tb_urdf_line(mimic);
  equality->type = TB_EQ_JOINT;
  equality->joint1 = joint->name;
  // A fixed leader has the coordinate zero.
  equality->joint2 = held ? NULL : leader->name;
  equality->polycoef[0] = offset;
  equality->polycoef[1] = held ? 0 : multiplier;
  TB_SET_GIVEN(equality, equality, joint1);
  if (!held) TB_SET_GIVEN(equality, equality, joint2);
  TB_SET_GIVEN(equality, equality, polycoef);
  return true;
}

bool tb_urdf_add_mimics(tbUrdf* u) {
  for (int i = 0; i < u->njoint; i++) {
    const xmlNode* mimic = tb_urdf_child(u->joint[i].node, "mimic");
    if (mimic && !add_mimic(u, &u->joint[i], mimic)) return false;
  }
  return true;
}
