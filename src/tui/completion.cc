#include "tui/completion.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/display.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kMostPaths = 200;
constexpr std::string_view kQuoted = "@\"";  // how a path with spaces begins; another quote ends it

// What is being typed: a word, or a path in quotes that are still open.
std::string_view typed_word(const InputLine& input) {
  const std::string_view before = std::string_view(input.text).substr(0, input.cursor);
  const std::size_t quoted = before.rfind(kQuoted);
  const bool is_open = quoted != std::string_view::npos &&
                       before.find_first_of("\"\n", quoted + kQuoted.size()) == std::string_view::npos &&
                       (quoted == 0 || before[quoted - 1] == ' ' || before[quoted - 1] == '\n');
  return before.substr(is_open ? quoted : before.size() - word_before_cursor(input).size());
}

constexpr SlashCommand kCommands[] = {
    {"/help", "", "keys and commands"},
    {"/model", "[NAME]", "show the model, or choose another for what comes"},
    {"/agents", "", "the agents that work can be handed to"},
    {"/sessions", "", "what was done before"},
    {"/resume", "[ID]", "go on with an earlier session"},
    {"/tree", "", "this session and its children"},
    {"/nudge", "CHILD TEXT", "tell a child something; it reads it between two steps"},
    {"/answer", "CHILD TEXT", "answer what a child asks its parent"},
    {"/background", "CHILD", "let its parent go on without it"},
    {"/cancel", "CHILD", "stop a child and all below it"},
    {"/cost", "", "what was used so far"},
    {"/permissions", "", "the rules in force"},
    {"/compact", "[undo]", "go on from a summary of what was said, or undo that"},
    {"/export", "FILE", "write this session's transcript to a file"},
    {"/quit", "", "leave"},
};

}  // namespace

std::span<const SlashCommand> slash_commands() { return kCommands; }

std::vector<std::string> commands_for(const InputLine& input) {
  std::vector<std::string> found;
  if (!input.text.starts_with('/') || input.text.contains('\n') || input.cursor != input.text.size())
    return found;
  for (const auto& command : kCommands) {
    if (command.name.starts_with(input.text) && command.name != input.text) found.emplace_back(command.name);
  }
  return found;
}

std::optional<PathWanted> path_wanted(const InputLine& input) {
  const std::string_view word = typed_word(input);
  if (!word.starts_with('@')) return std::nullopt;
  const std::string path(word.substr(word.starts_with(kQuoted) ? kQuoted.size() : 1));
  const std::size_t name = path.rfind('/') + 1;
  return PathWanted{path.substr(0, name), path.substr(name)};
}

std::vector<std::string> paths_for(const PathWanted& wanted, const std::vector<std::string>& entries) {
  std::vector<std::string> found;
  for (const auto& entry : entries) {
    if (found.size() == kMostPaths) break;
    if (!entry.starts_with(wanted.name) || (entry.starts_with('.') && !wanted.name.starts_with('.')))
      continue;
    const std::string path = wanted.folder + entry;
    if (path.find_first_of("\"\n") != std::string::npos) continue;  // the quotes would end there
    const bool has_space = path.find_first_of(" \t") != std::string::npos;
    const bool goes_on = path.ends_with('/');
    found.push_back(!has_space ? "@" + path : std::string(kQuoted) + path + (goes_on ? "" : "\""));
  }
  return found;
}

void accept(InputCompletion& completion, InputLine& input) {
  const std::string word = completion.choices[completion.chosen];
  replace_before_cursor(input, typed_word(input).size(), word.ends_with('/') ? word : word + " ");
  completion = {};
}

std::vector<Line> lines_of(const InputCompletion& completion, std::size_t columns, std::size_t rows) {
  std::vector<Line> lines;
  if (!completion.is_open() || rows == 0) return lines;
  const bool is_tight = completion.choices.size() > rows && rows > 1;
  const std::size_t count = is_tight ? rows - 1 : std::min(rows, completion.choices.size());
  const std::size_t from = std::min(completion.choices.size() - count,
                                    completion.chosen >= count ? completion.chosen - count + 1 : 0);
  for (std::size_t at = from; at < from + count; ++at) {
    const bool is_chosen = at == completion.chosen;
    Line line{{is_chosen ? "❯ " : "  ", Tone::accent}};
    line.push_back(line_of(completion.choices[at], is_chosen ? Tone::chosen : Tone::plain).front());
    const auto command = std::ranges::find(kCommands, completion.choices[at], &SlashCommand::name);
    if (command != std::end(kCommands)) line.push_back({"  " + std::string(command->about), Tone::faint});
    lines.push_back(cut(line, columns));
  }
  if (is_tight)
    lines.push_back({{fmt::format("  ({} more)", completion.choices.size() - count), Tone::faint}});
  return lines;
}

}  // namespace deputy
