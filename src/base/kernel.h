// Macros with which one source compiles as C and as CUDA, for the kernels of batches.
#ifndef TRIBO_BASE_KERNEL_H_
#define TRIBO_BASE_KERNEL_H_

#ifdef __cplusplus
#define TB_RESTRICT __restrict__
#else
#define TB_RESTRICT restrict
#endif

// A hot loop is compiled twice: TB_WIDE functions may use 32-byte registers (AVX2) and are called
// only if tb_wide() is true. Functions that both versions call must be TB_INLINE. Products and sums
// are not fused, so that the bits are the same.
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

// TB_ANY_INLINE: an inline function of host and device; TB_INLINE: one that is always inlined.
// TB_HOST_DEVICE qualifies a function with a definition of its own.
#ifdef __CUDACC__
#define TB_HOST_DEVICE __host__ __device__
#define TB_ANY_INLINE static inline __host__ __device__
#define TB_INLINE static __forceinline__ __host__ __device__
#else
#define TB_HOST_DEVICE
#define TB_ANY_INLINE static inline
#ifdef __GNUC__
#define TB_INLINE static inline __attribute__((always_inline))
#else
#define TB_INLINE static inline
#endif
#endif

// A rarely called function, kept out of line: inlined, it would make its caller save registers.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define TB_COLD static __attribute__((noinline, cold))
#else
#define TB_COLD static
#endif

// Prefetch an address into the cache.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define tb_prefetch(address) __builtin_prefetch(address)
#else
#define tb_prefetch(address) ((void)(address))
#endif

// Below this value a mass, a length or a determinant counts as zero (MuJoCo's value). A macro,
// because device code cannot read constants of file scope.
#define TB_TINY 1e-15

#endif
