#include "app/replayed_tool.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "app/replay_moments.h"

namespace deputy {
namespace {

constexpr std::string_view kNoResult = "The bundle holds no result of this call.";

class ReplayedTool final : public Tool {
 public:
  ReplayedTool(std::shared_ptr<Tool> tool, const RecordedCalls& calls, const RecordedCalls& told,
               const Places& places, Course& course, std::function<std::string(std::string_view)> translated)
      : tool_(std::move(tool)),
        calls_(calls),
        told_(told),
        places_(places),
        course_(course),
        translated_(std::move(translated)) {}

  const ToolText& text() const override { return tool_->text(); }
  Effect effect() const override { return tool_->effect(); }
  bool only_records() const override { return tool_->only_records(); }
  Company company() const override { return tool_->company(); }
  std::size_t most_result_bytes() const override { return tool_->most_result_bytes(); }
  Decision by_default() const override { return tool_->by_default(); }
  bool runs_at_limit() const override { return tool_->runs_at_limit(); }
  std::string shown(const json::object& arguments) const override { return tool_->shown(arguments); }
  std::string subject(const json::object& arguments) const override { return tool_->subject(arguments); }

  Verdict judge(const Rules&, const json::object&, const ToolContext& context) const override {
    const RecordedCall* call = recorded(context);
    return call && call->permission ? Verdict::ask("it was asked for") : Verdict::allow();
  }
  std::string approval_text(const json::object&, const ToolContext& context) const override {
    const RecordedCall* call = recorded(context);
    return call && call->permission ? call->permission->text : std::string();
  }
  Task<Planned> plan(json::object, ToolContext context) override {
    const RecordedCall* call = recorded(context);
    if (call && !call->intent && !call->permission && call->result)  // it was refused before it could begin
      co_return std::unexpected(translated(*call->result));
    co_return call && call->intent ? call->intent->change : std::nullopt;
  }
  Task<ToolResult> run(json::object arguments, ToolContext context) override {
    const RecordedCall* call = recorded(context);
    if (is_done_again(arguments)) co_return co_await tool_->run(std::move(arguments), std::move(context));
    if (!call) co_return tool_error(std::string(kNoResult));
    if (waits_for_children())  // it holds no place meanwhile
      (void)co_await tool_->run(std::move(arguments), context);
    for (const auto& [at, fact] : call->afterwards) record_at(at, fact, context);
    co_await course_.reach(context.loop, call->event, call->ended_at, context.stop);
    const RecordedCall* before = of_call(told_, context);
    for (const Fact& trace : call->traces | std::views::drop(before ? before->traces.size() : 0))
      context.journal.ride_along({context.id.step, context.id.index}, trace);
    if (!call->result) co_return tool_error(std::string(kNoResult));
    co_return translated(*call->result);
  }
  // Where the program left meanwhile: what was known of it then.
  Task<ToolResult> after_crash(ToolContext context) override {
    const RecordedCall* call = recorded(context);
    if (!call || !call->result) co_return tool_error(std::string(kNoResult));
    co_return translated(*call->result);
  }

 private:
  // A command that goes on has no child's id.
  bool is_done_again(const json::object& arguments) const {
    constexpr std::array kOfDelegation = {"task_cancel", "task_message"};
    return std::ranges::find(kOfDelegation, tool_->text().name) != kOfDelegation.end() &&
           is_session_id(string_or(arguments, "id", ""));
  }
  bool waits_for_children() const { return tool_->text().name == "task_status"; }
  // As long as the run lasts.
  static void record_at(TimePoint at, const Fact& fact, const ToolContext& context) {
    context.loop.timers().call_at(at,
                                  [journal = context.journal.weak_from_this(),
                                   place = SessionJournal::Place{context.id.step, context.id.index}, fact] {
                                    if (const auto alive = journal.lock()) alive->ride_along(place, fact);
                                  });
  }
  const RecordedCall* of_call(const RecordedCalls& calls, const ToolContext& context) const {
    return calls.find(places_.of(context.session.id), context.id.run.number, context.id.step,
                      context.id.index);
  }
  const RecordedCall* recorded(const ToolContext& context) const { return of_call(calls_, context); }
  ToolResult translated(ToolResult result) const {
    result.content = translated_(result.content);
    return result;
  }

  std::shared_ptr<Tool> tool_;
  const RecordedCalls& calls_;
  const RecordedCalls& told_;
  const Places& places_;
  Course& course_;
  std::function<std::string(std::string_view)> translated_;
};

void take(RecordedCall& call, const Event& event, TimePoint at, std::size_t index) {
  if (const auto* intent = std::get_if<CallStarted>(&event.fact)) {
    call.intent = *intent;
  } else if (const auto* asked = std::get_if<QuestionAsked>(&event.fact)) {
    call.asked_last = asked->question.kind;
    if (call.asked_last == QuestionKind::permission) call.permission = asked->question;
  } else if (const auto* answered = std::get_if<QuestionAnswered>(&event.fact)) {
    call.answers[call.asked_last] = {answered->answer, at, index};
  } else if (const auto* finished = std::get_if<CallFinished>(&event.fact)) {
    call.result = finished->result;
    call.ended_at = at;
    call.event = index;
  } else if (!call.result) {
    call.traces.push_back(event.fact);
  } else if (std::holds_alternative<CommandEnded>(event.fact)) {
    call.afterwards.emplace_back(at, event.fact);
  }
}

}  // namespace

RecordedCalls::RecordedCalls(const std::vector<Event>& events) {
  const Places places(events);
  const Moments moments(events);
  for (std::size_t at = 0; at < events.size(); ++at) {
    const Event& event = events[at];
    if (event.call >= 0)
      take(calls_[{places.of(event.run.session), event.run.number, event.step, event.call}], event,
           moments.of(at), at);
  }
}

const RecordedCall* RecordedCalls::find(const std::string& place, int run, int step, int call) const {
  const auto found = calls_.find({place, run, step, call});
  return found == calls_.end() ? nullptr : &found->second;
}

std::shared_ptr<Tool> replayed_tool(std::shared_ptr<Tool> tool, const RecordedCalls& calls,
                                    const RecordedCalls& told, const Places& places, Course& course,
                                    std::function<std::string(std::string_view)> translated) {
  return std::make_shared<ReplayedTool>(std::move(tool), calls, told, places, course, std::move(translated));
}

}  // namespace deputy
