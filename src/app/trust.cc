#include "app/trust.h"

#include <algorithm>

#include "app/turn.h"
#include "base/json.h"

namespace deputy {
namespace {

constexpr std::string_view kFile = "trusted_folders.json";
constexpr std::size_t kMostBytes = 1024 * 1024;

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
  // Who says so of another folder at the same time must find this one in the list.
  CO_TRY(const auto turn, co_await take_turn(loop, home, {}));
  co_return change_list(*home, folder, trust);
}

}  // namespace deputy
