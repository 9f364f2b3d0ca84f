// A .git that is a file, and the commondir of what it points to, in a folder that an agent has worked in: two
// texts with a form feed between them. Whatever they say, no folder is named that does not lie beneath.
#include <algorithm>

#include "base/disk.h"
#include "must.h"
#include "tools/repositories.h"

using namespace deputy;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  // A folder that is not there is looked for from each one above it: a long way takes long and shows nothing
  // new.
  constexpr std::ptrdiff_t kMostFolders = 40;
  if (std::ranges::count(text, '/') > kMostFolders) return 0;
  const auto middle = text.find('\f');
  static const ManualClock clock;
  static const MemoryDisk disk(clock);
  static const auto folder = disk.open("/work", IfAbsent::create);
  static const bool is_made = folder && (*folder)->make_folder("store/worktrees/one");
  must(is_made);
  must((*folder)
           ->replace("store/worktrees/one/commondir",
                     middle == text.npos ? std::string_view("../..") : text.substr(middle + 1))
           .has_value());
  must((*folder)->replace(".git", text.substr(0, middle)).has_value());
  for (const std::string& name : git_folders_of(**folder, ".git", EntryKind::file).names) {
    must(!name.empty() && !name.starts_with('/') && name != ".." && !name.starts_with("../") &&
         !name.contains("/../"));
    const auto status = (*folder)->status(name);
    must(status && status->kind == EntryKind::folder);
  }
  return 0;
}
