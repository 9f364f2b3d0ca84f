#include "tui/call_lines.h"

#include <fmt/format.h>

#include <array>

#include "base/json.h"
#include "base/text.h"
#include "tui/markdown.h"

namespace deputy {
namespace {

constexpr std::size_t kMostDiffLines = 16;
constexpr std::size_t kShownCharacters = 200;

// The argument by which a person knows the call.
std::string subject_of(const json::object& arguments) {
  constexpr std::array kTelling{"file_path", "notebook_path", "path",  "command", "pattern",     "url",
                                "query",     "description",   "agent", "content", "question_id", "id"};
  for (const auto* key : kTelling) {
    if (const auto text = string_at(arguments, key); text && !text->empty()) return *text;
  }
  if (const auto* tasks = array_at(arguments, "tasks")) return fmt::format("{} tasks", tasks->size());
  return "";
}

void add_changed(std::vector<Line>& lines, std::string_view sign, std::string_view text,
                 std::size_t columns) {
  const auto changed = lines_of(text);
  for (std::size_t at = 0; at < changed.size(); ++at) {
    if (at == kMostDiffLines) {
      lines.push_back({{fmt::format("    … {} more lines", changed.size() - at), Tone::faint}});
      return;
    }
    Line line = diff_line(fmt::format("{}{}", sign, changed[at]));
    line.insert(line.begin(), {"    ", Tone::plain});
    lines.push_back(cut(line, columns));
  }
}

TextSpan mark_of(const ToolResult& result) {
  return result.status == ToolStatus::ok ? TextSpan{"✓ ", Tone::good} : TextSpan{"✗ ", Tone::bad};
}

}  // namespace

std::vector<Line> call_lines(const Call& call, const ToolResult& result, std::size_t columns,
                             const std::optional<CallEnding>& ending) {
  const auto parsed = parse_json_object(call.arguments.empty() ? "{}" : call.arguments);
  const json::object arguments = parsed ? *parsed : json::object{};
  Line head{ending ? ending->mark : mark_of(result)};
  head.push_back(line_of(call.name, Tone::strong).front());
  const std::string subject = shorten(on_one_line(to_utf8(subject_of(arguments))), kShownCharacters);
  if (!subject.empty()) head.push_back(line_of(" " + subject).front());
  std::vector<Line> lines{cut(head, columns)};
  if (ending) {
    lines.push_back(cut(line_of("    " + ending->why, ending->mark.tone), columns));
    return lines;
  }
  if (result.status != ToolStatus::ok) {
    Line why = line_of("    " + shorten(on_one_line(to_utf8(result.content)), kShownCharacters), Tone::bad);
    lines.push_back(cut(why, columns));
    return lines;
  }
  if (const auto before = string_at(arguments, "old_string")) add_changed(lines, "-", *before, columns);
  if (const auto after = string_at(arguments, "new_string")) add_changed(lines, "+", *after, columns);
  if (call.name == "Write") {
    if (const auto content = string_at(arguments, "content")) add_changed(lines, "+", *content, columns);
  }
  return lines;
}

}  // namespace deputy
