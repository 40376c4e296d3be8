// Sensors: what each measures and on what.
#include <string.h>

#include "io/mjcf.h"

// What a sensor refers to: one object of a fixed kind, named by an attribute of that kind's name;
// FRAME: objtype and objname, with REFERENCE also reftype and refname; NONE: nothing.
typedef enum { NONE, SITE, JOINT, TENDON, ACTUATOR, BODY, FRAME, REFERENCE, USER } Target;

typedef struct {
  const char* name;
  int type;  // tbSensorType
  Target target;
} Kind;

static const Kind KINDS[] = {
    {"touch", TB_SENS_TOUCH, SITE},
    {"accelerometer", TB_SENS_ACCELEROMETER, SITE},
    {"velocimeter", TB_SENS_VELOCIMETER, SITE},
    {"gyro", TB_SENS_GYRO, SITE},
    {"force", TB_SENS_FORCE, SITE},
    {"torque", TB_SENS_TORQUE, SITE},
    {"magnetometer", TB_SENS_MAGNETOMETER, SITE},
    {"rangefinder", TB_SENS_RANGEFINDER, SITE},
    {"jointpos", TB_SENS_JOINTPOS, JOINT},
    {"jointvel", TB_SENS_JOINTVEL, JOINT},
    {"tendonpos", TB_SENS_TENDONPOS, TENDON},
    {"tendonvel", TB_SENS_TENDONVEL, TENDON},
    {"actuatorpos", TB_SENS_ACTUATORPOS, ACTUATOR},
    {"actuatorvel", TB_SENS_ACTUATORVEL, ACTUATOR},
    {"actuatorfrc", TB_SENS_ACTUATORFRC, ACTUATOR},
    {"jointactuatorfrc", TB_SENS_JOINTACTFRC, JOINT},
    {"tendonactuatorfrc", TB_SENS_TENDONACTFRC, TENDON},
    {"ballquat", TB_SENS_BALLQUAT, JOINT},
    {"ballangvel", TB_SENS_BALLANGVEL, JOINT},
    {"jointlimitpos", TB_SENS_JOINTLIMITPOS, JOINT},
    {"jointlimitvel", TB_SENS_JOINTLIMITVEL, JOINT},
    {"jointlimitfrc", TB_SENS_JOINTLIMITFRC, JOINT},
    {"tendonlimitpos", TB_SENS_TENDONLIMITPOS, TENDON},
    {"tendonlimitvel", TB_SENS_TENDONLIMITVEL, TENDON},
    {"tendonlimitfrc", TB_SENS_TENDONLIMITFRC, TENDON},
    {"framepos", TB_SENS_FRAMEPOS, REFERENCE},
    {"framequat", TB_SENS_FRAMEQUAT, REFERENCE},
    {"framexaxis", TB_SENS_FRAMEXAXIS, REFERENCE},
    {"frameyaxis", TB_SENS_FRAMEYAXIS, REFERENCE},
    {"framezaxis", TB_SENS_FRAMEZAXIS, REFERENCE},
    {"framelinvel", TB_SENS_FRAMELINVEL, REFERENCE},
    {"frameangvel", TB_SENS_FRAMEANGVEL, REFERENCE},
    {"framelinacc", TB_SENS_FRAMELINACC, FRAME},
    {"frameangacc", TB_SENS_FRAMEANGACC, FRAME},
    {"subtreecom", TB_SENS_SUBTREECOM, BODY},
    {"subtreelinvel", TB_SENS_SUBTREELINVEL, BODY},
    {"subtreeangmom", TB_SENS_SUBTREEANGMOM, BODY},
    {"e_potential", TB_SENS_E_POTENTIAL, NONE},
    {"e_kinetic", TB_SENS_E_KINETIC, NONE},
    {"clock", TB_SENS_CLOCK, NONE},
    {"user", TB_SENS_USER, USER},
};
enum { NKINDS = sizeof KINDS / sizeof KINDS[0] };

// Sensors that Tribo does not have. A sensor changes nothing in the world, so they are left out
// with a note.
static const char* const MISSING[] = {"camprojection", "insidesite", "distance", "normal", "fromto",
                                      "contact",       "tactile",    "plugin",   NULL};

static const tbSpecWord FRAMES[] = {{"body", TB_OBJ_BODY},     {"xbody", TB_OBJ_XBODY},
                                    {"geom", TB_OBJ_GEOM},     {"site", TB_OBJ_SITE},
                                    {"camera", TB_OBJ_CAMERA}, {NULL, 0}};

