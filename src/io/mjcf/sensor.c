// Sensors: what each one measures, and its target objects.
#include <string.h>

#include "io/mjcf/mjcf.h"
#include "model/sensor_kinds.h"

static const tbFlatWord FRAMES[] = {{"body", TB_OBJ_BODY},     {"xbody", TB_OBJ_XBODY},
                                    {"geom", TB_OBJ_GEOM},     {"site", TB_OBJ_SITE},
                                    {"camera", TB_OBJ_CAMERA}, {NULL, 0}};

// The attribute that names a target of a fixed kind.
static const char* attribute_of(int target, int* objtype) {
  switch (target) {
    case TB_SENSOR_SITE: *objtype = TB_OBJ_SITE; return "site";
    case TB_SENSOR_JOINT: *objtype = TB_OBJ_JOINT; return "joint";
    case TB_SENSOR_TENDON: *objtype = TB_OBJ_TENDON; return "tendon";
    case TB_SENSOR_ACTUATOR: *objtype = TB_OBJ_ACTUATOR; return "actuator";
    case TB_SENSOR_BODY: *objtype = TB_OBJ_BODY; return "body";
    default: *objtype = TB_OBJ_UNKNOWN; return NULL;
  }
}

// A pair of attributes that identifies an object: both or neither must be given.
static bool read_object(tbMjcf* p, const tbElement* node, const char* type_name,
                        const char* name_name, const tbFlatWord* words, bool required, int* type,
                        const char** name) {
  int count;
  if (!tb_mjcf_word(p, node, type_name, words, type, &count)) return false;
  *name = tb_element_get(node, name_name);
  if (*name && !**name) *name = NULL;
  if ((count > 0) != (*name != NULL) || (required && !count)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "needs both %s and %s", type_name, name_name);
  }
  return true;
}

// One of several attributes, each of which names an object of its own type; `type` is unchanged if
// none is given.
typedef struct {
  const char* attribute;
  int type;
} Choice;

