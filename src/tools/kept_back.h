// What of its folders is kept from a command. It opens files by itself, so what the rules deny is found when
// it starts and held by the kernel: denied to Read, it cannot be opened; denied to Edit or Write, it cannot
// be changed. Nor can git's own folders below the workspace's own (that one is the sandbox's matter): what
// they configure, the person's own git runs later. A name that is not there yet cannot be kept back; a
// repository that a command makes is set aside when the command has ended.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/repositories.h"
#include "tools/tool.h"

namespace deputy {

struct KeptBack {
  std::vector<std::string> hidden;  // paths, as ProcessSpec wants them
  std::vector<std::string> fixed;   // the same
  bool is_all_fixed = false;        // nothing may be edited at all
  bool has_denied = false;          // rules are why some of them are hidden or fixed
  Repositories repositories;        // below the workspace's own
};

inline constexpr std::size_t kMostLookedThrough = 1'000'000;     // files, where rules deny some
inline constexpr std::size_t kMostLookedThroughForGit = 20'000;  // where only repositories are looked for

// Whether the rules deny to change anything at all.
bool denies_all_editing(const Rules& rules);

// Looks at the disk. `access`: the command's to the workspace. An Error where not all could be kept back that
// is denied or git's, or not all of more than `most` files could be looked at: then the command must not run.
Result<KeptBack> kept_back(const ToolContext& context, Access access, std::size_t most = kMostLookedThrough);

// Renames the repositories that were not among the `known`, so that git takes no notice of them, and tells
// what it did and could not do; "" where there are none. Looks at the disk.
std::string set_aside_new(const Folder& workspace, const Repositories& known);
// The same after a crash, by what was written down of them. Those that were made or changed after `until` are
// somebody else's, and only told of.
std::string set_aside_new(const Folder& workspace, const KnownRepositories& known);

}  // namespace deputy
