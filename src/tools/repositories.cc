#include "tools/repositories.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <span>

#include "base/disk_names.h"
#include "base/text.h"
#include "guard/paths.h"

namespace deputy {

namespace {

constexpr std::string_view kGit = ".git";
constexpr std::size_t kMostOfGitFile = 1 << 20;  // git takes no longer one

// The path that is all of a file of git's.
std::string_view path_in(std::string_view bytes) {
  while (bytes.ends_with('\n') || bytes.ends_with('\r')) bytes.remove_suffix(1);
  return bytes.substr(0, bytes.find('\0'));
}

constexpr std::string_view kKnown = "repositories";
constexpr std::string_view kAll = "all";
constexpr std::string_view kSome = "some";
constexpr std::string_view kUntil = "until=";

// Of all that makes it the one that it is: a name may hold anything, a line break too.
std::string digest_of(const Repository& repository) {
  constexpr std::size_t kDigits = 16;
  std::string all = sha256_hex(repository.name) + std::to_string(static_cast<int>(repository.kind));
  for (const auto& name : repository.leads_to) all += sha256_hex(name);
  return sha256_hex(all).substr(0, kDigits);
}

// The name of the folder that `path`, written in `base`, leads to; nothing where that is not beneath.
std::optional<std::string> follow(const Folder& folder, const std::string& base, std::string_view path,
                                  GitFolders& found) {
  const std::string absolute = join_path(join_path(folder.path(), base), path);
  auto by_name = locate(absolute, {.workspace = folder.path(), .home = {}}).in_workspace;
  if (by_name && by_name->empty()) by_name = ".";
  const auto place = folder.look_up(join_path(base, path));
  const bool is_there = place && (*place)->status() && (*place)->status()->kind == EntryKind::folder;
  auto name = is_there ? std::optional((*place)->name()) : std::nullopt;
  if (name != by_name) found.is_certain = false;
  if (name) found.names.push_back(*name);
  return name;
}

}  // namespace

std::vector<std::string> walk(const Folder& root, const Visit& visit) {
  std::vector<std::string> unread;
  std::vector<std::string> waiting{"."};
  while (!waiting.empty()) {
    const std::string folder = std::move(waiting.back());
    waiting.pop_back();
    const auto entries = root.list(folder);
    if (!entries) {
      if (entries.error().code != ErrorCode::not_found) unread.push_back(folder);
      continue;
    }
    for (const Entry& entry : *entries) {
      std::string name = folder == "." ? entry.name : join_path(folder, entry.name);
      const Onward onward = visit(name, entry);
      if (onward == Onward::stop) return unread;
      if (onward == Onward::into && entry.status.kind == EntryKind::folder)
        waiting.push_back(std::move(name));
    }
  }
  return unread;
}

GitFolders git_folders_of(const Folder& folder, const std::string& git, EntryKind kind) {
  constexpr std::string_view kPointer = "gitdir: ";
  GitFolders found;
  const std::string above = split_name(git).parent;
  std::optional<std::string> git_dir = git;
  if (kind == EntryKind::link) {
    git_dir = follow(folder, above, kGit, found);
  } else if (kind == EntryKind::file) {
    const auto bytes = folder.read(git, 0, kMostOfGitFile);
    if (!bytes) found.is_certain = false;
    git_dir = bytes && bytes->starts_with(kPointer)
                  ? follow(folder, above, path_in(std::string_view(*bytes).substr(kPointer.size())), found)
                  : std::nullopt;
  }
  if (!git_dir) return found;
  if (const auto bytes = folder.read(join_path(*git_dir, "commondir"), 0, kMostOfGitFile))
    follow(folder, *git_dir, path_in(*bytes), found);
  return found;
}

KnownRepositories known_of(const Repositories& repositories) {
  KnownRepositories known{.digests = {}, .is_all = repositories.is_all, .until = {}};
  for (const auto& each : repositories.found) known.digests.insert(digest_of(each));
  return known;
}

bool is_known(const KnownRepositories& known, const Repository& repository) {
  return known.digests.contains(digest_of(repository));
}

std::string to_line(const KnownRepositories& known) {
  const std::string until =
      known.until ? fmt::format(" {}{}", kUntil, known.until->time_since_epoch().count()) : "";
  return fmt::format("{} {}{}{}{}\n", kKnown, known.is_all ? kAll : kSome, until,
                     known.digests.empty() ? "" : " ", fmt::join(known.digests, " "));
}

std::optional<KnownRepositories> known_in(std::string_view line) {
  const auto words = split(line, ' ');
  if (words.size() < 2 || words[0] != kKnown || (words[1] != kAll && words[1] != kSome)) return std::nullopt;
  KnownRepositories known{.digests = {}, .is_all = words[1] == kAll, .until = {}};
  for (const std::string_view word : std::span(words).subspan(2)) {
    if (!word.starts_with(kUntil)) {
      known.digests.emplace(word);
    } else {
      WallTime::rep time = 0;
      std::from_chars(word.data() + kUntil.size(), word.data() + word.size(), time);
      known.until = WallTime{WallTime::duration{time}};
    }
  }
  return known;
}

Repositories repositories_below(const Folder& folder, Depth depth, std::size_t most) {
  Repositories repositories;
  std::size_t seen = 0;
  repositories.unread = walk(folder, [&](const std::string& name, const Entry& entry) {
    if (++seen > most) {
      repositories.is_all = false;
      return Onward::stop;
    }
    if (entry.name == kGit) {
      if (name == kGit) return Onward::past;
      const EntryKind kind = entry.status.kind;
      repositories.found.emplace_back(name, kind, git_folders_of(folder, name, kind).names);
      return Onward::past;
    }
    const bool is_dull =
        depth == Depth::usual && (entry.name == "node_modules" || name == ".deputy/subagents");
    return is_dull ? Onward::past : Onward::into;
  });
  return repositories;
}

}  // namespace deputy
