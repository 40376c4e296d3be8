// What the kernels meant for batches need so that one source compiles as C and as CUDA.
#ifndef TRIBO_BASE_KERNEL_H_
#define TRIBO_BASE_KERNEL_H_

#ifdef __cplusplus
#define TB_RESTRICT __restrict__
#else
#define TB_RESTRICT restrict
#endif

// A hot loop compiled twice: TB_WIDE functions may use 32-byte registers and are called only where
// tb_wide() holds. What both call must be TB_INLINE. Products and sums stay separate, so that the
// bits are the same.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define TB_WIDE __attribute__((target("avx2")))
#ifdef TB_NARROW  // for tests: as on a machine without
#define tb_wide() 0
#else
#define tb_wide() __builtin_cpu_supports("avx2")
#endif
#else
#define TB_WIDE
#define tb_wide() 0
#endif
#if defined(__GNUC__) && !defined(__CUDACC__)
#define TB_INLINE static inline __attribute__((always_inline))
#else
#define TB_INLINE static inline
#endif

// A function that is rarely called, kept out of line: inlined, it would make its caller save
// registers.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define TB_COLD static __attribute__((noinline, cold))
#else
#define TB_COLD static
#endif

// Fetches what will be read soon into the cache.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define tb_prefetch(address) __builtin_prefetch(address)
#else
#define tb_prefetch(address) ((void)(address))
#endif

// Below this a mass, a length or a determinant counts as zero (MuJoCo's value). A macro, since
// device code cannot read constants of file scope.
#define TB_TINY 1e-15

#endif
