#include "guard/paths.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace deputy {
namespace {

constexpr auto kProtected = std::to_array<std::string_view>({
    ".agent",
    ".agents",
    ".aws",
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cargo",
    ".claude",
    ".codex",
    ".cshrc",
    ".cursor",
    ".deputy",
    ".devcontainer",
    ".dir-locals.el",
    ".direnv",
    ".docker",
    ".envrc",
    ".exrc",
    ".gdbinit",
    ".gemini",
    ".git",
    ".gitconfig",
    ".gitmodules",
    ".gnupg",
    ".hg",
    ".hgrc",
    ".husky",
    ".idea",
    ".inputrc",
    ".irbrc",
    ".jj",
    ".kshrc",
    ".kube",
    ".lldbinit",
    ".login",
    ".mcp.json",
    ".mise.toml",
    ".netrc",
    ".npmrc",
    ".nvim.lua",
    ".nvimrc",
    ".opencode",
    ".pam_environment",
    ".pdbrc",
    ".pnpmfile.cjs",
    ".pre-commit-config.yaml",
    ".profile",
    ".pryrc",
    ".psqlrc",
    ".pylintrc",
    ".pypirc",
    ".ripgreprc",
    ".rprofile",
    ".sqliterc",
    ".ssh",
    ".tcshrc",
    ".tmux.conf",
    ".vimrc",
    ".vscode",
    ".windsurf",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".yarnrc",
    ".yarnrc.yml",
    ".zed",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "authorized_keys",
    "git~1",
    "mise.toml",
});

std::string joined(const std::vector<std::string_view>& parts) {
  std::string out;
  for (const std::string_view part : parts) {
    if (!out.empty()) out += '/';
    out += part;
  }
  return out;
}

struct CleanPath {
  std::vector<std::string_view> parts;
  bool climbs = false;  // above where it begins
};

CleanPath clean(std::string_view path) {
  CleanPath result;
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      result.parts.push_back(part);
    } else if (result.parts.empty()) {
      result.climbs = true;
    } else {
      result.parts.pop_back();
    }
  }
  return result;
}

// Both without their first '/'. An empty root is not known, unless it is "/".
std::optional<std::string> beneath(std::string_view absolute, std::string_view root) {
  if (root.empty()) return std::nullopt;
  const std::string folder = joined(clean(root).parts);
  if (folder.empty() || absolute == folder)
    return std::string(folder.empty() ? absolute : std::string_view());
  if (!absolute.starts_with(folder) || absolute[folder.size()] != '/') return std::nullopt;
  return std::string(absolute.substr(folder.size() + 1));
}

std::string tidy(std::string_view name) {
  std::string out = case_folded(name);
  while (out.ends_with('.') || out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace

LocatedPath locate(std::string_view path, const Roots& roots) {
  std::string text(path);
  const bool is_in_home = path == "~" || path.starts_with("~/");
  if (is_in_home && !roots.home.empty()) text = roots.home + text.substr(1);
  const bool is_absolute = text.starts_with('/');
  if (!is_absolute && !is_in_home && !roots.workspace.empty()) text = roots.workspace + "/" + text;

  const CleanPath whole = clean(text);
  LocatedPath located{.end = joined(whole.parts)};
  if (text.starts_with('/')) {
    located.absolute = located.end;
    located.in_workspace = beneath(located.end, roots.workspace);
    located.in_home = beneath(located.end, roots.home);
  } else if (is_in_home) {
    located.end = joined(clean(text.substr(1)).parts);
    if (!clean(text.substr(1)).climbs) located.in_home = located.end;
  } else if (!whole.climbs) {
    located.in_workspace = located.end;
  }
  return located;
}

std::vector<ProtectedName> protected_names_in(std::string_view path) {
  const std::vector<std::string_view> parts = clean(path).parts;
  std::vector<ProtectedName> found;
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const std::string name = tidy(parts[at]);
    if (name == ".deputy" && at + 3 < parts.size() && tidy(parts[at + 1]) == "subagents") {
      at += 2;
      continue;
    }
    if (std::ranges::find(kProtected, name) == kProtected.end()) continue;
    std::vector<std::string_view> others = parts;
    others[at] = ".\x01";
    found.push_back({std::string(parts[at]), (path.starts_with('/') ? "/" : "") + joined(others)});
  }
  return found;
}

}  // namespace deputy
