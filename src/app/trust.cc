#include "app/trust.h"

#include <fmt/format.h>

#include <algorithm>

#include "async/sleep.h"
#include "base/json.h"
#include "sandbox/folder_hold.h"

namespace deputy {
namespace {

constexpr std::string_view kFile = "trusted_folders.json";
constexpr std::size_t kMostBytes = 1024 * 1024;
constexpr std::chrono::milliseconds kBetweenTries{20};

Result<json::array> trusted_in(const Folder& home) {
  const auto text = home.read(kFile, 0, kMostBytes);
  if (!text && text.error().code == ErrorCode::not_found) return json::array();
  if (!text) return std::unexpected(text.error());
  const auto parsed = parse_json(*text);
  if (parsed && parsed->is_array()) return parsed->get_array();
  return fail(ErrorCode::corrupt,
              "the list of trusted folders cannot be read: " + join_path(home.path(), kFile),
              "remove it, and trust the folders again");
}

Result<void> change_list(const Folder& home, std::string_view folder, Trust trust) {
  TRY(auto folders, trusted_in(home));
  const auto at = std::ranges::find(folders, json::value(folder));
  if ((at != folders.end()) == (trust == Trust::given)) return {};
  if (trust == Trust::given) {
    folders.emplace_back(folder);
  } else {
    folders.erase(at);
  }
  return home.replace(kFile, to_pretty_json(folders));
}

}  // namespace

Result<bool> is_trusted(const Folder& home, std::string_view folder) {
  TRY(const auto folders, trusted_in(home));
  return std::ranges::find(folders, json::value(folder)) != folders.end();
}

Task<Result<void>> set_trust(Loop& loop, std::shared_ptr<const Folder> home, std::string folder,
                             Trust trust) {
  const TimePoint last = loop.clock().now() + kLongestTurn;
  for (;;) {
    // Who says so of another folder at the same time must find this one in the list.
    if (const auto turn = FolderHold::alone_at_once(*home)) co_return change_list(*home, folder, trust);
    if (loop.clock().now() >= last) {
      co_return fail(ErrorCode::busy,
                     fmt::format("{} has been held by another process for {} seconds", home->path(),
                                 kLongestTurn.count()),
                     "see which deputy is still at it (`fuser` names it), end it, and try again");
    }
    (void)co_await sleep_for(loop, kBetweenTries, {});
  }
}

}  // namespace deputy
