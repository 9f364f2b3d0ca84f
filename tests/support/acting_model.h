// A model played by a function: what it says follows from what it is told, so it can answer with an id that
// only the run knows. It keeps no state and survives a restart.
#pragma once

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "async/loop.h"
#include "async/sleep.h"
#include "model/provider.h"
#include "support/hosted_provider.h"

namespace deputy {

struct Act {
  std::string text = {};
  std::vector<Call> calls = {};
  Duration after{};                       // how long it thinks
  Duration heard_every{};                 // a word is heard of it so often meanwhile; zero: none
  std::string word = "so ";               // that one
  bool is_deaf = false;                   // it thinks on when it is stopped
  std::function<void()> on_stop = {};     // told at the moment of its stop
  std::string streamed = {};              // what is heard of its text before that
  std::optional<ReplyStop> ends_as = {};  // a reply that is none
  std::exception_ptr throws = {};         // as a bug would
  ModelName model = {};                   // that answers in place of the one asked
  Usage usage = {.cost_micros = 0};       // of the reply
  std::vector<Retried> retries = {};      // attempts that failed before
  // In place of a reply: what a server says to a request over HTTP, one a request, the last from then on.
  std::vector<SimExchange> http = {};
};

// What a played model knows when it is asked.
struct Scene {
  std::string agent;
  std::string label;
  int depth = 0;
  int step = 0;       // replies so far
  std::string news;   // all it was told since its last reply
  std::string heard;  // all it was ever told

  static Scene of(const Request& request) {
    Scene scene{.agent = request.agent, .label = request.label, .depth = request.depth};
    for (const Message& message : request.messages) {
      if (message.role == Role::assistant) {
        scene.step += 1;
        scene.news.clear();
        continue;
      }
      std::string said = message.text.empty() ? "" : message.text + "\n";
      for (const ToolResult& result : message.results) said += result.content + "\n";
      scene.news += said;
      scene.heard += said;
    }
    return scene;
  }
  bool is_told(std::string_view text) const { return news.contains(text); }
  // What stands behind `name` up to the end of its line, the first time that it is told.
  std::string value_of(std::string_view name, std::size_t nth = 0) const {
    std::size_t at = heard.find(name);
    for (; nth > 0 && at != std::string::npos; --nth) at = heard.find(name, at + 1);
    if (at == std::string::npos) return {};
    at += name.size();
    return heard.substr(at, heard.find('\n', at) - at);
  }
  std::size_t times_heard(std::string_view text) const {
    std::size_t count = 0;
    for (auto at = heard.find(text); at != std::string::npos; at = heard.find(text, at + 1)) ++count;
    return count;
  }
};

class ActingModel final : public Provider {
 public:
  using Play = std::function<Act(const Scene&)>;
  static constexpr std::int64_t kWide = 10'000'000;
  ActingModel(Loop& loop, Play play, std::int64_t window = kWide)
      : loop_(loop), play_(std::move(play)), window_(window), governors_(loop) {}

  std::string_view name() const override { return "acting"; }
  std::string encode(const Message&) const override { return {}; }
  std::int64_t window(const ModelName&) const override { return window_; }
  std::optional<Price> price(const ModelName&) const override { return Price{}; }

  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override {
    const Scene scene = Scene::of(request);
    const Act act = play_(scene);
    if (act.throws) std::rethrow_exception(act.throws);
    if (!act.http.empty())
      co_return co_await ask_server(act.http, std::move(request), std::move(deltas), std::move(stop));
    for (const Retried& retry : act.retries) deltas(retry);
    Reply reply;
    reply.model = act.model.empty() ? request.prefix->model : act.model;
    reply.usage = act.usage;
    const auto heard = act.on_stop ? stop.on_stop(act.on_stop) : StopCallback{};
    if (!act.streamed.empty()) deltas(TextDelta{act.streamed});
    for (Duration left = act.after; left > Duration::zero();) {
      const Duration quiet = act.heard_every > Duration::zero() ? std::min(left, act.heard_every) : left;
      if (co_await sleep_for(loop_, quiet, act.is_deaf ? StopToken{} : stop) == Slept::stopped) {
        reply.stop = ReplyStop::stopped;
        co_return reply;
      }
      left -= quiet;
      if (left > Duration::zero()) deltas(TextDelta{act.word});
    }
    reply.message = {.role = Role::assistant, .text = act.text, .calls = act.calls};
    for (std::size_t i = 0; i < act.calls.size(); ++i)
      reply.message.calls[i].id = "c" + std::to_string(scene.step) + "_" + std::to_string(i);
    reply.stop = act.calls.empty() ? ReplyStop::finished : ReplyStop::calls;
    if (act.ends_as) {
      reply.stop = *act.ends_as;
      reply.error = "the play says so";
    }
    co_return reply;
  }

 private:
  Task<Reply> ask_server(std::vector<SimExchange> says, Request request, DeltaSink deltas, StopToken stop) {
    std::size_t asked = 0;
    HostedProvider server(
        loop_, Tongue::anthropic,
        [&](const HttpRequest&) { return says[std::min(asked++, says.size() - 1)]; }, 200'000, "key",
        &governors_);
    std::vector<std::string> fragments;
    for (const Message& message : request.messages) fragments.push_back(server.encode(message));
    request.fragments = fragments;
    co_return co_await server.ask(std::move(request), std::move(deltas), std::move(stop));
  }

  Loop& loop_;
  Play play_;
  std::int64_t window_;
  Governors governors_;
};

inline Call call_of(std::string name, std::string arguments) {
  return {.name = std::move(name), .arguments = std::move(arguments)};
}

}  // namespace deputy
