// The call to qhull (reentrant). Its messages go to memory, never to the terminal.
#include "collide/hull/qhull.h"

#ifdef TB_WITH_QHULL

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libqhull_r/qhull_ra.h>

// qhull's list macros require the names `qh` and `facet`.
static int count_facets(qhT* qh) {
  facetT* facet;
  int count = 0;
  FORALLfacets {
    count++;
  }
  return count;
}

// A facet of top orientation lists its vertices clockwise from outside.
static bool read_facet(qhT* qh, facetT* facet, int vert[3], tbReal normal[3]) {
  if (!facet->simplicial || qh_setsize(qh, facet->vertices) != 3) return false;
  for (int i = 0; i < 3; i++) {
    vertexT* vertex = SETelemt_(facet->vertices, i, vertexT);
    vert[i] = qh_pointid(qh, vertex->point);
    normal[i] = facet->normal[i];
  }
  if (facet->toporient ^ qh_ORIENTclock) {
    int first = vert[0];
    vert[0] = vert[1];
    vert[1] = first;
  }
  return true;
}

static tbResult read_facets(qhT* qh, tbHullTriangles* out, tbArena* arena, tbError* error) {
  int count = count_facets(qh);
  out->count = 0;
  out->vert = TB_ARENA_NEW(arena, int, 3 * (size_t)count);
  out->normal = TB_ARENA_NEW(arena, tbReal, 3 * (size_t)count);
  if (!out->vert || !out->normal) {
    return tb_fail(error, TB_ERROR_MEMORY, "out of memory for %d hull triangles", count);
  }
  facetT* facet;
  FORALLfacets {
    int k = 3 * out->count;
    if (!read_facet(qh, facet, out->vert + k, out->normal + k)) {
      return tb_fail(error, TB_ERROR_NUMERIC, "qhull left a facet that is not a triangle");
    }
    out->count++;
  }
  return TB_OK;
}

// The first line of qhull's message, which names the cause.
static tbResult qhull_failed(const char* text, int code, tbError* error) {
  size_t line = text ? strcspn(text, "\n") : 0;
  // QH6013: all points have one coordinate in common; QH6421: all coincide.
  bool flat = text && (strstr(text, "QH6013") || strstr(text, "QH6421"));
  if (code == qh_ERRsingular || flat) {
    return tb_fail(error, TB_ERROR_MODEL,
                   "the points lie in one plane (or line, or point): their hull has no volume");
  }
  if (code == qh_ERRmem) return tb_fail(error, TB_ERROR_MEMORY, "qhull is out of memory");
  return tb_fail(error, TB_ERROR_NUMERIC, "qhull failed (code %d): %.*s", code,
                 (int)(line > 200 ? 200 : line), text ? text : "");
}

tbResult tb_hull_triangulate(tbHullTriangles* out, tbArena* arena, const tbReal* points, int npoint,
                             int max_vert, int joggle, tbError* error) {
  // The options are MuJoCo's: triangulated output, and the number of points to add to the first
  // simplex.
  char options[64], stop[24] = "";
  if (max_vert > 0) snprintf(stop, sizeof stop, " TA%d", max_vert > 5 ? max_vert - 4 : 1);
  snprintf(options, sizeof options, "qhull %s Pp%s", joggle ? "QJ" : "Qt", stop);

  // qhull requires a mutable array, although it does not reorder the points.
  size_t bytes = 3 * (size_t)npoint * sizeof(coordT);
  coordT* copy = tb_arena_alloc(arena, bytes);
  qhT* qh = tb_arena_calloc(arena, 1, sizeof(qhT));
  char* text = NULL;
  size_t text_size = 0;
  FILE* log = open_memstream(&text, &text_size);
  if (!copy || !qh || !log) {
    if (log) fclose(log);
    free(text);
    return tb_fail(error, TB_ERROR_MEMORY, "out of memory for a hull of %d points", npoint);
  }
  memcpy(copy, points, bytes);

  qh_zero(qh, log);
  int code = qh_new_qhull(qh, 3, npoint, copy, False, options, NULL, log);
  fflush(log);
  tbResult result = code ? qhull_failed(text, code, error) : read_facets(qh, out, arena, error);

  int kept_long, kept_total;
  qh->NOerrexit = True;
  qh_freeqhull(qh, !qh_ALL);
  qh_memfreeshort(qh, &kept_long, &kept_total);
  fclose(log);
  free(text);
  return result;
}

#else

tbResult tb_hull_triangulate(tbHullTriangles* out, tbArena* arena, const tbReal* points, int npoint,
                             int max_vert, int joggle, tbError* error) {
  (void)out;
  (void)arena;
  (void)points;
  (void)npoint;
  (void)max_vert;
  (void)joggle;
  return tb_fail(error, TB_ERROR_UNSUPPORTED,
                 "convex hulls of meshes need qhull, and this build has none "
                 "(install libqhull-dev and build again)");
}

#endif
