// Compiled models. An input that starts with the magic is taken as a file, with its checksum put
// right; any other is a list of changes (place, four bytes) to a good model that has a bit of
// everything.
#include "fuzz/fuzz.h"
#include "model/binary.h"

static const char EVERYTHING[] =
    "<mujoco><option timestep='0.002'/><asset>"
    "<mesh name='t' vertex='0 0 0 0.1 0 0 0 0.1 0 0 0 0.1 0.1 0.1 0.1'/>"
    "<hfield name='h' nrow='3' ncol='3' size='1 1 0.1 0.1'/></asset><worldbody>"
    "<geom name='floor' type='plane' size='1 1 1'/><geom type='hfield' hfield='h' pos='5 0 0'/>"
    "<camera name='c'/><light/><body name='a' pos='0 0 0.3'><freejoint name='f'/>"
    "<geom name='g' type='mesh' mesh='t'/><site name='s1'/>"
    "<body name='b' pos='0.2 0 0'><joint name='h1' axis='0 1 0' range='-1 1' damping='0.1' "
    "frictionloss='0.01'/><joint name='l1' type='slide' stiffness='3'/>"
    "<geom name='cyl' type='cylinder' size='0.05 0.1'/><site name='s2' pos='0.3 0 0'/>"
    "<body name='d' pos='0.3 0 0'><joint name='ball' type='ball'/><geom type='capsule' "
    "size='0.05 0.1'/><site name='s3' pos='0.1 0.1 0'/></body></body></body>"
    "<body name='m' mocap='true'><geom type='box' size='0.1 0.1 0.1'/></body>"
    "<body name='e' pos='1 0 1'><joint name='h2'/><geom size='0.1'/></body></worldbody>"
    "<contact><pair geom1='floor' geom2='cyl'/><exclude body1='a' body2='d'/></contact>"
    "<equality><connect body1='a' body2='e' anchor='0 0 0'/><joint joint1='h1' joint2='h2'/>"
    "<weld body1='m' body2='a'/></equality>"
    "<tendon><fixed name='tf' range='-1 1'><joint joint='h1' coef='1'/><joint joint='h2' "
    "coef='-2'/></fixed><spatial name='ts' stiffness='10'><site site='s1'/><geom geom='cyl' "
    "sidesite='s2'/><site site='s3'/></spatial></tendon>"
    "<actuator><motor joint='h1' ctrlrange='-1 1'/><position tendon='ts' kp='3'/>"
    "<general site='s2' gear='1 0 0 0 0 0' dyntype='filter' dynprm='0.1'/>"
    "<muscle joint='h2' lengthrange='-1 1'/></actuator>"
    "<sensor><gyro site='s1'/><touch site='s2'/><jointpos joint='h1'/><framepos objtype='geom' "
    "objname='g' reftype='site' refname='s2'/><tendonpos tendon='tf'/><subtreecom body='a'/>"
    "<ballquat joint='ball'/><rangefinder site='s3'/></sensor>"
    "<custom><numeric name='n' data='1 2'/><text name='t' data='x'/><tuple name='u'><element "
    "objtype='body' objname='a' prm='1'/></tuple></custom>"
    "<keyframe><key name='k' time='1'/></keyframe></mujoco>";

// The good model's bytes, made at the first call.
static unsigned char* base(size_t* size) {
  static unsigned char* bytes;
  static size_t length;
  if (!bytes) {
    tbError error = {0};
    tbModel* model = tb_load_string(EVERYTHING, NULL, NULL, &error);
    FUZZ_CHECK(model, error.message);
    length = tb_model_binary_size(model);
    bytes = malloc(length);
    FUZZ_CHECK(bytes, "out of memory");
    tb_model_write(model, bytes);
    tb_model_free(model);
  }
  *size = length;
  return bytes;
}

static void load(unsigned char* bytes, size_t size) {
  tbError error = {0};
  if (size >= TB_BINARY_HEADER) {
    // Version, fields, length and checksum as a good file would have them.
    size_t length;
    memcpy(bytes, base(&length), 24);
    uint64_t payload = size - TB_BINARY_HEADER;
    memcpy(bytes + 24, &payload, sizeof payload);
    uint64_t checksum = tb_model_checksum(bytes, size);
    memcpy(bytes + 32, &checksum, sizeof checksum);
  }
  tbModel* model = tb_model_load_binary(bytes, size, &error);
  if (model) fuzz_use_model(model);
  FUZZ_CHECK(model || (error.code != TB_OK && error.message[0]), "an error without a message");
  tb_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  size_t length;
  unsigned char* good = base(&length);
  bool whole = size >= 8 && memcmp(input, good, 8) == 0;
  size_t total = whole ? size : length;
  unsigned char* bytes = malloc(total);
  if (!bytes) return 0;
  memcpy(bytes, whole ? input : good, total);
  for (size_t i = 0; !whole && i + 8 <= size; i += 8) {
    uint32_t place;
    memcpy(&place, input + i, sizeof place);
    // Fields of four bytes, behind the header.
    size_t at = TB_BINARY_HEADER + 4 * (place % ((total - TB_BINARY_HEADER) / 4));
    memcpy(bytes + at, input + i + 4, 4);
  }
  load(bytes, total);
  free(bytes);
  return 0;
}
