#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t came;
static const char *part_to_remove, *last_words;

static volatile sig_atomic_t heir;

static void handle(struct sigaction action) {
  action.sa_flags |= SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

static void remember(int number, siginfo_t* info, void* context) {
  int error = errno;
  (void)context;
  came = number;
  handle((struct sigaction){.sa_handler = SIG_DFL});
  if (heir > 0 && info->si_code == SI_USER) kill(heir, number);
  errno = error;
}

static void end_program(int number) {
  static const char TEXT[] = "tribo: interrupted\n";
  if (part_to_remove) unlink(part_to_remove);
  bool told = write(STDERR_FILENO, TEXT, sizeof TEXT - 1) >= 0;
  if (last_words) told = write(STDOUT_FILENO, last_words, strlen(last_words)) >= 0 && told;
  _exit(told ? 128 + number : 1);
}

void interrupt_catch(void) {
  handle((struct sigaction){.sa_sigaction = remember, .sa_flags = SA_SIGINFO});
}

void interrupt_goes_to(int child) {
  heir = child;
  if (child > 0 && came) kill(child, came);
}

int interrupt_signal(void) {
  return came;
}

int interrupt_code(int code) {
  return came ? 128 + came : code;
}

void interrupt_ends_program(const char* part, const char* message) {
  part_to_remove = part;
  last_words = message;
  handle((struct sigaction){.sa_handler = end_program});
}
