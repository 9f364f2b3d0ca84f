#include "sandbox/init/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

namespace deputy::init {

const char kUsage[] =
    "usage: deputy-init [option value]... -- /path/of/program [argument]...\n"
    "       deputy-init [option value]... --probe\n"
    "Runs a program confined and ends its whole tree with it.\n"
    "  --lifeline FD  --start FD  --status FD  --record FD  --environment FD  --parent PID\n"
    "  --aim LEVEL  --need-level LEVEL  --network 1  --read FD...  --write FD...  --group FD...\n"
    "  --enclose 1  --isolated 1  --directory PATH  --home PATH\n"
    "  --time-limit-ms N  --grace-ms N  --open-files N  --data-bytes N  --file-bytes N  --processes N\n"
    "  --cpu-seconds N\n";

namespace {

bool parse_number(const char* text, long& number) {
  char* end = nullptr;
  errno = 0;
  number = strtol(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && number >= 0;
}

bool add_grant(Grant grant, Options& options) {
  if (options.grant_count == kMostGrants) return false;
  options.grants[options.grant_count++] = grant;
  return true;
}

bool add_group(long descriptor, Options& options) {
  if (options.group_count == kMostGroups) return false;
  options.groups[options.group_count++] = static_cast<int>(descriptor);
  return true;
}

bool set_number(const char* name, long number, Options& options) {
  const auto is = [name](const char* option) { return strcmp(name, option) == 0; };
  if (is("--lifeline")) return options.lifeline = static_cast<int>(number), true;
  if (is("--start")) return options.start = static_cast<int>(number), true;
  if (is("--status")) return options.status = static_cast<int>(number), true;
  if (is("--record")) return options.record = static_cast<int>(number), true;
  if (is("--environment")) return options.environment = static_cast<int>(number), true;
  if (is("--parent")) return options.parent = static_cast<pid_t>(number), true;
  if (is("--isolated")) return options.isolated = number != 0, true;
  if (is("--enclose")) return options.enclose = number != 0, true;
  if (is("--network")) return options.network = number != 0, true;
  if (is("--read")) return add_grant({.descriptor = static_cast<int>(number), .writable = false}, options);
  if (is("--write")) return add_grant({.descriptor = static_cast<int>(number), .writable = true}, options);
  if (is("--group")) return add_group(number, options);
  if (is("--time-limit-ms")) return options.time_limit_ms = number, true;
  if (is("--grace-ms")) return options.grace_ms = number, true;
  if (is("--aim")) return options.aim = number, true;
  if (is("--need-level")) return options.need_level = number, true;
  if (is("--open-files")) return options.open_files = number, true;
  if (is("--data-bytes")) return options.data_bytes = number, true;
  if (is("--file-bytes")) return options.file_bytes = number, true;
  if (is("--processes")) return options.processes = number, true;
  if (is("--cpu-seconds")) return options.cpu_seconds = number, true;
  return false;
}

bool set_option(const char* name, const char* value, Options& options) {
  if (strcmp(name, "--directory") == 0) return options.directory = value, true;
  if (strcmp(name, "--home") == 0) return options.home = value, true;
  long number = 0;
  return parse_number(value, number) && set_number(name, number, options);
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
      if (i + 1 == count || !set_option(arguments[i], arguments[i + 1], options)) return arguments[i];
      ++i;
    }
  }
  return options.probe || options.argv ? nullptr : "(no program)";
}

}  // namespace deputy::init
