// Error messages: on standard error as text and, with --json, on standard output as an object.
#ifndef TRIBO_CLI_MESSAGE_H_
#define TRIBO_CLI_MESSAGE_H_

#include <stdbool.h>

// Prints "tribo COMMAND: ..." on standard error (`command` NULL: "tribo: ..."); the format has no
// line end. Always returns false, so that a function can return it. The text is kept for
// message_report.
__attribute__((format(printf, 2, 3))) bool complain(const char* command, const char* format, ...);

// "1 geom" or "2 geoms".
enum { COUNTED_TEXT = 64 };
const char* counted(char text[COUNTED_TEXT], long n, const char* one, const char* many);

// {"error": "..."} with all complaints, on standard output, if there were any.
void message_report(void);

#endif
