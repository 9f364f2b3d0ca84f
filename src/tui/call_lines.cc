#include "tui/call_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "tui/markdown.h"

namespace deputy {
namespace {

constexpr std::size_t kMostDiffLines = 16;
constexpr std::size_t kShownCharacters = 200;
constexpr std::size_t kMostWhyLines = 6;

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

// What a child reports is Markdown; what others say of a failure stands as it is.
bool is_report(std::string_view content) { return content.starts_with("## Subagent"); }

std::string rendered(const std::string& line) {
  std::string text;
  for (const Line& each : markdown_lines(line, kShownCharacters))
    text += (text.empty() ? "" : " ") + plain_text(each);
  return text.empty() ? line : text;
}

// Its first line, by which a report is known, and its last ones: there a command says why it failed, and with
// which status.
std::vector<Line> why_lines(std::string_view content, std::size_t columns) {
  const std::string text = to_utf8(content);
  std::vector<std::string_view> told = lines_of(text);
  std::erase_if(told, [](std::string_view line) { return trimmed(line).empty(); });
  const auto shown = [is_markdown = is_report(text)](std::string_view line) {
    const std::string told = shorten(line, kShownCharacters);
    return line_of("    " + (is_markdown ? rendered(told) : told), Tone::bad);
  };
  if (told.size() == 1) return wrapped(shown(told.front()), columns, "    ");
  const std::size_t left_out = told.size() - std::min(told.size(), kMostWhyLines);
  std::vector<Line> lines;
  for (std::size_t at = 0; at < told.size(); ++at) {
    const bool is_left_out = at >= 1 && at <= left_out;
    if (!is_left_out) lines.push_back(cut(shown(told[at]), columns));
    if (at == 1 && is_left_out)
      lines.push_back(
          {{fmt::format("    … {} line{} left out", with_thousands(left_out), left_out == 1 ? "" : "s"),
            Tone::faint}});
  }
  return lines;
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
    for (auto& why : why_lines(result.content, columns)) lines.push_back(std::move(why));
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
