#include "render/shapes.h"

#include <math.h>
#include <string.h>

static const tbReal PI = 3.14159265358979323846;
enum { ROUND = 28, RINGS = 14 };

// A point of a surface of revolution about z: radius and height with the normal's two parts.
typedef struct {
  tbReal r, z, nr, nz;
} Profile;

// Turn a profile about z and scale the result along the axes.
static void revolve(const Profile* p, int count, const tbReal scale[3], tbTriangleSink sink,
                    void* context) {
  for (int i = 0; i + 1 < count; i++) {
    for (int k = 0; k < ROUND; k++) {
      tbReal corner[4][3], normal[4][3];
      for (int c = 0; c < 4; c++) {
        const Profile* at = &p[i + (c & 1)];
        tbReal angle = 2 * PI * (k + (c >> 1)) / ROUND, x = cos(angle), y = sin(angle), length = 0;
        const tbReal point[3] = {at->r * x, at->r * y, at->z},
                     n[3] = {at->nr * x, at->nr * y, at->nz};
        for (int a = 0; a < 3; a++) {
          corner[c][a] = point[a] * scale[a];
          normal[c][a] = n[a] / scale[a];
          length += normal[c][a] * normal[c][a];
        }
        for (int a = 0; a < 3; a++) normal[c][a] /= sqrt(length);
      }
      // Corners 0 and 2 lie on the lower ring.
      static const int order[2][3] = {{0, 2, 3}, {0, 3, 1}};
      for (int t = 0; t < 2; t++) {
        tbReal tc[3][3], tn[3][3];
        for (int c = 0; c < 3; c++) {
          memcpy(tc[c], corner[order[t][c]], sizeof tc[c]);
          memcpy(tn[c], normal[order[t][c]], sizeof tn[c]);
        }
        sink(context, (const tbReal(*)[3])tc, (const tbReal(*)[3])tn);
      }
    }
  }
}

// Two half circles of radius `r`, their centres `half` above and below the middle.
static int round_profile(tbReal r, tbReal half, Profile* p) {
  int count = 0;
  for (int i = 0; i <= RINGS; i++) {
    tbReal angle = PI * ((tbReal)i / RINGS - 0.5);
    tbReal shift = i < RINGS / 2 ? -half : half;
    p[count++] = (Profile){r * cos(angle), r * sin(angle) + shift, cos(angle), sin(angle)};
    if (i == RINGS / 2 && half > 0) {
      p[count] = p[count - 1];
      p[count - 1].z = -half;
      count++;
    }
  }
  return count;
}

static void box(const tbReal size[3], tbTriangleSink sink, void* context) {
  for (int axis = 0; axis < 3; axis++) {
    for (int side = -1; side <= 1; side += 2) {
      int u = (axis + 1) % 3, v = (axis + 2) % 3;
      tbReal corner[4][3], normal[3][3] = {{0}};
      for (int c = 0; c < 4; c++) {
        corner[c][axis] = side * size[axis];
        corner[c][u] = (c == 0 || c == 3 ? -1 : 1) * size[u];
        corner[c][v] = (c < 2 ? -1 : 1) * size[v];
      }
      for (int c = 0; c < 3; c++) normal[c][axis] = side;
      tbReal second[3][3];
      memcpy(second[0], corner[0], sizeof second[0]);
      memcpy(second[1], corner[2], sizeof second[1]);
      memcpy(second[2], corner[3], sizeof second[2]);
      sink(context, (const tbReal(*)[3])corner, (const tbReal(*)[3])normal);
      sink(context, (const tbReal(*)[3])second, (const tbReal(*)[3])normal);
    }
  }
}

// One flat triangle with the normal that its corners give.
static void flat(const tbReal a[3], const tbReal b[3], const tbReal c[3], tbTriangleSink sink,
                 void* context) {
  tbReal corner[3][3], normal[3][3], u[3], v[3], length = 0;
  for (int k = 0; k < 3; k++) {
    corner[0][k] = a[k];
    corner[1][k] = b[k];
    corner[2][k] = c[k];
    u[k] = b[k] - a[k];
    v[k] = c[k] - a[k];
  }
  for (int k = 0; k < 3; k++) {
    int i = (k + 1) % 3, j = (k + 2) % 3;
    normal[0][k] = u[i] * v[j] - u[j] * v[i];
    length += normal[0][k] * normal[0][k];
  }
  if (!(length > 0)) return;
  for (int k = 0; k < 3; k++) normal[0][k] /= sqrt(length);
  memcpy(normal[1], normal[0], sizeof normal[0]);
  memcpy(normal[2], normal[0], sizeof normal[0]);
  sink(context, (const tbReal(*)[3])corner, (const tbReal(*)[3])normal);
}