// The attribute that names a target of a fixed kind.
static const char* attribute_of(Target target, int* objtype) {
  switch (target) {
    case SITE: *objtype = TB_OBJ_SITE; return "site";
    case JOINT: *objtype = TB_OBJ_JOINT; return "joint";
    case TENDON: *objtype = TB_OBJ_TENDON; return "tendon";
    case ACTUATOR: *objtype = TB_OBJ_ACTUATOR; return "actuator";
    case BODY: *objtype = TB_OBJ_BODY; return "body";
    default: *objtype = TB_OBJ_UNKNOWN; return NULL;
  }
}

// A pair of attributes that says which object: both or none.
static bool read_object(tbMjcf* p, const xmlNode* node, const char* type_name,
                        const char* name_name, const tbSpecWord* words, bool required, int* type,
                        const char** name) {
  int count;
  if (!tb_mjcf_word(p, node, type_name, words, type, &count)) return false;
  *name = tb_mjcf_text(p, node, name_name);
  if (*name && !**name) *name = NULL;
  if ((count > 0) != (*name != NULL) || (required && !count)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs both %s and %s", type_name, name_name);
  }
  return true;
}

static bool read_target(tbMjcf* p, const xmlNode* node, Target target, tbSpecSensor* sensor) {
  const char* attribute = attribute_of(target, &sensor->objtype);
  if (attribute) return tb_mjcf_required(p, node, attribute, &sensor->objname);
  if (target == NONE) return true;
  if (target == USER) {
    return read_object(p, node, "objtype", "objname", tb_mjcf_objects(), false, &sensor->objtype,
                       &sensor->objname);
  }
  return read_object(p, node, "objtype", "objname", FRAMES, true, &sensor->objtype,
                     &sensor->objname) &&
         (target != REFERENCE || read_object(p, node, "reftype", "refname", FRAMES, false,
                                             &sensor->reftype, &sensor->refname));
}

static bool known_attributes(tbMjcf* p, const xmlNode* node, Target target) {
  const char* known[20] = {"name",     "nsample", "interp", "delay",
                           "interval", "cutoff",  "noise",  "user"};
  int n = 8, unused;
  const char* attribute = attribute_of(target, &unused);
  if (attribute) known[n++] = attribute;
  if (target == FRAME || target == REFERENCE || target == USER) {
    known[n++] = "objtype";
    known[n++] = "objname";
  }
  if (target == REFERENCE) {
    known[n++] = "reftype";
    known[n++] = "refname";
  }
  if (target == USER) {
    known[n++] = "dim";
    known[n++] = "datatype";
    known[n++] = "needstage";
  }
  return tb_mjcf_only(p, node, known);
}

static bool read_sensor(tbMjcf* p, const xmlNode* node, const Kind* kind) {
  static const char* const OTHERS[] = {"name",     "site",    "joint",   "tendon",
                                       "actuator", "body",    "objtype", "objname",
                                       "reftype",  "refname", NULL};
  tbSpecSensor* sensor = tb_spec_add_sensor(p->spec);
  if (!sensor) return tb_mjcf_no_memory(p);
  sensor->type = kind->type;
  if (!known_attributes(p, node, kind->target) ||
      !tb_mjcf_common(p, node, (tbSpecElement*)sensor) ||
      !tb_mjcf_fields(p, node, tb_spec_table_sensor(), sensor, OTHERS, NULL) ||
      !read_target(p, node, kind->target, sensor)) {
    return false;
  }
  if (sensor->nsample || sensor->delay != 0 || sensor->interval[0] != 0) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "delayed sensors are not supported");
  }
  if (sensor->cutoff < 0 || sensor->noise < 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "%s cannot be negative",
                        sensor->cutoff < 0 ? "cutoff" : "noise");
  }
  if (kind->target == USER && (sensor->dim < 0 || sensor->dim > 1 << 20)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "dim %d is out of range", sensor->dim);
  }
  const xmlNode* child = tb_mjcf_first(node);
  return !child || tb_mjcf_unknown_element(p, child, NULL);
}

bool tb_mjcf_sensor(tbMjcf* p, const xmlNode* section) {
  const char* known[NKINDS + 1] = {NULL};
  for (int i = 0; i < NKINDS; i++) known[i] = KINDS[i].name;
  for (const xmlNode* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    const Kind* kind = NULL;
    for (int i = 0; i < NKINDS; i++) {
      if (tb_mjcf_is(node, KINDS[i].name)) kind = &KINDS[i];
    }
    bool skip = false;
    for (int i = 0; MISSING[i]; i++) skip |= tb_mjcf_is(node, MISSING[i]);
    // a rangefinder of a camera gives an image
    skip |= kind && kind->type == TB_SENS_RANGEFINDER && tb_mjcf_has(node, "camera");
    if (skip) {
      tb_spec_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                   "the sensor <%s> is not supported and was left out", (const char*)node->name);
      continue;
    }
    if (!kind) return tb_mjcf_unknown_element(p, node, known);
    if (!read_sensor(p, node, kind)) return false;
  }
  return true;
}
