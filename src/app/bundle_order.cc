#include "app/bundle_order.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace deputy {
namespace {

std::unexpected<Error> wrong(std::string why) { return fail(ErrorCode::corrupt, std::move(why)); }
std::unexpected<Error> too_large(std::string why) { return fail(ErrorCode::exhausted, std::move(why)); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// As random_uuid() spells it.
bool is_uuid(std::string_view text) {
  constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::ranges::equal(text, kForm, [](char c, char form) {
    return form == '-' ? c == '-' : is_digit(c) || (c >= 'a' && c <= 'f');
  });
}

// That of a word of the person's: of one who is at the program, or of a letter.
bool is_word_id(std::string_view text) {
  constexpr std::string_view kLetter = "letter_";
  constexpr std::size_t kMostDigits = 19;
  if (!text.starts_with(kLetter)) return is_uuid(text);
  const std::string_view number = text.substr(kLetter.size());
  return !number.empty() && number.size() <= kMostDigits && std::ranges::all_of(number, is_digit);
}

}  // namespace

// The first is the creation of a root, and every session is created before anything else is said of it.
Result<void> BundleOrder::take(const Event& event) {
  if (event.seq <= last_) return wrong("it is out of order");
  last_ = event.seq;
  if (const auto* created = std::get_if<SessionCreated>(&event.fact))
    return take_session(event, created->session);
  if (!depths_.contains(event.run.session)) return wrong("it is of a session that was not created");
  const auto* word = std::get_if<Nudged>(&event.fact);
  if (word && word->source == Source::person && !is_word_id(word->id))
    return wrong("the id of its message is none of deputy's");
  return std::holds_alternative<TakenUp>(event.fact) ? take_taken_up() : Result<void>{};
}

Result<void> BundleOrder::take_session(const Event& event, const Session& session) {
  if (!is_session_id(session.id.value)) return wrong("it creates a session whose id is none of deputy's");
  if (!session.uuid.empty() && !is_uuid(session.uuid.value))
    return wrong("it creates a session whose uuid is none");
  const bool is_root = depths_.empty();
  if (is_root) tree_ = session.id;
  const auto parent = session.parent ? depths_.find(*session.parent) : depths_.end();
  const bool has_parent = parent != depths_.end() && session.delegation &&
                          session.delegation->call.run.session == *session.parent;
  if (session.id != event.run.session || session.tree != tree_ || has_parent == is_root ||
      (is_root && session.parent))
    return wrong("it creates a session that has no place in the tree");
  const int depth = is_root ? 0 : parent->second + 1;
  if (depth > kMostBundledDepth)
    return too_large(fmt::format("its sessions nest deeper than {}", kMostBundledDepth));
  if (!depths_.emplace(session.id, depth).second) return wrong("it creates a session again");
  if (depths_.size() > kMostBundledSessions)
    return too_large(fmt::format("it has more than {} sessions", with_thousands(kMostBundledSessions)));
  return {};
}

Result<void> BundleOrder::take_taken_up() {
  if (++taken_up_ <= kMostTakenUp) return {};
  return too_large(fmt::format("it was taken up more than {} times", with_thousands(kMostTakenUp)));
}

}  // namespace deputy
