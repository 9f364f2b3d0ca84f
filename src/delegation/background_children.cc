#include "delegation/background_children.h"

#include <fmt/format.h>

#include "base/text.h"
#include "delegation/report_text.h"
#include "delegation/tree.h"

namespace deputy {
namespace {

std::string cost_of(const Usage& usage) {
  return usage.cost_micros ? fmt::format("${:.4f}", static_cast<double>(*usage.cost_micros) / 1e6) : "$?";
}

}  // namespace

std::vector<std::string> BackgroundChildren::ids_of(const SessionId& owner) const {
  std::vector<std::string> ids;
  for (const SessionId& child : tree_.running().left_by(owner)) ids.push_back(child.value);
  return ids;
}

bool BackgroundChildren::is_running(const SessionId&, const std::string& id) const {
  return tree_.running().is_live(SessionId(id));
}

Task<std::string> BackgroundChildren::told(SessionId owner, std::string id, std::size_t most) {
  const SessionId child(id);
  const auto found = tree_.store().session(child);
  if (!found || !*found) co_return fmt::format("{} is about to start.", id);
  const Session& session = **found;
  if (!tree_.running().is_live(child)) {
    auto report = tree_.report_of_ended(child);
    if (!report) co_return fmt::format("{}: {}", id, name_of(session.state));
    co_return co_await tree_.reports().told(std::move(owner), *std::move(report), most);
  }
  const WallTime now = tree_.now();
  std::string text = fmt::format(
      "{} ({}): {}, {} steps, in={} out={} tokens, {}, idle {}", id, session.agent, name_of(session.state),
      session.steps, session.usage.input, session.usage.output, cost_of(session.usage),
      to_text(Duration(std::max(now, session.last_event_at) - session.last_event_at)));
  if (!session.last_activity.empty()) text += fmt::format(", last: {}", on_one_line(session.last_activity));
  if (const auto question = tree_.running().question_of(child)) text += "\n" + told_of(*question);
  co_return text;
}

Task<> BackgroundChildren::wait(SessionId owner, std::string id, std::optional<TimePoint> until,
                                StopToken stop) {
  return tree_.watch(std::move(owner), SessionId(std::move(id)), until, std::move(stop));
}

void BackgroundChildren::cancel(const SessionId&, const std::string& id) {
  tree_.cancel(SessionId(id), StopReason::parent);
}

Task<Result<void>> BackgroundChildren::message(SessionId, std::string id, std::string text, CallId call) {
  return tree_.nudge(SessionId(std::move(id)), {to_text(call), Source::parent, std::move(text)});
}

}  // namespace deputy
