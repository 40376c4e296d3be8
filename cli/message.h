// What went wrong, on standard error as text and, under --json, on standard output as an object.
#ifndef TRIBO_CLI_MESSAGE_H_
#define TRIBO_CLI_MESSAGE_H_

#include <stdbool.h>

// "tribo COMMAND: ..." on standard error (`command` NULL: "tribo: ..."), without a line end in the
// format. Always false, so that it can end a function. The text is kept for message_report.
__attribute__((format(printf, 2, 3))) bool complain(const char* command, const char* format, ...);

// {"error": "..."} with all complaints, on standard output, where there were any.
void message_report(void);

#endif
