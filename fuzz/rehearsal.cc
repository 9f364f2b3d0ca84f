// The rehearsal model in a hostile house: the input is a prompt and then what the tools answer, parted by NUL
// bytes. Whatever they say, the conversation ends soon, with a short report in valid UTF-8 that says who
// speaks and whose places a tool has named.
#include "model/rehearsal.h"

#include <algorithm>
#include <cstdlib>

#include "base/json.h"
#include "base/text.h"
#include "model/rehearsal_report.h"

namespace {

using deputy::Message;
using deputy::Role;

std::vector<deputy::ToolOffer> offers(bool may_delegate) {
  const std::string schema =
      R"({"properties":{"output_mode":{},"offset":{},"limit":{},"head_limit":{},"case_insensitive":{}}})";
  std::vector<deputy::ToolOffer> tools;
  for (const char* name : {"Glob", "Grep", "List", "Read", "Note"}) tools.push_back({name, "", schema});
  if (may_delegate) tools.push_back({"Delegate", "", schema});
  return tools;
}

// A plain path in a finding must stand in what came in; README.md is the one name that is tried unseen.
void check_cite(std::string_view line, std::string_view input) {
  const std::string_view cite = line.substr(2, line.find(" — ") - 2);
  const std::size_t colon = cite.rfind(':');
  if (colon == std::string_view::npos) return;
  const auto is_plain = [](char c) { return c > ' ' && c < 0x7f; };
  const std::string_view path = cite.substr(0, colon);
  // A letter that could be mistaken is spelled by its number.
  if (path == "README.md" || path.contains("\\u{")) return;
  if (std::ranges::all_of(path, is_plain) && !input.contains(path)) std::abort();
}

void check(const std::string& report, std::string_view input) {
  if (!deputy::is_utf8(report) || !report.contains("not a language model")) std::abort();
  const auto lines = deputy::lines_of(report);
  if (lines.size() > deputy::kMostReportLines) std::abort();
  for (const std::string_view line : lines) {
    if (line.starts_with("- ")) check_cite(line, input);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const std::vector<std::string_view> parts = deputy::split(input, '\0');
  const bool may_delegate = input.starts_with('D');
  const auto tools = offers(may_delegate);

  std::vector<Message> messages(1);
  messages[0].text = deputy::to_utf8(parts[0]);
  std::size_t next = 1;
  bool delegated = false;
  for (int step = 0; step < 8; ++step) {
    messages.push_back(deputy::rehearsed(tools, messages));
    const Message& reply = messages.back();
    if (reply.calls.empty()) {
      if (!delegated) check(reply.text, input);
      return 0;
    }
    Message results;
    results.role = Role::tool;
    for (const deputy::Call& call : reply.calls) {
      if (!deputy::parse_json_object(call.arguments)) std::abort();
      delegated = delegated || call.name == "Delegate";
      const std::string_view part = next < parts.size() ? parts[next++] : std::string_view();
      const bool failed = part.starts_with('!');
      results.results.push_back(
          {call.id, failed ? deputy::ToolStatus::error : deputy::ToolStatus::ok, deputy::to_utf8(part)});
    }
    messages.push_back(std::move(results));
  }
  std::abort();
}
