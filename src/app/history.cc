#include "app/history.h"

#include "base/json.h"
#include "base/text.h"
#include "tui/key.h"

namespace deputy {
namespace {

constexpr std::string_view kName = "history.jsonl";

}  // namespace

std::vector<std::string> history_in(std::string_view bytes) {
  std::vector<std::string> texts;
  for (const auto line : lines_of(bytes)) {
    const auto value = parse_json(line);  // the first may be cut
    if (value && value->is_string()) texts.push_back(as_typed(std::string_view(value->get_string())));
  }
  return texts;
}

std::vector<std::string> History::load() const {
  const auto status = home_ ? home_->status(kName) : fail(ErrorCode::not_found, "");
  if (!status) return {};
  const std::uint64_t from = status->size > kMostBytes ? status->size - kMostBytes : 0;
  const auto bytes = home_->read(kName, from, kMostBytes);
  return bytes ? history_in(*bytes) : std::vector<std::string>{};
}

void History::add(std::string_view text) const {
  if (home_) (void)home_->append_to(kName, to_json_text(json::value(text)) + "\n");
}

}  // namespace deputy
