// What lies beneath a folder, and which of it are git repositories of their own: git runs what those
// configure, so they are looked for before and after somebody has worked there. Looks at the disk.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"

namespace deputy {

enum class Onward { into, past, stop };
using Visit = std::function<Onward(const std::string& name, const Entry& entry)>;

// Every entry beneath the folder, from the top, without following links. Returns the folders that could not
// be listed, and so were passed over: "." for the folder itself.
std::vector<std::string> walk(const Folder& root, const Visit& visit);

// Where git takes a repository's configuration from, if not from its .git alone: the folders that a link or a
// file in its place stands for, and the one that several work trees have in common.
struct GitFolders {
  std::vector<std::string> names;  // beneath the folder, without links
  bool is_certain = true;          // none of them is missing, nor could a link on the way be turned elsewhere
};
GitFolders git_folders_of(const Folder& folder, const std::string& git, EntryKind kind);

struct Repository {
  std::string name;  // of what makes a folder one: its .git
  EntryKind kind = EntryKind::folder;
  std::vector<std::string> leads_to;  // GitFolders::names
  bool operator==(const Repository&) const = default;
};

struct Repositories {
  std::vector<Repository> found;    // those below the folder's own
  bool is_all = true;               // no entry was left out because there were more than `most`
  std::vector<std::string> unread;  // folders that could not be looked into
};

// Those that are known, in a form that is written down on one line and read again after a crash.
struct KnownRepositories {
  std::set<std::string> digests;
  bool is_all = true;             // as in Repositories
  std::optional<WallTime> until;  // whoever worked there has ended by then, however that went
  bool operator==(const KnownRepositories&) const = default;
};
KnownRepositories known_of(const Repositories& repositories);
bool is_known(const KnownRepositories& known, const Repository& repository);
std::string to_line(const KnownRepositories& known);
std::optional<KnownRepositories> known_in(std::string_view line);  // nothing: it is another line

enum class Depth { usual, everywhere };  // usual: not in node_modules, nor in the folders of children
Repositories repositories_below(const Folder& folder, Depth depth, std::size_t most);

}  // namespace deputy
