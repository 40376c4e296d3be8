// Mechanisms that `tribo bench ablation` switches off, one at a time: X(NAME, "what it is"). In
// every other build TB_WITHOUT is 0 and costs nothing.
#ifndef TRIBO_BASE_ABLATION_H_
#define TRIBO_BASE_ABLATION_H_

#define TB_MECHANISMS(X)                                                         \
  X(REST, "impulses at rest: refined where modes hold, for the next warm start") \
  X(DENSE, "dense factors of small islands")                                     \
  X(ATTEMPTS, "interior points after the first attempt")                         \
  X(TURNING_POINTS, "interior points along the path, past turning points")       \
  X(SUBDOMAINS, "subdomains and repairs of large islands")                       \
  X(REDUCED, "contact-space reduction")                                          \
  X(IMPULSE_SPACE, "active set in impulse space")                                \
  X(CHAINS, "composite assembly along chains")                                   \
  X(PROXIMAL_NEWTON, "proximal Newton as a last resort")                         \
  X(STRATEGY_REPEATS, "repeats of ncp/auto after the first")                     \
  X(PRUNING, "pruning of contacts that cannot push")                             \
  X(SPECULATIVE, "search for contacts that the answer leads through")            \
  X(DEGENERATE, "compliance of contacts without effective mass")                 \
  X(RESTITUTION_BOUND, "restitution cut back where it makes energy")             \
  X(ENERGY_BOUND, "bound of the energy of unsolved impulses")

enum {
#define X(NAME, what) TB_MECHANISM_##NAME,
  TB_MECHANISMS(X)
#undef X
      TB_MECHANISM_COUNT
};

#ifdef TB_ABLATION
extern unsigned tb_without;  // bits of the mechanisms that are off
#define TB_WITHOUT(NAME) (tb_without >> TB_MECHANISM_##NAME & 1u)
#else
#define TB_WITHOUT(NAME) 0
#endif

#endif
