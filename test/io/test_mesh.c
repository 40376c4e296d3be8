// Mesh files and mass properties: closed forms, every format, and files that must be refused.
#include "common/test.h"
#include "io/mesh/mesh.h"
#include "spatial/eig3.h"

typedef struct {
  tbArena arena;
  tbMeshData data;
  tbMesh mesh;
  tbError error;
} Work;

static void open_work(Work* w) {
  memset(w, 0, sizeof *w);
  tb_arena_init(&w->arena);
}

static void close_work(Work* w) {
  tb_arena_free(&w->arena);
}

static void read_text(Work* w, const char* name, const char* text) {
  if (tb_mesh_read_bytes(&w->data, &w->arena, name, text, strlen(text), &w->error)) {
    fail_msg("%s", w->error.message);
  }
}

static void process(Work* w, tbMeshOptions options) {
  if (tb_mesh_process(&w->mesh, &w->arena, "m", &w->data, &options, &w->error)) {
    fail_msg("%s", w->error.message);
  }
}

static void refuse(const char* name, const void* bytes, size_t size, const char* words) {
  Work w;
  open_work(&w);
  tbResult result = tb_mesh_read_bytes(&w.data, &w.arena, name, bytes, size, &w.error);
  if (result == TB_OK || !strstr(w.error.message, words) || !strstr(w.error.message, name)) {
    print_error("expected '%s', got '%s'\n", words, w.error.message);
  }
  assert_int_not_equal(result, TB_OK);
  assert_non_null(strstr(w.error.message, words));
  assert_non_null(strstr(w.error.message, name));
  close_work(&w);
}

#define CUBE                                                                 \
  "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n" \
  "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n"

// A box of sides a, b, c: V = abc, I_x = V (b^2 + c^2) / 12; its shell by faces.
static void test_box(void** state) {
  (void)state;
  double side[3] = {1, 2, 3}, V = 6;
  for (int mode = TB_MESH_CONVEX; mode <= TB_MESH_SHELL; mode++) {
    Work w;
    open_work(&w);
    read_text(&w, "c.obj", CUBE);
    tbMeshOptions options = tb_mesh_default_options();
    memcpy(options.scale, side, sizeof side);
    options.inertia = mode;
    process(&w, options);
    double expected[3], measure = V;
    for (int i = 0; i < 3; i++) {
      double b = side[(i + 1) % 3], c = side[(i + 2) % 3];
      expected[i] = V * (b * b + c * c) / 12;
    }
    if (mode == TB_MESH_SHELL) {
      // Per axis pair of faces: own second moment about the centre.
      double second[3] = {0};
      measure = 0;
      for (int f = 0; f < 3; f++) {
        double area = side[(f + 1) % 3] * side[(f + 2) % 3];
        measure += 2 * area;
        for (int k = 0; k < 3; k++) {
          second[k] += 2 * area * (k == f ? side[k] * side[k] / 4 : side[k] * side[k] / 12);
        }
      }
      for (int i = 0; i < 3; i++) expected[i] = second[(i + 1) % 3] + second[(i + 2) % 3];
    }
    assert_near(w.mesh.volume, measure, 1e-14);
    assert_near_array(w.mesh.inertia, expected, 3, 1e-14);
    double center[3] = {0.5, 1, 1.5};
    assert_near_array(w.mesh.pos, center, 3, 1e-14);
    // Moments descend along with the sides here, so the frame is the file's.
    assert_near(fabs(w.mesh.quat[0]), 1, 1e-14);
    if (mode != TB_MESH_SHELL) {
      double half[3] = {0.5, 1, 1.5};
      assert_near_array(w.mesh.box, half, 3, 1e-14);
    }
    assert_int_equal(w.mesh.hull.nvert, 8);
    assert_int_equal(w.mesh.hull.nface, 6);
    close_work(&w);
  }
}

