#include "io/mjcf.h"
bool tb_mjcf_attach(tbMjcf* p, const xmlNode* node, const tbMjcfPlace* place) {
  (void)place;
  return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "is not supported yet");
}
bool tb_mjcf_replicate(tbMjcf* p, const xmlNode* node, const tbMjcfPlace* place, int depth) {
  (void)place;
  (void)depth;
  return tb_mjcf_fail(p, TB_ERROR_UNSUPPORTED, node, "is not supported yet");
}
