#include "delegation/child_calls.h"

#include <fmt/format.h>

#include "async/apart.h"
#include "base/text.h"
#include "delegation/report_text.h"

namespace deputy {
namespace {

SessionJournal::Place place_of(const ToolContext& context) { return {context.id.step, context.id.index}; }

// Its next report or question comes by mail.
void detach(ToolContext& context, const SessionId& child, int run, std::string question_id = {}) {
  context.journal.ride_along(place_of(context), Detached{child, run, std::move(question_id)});
}

void attach_again(Tree& tree, const SessionId& child, int run, ToolContext& context) {
  if (tree.running().left_by(context.session.id).contains(child))
    context.journal.ride_along(place_of(context), Attached{child, run});
}

// Of a child that asks or was sent away.
ToolResult left_beside(const Children::Met& met, const SessionId& child, int run, ToolContext& context) {
  if (const auto* question = std::get_if<Boxed<Question>>(&met)) {
    detach(context, child, run, (*question)->id);
    return tool_ok(told_of(*question));
  }
  detach(context, child, run);
  return tool_ok(
      fmt::format("The person sent this subagent to the background: it goes on as {}. Its report comes to "
                  "you by itself; "
                  "go on with something else, or see how it stands with task_status.",
                  child.value));
}

}  // namespace

Task<ToolResult> result_of(Tree& tree, SessionId reader, Report report, Telling telling) {
  const bool is_good = report.status == Status::completed || report.status == Status::partial;
  std::string told = co_await tree.reports().told(std::move(reader), report);
  if (telling == Telling::dialogue)
    told += fmt::format("\n\nDuration: {}. Questions: {}.", to_text(report.duration), report.questions);
  co_return is_good ? tool_ok(std::move(told)) : tool_error(std::move(told));
}

Task<ToolResult> refusal_result(Tree& tree, Delegation delegation, Error error) {
  Report refused = report_of_refusal(delegation, error);
  co_await tree.log_errors(delegation.parent.id, refused);
  co_return co_await result_of(tree, delegation.parent.id, std::move(refused), Telling::plain);
}

Task<std::optional<ToolResult>> refusal_beforehand(Tree& tree, Delegation delegation) {
  auto refused = tree.refusal_of(delegation);
  if (!refused) co_return std::nullopt;
  co_return co_await refusal_result(tree, std::move(delegation), *std::move(refused));
}

Task<ToolResult> await_child(Tree& tree, const Delegation* delegation, SessionId child, ToolContext& context,
                             Telling telling) {
  const int run = tree.run_of(child);
  attach_again(tree, child, run, context);
  auto met = co_await apart([&] { return tree.meet(&delegation->parent, child, context.stop); });
  if (auto* ended = std::get_if<Children::Ended>(&met)) {
    co_return co_await apart([&] {
      return *ended ? result_of(tree, context.session.id, **std::move(*ended), telling)
                    : refusal_result(tree, *delegation, ended->error());
    });
  }
  co_return left_beside(met, child, run, context);
}

ToolResult leave_beside(const SessionId& child, int run, std::string_view agent, std::string_view description,
                        ToolContext& context) {
  detach(context, child, run);
  return tool_ok(fmt::format(
      "Started in the background.\nid: {}\nagent: {}\ndescription: {}\n\nIts report comes to you by itself. "
      "See how it stands with task_status, write to it with task_message, end it with task_cancel.",
      child.value, agent, on_one_line(description)));
}

}  // namespace deputy
