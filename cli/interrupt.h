// Signals that end a run early: SIGINT (Ctrl-C) and SIGTERM, alike.
#ifndef TRIBO_CLI_INTERRUPT_H_
#define TRIBO_CLI_INTERRUPT_H_

// From now on the first signal is only remembered; a second one, of either kind, ends the program
// at once.
void interrupt_catch(void);

// The signal that came, or 0.
int interrupt_signal(void);

// 128 plus the signal, as shells say it; `code` where none came.
int interrupt_code(int code);

// While a program runs that this one started, hand on what is sent to this one alone; 0: no more.
// What a terminal sends goes to both anyway.
void interrupt_goes_to(int child);

// From now on a signal ends the program at once with interrupt_code: for a computation that cannot
// stop on the way. `part` is removed before (NULL: nothing), and `message` goes to standard output
// (NULL: nothing). Both must last.
void interrupt_ends_program(const char* part, const char* message);

#endif
