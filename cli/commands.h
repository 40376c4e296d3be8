// The subcommands of `tribo`. Each gets the arguments after its own name and returns the exit code.
#ifndef TRIBO_CLI_COMMANDS_H_
#define TRIBO_CLI_COMMANDS_H_

int tribo_cmd_info(int argc, char** argv);
int tribo_cmd_convert(int argc, char** argv);
int tribo_cmd_compile(int argc, char** argv);
int tribo_cmd_eval(int argc, char** argv);
int tribo_cmd_sim(int argc, char** argv);
int tribo_cmd_compare(int argc, char** argv);
int tribo_cmd_solve(int argc, char** argv);
int tribo_cmd_render(int argc, char** argv);
int tribo_cmd_demo(int argc, char** argv);
int tribo_cmd_bench(int argc, char** argv);

#endif
