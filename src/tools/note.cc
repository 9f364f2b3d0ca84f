#include "tools/note.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kDescription = R"(Adds a note to your scratchpad. It is kept at once.)";

constexpr std::string_view kSchema = R"json({
"type":"object",
"properties":{"content":{"type":"string","minLength":1}},
"required":["content"],
"additionalProperties":false})json";

bool has_note(const std::vector<Fact>& traces) {
  return std::ranges::any_of(traces,
                             [](const Fact& fact) { return std::holds_alternative<NoteTaken>(fact); });
}

}  // namespace

const ToolText& NoteTool::text() const {
  static const ToolText text{"Note", std::string(kDescription), std::string(kSchema)};
  return text;
}

std::string NoteTool::in_full(const json::object& arguments) const {
  return string_or(arguments, "content", "");
}

std::string NoteTool::shown(const json::object& arguments) const {
  return shorten(on_one_line(in_full(arguments)), 80);
}

Task<ToolResult> NoteTool::run(json::object arguments, ToolContext context) {
  std::string content = to_utf8(string_or(arguments, "content", ""));
  if (trimmed(content).empty()) co_return tool_error("The note is empty. Write what you want to keep.");
  if (content.size() > kMaxBytes) {
    co_return tool_error(
        fmt::format("The note has {} bytes; at most {} are taken. Shorten it or write several.",
                    with_thousands(content.size()), with_thousands(kMaxBytes)));
  }
  if (!has_note(context.traces)) {
    const SessionJournal::Place place{context.id.step, context.id.index};
    const auto recorded = co_await context.journal.record(place, {NoteTaken{std::move(content)}});
    if (!recorded) co_return tool_error(fmt::format("The note was not kept: {}", to_text(recorded.error())));
  }
  co_return tool_ok("Noted.");
}

}  // namespace deputy
