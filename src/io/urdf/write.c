#include "io/urdf/write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elementary.h"
#include "base/error.h"
#include "base/number.h"
#include "io/spec/write.h"
#include "model/equality_kinds.h"
#include "model/joint_kinds.h"
#include "spatial/quat.h"

typedef struct {
  const tbModel* m;
  const char* path;
  tbText text;
  tbText left_out;
  tbError* error;
  tbResult result;
} Output;

static void put(Output* out, const char* s) {
  tb_text_put(&out->text, s);
}

static void put_reals(Output* out, const char* attribute, const tbReal* values, int n) {
  put(out, " ");
  put(out, attribute);
  put(out, "=\"");
  for (int i = 0; i < n; i++) {
    char number[TB_NUMBER_TEXT];
    tb_print_shortest(number, values[i]);
    if (i) put(out, " ");
    put(out, number);
  }
  put(out, "\"");
}

// A name as an attribute; an element without one is called by its kind and number.
typedef struct {
  char text[300];
} Name;

static Name name_of(const tbModel* m, tbObjType type, const char* kind, int id) {
  Name name;
  const char* own = tb_id2name(m, type, id);
  if (*own) {
    snprintf(name.text, sizeof name.text, "%s", own);
  } else {
    snprintf(name.text, sizeof name.text, "%s%d", kind, id);
  }
  return name;
}

static void put_name(Output* out, const char* attribute, const Name* name) {
  put(out, " ");
  put(out, attribute);
  put(out, "=");
  tb_text_quoted(&out->text, name->text);
}

static void leave_out(Output* out, int n, const char* one, const char* many) {
  char line[200];
  if (n <= 0) return;
  snprintf(line, sizeof line, "%d %s\n", n, n == 1 ? one : many);
  tb_text_put(&out->left_out, line);
}

static void refuse(Output* out, const char* what, const Name* name, const char* why) {
  if (out->result != TB_OK) return;
  out->result = tb_fail(out->error, TB_ERROR_UNSUPPORTED, "URDF cannot say this: %s '%s' %s", what,
                        name->text, why);
}

// ---- frames -------------------------------------------------------------------------------------

// Roll, pitch, yaw about fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll).
static void to_rpy(const tbReal quat[4], tbReal rpy[3]) {
  tbReal R[9];
  tb_quat_to_mat(R, quat);
  tbReal level = sqrt(R[0] * R[0] + R[3] * R[3]);
  rpy[1] = tb_atan2(-R[6], level);
  if (level > 1e-9) {
    rpy[0] = tb_atan2(R[7], R[8]);
    rpy[2] = tb_atan2(R[3], R[0]);
  } else {
    // Pointing up or down, roll and yaw are turns about the same axis.
    rpy[0] = 0;
    rpy[2] = tb_atan2(-R[1], R[4]);
  }
}

static void put_origin(Output* out, const tbReal pos[3], const tbReal quat[4]) {
  tbReal rpy[3];
  to_rpy(quat, rpy);
  put(out, "<origin");
  put_reals(out, "xyz", pos, 3);
  put_reals(out, "rpy", rpy, 3);
  put(out, "/>");
}

// The link's frame is at the anchor of its joint, with the axes of the body.
static void anchor_of(const tbModel* m, int body, tbReal anchor[3]) {
  tb_zero3(anchor);
  int joint = m->body_jntadr[body];
  if (m->body_jntnum[body] == 1 && tb_joint_is_scalar(m->jnt_type[joint])) {
    tb_copy3(anchor, m->jnt_pos + 3 * joint);
  }
}

// Pose of a body's link in its parent's link where the joint's coordinate is zero. In the model's
// reference pose it is qpos0.
static void link_pose(const tbModel* m, int body, tbReal pos[3], tbReal quat[4]) {
  tbReal anchor[3], outer[3], shift[3], turn[4];
  int joint = m->body_jntadr[body];
  anchor_of(m, body, anchor);
  anchor_of(m, m->body_parentid[body], outer);
  memcpy(quat, m->body_quat + 4 * body, 4 * sizeof *quat);
  tb_quat_rotate(shift, quat, anchor);
  tb_add3(pos, m->body_pos + 3 * body, shift);
  tb_sub3(pos, pos, outer);
  if (m->body_jntnum[body] != 1 || !tb_joint_is_scalar(m->jnt_type[joint])) return;
  tbReal reference = m->qpos0[m->jnt_qposadr[joint]];
  const tbReal* axis = m->jnt_axis + 3 * joint;
  if (m->jnt_type[joint] == TB_JOINT_SLIDE) {
    tb_quat_rotate(shift, quat, axis);
    tb_add_scaled3(pos, pos, -reference, shift);
  } else if (reference != 0) {
    tb_quat_from_axis_angle(turn, axis, -reference);
    tb_quat_mul(quat, quat, turn);
  }
}