static bool read_choice(tbMjcf* p, const tbElement* node, const Choice* choices, bool required,
                        int* type, const char** name) {
  int given = 0;
  for (const Choice* c = choices; c->attribute; c++) {
    const char* text = tb_element_get(node, c->attribute);
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

// Words separated by spaces, in the order of the table.
static bool read_contact_data(tbMjcf* p, const tbElement* node, int* bits) {
  const char* at = tb_element_get(node, "data");
  *bits = TB_CONTACT_FOUND;
  if (!at) return true;
  int last = *bits = 0;
  for (at += strspn(at, " \t\r\n"); *at; at += strspn(at, " \t\r\n")) {
    size_t length = strcspn(at, " \t\r\n");
    const tbFlatWord* word = tb_flat_words_contact;
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

static bool read_contact(tbMjcf* p, const tbElement* node, tbFlatSensor* sensor) {
  int count;
  sensor->intprm[1] = TB_REDUCE_NONE;
  sensor->intprm[2] = 1;
  if (!read_choice(p, node, CONTACT_FIRST, false, &sensor->objtype, &sensor->objname) ||
      !read_choice(p, node, CONTACT_SECOND, false, &sensor->reftype, &sensor->refname) ||
      !read_contact_data(p, node, &sensor->intprm[0]) ||
      !tb_mjcf_word(p, node, "reduce", tb_flat_words_reduce, &sensor->intprm[1], &count) ||
      !tb_mjcf_integer(p, node, "num", &sensor->intprm[2], &count)) {
    return false;
  }
  if (sensor->intprm[2] < 1 || sensor->intprm[2] > 10000) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "num is %d, expected 1 to 10000",
                        sensor->intprm[2]);
  }
  return true;
}

static bool read_target(tbMjcf* p, const tbElement* node, int target, tbFlatSensor* sensor) {
  const char* attribute = attribute_of(target, &sensor->objtype);
  if (attribute) return tb_mjcf_required(p, node, attribute, &sensor->objname);
  if (target == TB_SENSOR_NONE) return true;
  if (target == TB_SENSOR_CONTACT) return read_contact(p, node, sensor);
  if (target == TB_SENSOR_PAIR) {
    return read_choice(p, node, PAIR_FIRST, true, &sensor->objtype, &sensor->objname) &&
           read_choice(p, node, PAIR_SECOND, true, &sensor->reftype, &sensor->refname);
  }
  if (target == TB_SENSOR_ON_CAMERA) {
    sensor->objtype = TB_OBJ_SITE;
    sensor->reftype = TB_OBJ_CAMERA;
    return tb_mjcf_required(p, node, "site", &sensor->objname) &&
           tb_mjcf_required(p, node, "camera", &sensor->refname);
  }
  if (target == TB_SENSOR_IN_SITE) {
    sensor->reftype = TB_OBJ_SITE;
    if (!tb_mjcf_required(p, node, "site", &sensor->refname)) return false;
  }
  if (target == TB_SENSOR_USER) {
    return read_object(p, node, "objtype", "objname", tb_flat_words_object, false, &sensor->objtype,
                       &sensor->objname);
  }
  return read_object(p, node, "objtype", "objname", FRAMES, true, &sensor->objtype,
                     &sensor->objname) &&
         (target != TB_SENSOR_REFERENCE || read_object(p, node, "reftype", "refname", FRAMES, false,
                                                       &sensor->reftype, &sensor->refname));
}

static bool read_sensor(tbMjcf* p, const tbElement* node, int type) {
  tbFlatSensor* sensor = tb_flat_add_sensor(p->spec);
  if (!sensor) return tb_mjcf_no_memory(p);
  int target = tb_sensor_kinds[type].target;
  sensor->type = type;
  sensor->intprm[0] = type == TB_SENS_RANGEFINDER;  // MuJoCo's bit for the distance
  if (!tb_mjcf_common(p, node, (tbFlatElement*)sensor) ||
      !tb_mjcf_fields(p, node, tb_flat_table_sensor(), sensor, NULL) ||
      !read_target(p, node, target, sensor)) {
    return false;
  }
  if (sensor->nsample || sensor->delay != 0 || sensor->interval[0] != 0) {
    return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "delayed sensors are not supported");
  }
  if (sensor->cutoff < 0 || sensor->noise < 0) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "%s cannot be negative",
                        sensor->cutoff < 0 ? "cutoff" : "noise");
  }
  if (target == TB_SENSOR_USER && (sensor->dim < 0 || sensor->dim > 1 << 20)) {
    return tb_mjcf_fail(p, TB_ERROR_PARSE, node, "dim %d is out of range", sensor->dim);
  }
  if (target == TB_SENSOR_USER) {
    tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                 "the sensor <user> is measured by the callback sensor of the user; without it its "
                 "values stay as they are set");
  }
  return true;
}

bool tb_mjcf_sensor(tbMjcf* p, const tbElement* section) {
  for (const tbElement* node = tb_mjcf_first(section); node; node = tb_mjcf_next(node)) {
    int type = -1;
    for (int i = 0; i < TB_NSENSORTYPES; i++) {
      if (tb_sensor_kinds[i].word && tb_mjcf_is(node, tb_sensor_kinds[i].word)) type = i;
    }
    // Sensors do not affect the simulation, so unsupported ones are skipped with a note: tactile,
    // and a rangefinder of a camera (an image) or with data (more than a distance). A plugin is
    // external code and always an error.
    if (tb_mjcf_is(node, "tactile") ||
        (type == TB_SENS_RANGEFINDER &&
         (tb_mjcf_has(node, "camera") || tb_mjcf_has(node, "data")))) {
      tb_flat_note(p->spec, tb_mjcf_file(node), tb_mjcf_line(node),
                   "the sensor <%s> is not supported and was left out", node->tag);
      continue;
    }
    if (!read_sensor(p, node, type)) return false;
  }
  return true;
}
