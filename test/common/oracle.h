// The newest MuJoCo as a peer: runs test/oracle/dump_mujoco.mjs on a model and reads the dump.
#ifndef TRIBO_TEST_ORACLE_H_
#define TRIBO_TEST_ORACLE_H_

#include <stdbool.h>
#include <stddef.h>

// One record: numbers as doubles whatever their type in the file; bytes also as text.
typedef struct {
  char name[64];
  int rows, columns;
  double* values;  // rows * columns
  char* text;      // for byte records: the bytes and a zero; else NULL
} tbOracleField;

typedef struct {
  tbOracleField* fields;
  int nfields;
  int states;
} tbOracle;

// Whether node and the package are here; prints a skip message where they are not.
bool tb_oracle_available(void);

// Load `model` (a path) in MuJoCo and evaluate `states` states from `seed`. NULL where MuJoCo
// refuses the model; its message is then in `message`. A URDF is given a compiler element with
// these attributes (NULL: none), for instance "balanceinertia=\"true\"".
tbOracle* tb_oracle_run(const char* model, const char* urdf_compiler, int seed, int states,
                        char* message, size_t size);

// What tests of robots ask for: dumps are kept, so that one serves all of them.
enum { TB_ORACLE_SEED = 3, TB_ORACLE_STATES = 4 };

// Evaluate many models in one go, for tb_oracle_run to find. Starting MuJoCo takes longer than a
// small model does.
void tb_oracle_prepare(char* const* models, int n, int seed, int states);

// As tb_oracle_run by test/oracle/step_mujoco.mjs: `states` states in contact near the first
// keyframe, and a run of `steps` steps from it ("trajectory/qpos", a row per step).
tbOracle* tb_oracle_motion(const char* model, int seed, int states, int steps, char* message,
                           size_t size);
void tb_oracle_free(tbOracle* oracle);

// A field of the model ("body_mass", "opt.timestep"), or NULL.
const tbOracleField* tb_oracle_model(const tbOracle* oracle, const char* name);

// A quantity at state `k` ("qpos", "M"), or NULL.
const tbOracleField* tb_oracle_state(const tbOracle* oracle, int k, const char* name);

// A size of the model ("nq"); -1 if there is none.
int tb_oracle_size(const tbOracle* oracle, const char* name);

#endif