// A point of the centred mesh is pos + R(quat) v of the scaled file, whatever the transform, and
// the mirrored mesh still looks outwards.
static void test_transform(void** state) {
  (void)state;
  tbRng rng = {7};
  for (int trial = 0; trial < 50; trial++) {
    Work w;
    open_work(&w);
    read_text(&w, "c.obj", CUBE);
    tbMeshOptions o = tb_mesh_default_options();
    o.inertia = TB_MESH_EXACT;
    for (int i = 0; i < 3; i++) {
      o.scale[i] = tb_rng_uniform(&rng, 0.5, 2);
      if (tb_rng_int(&rng, 2) == 0) o.scale[i] *= -1;
      o.refpos[i] = tb_rng_uniform(&rng, -1, 1);
    }
    for (int i = 0; i < 4; i++) o.refquat[i] = tb_rng_normal(&rng);
    process(&w, o);
    double q[4], inverse[4];
    memcpy(q, o.refquat, sizeof q);
    tb_quat_normalize(q);
    tb_quat_conjugate(inverse, q);
    for (int i = 0; i < w.mesh.nvert; i++) {
      double from_file[3], from_mesh[3];
      tb_sub3(from_file, w.data.vert + 3 * i, o.refpos);
      tb_quat_rotate(from_file, inverse, from_file);
      for (int k = 0; k < 3; k++) from_file[k] *= o.scale[k];
      tb_quat_rotate(from_mesh, w.mesh.quat, w.mesh.vert + 3 * i);
      tb_add3(from_mesh, from_mesh, w.mesh.pos);
      assert_near_array(from_mesh, from_file, 3, 1e-13);
    }
    assert_near(w.mesh.volume, fabs(o.scale[0] * o.scale[1] * o.scale[2]), 1e-13);
    close_work(&w);
  }
}

// A sphere of many triangles tends to V = 4/3 pi r^3, I = 2/5 V r^2, shell I = 2/3 A r^2.
static void test_sphere(void** state) {
  (void)state;
  enum { N = 60 };
  const double pi = 3.14159265358979323846;
  Work w;
  open_work(&w);
  static double vert[3 * (N + 1) * 2 * N];
  static int face[3 * 4 * N * N];
  int nv = 0, nf = 0;
  for (int i = 0; i <= N; i++) {
    for (int j = 0; j < 2 * N; j++, nv++) {
      double t = pi * i / N, p = pi * j / N;
      tb_set3(vert + 3 * nv, sin(t) * cos(p), sin(t) * sin(p), cos(t));
    }
  }
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < 2 * N; j++) {
      int a = 2 * N * i + j, b = 2 * N * i + (j + 1) % (2 * N), c = a + 2 * N, d = b + 2 * N;
      int two[6] = {a, c, d, a, d, b};
      memcpy(face + 3 * nf, two, sizeof two);
      nf += 2;
    }
  }
  assert_int_equal(tb_mesh_from_arrays(&w.data, &w.arena, "s", vert, nv, face, nf, &w.error),
                   TB_OK);
  tbMeshOptions o = tb_mesh_default_options();
  o.need_hull = false;
  for (int mode = TB_MESH_EXACT; mode <= TB_MESH_SHELL; mode++) {
    o.inertia = mode;
    process(&w, o);
    bool shell = mode == TB_MESH_SHELL;
    double measure = shell ? 4 * pi : 4 * pi / 3;
    assert_near(w.mesh.volume, measure, 3e-3);
    assert_near(w.mesh.inertia[1], measure * (shell ? 2.0 / 3 : 0.4), 5e-3);
  }
  close_work(&w);
}

static void pack_float(unsigned char* at, float v) {
  memcpy(at, &v, 4);
}

