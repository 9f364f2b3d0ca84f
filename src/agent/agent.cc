#include "agent/agent.h"

#include <algorithm>
#include <span>
#include <utility>

#include "agent/shortened.h"
#include "async/apart.h"
#include "base/text.h"
#include "model/context_estimate.h"

namespace deputy {

namespace {

constexpr int kMostHalvings = 20;  // then nothing is left of any window

// The time of who stands above is up, not its own: nobody would wait for a last step.
Next at_time_above(const Conversation& conversation, RunLimits limits, MailState mail) {
  limits.is_delegated = false;
  Next next = decide(conversation, limits, StopReason::deadline, mail);
  if (auto* finish = std::get_if<Finish>(&next); finish && finish->reason == Reason::timeout)
    finish->error = "the time of its parent, or of the whole tree, was up";
  return next;
}

// Those that requests do not tell any more, and those that summed them up.
int replies_before(const Conversation& conversation) {
  const auto aside = std::span(conversation.messages).first(conversation.told_from);
  const auto replies = std::ranges::count(aside, Role::assistant, &Message::role);
  return static_cast<int>(replies) + static_cast<int>(conversation.compactions.size());
}

}  // namespace

Agent::Agent(Parts parts, Conversation so_far)
    : parts_(std::move(parts)),
      conversation_(std::move(so_far)),
      journal_(std::make_shared<SessionJournal>(
          parts_.journal, parts_.session.tree, RunId{parts_.session.id, parts_.run},
          [this](const Event& event) { apply(conversation_, event); })) {}

Task<Result<Boxed<Report>>> Agent::run(StopToken stop) {
  for (;;) {
    const StopToken now = in_force(stop);
    const bool is_over_above = parts_.above.reason() == StopReason::deadline && !conversation_.grace;
    const Next next = is_over_above ? at_time_above(conversation_, parts_.limits, mail())
                                    : decide(conversation_, parts_.limits, now.reason(), mail());
    if (const auto* finish = std::get_if<Finish>(&next))
      co_return co_await apart([&] { return end(*finish); });
    if (std::holds_alternative<Suspend>(next)) co_return std::unexpected(Error::cancelled());
    if (const auto* tell = std::get_if<Tell>(&next)) {
      take_word(*tell);
      continue;
    }
    if (std::holds_alternative<RunCalls>(next)) {
      CO_TRY(co_await run_calls(now));
      continue;
    }
    if (std::holds_alternative<TakeMail>(next)) {
      take_mail();
      continue;
    }
    if (std::holds_alternative<AwaitMail>(next)) {
      co_await parts_.mail->wait(now);
      continue;
    }
    if (std::holds_alternative<Compact>(next)) {
      CO_TRY(co_await compact(now));
      continue;
    }
    Request request = next_request();
    CO_TRY(co_await make_durable(parts_.provider.before(request)));
    take_reply(co_await apart([&] { return ask(std::move(request), Shown::yes, now); }), now);
    heard_ = {};
  }
}

void Agent::take_word(const Tell& tell) {
  journal_->ride_along({.step = conversation_.step}, InputGiven{Source::runtime, tell.text, tell.about});
}

void Agent::take_reply(Reply&& reply, const StopToken& stop) {
  if (reply.stop == ReplyStop::stopped && stop.stopped()) {
    // A run that is gone on with later asks for the same again: until then there is what people can read of
    // it.
    const bool is_kept = !suspends(stop.reason());
    if (auto rest = is_kept ? std::nullopt : take_heard(1))
      journal_->ride_along({.step = conversation_.step}, std::move(rest->fact));
    journal_->ride_along({.step = conversation_.step}, RequestStopped{reply.usage, is_kept ? said() : ""});
    return;
  }
  const bool is_cut_short = is_failure(reply.stop) || reply.stop == ReplyStop::over_budget;
  if (is_cut_short && reply.message.text.empty()) reply.message.text = said();
  journal_->ride_along({.step = conversation_.step}, ReplyReceived{std::move(reply)});
}

// The wish stands behind what there is to sum up, after the same prefix: so the provider's cache has it all.
// Where that would not fit, results are told in part: else nothing could ever be summed up again.
Task<Result<void>> Agent::compact(StopToken stop) {
  const std::size_t from = conversation_.told_from;
  const std::size_t end = compactable(conversation_).value();
  Request request = next_request();
  const auto summed_up = request.messages.first(end - from);
  std::vector<Message> messages(summed_up.begin(), summed_up.end());
  const auto as_sent = request.fragments.first(end - from);
  std::vector<std::string> fragments(as_sent.begin(), as_sent.end());
  messages.push_back(wish_for_summary());
  fragments.push_back(parts_.provider.encode(messages.back()));
  const ModelName& model = request.prefix->model;
  const std::int64_t prefix = parts_.limits.prefix_tokens;
  auto room = room_to_sum_up(parts_.provider.window(model), request.prefix->max_output_tokens);
  // Then the window is smaller than it is taken for; by how much nobody said.
  if (const auto& [refused_by, count] = conversation_.refusals; count > 0 && refused_by == model) {
    const auto refused = estimated_input(prefix, model, told(conversation_), request.measured);
    room = std::min(room, prefix + (refused - prefix) / (std::int64_t{1} << std::min(count, kMostHalvings)));
  }
  const auto measured_before = request.measured;
  const auto shortened = shorten_results(messages, request.measured, {room, prefix, model});
  for (const std::size_t at : shortened.messages) fragments[at] = parts_.provider.encode(messages[at]);
  request.measured = shortened.measured;
  request.messages = messages;
  request.fragments = fragments;
  request.weights = {};  // of what stands here now
  CO_TRY(co_await make_durable(parts_.provider.before(request)));
  if (parts_.deltas)
    parts_.deltas(SummaryAsked{estimated_input(prefix, model, told(conversation_), measured_before)});
  Reply reply = co_await ask(std::move(request), Shown::no, stop);
  if (reply.stop == ReplyStop::stopped && stop.stopped()) {
    journal_->ride_along({.step = conversation_.step}, RequestStopped{reply.usage, ""});
    co_return Result<void>{};
  }
  fragments_.resize(end);  // what follows stands behind the summary now
  weights_.resize(end);
  journal_->ride_along({.step = conversation_.step}, Compacted{std::move(reply), end});
  co_return Result<void>{};
}

// No task of its own: what it hands on is not kept beside the tasks that take it.
Task<Result<void>> Agent::run_calls(StopToken stop) {
  return parts_.toolbox.run(conversation_.pending, context_for_calls(std::move(stop)));
}

// Durable before the model is told of it, like all that it is told. What a crash takes was not told either:
// it is still owed, and comes again.
void Agent::take_mail() {
  for (Delivered& item : parts_.mail->take())
    journal_->ride_along({.step = conversation_.step}, std::move(item));
}

// In a grace step the run's own deadline has done its work; what stands above it still counts.
StopToken Agent::in_force(const StopToken& stop) {
  if (!conversation_.grace) return stop;
  if (!grace_) {
    grace_.emplace(parts_.above);
    grace_->set_deadline(parts_.loop.timers(), parts_.loop.clock().now() + kGraceTime);
  }
  return grace_->token();
}

Request Agent::next_request() {
  while (fragments_.size() < conversation_.messages.size()) {
    const std::size_t at = fragments_.size();
    const bool is_told = at >= conversation_.told_from;
    fragments_.push_back(is_told ? parts_.provider.encode(conversation_.messages[at]) : "");
    weights_.push_back(is_told ? weight_of(conversation_.messages[at]) : MessageWeight{});
  }
  return {.prefix = parts_.prefix,
          .prefix_tokens = parts_.limits.prefix_tokens,
          .messages = told(conversation_),
          .fragments = std::span<const std::string>(fragments_).subspan(conversation_.told_from),
          .weights = std::span<const MessageWeight>(weights_).subspan(conversation_.told_from),
          .measured = conversation_.measured,
          .session = parts_.session.id,
          .label = parts_.session.label,
          .agent = parts_.session.agent,
          .depth = parts_.session.depth,
          .replies_before = replies_before(conversation_),
          .is_last = conversation_.grace.has_value()};
}

// What the model is about to be told must not be forgotten, nor what its provider wants to be known of it.
Task<Result<void>> Agent::make_durable(std::vector<Fact> facts) {
  if (facts.empty()) co_return co_await journal_->sync();
  co_return co_await journal_->record({.step = conversation_.step}, std::move(facts));
}

// No task of its own, as run_calls().
Task<Reply> Agent::ask(Request request, Shown shown, StopToken stop) {
  DeltaSink listening = [this, shown](const Delta& delta) {
    if (parts_.deltas && shown == Shown::yes) parts_.deltas(delta);
    const auto* piece = std::get_if<TextDelta>(&delta);
    if (piece && shown == Shown::yes) heard_.text += piece->text;
    if (const auto* retried = std::get_if<Retried>(&delta)) {
      heard_ = {.before = said()};
      journal_->ride_along({.step = conversation_.step}, *retried);
    }
  };
  return parts_.provider.ask(std::move(request), std::move(listening), std::move(stop));
}

std::string Agent::said() const {
  const std::string& longer = heard_.text.size() < heard_.before.size() ? heard_.before : heard_.text;
  return trimmed(longer).empty() ? "" : longer;
}

std::optional<Event> Agent::take_heard(std::size_t least_more) {
  const bool is_first = heard_.kept == 0;
  const std::size_t least = is_first ? 1 : least_more;
  const std::string_view heard = std::string_view(heard_.text).substr(heard_.kept);
  if (heard.size() < least) return std::nullopt;
  const std::string_view clear = heard.substr(0, parts_.journal.settled(heard));
  if (clear.size() < least || trimmed(clear).empty()) return std::nullopt;
  Event piece = journal_->stamped({.step = conversation_.step}, ReplyHeard{is_first, std::string(clear)});
  heard_.kept += clear.size();
  return piece;
}

Task<Result<Boxed<Report>>> Agent::end(Finish finish) {
  Report report = report_of(conversation_, parts_.session, finish, parts_.loop.clock().wall());
  if (parts_.complete) report = co_await parts_.complete(std::move(report));
  const Fact ended = parts_.journal.as_kept(RunEnded{std::move(report)});
  CO_TRY(co_await journal_->record({.step = conversation_.step}, {ended}));
  co_return std::get<RunEnded>(ended).report;
}

ToolContext Agent::context_for_calls(StopToken stop) {
  return {.id = {.run = journal_->run(), .step = conversation_.step - 1},
          .session = parts_.session,
          .journal = *journal_,
          .workspace = parts_.workspace,
          .loop = parts_.loop,
          .pool = parts_.pool,
          .processes = parts_.processes,
          .asker = parts_.asker,
          .stop = std::move(stop),
          .model = conversation_.last_reply ? conversation_.last_reply->model : parts_.session.model,
          .roots = parts_.roots ? parts_.roots() : std::vector<const Folder*>{},
          .home = parts_.home,
          .children = parts_.children ? parts_.children() : std::vector<SessionId>{},
          .hidden = parts_.hidden,
          .files_seen = &conversation_.files_seen,
          .output = parts_.output,
          .keep = parts_.keep,
          .state = parts_.state,
          .at_limit = conversation_.grace.has_value()};
}

}  // namespace deputy
