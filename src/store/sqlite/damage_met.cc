#include "store/sqlite/damage_met.h"

#include <fmt/format.h>

#include "store/sqlite/quarantine.h"

namespace deputy {
namespace {

std::string in_words(const Result<std::string>& copy) {
  if (copy) return "a copy of what was found is in " + *copy;
  return fmt::format("it could not be copied: {}; {}", copy.error().message,
                     "copy deputy.db and deputy.db-wal by hand before you go on");
}

}  // namespace

Result<std::string> DamageMet::keep(const Database& met_by, std::string_view name, std::string_view why) {
  std::string& known = copies_[fmt::format("{}\n{}", name, why)];
  if (!known.empty()) return known;
  const Moment moment{&met_by, met_by.data_version(), met_by.file_size().value_or(0)};
  const bool has_one = moment.version && moment == newest_is_of_;
  const auto copy = has_one ? Result<Copy>(Copy{newest_}) : set_aside(home_, met_by, name, why);
  if (!copy) {
    level_ = Level::not_copied;
    return std::unexpected(copy.error());
  }
  known = copy->folder;
  if (copy->is_of_now) {
    newest_ = known;
    newest_is_of_ = moment;
  }
  if (level_ == Level::none) level_ = Level::copied;
  return known;
}

Error DamageMet::told(Error error, const Database& met_by, std::string_view name) {
  const auto copy = keep(met_by, name, error.message);
  // SQLite's own word: it knows no session, and says the same of one that cannot be opened; this one is, and
  // not all of it is damaged.
  if (error.advice.empty() || error.advice == kStartAnew) {
    if (name != kWholeDatabase)
      error.message = fmt::format("what is kept of {} cannot all be read: {}", name, error.message);
    error.advice = "what else is in it can still be read: `deputy sessions ls`";
  }
  error.advice = fmt::format("{}; {}", error.advice, in_words(copy));
  return error;
}

void DamageMet::pass(const Database& met_by, std::string_view name, std::string_view where) {
  const auto copy = keep(met_by, name, where);
  if (passed_->told() && copy) return;
  passed_->tell({ErrorCode::corrupt,
                 fmt::format("{} is damaged: not all of its rows and indexes can be used; what they told "
                             "was found in the records",
                             met_by.path()),
                 in_words(copy)});
}

}  // namespace deputy