// ---- links --------------------------------------------------------------------------------------

static void write_inertial(Output* out, int body, const tbReal anchor[3]) {
  const tbModel* m = out->m;
  tbReal pos[3];
  if (!(m->body_mass[body] > 0)) return;
  tb_sub3(pos, m->body_ipos + 3 * body, anchor);
  put(out, "    <inertial>");
  put_origin(out, pos, m->body_iquat + 4 * body);
  put(out, "<mass");
  put_reals(out, "value", m->body_mass + body, 1);
  put(out, "/><inertia");
  const tbReal* I = m->body_inertia + 3 * body;
  put_reals(out, "ixx", I, 1);
  put_reals(out, "iyy", I + 1, 1);
  put_reals(out, "izz", I + 2, 1);
  put(out, " ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>\n");
}

// The file of a mesh: that of the URDF with the mesh's number, beside it.
static Name mesh_file(const Output* out, int mesh, bool folder) {
  Name name;
  const char* slash = strrchr(out->path, '/');
  const char* start = folder || !slash ? out->path : slash + 1;
  const char* dot = strrchr(start, '.');
  snprintf(name.text, sizeof name.text, "%.*s_mesh%d.obj",
           (int)(dot ? (size_t)(dot - start) : strlen(start)), start, mesh);
  return name;
}

// The shape of a geom, false if URDF has none like it.
static bool write_shape(Output* out, int geom) {
  const tbModel* m = out->m;
  const tbReal* size = m->geom_size + 3 * geom;
  tbReal box[3] = {2 * size[0], 2 * size[1], 2 * size[2]};
  switch (m->geom_type[geom]) {
    case TB_GEOM_BOX:
      put(out, "<box");
      put_reals(out, "size", box, 3);
      break;
    case TB_GEOM_SPHERE:
      put(out, "<sphere");
      put_reals(out, "radius", size, 1);
      break;
    case TB_GEOM_CYLINDER:
    case TB_GEOM_CAPSULE:
      put(out, m->geom_type[geom] == TB_GEOM_CYLINDER ? "<cylinder" : "<capsule");
      put_reals(out, "radius", size, 1);
      put_reals(out, "length", box + 1, 1);
      break;
    case TB_GEOM_MESH: {
      Name file = mesh_file(out, m->geom_dataid[geom], false);
      put(out, "<mesh");
      put_name(out, "filename", &file);
      break;
    }
    default: return false;
  }
  put(out, "/>");
  return true;
}

static bool has_shape(const tbModel* m, int geom) {
  int type = m->geom_type[geom];
  return type != TB_GEOM_PLANE && type != TB_GEOM_HFIELD && type != TB_GEOM_ELLIPSOID;
}

static void write_geom(Output* out, int geom, const tbReal anchor[3]) {
  const tbModel* m = out->m;
  tbReal pos[3], rgba[4];
  if (!has_shape(m, geom)) return;
  const char* tag = m->geom_contype[geom] || m->geom_conaffinity[geom] ? "collision" : "visual";
  tb_sub3(pos, m->geom_pos + 3 * geom, anchor);
  put(out, "    <");
  put(out, tag);
  Name name = name_of(m, TB_OBJ_GEOM, "", geom);
  if (*tb_id2name(m, TB_OBJ_GEOM, geom)) put_name(out, "name", &name);
  put(out, ">");
  put_origin(out, pos, m->geom_quat + 4 * geom);
  put(out, "<geometry>");
  write_shape(out, geom);
  put(out, "</geometry>");
  if (strcmp(tag, "visual") == 0) {
    for (int k = 0; k < 4; k++) rgba[k] = (tbReal)m->geom_rgba[4 * geom + k];
    put(out, "<material name=\"\"><color");
    put_reals(out, "rgba", rgba, 4);
    put(out, "/></material>");
  }
  put(out, "</");
  put(out, tag);
  put(out, ">\n");
}

static void write_link(Output* out, int body) {
  const tbModel* m = out->m;
  Name name = name_of(m, TB_OBJ_BODY, "body", body);
  tbReal anchor[3];
  anchor_of(m, body, anchor);
  put(out, "  <link");
  put_name(out, "name", &name);
  put(out, ">\n");
  if (body > 0) write_inertial(out, body, anchor);
  for (int i = 0; i < m->body_geomnum[body]; i++) {
    write_geom(out, m->body_geomadr[body] + i, anchor);
  }
  put(out, "  </link>\n");
}

