// Sensors: what each measures and on what.
#include <string.h>

#include "io/mjcf/mjcf.h"

// What a sensor refers to: one object of a fixed kind, named by an attribute of that kind's name;
// FRAME: objtype and objname, with REFERENCE also reftype and refname; NONE: nothing.
// IN_SITE: such an object and a site; ON_CAMERA: a site and a camera; PAIR: two geoms or bodies;
// CONTACT: sites, geoms, bodies or subtrees, or nothing.
typedef enum {
  NONE,
  SITE,
  JOINT,
  TENDON,
  ACTUATOR,
  BODY,
  FRAME,
  REFERENCE,
  USER,
  IN_SITE,
  ON_CAMERA,
  PAIR,
  CONTACT
} Target;

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
    {"camprojection", TB_SENS_CAMPROJECTION, ON_CAMERA},
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
    {"insidesite", TB_SENS_INSIDESITE, IN_SITE},
    {"distance", TB_SENS_GEOMDIST, PAIR},
    {"normal", TB_SENS_GEOMNORMAL, PAIR},
    {"fromto", TB_SENS_GEOMFROMTO, PAIR},
    {"contact", TB_SENS_CONTACT, CONTACT},
    {"e_potential", TB_SENS_E_POTENTIAL, NONE},
    {"e_kinetic", TB_SENS_E_KINETIC, NONE},
    {"clock", TB_SENS_CLOCK, NONE},
    {"user", TB_SENS_USER, USER},
};
enum { NKINDS = sizeof KINDS / sizeof KINDS[0] };

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

// One of several attributes, each naming an object of its own type; `type` stays where none is
// given.
typedef struct {
  const char* attribute;
  int type;
} Choice;

static bool read_choice(tbMjcf* p, const xmlNode* node, const Choice* choices, bool required,
                        int* type, const char** name) {
  int given = 0;
  for (const Choice* c = choices; c->attribute; c++) {
    const char* text = tb_mjcf_text(p, node, c->attribute);
    if (!text || !*text) continue;
    *type = c->type;
    *name = text;
    given++;
  }
  if (given > 1 || (required && !given)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs one of %s and %s", choices[0].attribute,
                        choices[1].attribute);
  }
  return true;
}

static const Choice PAIR_FIRST[] = {{"geom1", TB_OBJ_GEOM}, {"body1", TB_OBJ_BODY}, {NULL, 0}};
static const Choice PAIR_SECOND[] = {{"geom2", TB_OBJ_GEOM}, {"body2", TB_OBJ_BODY}, {NULL, 0}};
static const Choice CONTACT_FIRST[] = {{"geom1", TB_OBJ_GEOM},
                                       {"body1", TB_OBJ_BODY},
                                       {"subtree1", TB_OBJ_XBODY},
                                       {"site", TB_OBJ_SITE},
                                       {NULL, 0}};
static const Choice CONTACT_SECOND[] = {
    {"geom2", TB_OBJ_GEOM}, {"body2", TB_OBJ_BODY}, {"subtree2", TB_OBJ_XBODY}, {NULL, 0}};

static const tbSpecWord CONTACT_DATA[] = {
    {"found", TB_CONTACT_FOUND},     {"force", TB_CONTACT_FORCE},
    {"torque", TB_CONTACT_TORQUE},   {"dist", TB_CONTACT_DIST},
    {"pos", TB_CONTACT_POS},         {"normal", TB_CONTACT_NORMAL},
    {"tangent", TB_CONTACT_TANGENT}, {NULL, 0}};
static const tbSpecWord REDUCE[] = {{"none", TB_REDUCE_NONE},
                                    {"mindist", TB_REDUCE_MINDIST},
                                    {"maxforce", TB_REDUCE_MAXFORCE},
                                    {"netforce", TB_REDUCE_NETFORCE},
                                    {NULL, 0}};

// Words separated by spaces, in the order of the table.
static bool read_contact_data(tbMjcf* p, const xmlNode* node, int* bits) {
  const char* at = tb_mjcf_text(p, node, "data");
  *bits = TB_CONTACT_FOUND;
  if (!at) return true;
  int last = *bits = 0;
  for (at += strspn(at, " \t\r\n"); *at; at += strspn(at, " \t\r\n")) {
    size_t length = strcspn(at, " \t\r\n");
    const tbSpecWord* word = CONTACT_DATA;
    while (word->word && (strlen(word->word) != length || strncmp(word->word, at, length) != 0)) {
      word++;
    }
    if (!word->word || word->value <= last) {
      return tb_mjcf_fail(p, TB_ERROR_PARSE, node,
                          "data '%.*s' is unknown or out of order: expected some of found, force, "
                          "torque, dist, pos, normal, tangent, in this order",
                          (int)length, at);
    }
    *bits |= last = word->value;
    at += length;
  }
  return *bits != 0 || tb_mjcf_fail(p, TB_ERROR_PARSE, node, "data is empty");
}

