#include "tools/repositories.h"

namespace deputy {

bool walk(const Folder& root, const Visit& visit) {
  bool is_read = true;
  std::vector<std::string> waiting{"."};
  while (!waiting.empty()) {
    const std::string folder = std::move(waiting.back());
    waiting.pop_back();
    const auto entries = root.list(folder);
    if (!entries) {
      is_read = false;
      continue;
    }
    for (const Entry& entry : *entries) {
      std::string name = folder == "." ? entry.name : join_path(folder, entry.name);
      const Onward onward = visit(name, entry);
      if (onward == Onward::stop) return is_read;
      if (onward == Onward::into && entry.status.kind == EntryKind::folder)
        waiting.push_back(std::move(name));
    }
  }
  return is_read;
}

Repositories repositories_below(const Folder& folder, Depth depth, std::size_t most) {
  constexpr std::string_view kGit = ".git";
  Repositories repositories;
  std::size_t seen = 0;
  repositories.is_read = walk(folder, [&](const std::string& name, const Entry& entry) {
    if (++seen > most) {
      repositories.is_all = false;
      return Onward::stop;
    }
    if (entry.name == kGit) {
      if (name == kGit) return Onward::past;
      Repository& found = repositories.found.emplace_back(name, entry.status.kind);
      if (found.kind == EntryKind::link) {
        if (const auto place = folder.look_up(name)) found.leads_to = (*place)->name();
      }
      return Onward::past;
    }
    const bool is_dull =
        depth == Depth::usual && (entry.name == "node_modules" || name == ".deputy/subagents");
    return is_dull ? Onward::past : Onward::into;
  });
  return repositories;
}

}  // namespace deputy