static void mesh(const tbModel* m, int id, tbTriangleSink sink, void* context) {
  const tbReal* vertex = m->mesh_vert + 3 * m->mesh_vertadr[id];
  for (int f = 0; f < m->mesh_facenum[id]; f++) {
    const int* face = m->mesh_face + 3 * (m->mesh_faceadr[id] + f);
    flat(vertex + 3 * face[0], vertex + 3 * face[1], vertex + 3 * face[2], sink, context);
  }
}

static void hfield(const tbModel* m, int id, tbTriangleSink sink, void* context) {
  int rows = m->hfield_nrow[id], columns = m->hfield_ncol[id];
  const tbReal *size = m->hfield_size + 4 * id, *sample = m->hfield_data + m->hfield_adr[id];
  for (int r = 0; r + 1 < rows; r++) {
    for (int c = 0; c + 1 < columns; c++) {
      tbReal p[4][3];
      for (int k = 0; k < 4; k++) {
        int i = r + (k >> 1), j = c + (k & 1);
        p[k][0] = size[0] * (2.0 * j / (columns - 1) - 1);
        p[k][1] = size[1] * (2.0 * i / (rows - 1) - 1);
        p[k][2] = size[2] * sample[i * columns + j];
      }
      flat(p[0], p[1], p[3], sink, context);
      flat(p[0], p[3], p[2], sink, context);
    }
  }
}

static void plane(const tbReal size[3], tbReal reach, tbTriangleSink sink, void* context) {
  tbReal x = size[0] > 0 ? fmin(size[0], reach) : reach,
         y = size[1] > 0 ? fmin(size[1], reach) : reach;
  const tbReal a[3] = {-x, -y, 0}, b[3] = {x, -y, 0}, c[3] = {x, y, 0}, d[3] = {-x, y, 0};
  flat(a, b, c, sink, context);
  flat(a, c, d, sink, context);
}

void tb_shape_triangles(const tbModel* m, int g, tbReal reach, tbTriangleSink sink, void* context) {
  const tbReal *s = m->geom_size + 3 * g, one[3] = {1, 1, 1};
  Profile p[2 * RINGS + 4];
  switch (m->geom_type[g]) {
    case TB_GEOM_PLANE: plane(s, reach, sink, context); break;
    case TB_GEOM_HFIELD: hfield(m, m->geom_dataid[g], sink, context); break;
    case TB_GEOM_SPHERE: revolve(p, round_profile(s[0], 0, p), one, sink, context); break;
    case TB_GEOM_CAPSULE: revolve(p, round_profile(s[0], s[1], p), one, sink, context); break;
    case TB_GEOM_ELLIPSOID: revolve(p, round_profile(1, 0, p), s, sink, context); break;
    case TB_GEOM_CYLINDER: {
      const Profile side[6] = {{0, -s[1], 0, -1},  {s[0], -s[1], 0, -1}, {s[0], -s[1], 1, 0},
                               {s[0], s[1], 1, 0}, {s[0], s[1], 0, 1},   {0, s[1], 0, 1}};
      revolve(side, 6, one, sink, context);
      break;
    }
    case TB_GEOM_BOX: box(s, sink, context); break;
    case TB_GEOM_MESH: mesh(m, m->geom_dataid[g], sink, context); break;
    default: break;
  }
}

void tb_ball_triangles(tbReal radius, tbTriangleSink sink, void* context) {
  const tbReal one[3] = {1, 1, 1};
  Profile p[2 * RINGS + 4];
  revolve(p, round_profile(radius, 0, p), one, sink, context);
}

void tb_arrow_triangles(tbReal length, tbReal radius, tbTriangleSink sink, void* context) {
  tbReal neck = fmax(0, length - 4 * radius), one[3] = {1, 1, 1};
  const Profile p[5] = {{radius, 0, 1, 0},
                        {radius, neck, 1, 0},
                        {2.2 * radius, neck, 0, -1},
                        {2.2 * radius, neck, 0.9, 0.45},
                        {0, length, 0.9, 0.45}};
  revolve(p, 5, one, sink, context);
}
