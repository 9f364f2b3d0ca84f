// A command: what can be taken apart must be shown as text that reads back as itself and hides nothing, and
// rules must judge it, whole and in parts, without ever allowing what is opaque.
#include "guard/shell.h"

#include <algorithm>

#include "base/text.h"
#include "guard/display.h"
#include "guard/programs.h"
#include "guard/rules.h"
#include "must.h"

using namespace deputy;

namespace {

void judge(std::string_view command, const ShellReading& reading) {
  static const Rules kAll({{Decision::allow, "Bash", ""}});
  static const Rules kSome({{Decision::allow, "Bash", "a:*"}, {Decision::deny, "Bash", "rm:*"}});
  const Decision all = kAll.judge_command(command, Decision::ask).decision;
  const Decision some = kSome.judge_command(command, Decision::ask).decision;
  if (!reading) must(all != Decision::allow && some == Decision::deny);
  if (!reading) return;
  const bool runs_rm = std::ranges::any_of(
      *reading, [](const SimpleCommand& each) { return program_of(each.words[0]) == "rm"; });
  if (runs_rm) must(some == Decision::deny);
  if (some == Decision::allow) {
    must(all == Decision::allow);
    must(std::ranges::all_of(*reading, [](const SimpleCommand& each) {
      return each.words[0].text == "a" || wrapped_command(each.words).has_value();
    }));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view command(reinterpret_cast<const char*>(bytes), size);
  const ShellReading reading = read_shell(command);
  const std::string text = shown_command(command);
  must(is_utf8(text) && made_unmistakable(text) == text);
  judge(command, reading);
  if (!reading) {
    must(!reading.error().why.empty() && is_utf8(reading.error().why));
    return 0;
  }
  for (const SimpleCommand& each : *reading) {
    must(!each.words.empty() && !each.words[0].text.empty());
    // What an approval binds is asked of every command, of one that hides code too.
    const auto files = files_that_may_run(each);
    must(std::ranges::includes(files, scripts_that_may_run(each)));
    (void)folders_that_may_be_entered(each);
  }
  const std::string plain = shown(*reading);  // where blanks are counted, it does not read back
  must(plain.size() > kMaxShellBytes || read_shell(plain) == reading);
  return 0;
}