// ---- joints -------------------------------------------------------------------------------------

// Whether an equality is a polynomial of two joints.
static bool couples_joints(const tbModel* m, int equality) {
  return strcmp(tb_equality_kinds[m->eq_type[equality]].word, "joint") == 0;
}

// The equality by which a joint follows another one linearly, or -1.
static int mimic_of(const tbModel* m, int joint) {
  for (int i = 0; i < m->neq; i++) {
    if (!couples_joints(m, i) || m->eq_obj1id[i] != joint || !m->eq_active0[i]) continue;
    const tbReal* c = m->eq_data + TB_NEQDATA * i;
    if (m->eq_obj2id[i] >= 0 && c[2] == 0 && c[3] == 0 && c[4] == 0) return i;
  }
  return -1;
}

// q1 - r1 = c0 + c1 (q2 - r2) with the references r; URDF has q1 = multiplier q2 + offset.
static void write_mimic(Output* out, int equality) {
  const tbModel* m = out->m;
  const tbReal* c = m->eq_data + TB_NEQDATA * equality;
  int first = m->eq_obj1id[equality], second = m->eq_obj2id[equality];
  Name leader = name_of(m, TB_OBJ_JOINT, "joint", second);
  tbReal offset = c[0] + m->qpos0[m->jnt_qposadr[first]] - c[1] * m->qpos0[m->jnt_qposadr[second]];
  put(out, "    <mimic");
  put_name(out, "joint", &leader);
  put_reals(out, "multiplier", c + 1, 1);
  put_reals(out, "offset", &offset, 1);
  put(out, "/>\n");
}

static void write_scalar(Output* out, int joint) {
  const tbModel* m = out->m;
  int dof = m->jnt_dofadr[joint];
  put(out, "    <axis");
  put_reals(out, "xyz", m->jnt_axis + 3 * joint, 3);
  put(out, "/>\n");
  bool limited = m->jnt_limited[joint], slides = m->jnt_type[joint] == TB_JOINT_SLIDE;
  if (limited || slides || m->jnt_actfrclimited[joint]) {
    // An effort of zero stands for none.
    tbReal none = 0, open[2] = {-INFINITY, INFINITY};
    const tbReal* range = limited ? m->jnt_range + 2 * joint : open;
    put(out, "    <limit");
    if (limited || slides) {
      put_reals(out, "lower", range, 1);
      put_reals(out, "upper", range + 1, 1);
    }
    put_reals(out, "effort",
              m->jnt_actfrclimited[joint] ? m->jnt_actfrcrange + 2 * joint + 1 : &none, 1);
    put(out, " velocity=\"0\"/>\n");
  }
  if (m->dof_damping[dof] != 0 || m->dof_frictionloss[dof] != 0) {
    put(out, "    <dynamics");
    put_reals(out, "damping", m->dof_damping + dof, 1);
    put_reals(out, "friction", m->dof_frictionloss + dof, 1);
    put(out, "/>\n");
  }
  int mimic = mimic_of(m, joint);
  if (mimic >= 0) write_mimic(out, mimic);
}

// The type in URDF, NULL where it has none.
static const char* joint_word(const Output* out, int joint) {
  switch (out->m->jnt_type[joint]) {
    case TB_JOINT_FREE: return "floating";
    case TB_JOINT_SLIDE: return "prismatic";
    case TB_JOINT_HINGE: return out->m->jnt_limited[joint] ? "revolute" : "continuous";
    default: return NULL;
  }
}

// The joint between a body and its parent, "fixed" where the model has none.
static void write_joint(Output* out, int body) {
  const tbModel* m = out->m;
  int joint = m->body_jntadr[body], n = m->body_jntnum[body];
  Name name = name_of(m, n ? TB_OBJ_JOINT : TB_OBJ_BODY, n ? "joint" : "body", n ? joint : body);
  Name link = name_of(m, TB_OBJ_BODY, "body", body);
  Name parent = name_of(m, TB_OBJ_BODY, "body", m->body_parentid[body]);
  if (n > 1) refuse(out, "body", &link, "has several joints");
  if (n == 1 && !joint_word(out, joint)) {
    refuse(out, "joint", &name, "is neither a hinge nor a slide nor a free joint");
  }
  if (n == 1 && m->jnt_stiffness[joint] != 0) refuse(out, "joint", &name, "has a spring");
  if (n == 0) snprintf(name.text, sizeof name.text, "%.290s_fixed", link.text);
  tbReal pos[3], quat[4];
  link_pose(m, body, pos, quat);
  put(out, "  <joint");
  put_name(out, "name", &name);
  put(out, " type=\"");
  const char* word = n ? joint_word(out, joint) : "fixed";
  put(out, word ? word : "");
  put(out, "\">\n    <parent");
  put_name(out, "link", &parent);
  put(out, "/><child");
  put_name(out, "link", &link);
  put(out, "/>\n    ");
  put_origin(out, pos, quat);
  put(out, "\n");
  if (n && tb_joint_is_scalar(m->jnt_type[joint])) write_scalar(out, joint);
  put(out, "  </joint>\n");
}

