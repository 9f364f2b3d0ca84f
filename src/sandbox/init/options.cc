#include "sandbox/init/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

namespace deputy::init {

const char kUsage[] =
    "usage: deputy-init [option value]... -- /path/of/program [argument]...\n"
    "       deputy-init --probe\n"
    "Runs a program confined and ends its whole tree with it.\n"
    "  --lifeline FD  --start FD  --status FD  --parent PID  --need-level LEVEL\n"
    "  --time-limit-ms N  --grace-ms N  --open-files N  --data-bytes N  --cpu-seconds N\n";

namespace {

bool parse_number(const char* text, long& number) {
  char* end = nullptr;
  errno = 0;
  number = strtol(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && number >= 0;
}

bool set_number(const char* name, long number, Options& options) {
  const auto is = [name](const char* option) { return strcmp(name, option) == 0; };
  if (is("--lifeline")) return options.lifeline = static_cast<int>(number), true;
  if (is("--start")) return options.start = static_cast<int>(number), true;
  if (is("--status")) return options.status = static_cast<int>(number), true;
  if (is("--parent")) return options.parent = static_cast<pid_t>(number), true;
  if (is("--time-limit-ms")) return options.time_limit_ms = number, true;
  if (is("--grace-ms")) return options.grace_ms = number, true;
  if (is("--need-level")) return options.need_level = number, true;
  if (is("--open-files")) return options.open_files = number, true;
  if (is("--data-bytes")) return options.data_bytes = number, true;
  if (is("--cpu-seconds")) return options.cpu_seconds = number, true;
  return false;
}

}  // namespace

const char* parse_options(int count, char** arguments, Options& options) {
  for (int i = 1; i < count; ++i) {
    if (strcmp(arguments[i], "--probe") == 0) {
      options.probe = true;
    } else if (strcmp(arguments[i], "--") == 0) {
      if (i + 1 < count) options.argv = arguments + i + 1;
      break;
    } else {
      long number = 0;
      if (i + 1 == count || !parse_number(arguments[i + 1], number)) return arguments[i];
      if (!set_number(arguments[i], number, options)) return arguments[i];
      ++i;
    }
  }
  return options.probe || options.argv ? nullptr : "(no program)";
}

}  // namespace deputy::init
