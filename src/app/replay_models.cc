#include "app/replay_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "async/sleep.h"
#include "async/waiter.h"
#include "model/catalog.h"
#include "model/command.h"
#include "model/scripted.h"

namespace deputy {
namespace {

constexpr Duration kPatience = std::chrono::minutes(1);

// Plays every provider that the tree had, by the script, each reply at its moment.
class Understudy final : public Provider {
 public:
  Understudy(std::string name, std::unique_ptr<ScriptedProvider> scripted, Loop& loop, Playback& playback,
             const Places& places, const KnownModels& known)
      : name_(std::move(name)),
        scripted_(std::move(scripted)),
        loop_(loop),
        playback_(playback),
        places_(places),
        known_(known) {}
  std::string_view name() const override { return name_; }
  std::string encode(const Message& message) const override { return scripted_->encode(message); }
  // Where that of the model which it plays is not known nothing is compacted, unless the person wants it.
  std::int64_t window(const ModelName& model) const override {
    const auto found = known_.find(model.value);
    return found == known_.end() ? kBeyondAnyWindow : found->second.window.value_or(kBeyondAnyWindow);
  }
  // As it was for the person; a bundle of an older deputy does not say.
  std::optional<Price> price(const ModelName& model) const override {
    if (const auto found = known_.find(model.value); found != known_.end() && found->second.price)
      return found->second.price;
    const auto published = Catalog().facts(model).price;
    return published ? published : scripted_->price(model);
  }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override {
    const std::string place = places_.of(request.session);
    const std::size_t index = playback_.ask(place);
    const RecordedRequest* recorded = playback_.request(place, index);
    if (!recorded && co_await sleep_for(loop_, kPatience, stop) == Slept::stopped)
      co_return stopped({}, request);  // then it was ended before it could be made
    if (recorded) {
      for (const auto& [event, retried] : recorded->retries) {
        co_await sleep_until(loop_, playback_.moment(event), stop);
        if (deltas && !stop.stopped()) deltas(retried);
      }
      if (!recorded->reply) co_return co_await without_reply(*recorded, request, deltas, stop);
      co_await playback_.course.reach(loop_, recorded->event, playback_.moment(recorded->event), stop);
    }
    request.label = place;
    request.messages = {};
    request.fragments = {};
    request.replies_before = static_cast<int>(index);
    Reply reply = co_await scripted_->ask(std::move(request), std::move(deltas), stop);
    if (recorded && reply.stop != ReplyStop::stopped) reply = in_full(std::move(reply), *recorded->reply);
    for (Call& call : reply.message.calls) call.arguments = playback_.translated(call.arguments);
    co_return reply;
  }

 private:
  // With what no script can say.
  static Reply in_full(Reply reply, const Reply& then) {
    reply.stop = then.stop;
    reply.error = then.error;
    reply.model = then.model;
    reply.message.thinking = then.message.thinking;
    reply.message.wire = then.message.wire;
    return reply;
  }
  Task<Reply> without_reply(RecordedRequest recorded, Request request, DeltaSink deltas, StopToken stop) {
    if (deltas && !recorded.stopped.text.empty()) deltas(TextDelta{recorded.stopped.text});
    const TimePoint end = playback_.moment(recorded.event);
    if (recorded.bug) {
      co_await sleep_until(loop_, end, {});  // what its end brought about stands before it on record
      throw std::runtime_error(*recorded.bug);
    }
    if (recorded.is_deaf) {
      co_await sleep_until(loop_, std::max(end, playback_.end()) + kPatience, {});
    } else {
      const Waiter<bool> waiter;
      const auto on_stop = stop.on_stop([waiter] { waiter.resume(true); });
      co_await waiter.wait();
    }
    co_return stopped(recorded.stopped.usage, request);
  }
  static Reply stopped(Usage usage, const Request& request) {
    Reply reply;
    reply.stop = ReplyStop::stopped;
    reply.model = request.prefix->model;
    reply.message.role = Role::assistant;
    reply.usage = usage;
    reply.error = "stopped";
    return reply;
  }

  std::string name_;
  std::unique_ptr<ScriptedProvider> scripted_;
  Loop& loop_;
  Playback& playback_;
  const Places& places_;
  const KnownModels& known_;
};

}  // namespace

namespace {

std::vector<std::string> ids_in(const Places& places) {
  std::vector<std::string> ids;
  for (const auto& [id, place] : places.all()) ids.push_back(id.value);
  return ids;
}

}  // namespace

Worlds::Worlds(const Places& then, const Places& now) : then_(then), now_(now), ids_(ids_in(then)) {}

std::string Worlds::translated(std::string_view text) const {
  return ids_.replaced(text, [this](const std::string& id) -> std::string_view {
    const SessionId* now = now_.at(then_.of(SessionId(id)));
    return now ? std::string_view(now->value) : "";
  });
}

Result<Models> replayed_models(const Recording& recording, Loop& loop, Playback& playback,
                               const Places& places) {
  std::set<std::string> names;
  const auto add = [&names](const ModelName& model) {
    if (!model.empty()) names.insert(model.value.substr(0, model.value.find('/')));
  };
  for (const Event& event : recording.bundle.events) {
    if (const auto* created = std::get_if<SessionCreated>(&event.fact)) add(created->session->model);
    if (const auto* started = std::get_if<RunStarted>(&event.fact)) add(started->model);
  }
  Models models;
  for (const std::string& name : names) {
    auto scripted = ScriptedProvider::parse(recording.script, loop);
    if (!scripted)
      return fail(ErrorCode::corrupt,
                  fmt::format("the bundle is broken: a reply in it is none ({})", scripted.error().message),
                  "ask for the file again: it was changed on the way");
    models.add(
        std::make_unique<Understudy>(name, *std::move(scripted), loop, playback, places, recording.models));
  }
  models.add_driver(std::make_unique<CommandProvider>());
  return models;
}

}  // namespace deputy
