// What lies beneath a folder, and which of it are git repositories of their own: git runs what those
// configure, so they are looked for before and after somebody has worked there. Looks at the disk.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/disk.h"

namespace deputy {

enum class Onward { into, past, stop };
using Visit = std::function<Onward(const std::string& name, const Entry& entry)>;

// Every entry beneath the folder, from the top, without following links. False where a folder could not be
// read; it is passed over.
bool walk(const Folder& root, const Visit& visit);

struct Repository {
  std::string name;  // of what makes a folder one: its .git
  EntryKind kind = EntryKind::folder;
  std::string leads_to;  // the name that a link stands for; empty where it leads out of the folder
  bool operator==(const Repository&) const = default;
};

struct Repositories {
  std::vector<Repository> found;  // those below the folder's own
  bool is_all = true;             // no entry was left out because there were more than `most`
  bool is_read = true;            // nor because a folder could not be read
};

enum class Depth { usual, everywhere };  // usual: not in node_modules, nor in the folders of children
Repositories repositories_below(const Folder& folder, Depth depth, std::size_t most);

}  // namespace deputy
