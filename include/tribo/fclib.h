// FCLIB files: discrete frictional contact problems in HDF5 (Acary et al., INRIA RT-0444).
//
// Local problem:   u = W r + V l + q,   V' r + R l + s = 0                    (V, R, s optional)
// Global problem:  M v = H r + G l + f, u = H' v + w, G' v + b = 0            (G, b optional)
// with the same law per contact: K_mu contains r, perpendicular to u + Gamma(u) in K_mu*.
// Rows of a contact are its normal first, then spacedim - 1 tangents.
//
// Reading and writing load the HDF5 library at their first call (1.10 or later; the environment
// variable TRIBO_HDF5 names one in another place); without it they return TB_ERROR_UNSUPPORTED.
// HDF5 as packaged is not thread-safe: call these functions from one thread at a time.
#ifndef TRIBO_FCLIB_H_
#define TRIBO_FCLIB_H_

#include "tribo/problem.h"
#include "tribo/types.h"

// A sparse matrix by compressed rows: columns ascend within a row and none appears twice.
typedef struct {
  int rows, cols;
  int* start;     // rows + 1 offsets into index and value
  int* index;     // column of each entry
  tbReal* value;  // value of each entry
} tbFclibMatrix;

// How a matrix is stored in a file.
typedef enum {
  TB_FCLIB_TRIPLET,  // nz >= 0: row, column, value
  TB_FCLIB_CSC,      // nz = -1: compressed columns
  TB_FCLIB_CSR,      // nz = -2: compressed rows
} tbFclibEncoding;

typedef struct {
  int global;    // 0: W, V, R, q, s are set; 1: M, H, G, f, w, b are set
  int spacedim;  // rows per contact: 2 or 3
  int contacts;
  tbFclibMatrix W, V, R;                  // local; V and R have no rows where the file has none
  tbFclibMatrix M, H, G;                  // global; G has no columns where the file has none
  tbReal* q;                              // spacedim * contacts
  tbReal* s;                              // V.cols
  tbReal* f;                              // M.rows
  tbReal* w;                              // spacedim * contacts
  tbReal* b;                              // G.cols
  tbReal* mu;                             // contacts
  char *title, *description, *math_info;  // NULL where absent
} tbFclib;

// A solution or a guess. A pointer is NULL where the file does not have that vector.
typedef struct {
  tbReal* v;  // velocities of the bodies: M.rows
  tbReal* u;  // contact velocities: spacedim * contacts
  tbReal* r;  // contact impulses: spacedim * contacts
  tbReal* l;  // multipliers of the equalities: V.cols or G.cols
} tbFclibSolution;

TB_EXTERN_C_BEGIN

// Read the local or global problem of a file. Sizes, indices, finite values and friction
// coefficients are checked. On success the caller owns *fclib (tb_fclib_free).
TB_API tbResult tb_fclib_read(const char* path, tbFclib** fclib, tbError* error);

// Write a problem to a new file; an existing file is replaced, unless the problem's sizes, indices
// or numbers are inconsistent (TB_ERROR_ARGUMENT, as for tb_fclib_problem).
TB_API tbResult tb_fclib_write(const tbFclib* fclib, tbFclibEncoding encoding, const char* path,
                               tbError* error);

// Number of guesses stored in a file, 0 if none.
TB_API tbResult tb_fclib_guess_count(const char* path, int* count, tbError* error);

// Read the solution (guess = 0) or a guess (1 to count) of a file that holds `fclib`.
TB_API tbResult tb_fclib_read_solution(const char* path, const tbFclib* fclib, int guess,
                                       tbFclibSolution* solution, tbError* error);

// Add (or replace) the solution in a file that holds `fclib`. NULL vectors are left out.
TB_API tbResult tb_fclib_write_solution(const char* path, const tbFclib* fclib,
                                        const tbFclibSolution* solution, tbError* error);

// Free the vectors of a solution (the struct itself is the caller's), and a problem.
TB_API void tb_fclib_solution_free(tbFclibSolution* solution);
TB_API void tb_fclib_free(tbFclib* fclib);

// Build the contact problem: a cone per contact in the file's order, then equality rows for l. So
// the first spacedim * contacts entries of lambda are r, the rest is l. W, R and M must be
// symmetric to 1e-2 of their largest entry (matrices from real simulations are not exactly
// symmetric) and are replaced by their symmetric part. The caller owns *problem (tb_problem_free).
TB_API tbResult tb_fclib_problem(const tbFclib* fclib, tbProblem** problem, tbError* error);

// The inverse: a problem (of a step: tb_step_problem) as a local problem, so that other solvers can
// read it. Cones, limits (as contacts without friction) and equalities keep their order; equalities
// become l. A limit's tangents, and a second tangent that a contact does not have, are rows of the
// unit matrix. Where the coefficients along both tangents differ, the rows of the second are scaled
// by their ratio. TB_ERROR_UNSUPPORTED for rolling and torsional friction and for bounded impulses.
// The caller owns *fclib (tb_fclib_free).
TB_API tbResult tb_fclib_of_problem(const tbProblem* problem, tbFclib** fclib, tbError* error);

TB_EXTERN_C_END

#endif