// The tetrahedron (0, x, y, z) as binary STL, with `header` in front.
static size_t binary_stl(unsigned char* out, const char* header) {
  static const int FACE[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  static const float VERT[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  memset(out, 0, 84 + 4 * 50);
  memcpy(out, header, strlen(header));
  out[80] = 4;
  for (int f = 0; f < 4; f++) {
    for (int k = 0; k < 9; k++) {
      pack_float(out + 84 + 50 * f + 12 + 4 * k, VERT[FACE[f][k / 3]][k % 3]);
    }
  }
  return 84 + 4 * 50;
}

// V = 1/6, centre 1/4; moments of the unit corner tetrahedron about its centre.
static void check_tetrahedron(Work* w) {
  tbMeshOptions o = tb_mesh_default_options();
  o.inertia = TB_MESH_EXACT;
  process(w, o);
  assert_int_equal(w->mesh.nvert, 4);
  assert_int_equal(w->mesh.nface, 4);
  double center[3] = {0.25, 0.25, 0.25}, I[9], value[3], q[4];
  assert_near(w->mesh.volume, 1.0 / 6, 1e-7);
  assert_near_array(w->mesh.pos, center, 3, 1e-7);
  // int x^2 = 1/60, int xy = 1/120 about the corner; minus V c c^T.
  double xx = 1.0 / 60 - 1.0 / 96, xy = 1.0 / 120 - 1.0 / 96;
  for (int i = 0; i < 9; i++) I[i] = i % 4 == 0 ? 2 * xx : -xy;
  tb_eig3(value, q, I);
  assert_near_array(w->mesh.inertia, value, 3, 1e-7);
}

// One tetrahedron in every format that is text: name, content.
static const char* const TETRAHEDRON[][2] = {
    {"t.stl",
     "solid a vertex in its name\nfacet normal nan nan nan\nouter loop\nvertex 0 0 0\nvertex 0 1 "
     "0\nvertex 1 0 0\nendloop\nendfacet\nfacet normal 0 0 0 outer loop vertex 0 0 0 vertex 1 0 "
     "0 "
     "vertex 0 0 1 endloop endfacet\r\nFACET NORMAL 0 0 0 OUTER LOOP VERTEX 0 0 0 VERTEX 0 0 1 "
     "VERTEX 0 1 0 ENDLOOP ENDFACET\nfacet normal 1 1 1 outer loop vertex 1e0 0 0 vertex 0 +1.0 "
     "-0 vertex 0 0 10e-1 endloop endfacet endsolid\n"},
    {"t.obj",
     "\xEF\xBB\xBF# comment\nmtllib x.mtl\no first\nv 0 0 0 1 0 0\nv 1. 0 0\nv 0 1 0 # y\r\nvt 0 "
     "0\nvn 0 0 1\nf 1//1 3//1 2//1\ng second\nv 0 0 1\nf 1/1 2/1 4/1\nf -4/1/1 -1/1/1 -2/1/1\nf "
     "2 "
     "\\\n 3 4\n"},
    {"t.unknown", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"},
    {"vertices_only.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"},
    {"t.dae",
     "<COLLADA xmlns='http://www.collada.org/2005/11/COLLADASchema'><asset><unit meter='0.5'/>"
     "<up_axis>Y_UP</up_axis></asset><library_geometries><geometry id='g'><mesh>"
     "<source id='p'><float_array>0 0 0 2 0 0 0 2 <!-- cut -->0 0 0 2</float_array></source>"
     "<vertices id='v'><input semantic='POSITION' source='#p'/></vertices>"
     "<triangles><input semantic='VERTEX' source='#v' offset='1'/><input semantic='NORMAL' "
     "source='#n' offset='0'/><p>9 0 9 2 9 1</p></triangles>"
     "<polylist><input semantic='VERTEX' source='#v' offset='0'/><vcount>3 3</vcount>"
     "<p>0 1 3 0 3 2</p></polylist><polygons><input semantic='VERTEX' source='#v' offset='0'/>"
     "<p>1 2 3</p></polygons></mesh></geometry></library_geometries></COLLADA>"},
    {"fans.dae",
     "<COLLADA><library_geometries><geometry id='g'><mesh><source id='p'><float_array>0 0 0 1 0 "
     "0 "
     "0 1 0 0 0 1</float_array></source><vertices id='v'><input semantic='POSITION' "
     "source='#p'/></vertices><trifans><input semantic='VERTEX' source='#v' offset='0'/><p>0 1 3 "
     "2 1</p><p>1 2 "
     "3</p></trifans></mesh></geometry></library_geometries></COLLADA>"},
    {"strip.dae",
     "<COLLADA><library_geometries><geometry id='g'><mesh><source id='p'><float_array>0 0 0 1 0 "
     "0 "
     "0 1 0 0 0 1</float_array></source><vertices id='v'><input semantic='POSITION' "
     "source='#p'/></vertices><tristrips><input semantic='VERTEX' source='#v' offset='0'/><p>0 2 "
     "1 3 0 "
     "2</p></tristrips></mesh></geometry></library_geometries></COLLADA>"},
};

static void test_formats(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof TETRAHEDRON / sizeof TETRAHEDRON[0]; i++) {
    Work w;
    open_work(&w);
    read_text(&w, TETRAHEDRON[i][0], TETRAHEDRON[i][1]);
    check_tetrahedron(&w);
    close_work(&w);
  }
  // Binary STL, also one that begins like an ASCII file or has bytes behind it.
  unsigned char bytes[400] = {0};
  for (int i = 0; i < 3; i++) {
    Work w;
    open_work(&w);
    size_t size = binary_stl(bytes, i == 1 ? "solid but binary" : "x");
    if (i == 2) size += 10;
    assert_int_equal(tb_mesh_read_bytes(&w.data, &w.arena, "T.STL", bytes, size, &w.error), TB_OK);
    check_tetrahedron(&w);
    close_work(&w);
  }
  // MuJoCo's format.
  uint32_t counts[4] = {4, 0, 0, 4};
  float vert[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
  int32_t face[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
  memcpy(bytes, counts, 16);
  memcpy(bytes + 16, vert, 48);
  memcpy(bytes + 64, face, 48);
  Work w;
  open_work(&w);
  assert_int_equal(tb_mesh_read_bytes(&w.data, &w.arena, "t.msh", bytes, 112, &w.error), TB_OK);
  check_tetrahedron(&w);
  close_work(&w);
}

// Placements of nodes: nested, turned, mirrored, and one node used twice.
static void test_dae_nodes(void** state) {
  (void)state;
  Work w;
  open_work(&w);
  read_text(
      &w, "n.dae",
      "<COLLADA><library_geometries><geometry id='g'><mesh><source id='p'><float_array>0 0 0 1 0 0 "
      "0 "
      "1 0 0 0 1</float_array></source><vertices id='v'><input semantic='POSITION' source='#p'/>"
      "</vertices><triangles><input semantic='VERTEX' source='#v' offset='0'/><p>0 2 1 0 1 3 0 3 2 "
      "1 2 "
      "3</p></triangles></mesh></geometry></library_geometries><library_nodes><node id='k'>"
      "<scale>1 1 -1</scale><instance_geometry url='#g'/></node></library_nodes>"
      "<library_visual_scenes><visual_scene id='s'><node><translate>10 0 0</translate>"
      "<rotate>0 0 1 90</rotate><instance_node url='#k'/></node><node><matrix>2 0 0 -5 0 2 0 0 0 0 "
      "2 0 "
      "0 0 0 1</matrix><instance_node url='#k'/></node></visual_scene></library_visual_scenes>"
      "<scene><instance_visual_scene url='#s'/></scene></COLLADA>");
  assert_int_equal(w.data.nvert, 8);
  assert_int_equal(w.data.nface, 8);
  // The first copy: x goes to y, z is mirrored.
  double expected[12] = {10, 0, 0, 10, 1, 0, 9, 0, 0, 10, 0, -1};
  assert_near_array(w.data.vert, expected, 12, 1e-14);
  tbMeshOptions o = tb_mesh_default_options();
  o.inertia = TB_MESH_EXACT;
  process(&w, o);
  // Mirrored triangles still look outwards: volumes add up.
  assert_near(w.mesh.volume, 9.0 / 6, 1e-13);
  close_work(&w);
}

// A polygon with a corner that turns inwards, on a pyramid: cutting ears covers it exactly.
static void test_polygon(void** state) {
  (void)state;
  Work w;
  open_work(&w);
  read_text(
      &w, "p.obj",
      "v 0 0 0\nv 0 4 0\nv 1 1 0\nv 4 4 0\nv 4 0 0\nv 2 1 3\nf 1 2 3 4 5\nf 2 1 6\nf 3 2 6\nf 4 3 "
      "6\nf 5 4 6\nf 1 5 6\n");
  assert_int_equal(w.data.nface, 8);
  double area = 0;
  for (int f = 0; f < 3; f++) {
    const int* i = w.data.face + 3 * f;
    double a[3], b[3], n[3];
    tb_sub3(a, w.data.vert + 3 * i[1], w.data.vert + 3 * i[0]);
    tb_sub3(b, w.data.vert + 3 * i[2], w.data.vert + 3 * i[0]);
    tb_cross(n, a, b);
    // All triangles look down, as the polygon does.
    assert_true(n[2] < 0);
    area -= n[2] / 2;
  }
  // Shoelace: 16 minus the notch.
  assert_near(area, 10, 1e-14);
  close_work(&w);
}

static void test_fit(void** state) {
  (void)state;
  Work w;
  open_work(&w);
  read_text(&w, "c.obj", CUBE);
  tbMeshOptions o = tb_mesh_default_options();
  tb_set3(o.scale, 1, 2, 3);
  process(&w, o);
  double size[3], center[3], middle[3] = {0.5, 1, 1.5}, half[3] = {0.5, 1, 1.5};
  for (int aabb = 0; aabb < 2; aabb++) {
    assert_int_equal(tb_mesh_fit(&w.mesh, TB_GEOM_BOX, aabb, 1, size, center, &w.error), TB_OK);
    assert_near_array(size, half, 3, 1e-13);
    assert_near_array(center, middle, 3, 1e-13);
  }
  // The bounding box decides: half sizes 1/2, 1, 3/2.
  static const struct {
    int type;
    double size[3];
  } FITS[] = {{TB_GEOM_SPHERE, {1.5, 0, 0}},
              {TB_GEOM_CAPSULE, {1, 0.5, 0}},
              {TB_GEOM_CYLINDER, {1, 1.5, 0}},
              {TB_GEOM_ELLIPSOID, {0.5, 1, 1.5}}};
  for (size_t i = 0; i < sizeof FITS / sizeof FITS[0]; i++) {
    double doubled[3];
    assert_int_equal(tb_mesh_fit(&w.mesh, FITS[i].type, true, 2, size, center, &w.error), TB_OK);
    tb_scale3(doubled, FITS[i].size, 2);
    assert_near_array(size, doubled, 3, 1e-13);
  }
  assert_int_equal(tb_mesh_fit(&w.mesh, TB_GEOM_PLANE, true, 1, size, center, &w.error),
                   TB_ERROR_MODEL);
  close_work(&w);
}

static void test_bad_files(void** state) {
  (void)state;
  unsigned char bytes[400];
  size_t size = binary_stl(bytes, "x");
  refuse("a.stl", bytes, size - 1, "truncated");
  for (size_t cut = 1; cut < size; cut++) {
    Work w;
    open_work(&w);
    assert_int_not_equal(tb_mesh_read_bytes(&w.data, &w.arena, "a.stl", bytes, cut, &w.error),
                         TB_OK);
    close_work(&w);
  }
  bytes[83] = 0xff;
  refuse("a.stl", bytes, size, "truncated");
  binary_stl(bytes, "x");
  pack_float(bytes + 84 + 12, NAN);
  refuse("a.stl", bytes, size, "not finite");
  refuse("a.stl", "", 0, "empty");
  static const char* const TEXT[][3] = {
      {"a.stl", "solid\nfacet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0", "inside a facet"},
      {"a.stl", "solid\nfacet outer loop vertex 0 0 0 vertex 1 0 0 endloop", "has 2 vertices"},
      {"a.stl", "solid\nendsolid", "without triangles"},
      {"a.stl", "solid\nfacet outer loop vertex 0 inf 0", "three finite numbers"},
      {"a.obj", "v 0 0\n", "three finite numbers"},
      {"a.obj", "v 0 0 nan\n", "three finite numbers"},
      {"a.obj", "v 0 0 1e999\n", "three finite numbers"},
      {"a.obj", "v 0 0 0\nf 1 1 2\n", "names vertex 2"},
      {"a.obj", "v 0 0 0\nf 1 1 -2\n", "names vertex -2"},
      {"a.obj", "v 0 0 0\nf 1 1 0\n", "vertex numbers"},
      {"a.obj", "v 0 0 0\nf 1 1\n", "at least three"},
      {"a.obj", "v 0 0 0\nf 1 1 99999999999999\n", "vertex numbers"},
      {"a.obj", "v 0 0 0\nv 0 0 0\n\ncstype bezier\n", ":4: free-form"},
      {"a.obj", "# nothing\n", "no vertices"},
      {"a.msh", "$MeshFormat\n4.1 0 8\n", "Gmsh"},
      {"a.msh", "short", "too few"},
      {"a.dae", "<COLLADA>", "not well-formed"},
      {"a.dae", "<x/>", "no COLLADA"},
      {"a.dae", "<COLLADA/>", "no triangles"},
      {"a.dae", "<!DOCTYPE a [<!ENTITY b 'c'>]><COLLADA/>", "document types"},
      {"a.xyz", "1 2 3", "unknown mesh format"},
  };
  for (size_t i = 0; i < sizeof TEXT / sizeof TEXT[0]; i++) {
    refuse(TEXT[i][0], TEXT[i][1], strlen(TEXT[i][1]), TEXT[i][2]);
  }
  uint32_t huge[4] = {0x7fffffff, 0, 0, 0x7fffffff};
  refuse("a.msh", huge, sizeof huge, "but the file has 16");
  Work w;
  open_work(&w);
  assert_int_equal(tb_mesh_read(&w.data, &w.arena, "/no/such/file.stl", &w.error), TB_ERROR_FILE);
  assert_int_equal(tb_mesh_read(&w.data, &w.arena, "/tmp", &w.error), TB_ERROR_FILE);
  close_work(&w);
}

static void refuse_mesh(const char* text, tbMeshOptions options, const char* words) {
  Work w;
  open_work(&w);
  read_text(&w, "a.obj", text);
  tbResult result = tb_mesh_process(&w.mesh, &w.arena, "bad", &w.data, &options, &w.error);
  if (!strstr(w.error.message, words)) print_error("got '%s'\n", w.error.message);
  assert_int_equal(result, TB_ERROR_MODEL);
  assert_non_null(strstr(w.error.message, words));
  assert_non_null(strstr(w.error.message, "bad"));
  close_work(&w);
}

static void test_bad_meshes(void** state) {
  (void)state;
  tbMeshOptions o = tb_mesh_default_options(), exact = o, scaled = o, few = o;
  exact.inertia = TB_MESH_EXACT;
  scaled.scale[1] = 1e308;
  few.maxhullvert = 3;
  refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", o, "at least 4");
  refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n", o, "volume is zero");
  refuse_mesh("v 0 0 0\nv 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n", o, "area is zero");
  refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\n", o, "hull");
  refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n", exact,
              "negative");
  refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", exact,
              "inconsistently oriented");
  refuse_mesh("v 0 0 0\nv 1 0 0\nv 0 10 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", scaled,
              "not finite");
  refuse_mesh(CUBE, few, "maxhullvert");
}

static void test_maxhullvert(void** state) {
  (void)state;
  char text[100 * 40] = "", *at = text;
  tbRng rng = {3};
  for (int i = 0; i < 80; i++) {
    double v[3];
    tb_rng_normals(&rng, 3, v);
    tb_normalize3(v);
    at += sprintf(at, "v %.6f %.6f %.6f\n", v[0], v[1], v[2]);
  }
  Work w;
  open_work(&w);
  read_text(&w, "a.obj", text);
  tbMeshOptions o = tb_mesh_default_options();
  process(&w, o);
  assert_int_equal(w.mesh.hull.nvert, 80);
  o.maxhullvert = 20;
  process(&w, o);
  assert_true(w.mesh.hull.nvert >= 4 && w.mesh.hull.nvert <= 20);
  close_work(&w);
}

static void test_hfield(void** state) {
  (void)state;
  tbArena arena;
  tbError error = {0};
  tbHFieldData h;
  tb_arena_init(&arena);
  // The first row of the elevations is the far end of y.
  double elevation[6] = {1, 2, 3, 4, 5, 6}, expected[6] = {.6, .8, 1, 0, .2, .4};
  assert_int_equal(tb_hfield_from_elevation(&h, &arena, "h", 2, 3, elevation, 6, &error), TB_OK);
  assert_near_array(h.data, expected, 6, 1e-15);
  assert_int_equal(tb_hfield_from_elevation(&h, &arena, "h", 2, 3, NULL, 0, &error), TB_OK);
  assert_near(h.data[5], 0, 0);
  // MuJoCo's file has row 0 first.
  unsigned char bytes[32] = {2, 0, 0, 0, 3};
  for (int i = 0; i < 6; i++) pack_float(bytes + 8 + 4 * i, (float)(i + 1));
  assert_int_equal(tb_hfield_read_bytes(&h, &arena, "h.bin", bytes, 32, &error), TB_OK);
  double up[6] = {0, .2, .4, .6, .8, 1};
  assert_near_array(h.data, up, 6, 1e-15);
  assert_int_equal(tb_hfield_read_bytes(&h, &arena, "h.bin", bytes, 31, &error), TB_ERROR_PARSE);
  pack_float(bytes + 8, INFINITY);
  assert_int_equal(tb_hfield_read_bytes(&h, &arena, "h.bin", bytes, 32, &error), TB_ERROR_MODEL);
  assert_int_equal(tb_hfield_read_bytes(&h, &arena, "h.png", bytes, 32, &error), TB_ERROR_PARSE);
  uint32_t huge[2] = {0xffffffff, 0xffffffff};
  assert_int_equal(tb_hfield_read_bytes(&h, &arena, "h", huge, 8, &error), TB_ERROR_PARSE);
  assert_int_equal(tb_hfield_from_elevation(&h, &arena, "h", 1, 3, NULL, 0, &error),
                   TB_ERROR_MODEL);
  assert_int_equal(tb_hfield_from_elevation(&h, &arena, "h", 2, 2, elevation, 6, &error),
                   TB_ERROR_MODEL);
#ifdef TB_WITH_PNG
  // 3 by 2 pixels, grey: top row 0 51 102, bottom row 153 204 255.
  static const unsigned char PNG[] = {
      0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44,
      0x52, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x08, 0x00, 0x00, 0x00, 0x00, 0xb8,
      0x1f, 0x39, 0xc6, 0x00, 0x00, 0x00, 0x10, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x60,
      0x30, 0x4e, 0x63, 0x98, 0x79, 0xe6, 0x3f, 0x00, 0x07, 0x9a, 0x02, 0xfe, 0xef, 0xb2, 0xff,
      0xd8, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
  };
  assert_int_equal(tb_hfield_read_bytes(&h, &arena, "h.png", PNG, sizeof PNG, &error), TB_OK);
  assert_int_equal(h.nrow, 2);
  assert_int_equal(h.ncol, 3);
  double grey[6] = {.6, .8, 1, 0, .2, .4};
  assert_near_array(h.data, grey, 6, 1e-15);
  for (size_t cut = 8; cut < sizeof PNG - 12; cut++) {
    assert_int_not_equal(tb_hfield_read_bytes(&h, &arena, "h.png", PNG, cut, &error), TB_OK);
  }
#endif
  tb_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_box),        cmocka_unit_test(test_transform),
      cmocka_unit_test(test_sphere),     cmocka_unit_test(test_formats),
      cmocka_unit_test(test_dae_nodes),  cmocka_unit_test(test_polygon),
      cmocka_unit_test(test_fit),        cmocka_unit_test(test_bad_files),
      cmocka_unit_test(test_bad_meshes), cmocka_unit_test(test_maxhullvert),
      cmocka_unit_test(test_hfield),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
