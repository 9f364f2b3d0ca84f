#include "soak_tally.h"

#include <fmt/format.h>

#include <map>

#include "base/json.h"
#include "soak_play.h"

namespace deputy {

Tally tally_of(std::string_view exported) {
  Tally tally;
  std::map<std::string, int> notes;
  std::map<std::string, std::string> written_by;  // a call, the file
  int completed = 0;
  for (std::size_t at = 0; at < exported.size();) {
    const auto end = std::min(exported.find('\n', at), exported.size());
    const auto line = parse_json_object(exported.substr(at, end - at));
    at = end + 1;
    if (!line) continue;
    const std::string event = string_or(*line, "event", "");
    if (event == "note") ++notes[string_or(*line, "content", "")];
    if (event == "completed" && string_or(*line, "status", "") == "ok") ++completed;
    const std::string call = fmt::format("{} {} {}", string_or(*line, "session_id", ""),
                                         integer_or(*line, "step", -1), integer_or(*line, "call", -1));
    const std::string args = string_or(*line, "args", "");
    if (const auto file = args.find("out_"); event == "tool_call" && file != std::string::npos)
      written_by[call] = args.substr(file);
    if (string_or(*line, "result", "") == "ok" && written_by.contains(call))
      tally.made.insert(written_by[call]);
  }
  for (int child = 0; child < kChildren; ++child) {
    for (int step = 0; step < kSteps; ++step) tally.add(notes[note_of(child, step)], 1);
  }
  tally.add(completed, kChildren + 1);
  return tally;
}

}  // namespace deputy