// ---- meshes -------------------------------------------------------------------------------------

static tbResult write_mesh(Output* out, int mesh) {
  const tbModel* m = out->m;
  tbText text = {0};
  char line[3 * TB_NUMBER_TEXT + 8], x[3][TB_NUMBER_TEXT];
  for (int i = 0; i < m->mesh_vertnum[mesh]; i++) {
    const tbReal* v = m->mesh_vert + 3 * (size_t)(m->mesh_vertadr[mesh] + i);
    for (int k = 0; k < 3; k++) tb_print_shortest(x[k], v[k]);
    snprintf(line, sizeof line, "v %s %s %s\n", x[0], x[1], x[2]);
    tb_text_put(&text, line);
  }
  for (int i = 0; i < m->mesh_facenum[mesh]; i++) {
    const int* f = m->mesh_face + 3 * (size_t)(m->mesh_faceadr[mesh] + i);
    snprintf(line, sizeof line, "f %d %d %d\n", f[0] + 1, f[1] + 1, f[2] + 1);
    tb_text_put(&text, line);
  }
  Name file = mesh_file(out, mesh, true);
  return tb_text_save(&text, file.text, out->error);
}

static tbResult write_meshes(Output* out) {
  const tbModel* m = out->m;
  tbResult result = TB_OK;
  for (int i = 0; i < m->nmesh && result == TB_OK; i++) {
    bool used = false;
    for (int g = 0; g < m->ngeom; g++) {
      used = used || (m->geom_type[g] == TB_GEOM_MESH && m->geom_dataid[g] == i);
    }
    if (used) result = write_mesh(out, i);
  }
  return result;
}

// ---- what URDF has no words for -----------------------------------------------------------------

static void list_left_out(Output* out) {
  const tbModel* m = out->m;
  int shapes = 0, armature = 0, equalities = 0;
  for (int i = 0; i < m->ngeom; i++) shapes += !has_shape(m, i);
  for (int i = 0; i < m->nv; i++) armature += m->dof_armature[i] != 0;
  for (int i = 0; i < m->neq; i++) {
    int joint = couples_joints(m, i) ? m->eq_obj1id[i] : -1;
    equalities += joint < 0 || mimic_of(m, joint) != i;
  }
  leave_out(out, shapes, "plane, height field or ellipsoid",
            "planes, height fields and ellipsoids");
  leave_out(out, m->nu, "actuator", "actuators");
  leave_out(out, m->nsensor, "sensor", "sensors");
  leave_out(out, m->ntendon, "tendon", "tendons");
  leave_out(out, equalities, "equality other than a linear one of two joints",
            "equalities other than a linear one of two joints");
  leave_out(out, armature, "dof with armature", "dofs with armature");
  leave_out(out, m->npair + m->nexclude, "contact pair or exclusion",
            "contact pairs and exclusions");
  leave_out(out, m->nsite, "site", "sites");
  leave_out(out, m->ncam + m->nlight, "camera or light", "cameras and lights");
  leave_out(out, m->nkey, "keyframe", "keyframes");
  leave_out(out, m->nmocap, "mocap body, which becomes fixed", "mocap bodies, which become fixed");
  leave_out(out, m->nnumeric + m->ntext + m->ntuple, "custom field", "custom fields");
}

tbResult tb_urdf_write(const tbModel* m, const char* path, char** left_out, tbError* error) {
  Output out = {.m = m, .path = path, .error = error};
  Name robot = {"model"};
  if (*m->names) snprintf(robot.text, sizeof robot.text, "%s", m->names);
  put(&out, "<robot");
  put_name(&out, "name", &robot);
  put(&out, ">\n");
  for (int i = 0; i < m->nbody; i++) {
    write_link(&out, i);
    if (i > 0) write_joint(&out, i);
  }
  put(&out, "</robot>\n");
  list_left_out(&out);
  if (out.result == TB_OK) out.result = write_meshes(&out);
  if (out.result == TB_OK) {
    out.result = tb_text_save(&out.text, path, error);
  } else {
    free(out.text.s);
  }
  if (left_out && out.result == TB_OK && !out.left_out.failed) {
    *left_out = out.left_out.s;
  } else {
    free(out.left_out.s);
  }
  return out.result;
}
