// Signals that end a run early: SIGINT (Ctrl-C) and SIGTERM, treated alike.
#ifndef TRIBO_CLI_INTERRUPT_H_
#define TRIBO_CLI_INTERRUPT_H_

// From now on the first signal is only recorded; a second one, of either kind, ends the program at
// once.
void interrupt_catch(void);

// The recorded signal, or 0.
int interrupt_signal(void);

// 128 plus the signal, as in shells; `code` if there was none.
int interrupt_code(int code);

// While a child program runs, forward signals that were sent to this program only; 0: stop
// forwarding. Signals of a terminal reach both programs anyway.
void interrupt_goes_to(int child);

// From now on a signal ends the program at once with interrupt_code: for a computation that cannot
// be interrupted. The file `part` is removed before (NULL: none), and `message` is written to
// standard output (NULL: none). Both must stay valid.
void interrupt_ends_program(const char* part, const char* message);

#endif
