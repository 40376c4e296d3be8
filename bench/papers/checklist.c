#include "checklist.h"

#include <stddef.h>
#include <string.h>

#define DRAWING(paper, item, shows, note) \
  { paper, item, shows, NULL, NULL, note, NULL }

const Item CHECKLIST[] = {
    // Contact Models in Robotics: a Comparative Analysis.
    DRAWING("CM", "fig. 1", "the three principles of frictional contact",
            "Drawing; table II measures who keeps them."),
    DRAWING("CM", "fig. 2", "the separation vector",
            "Drawing; the contract of a contact is in docs/manual/collision.md."),
    DRAWING("CM", "fig. 3", "the graphs of Signorini and Coulomb",
            "Drawing; docs/manual/laws/ncp.md states them."),
    {"CM", "fig. 4", "forces that are not unique", "cm", "fig11_growing_force", NULL, NULL},
    {"CM", "fig. 5", "the stages of a simulator", "cm", "fig5_stages", NULL, NULL},
    {"CM", "fig. 6", "the pyramid pushes friction into its corners", "cm", "fig9_direction", NULL,
     NULL},
    DRAWING("CM", "fig. 7", "the bisection of RaiSim", "Drawing; docs/manual/laws/raisim.md."),
    DRAWING("CM", "fig. 8", "the robots", "See the gallery: quadruped, humanoid, hand."),
    {"CM", "fig. 9", "trajectory of a thrown cube", "cm", "fig9_direction", NULL, NULL},
    {"CM", "fig. 10", "lift and energy of a sliding cube", "cm", "fig10_energy", NULL, NULL},
    {"CM", "fig. 11", "a growing force: stick, slip, internal forces", "cm", "fig11_growing_force",
     NULL, NULL},
    {"CM", "fig. 12", "a heavy cube on a light one", "cm", "fig12_mass_ratio", NULL, NULL},
    {"CM", "fig. 13", "compliance under a quadruped", "cm", "fig13_compliance", NULL, NULL},
    {"CM", "fig. 14", "self-consistency in the time step", "cm", "fig14_time_step", NULL, NULL},
    {"CM", "fig. 15", "self-consistency in the tolerance", "cm", "fig15_tolerance", NULL, NULL},
    {"CM", "fig. 16", "convergence by iteration", "cm", "fig16_convergence", NULL, NULL},
    {"CM", "fig. 17", "timings, cold and warm", "cm", "fig17_timings", NULL, NULL},
    {"CM", "fig. 18", "walking on flat ground", "cm", "fig18_flat", NULL, NULL},
    {"CM", "fig. 19", "walking on slippery bumps", "cm", "fig19_rough", NULL, NULL},
    {"CM", "table I", "tools for each stage", "cm", "fig5_stages", NULL, NULL},
    {"CM", "table II", "principles each law keeps", "cm", "table2_principles", NULL, NULL},
    {"CM", "table III", "properties of each solver", "cm", "table3_solvers", NULL, NULL},
    {"CM", "table III (preprint)", "error of a thrown cube by time step", "cm", "table3_time_step",
     NULL, NULL},
    {"CM", "table IV (preprint)", "error of a thrown cube by tolerance", "cm", "table4_tolerance",
     NULL, NULL},
    // Exponential Integration for Efficient and Accurate Multibody Simulation with Stiff Contacts.
    DRAWING("EXP", "fig. 1", "snapshots of the robots", "See the gallery: quadruped, biped."),
    {"EXP", "fig. 2", "local error against speed", "expo", "local_error", NULL, NULL},
    {"EXP", "fig. 3", "local error against time step", "expo", "local_error", NULL, NULL},
    {"EXP", "fig. 4", "local error against stiffness and damping", "expo", "stiffness", NULL, NULL},
    {"EXP", "fig. 5", "forces predicted over 20 ms", "expo", "prediction", NULL, NULL},
    {"EXP", "fig. 6", "force of one contact point", "expo", "prediction", NULL, NULL},
    {"EXP", "table I", "time steps of the controllers", "expo", "stability", NULL, NULL},
    {"EXP", "table II", "largest stable time steps", "expo", "stability", NULL, NULL},
    {"EXP", "table III", "time by operation", "expo", "times", NULL, NULL},
    // ComFree-Sim.
    DRAWING("CF", "fig. 1", "contact modes",
            "Drawing; docs/manual/comfree.md, and figures 4 and 5."),
    {"CF", "fig. 2", "penetration of dropped bodies", "comfree", "penetration", NULL, NULL},
    DRAWING("CF", "fig. 3", "the scenes of figures 4 and 5", "See the gallery."),
    {"CF", "fig. 4", "torsional and rolling friction", "comfree", "friction", NULL, NULL},
    {"CF", "fig. 5", "stability of a thrown cube", "comfree", "stability", NULL, NULL},
    {"CF", "fig. 6", "step time against contacts", "comfree", "contacts", NULL, NULL},
    {"CF", "fig. 7", "throughput of many hands", "comfree", "throughput", NULL, NULL},
    DRAWING("CF", "fig. 8", "the hardware", "A photograph of a robot we do not have."),
    DRAWING("CF", "fig. 9", "retargeting tasks", "Not yet: needs motion-capture data."),
    DRAWING("CF", "table I", "predictive control on a real hand",
            "Left out: success rates on hardware we do not have."),
    DRAWING("CF", "table II", "motion retargeting", "Not yet: needs motion-capture data."),
    // From Compliant to Rigid Contact Simulation: a Unified and Efficient Approach.
    {"ADMM", "fig. 1", "an ill-conditioned stack of cubes", "admm", "fig1_stack", NULL, NULL},
    {"ADMM", "fig. 2", "rigid and compliant contact", "admm", "fig2_compliance", NULL, NULL},
    DRAWING("ADMM", "fig. 3", "the robots", "See the gallery."),
    {"ADMM", "fig. 4", "convergence on a wall and a humanoid", "admm", "fig4_convergence", NULL,
     NULL},
    {"ADMM", "fig. 5", "timings on robots", "admm", "fig5_timings", NULL, NULL},
    {"ADMM", "fig. 6", "the same robots in other engines", "engines", "fig6_engines", NULL, NULL},
    {"ADMM", "fig. 7", "performance profiles on FCLIB", "fclib", "admm_figure_7", NULL, "fclib"},
    {"ADMM", "fig. 8", "inverse dynamics on a wall", "derivatives", "wall", NULL, NULL},
    {"ADMM", "table I", "which engine solves what", "admm", "fig2_compliance", NULL, NULL},
    {"ADMM", "table II", "the FCLIB problems", "fclib", "admm_table_II", NULL, "fclib"},
    {"ADMM", "table III", "factorizations by penalty rule", "fclib", "admm_tables_III_IV", NULL,
     "fclib"},
    {"ADMM", "table IV", "time by penalty rule", "fclib", "admm_tables_III_IV", NULL, "fclib"},
};
const int CHECKLIST_COUNT = sizeof CHECKLIST / sizeof *CHECKLIST;

