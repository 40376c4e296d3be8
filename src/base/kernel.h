// What the kernels meant for batches need so that one source compiles as C and as CUDA.
#ifndef TRIBO_BASE_KERNEL_H_
#define TRIBO_BASE_KERNEL_H_

#ifdef __cplusplus
#define TB_RESTRICT __restrict__
#else
#define TB_RESTRICT restrict
#endif

// Below this a mass, a length or a determinant counts as zero (MuJoCo's value). A macro, since
// device code cannot read constants of file scope.
#define TB_TINY 1e-15

#endif
