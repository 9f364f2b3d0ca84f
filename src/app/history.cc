#include "app/history.h"

#include "base/json.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::string_view kName = "history.jsonl";
constexpr std::uint64_t kMostBytes = 256 * 1024;

}  // namespace

std::vector<std::string> History::load() const {
  std::vector<std::string> texts;
  const auto status = home_ ? home_->status(kName) : fail(ErrorCode::not_found, "");
  if (!status) return texts;
  const std::uint64_t from = status->size > kMostBytes ? status->size - kMostBytes : 0;
  const auto bytes = home_->read(kName, from, kMostBytes);
  if (!bytes) return texts;
  for (const auto line : lines_of(*bytes)) {
    const auto value = parse_json(line);  // the first may be cut
    if (value && value->is_string()) texts.emplace_back(value->get_string());
  }
  return texts;
}

void History::add(std::string_view text) const {
  if (home_) (void)home_->append_to(kName, to_json_text(json::value(text)) + "\n");
}

}  // namespace deputy
