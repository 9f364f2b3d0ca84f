#include "guard/tool_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace deputy {
namespace {

struct Spellings {
  std::string_view name;
  std::string_view others;  // lower case, without '_' and '-', separated by spaces
};

constexpr auto kTools = std::to_array<Spellings>({
    {"Read", "readfile view viewfile cat notebookread readmanyfiles"},
    {"Grep", "search searchfiles searchfilecontent grepsearch rg ripgrep"},
    {"Glob", "find findfiles filesearch globsearch"},
    {"List", "ls listdir listdirectory listfiles listfolder"},
    {"Edit", "editfile multiedit replace strreplace patch applypatch"},
    {"Write", "writefile create createfile"},
    {"NotebookEdit", "editnotebook"},
    {"Bash", "run shell sh exec execute terminal runcommand runshellcommand localshell"},
    {"WebFetch", "fetch fetchurl"},
    {"WebSearch", "googlewebsearch searchweb"},
    {"Todo", "todos todowrite writetodos todoread updateplan"},
    {"Note", "takenote"},
    {"Delegate", ""},
    {"task", "agent subagent"},
    {"task_status", "bashoutput taskoutput"},
    {"task_cancel", "killshell killbash taskstop"},
    {"task_message", ""},
    {"task_completion", ""},
    {"spawn_subagent", ""},
    {"answer_subagent", ""},
    {"ask_parent", ""},
    {"ask_user", ""},
});

std::string folded(std::string_view name) {
  std::string out = lowered(name);
  std::erase_if(out, [](char c) { return c == '_' || c == '-'; });
  return out;
}

}  // namespace

std::string canonical_tool_name(std::string_view name) {
  if (is_tool_name(name)) return std::string(name);
  const std::string wanted = folded(trimmed(name));
  if (wanted.empty()) return std::string(name);
  for (const Spellings& tool : kTools) {
    if (folded(tool.name) == wanted) return std::string(tool.name);
    const std::vector<std::string_view> others = split(tool.others, ' ');
    if (std::ranges::find(others, wanted) != others.end()) return std::string(tool.name);
  }
  return std::string(name);
}

bool is_tool_name(std::string_view canonical_name) {
  constexpr std::string_view kServer = "mcp__";
  // What providers take in a tool's name; nothing that means something in the written form of a rule.
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (canonical_name.starts_with(kServer)) {
    return canonical_name.size() > kServer.size() &&
           canonical_name.find_first_not_of(kLetters) == std::string_view::npos;
  }
  return std::ranges::find(kTools, canonical_name, &Spellings::name) != kTools.end();
}

std::vector<std::string> tool_names() {
  std::vector<std::string> names;
  for (const Spellings& tool : kTools) names.emplace_back(tool.name);
  return names;
}

}  // namespace deputy