static bool read_contact(tbMjcf* p, const xmlNode* node, tbSpecSensor* sensor) {
  int count;
  sensor->intprm[1] = TB_REDUCE_NONE;
  sensor->intprm[2] = 1;
  if (!read_choice(p, node, CONTACT_FIRST, false, &sensor->objtype, &sensor->objname) ||
      !read_choice(p, node, CONTACT_SECOND, false, &sensor->reftype, &sensor->refname) ||
      !read_contact_data(p, node, &sensor->intprm[0]) ||
      !tb_mjcf_word(p, node, "reduce", REDUCE, &sensor->intprm[1], &count) ||
      !tb_mjcf_integer(p, node, "num", &sensor->intprm[2], &count)) {
    return false;
  }
  if (sensor->intprm[2] < 1 || sensor->intprm[2] > 10000) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "num is %d, expected 1 to 10000",
                        sensor->intprm[2]);
  }
  return true;
}

static bool read_target(tbMjcf* p, const xmlNode* node, Target target, tbSpecSensor* sensor) {
  const char* attribute = attribute_of(target, &sensor->objtype);
  if (attribute) return tb_mjcf_required(p, node, attribute, &sensor->objname);
  if (target == NONE) return true;
  if (target == CONTACT) return read_contact(p, node, sensor);
  if (target == PAIR) {
    return read_choice(p, node, PAIR_FIRST, true, &sensor->objtype, &sensor->objname) &&
           read_choice(p, node, PAIR_SECOND, true, &sensor->reftype, &sensor->refname);
  }
  if (target == ON_CAMERA) {
    sensor->objtype = TB_OBJ_SITE;
    sensor->reftype = TB_OBJ_CAMERA;
    return tb_mjcf_required(p, node, "site", &sensor->objname) &&
           tb_mjcf_required(p, node, "camera", &sensor->refname);
  }
  if (target == IN_SITE) {
    sensor->reftype = TB_OBJ_SITE;
    if (!tb_mjcf_required(p, node, "site", &sensor->refname)) return false;
  }
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
  const char* known[24] = {"name",     "nsample", "interp", "delay",
                           "interval", "cutoff",  "noise",  "user"};
  int n = 8, unused;
  const char* attribute = attribute_of(target, &unused);
  if (attribute) known[n++] = attribute;
  if (target == FRAME || target == REFERENCE || target == USER || target == IN_SITE) {
    known[n++] = "objtype";
    known[n++] = "objname";
  }
  if (target == IN_SITE || target == ON_CAMERA) known[n++] = "site";
  if (target == ON_CAMERA) known[n++] = "camera";
  const Choice* choices[4] = {NULL};
  if (target == PAIR) choices[0] = PAIR_FIRST, choices[1] = PAIR_SECOND;
  if (target == CONTACT) choices[0] = CONTACT_FIRST, choices[1] = CONTACT_SECOND;
  for (int i = 0; choices[i]; i++) {
    for (const Choice* c = choices[i]; c->attribute; c++) known[n++] = c->attribute;
  }
  if (target == CONTACT) {
    known[n++] = "data";
    known[n++] = "reduce";
    known[n++] = "num";
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
  static const char* const OTHERS[] = {
      "name",    "site",     "joint",    "tendon", "actuator", "body",  "objtype",
      "objname", "reftype",  "refname",  "camera", "geom1",    "geom2", "body1",
      "body2",   "subtree1", "subtree2", "data",   "reduce",   "num",   NULL};
  tbSpecSensor* sensor = tb_spec_add_sensor(p->spec);
  if (!sensor) return tb_mjcf_no_memory(p);
  sensor->type = kind->type;
  sensor->intprm[0] = kind->type == TB_SENS_RANGEFINDER;  // MuJoCo's bit for the distance
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
  if (kind->target == USER) {
    tb_spec_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                 "nothing measures the sensor <user>: its values stay as the user sets them");
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
    // Sensors change nothing in the world, so those that Tribo does not have are left out with a
    // note: tactile, and a rangefinder of a camera (an image) or with data (more than a distance).
    // A plugin is foreign code, an error wherever it stands.
    if (tb_mjcf_is(node, "tactile") ||
        (kind && kind->type == TB_SENS_RANGEFINDER &&
         (tb_mjcf_has(node, "camera") || tb_mjcf_has(node, "data")))) {
      tb_spec_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                   "the sensor <%s> is not supported and was left out", (const char*)node->name);
      continue;
    }
    if (!kind) return tb_mjcf_unknown_element(p, node, known);
    if (!read_sensor(p, node, kind)) return false;
  }
  return true;
}