#define BUSY "It compares times, and other work on the machine disturbs those."

const Allowed ALLOWED[] = {
    {"ADMM table III", "",
     "On the problems here that every rule solves the best linear rule needs fewer updates than "
     "the best spectral one: its steps are longer, and the best penalties lie far apart. The paper "
     "has 746 problems, of which the archive at hand holds few.",
     false},
    {"ADMM table IV", "", "It follows table III. " BUSY, true},
    {"ADMM fig. 5", "", BUSY, true},
    {"ADMM fig. 6", "", BUSY, true},
    {"CM fig. 17", "", BUSY, true},
    {"EXP fig. 2", "", BUSY, true},
    {"EXP table III", "", BUSY, true},
    {"CF fig. 6", "", BUSY, true},
    {"CF fig. 7", "", BUSY, true},
    {"FCLIB", "", BUSY, true},
};
const int ALLOWED_COUNT = sizeof ALLOWED / sizeof *ALLOWED;

// The next piece of "fig. 14, table III (preprint), 3": its kind ('f', 't' or 0 if it is not said)
// and its number. Returns what follows, or NULL at the end.
static const char* next_piece(const char* text, char* kind, char* number, size_t size) {
  text += strspn(text, ", ");
  if (!*text) return NULL;
  *kind = 0;
  if (strncmp(text, "fig. ", 5) == 0) *kind = 'f';
  if (strncmp(text, "table ", 6) == 0) *kind = 't';
  if (*kind) text += strcspn(text, " ") + 1;
  size_t n = strcspn(text, ",");
  size_t kept = n < size ? n : size - 1;
  memcpy(number, text, kept);
  number[kept] = 0;
  return text + n;
}

// Numbers agree; words behind them ("11 left") do not matter, but "(preprint)" does.
static bool same_number(const char* a, const char* b) {
  size_t n = strcspn(a, " "), m = strcspn(b, " ");
  bool preprint_a = strstr(a, "(preprint)") != NULL, preprint_b = strstr(b, "(preprint)") != NULL;
  return n == m && strncmp(a, b, n) == 0 && preprint_a == preprint_b;
}

bool claim_is_about(const char* figure, const Item* item) {
  size_t key = strlen(item->paper);
  if (strncmp(figure, item->paper, key) != 0 || figure[key] != ' ') return false;
  char wanted_kind, wanted[64], kind, number[64], last = 0;
  next_piece(item->item, &wanted_kind, wanted, sizeof wanted);
  for (const char* at = figure + key; (at = next_piece(at, &kind, number, sizeof number));) {
    last = kind ? kind : last;
    if (last == wanted_kind && same_number(number, wanted)) return true;
  }
  return false;
}

const Allowed* allowed_worse(const char* figure, const char* claim) {
  for (int i = 0; i < ALLOWED_COUNT; i++) {
    if (!*ALLOWED[i].figure || strcmp(ALLOWED[i].figure, figure) != 0) continue;
    if (strncmp(ALLOWED[i].claim, claim, strlen(ALLOWED[i].claim)) == 0) return &ALLOWED[i];
  }
  return NULL;
}
