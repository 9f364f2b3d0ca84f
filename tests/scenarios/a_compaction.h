// A chat whose model has a small window and reads one file after the other, with what every request held.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "agent/conversation.h"
#include "model/context_estimate.h"
#include "support/sim_world.h"

namespace deputy {

// Room for about nine files beside system prompt and tools.
inline constexpr std::int64_t kWindow = 32'000;
inline constexpr std::string_view kSummary = "the files say words and nothing else; next is file ";

// What every request held, byte by byte.
using Requests = std::vector<std::string>;

// What a request came to, and of that what it holds whatever is said.
struct Weighed {
  std::int64_t tokens = 0;
  std::int64_t always = 0;
  bool is_wish = false;
};

inline std::string bytes_of(const Message& message) {
  std::string bytes = std::string(name_of(message.role)) + ": " + message.text;
  for (const Call& call : message.calls) bytes += call.id + call.name + call.arguments;
  for (const ToolResult& result : message.results) bytes += result.call_id + result.content;
  return bytes + "\n";
}

struct Plot {
  std::int64_t window = kWindow;
  std::int64_t taken_for = 0;    // what its window is believed to be, where that is another
  int reads = 12;                // so many files are asked for; then it is done
  int at_once = 1;               // of these with one reply
  bool sums_up = true;           // or asks for a tool instead
  std::string says_before_full;  // what is heard of a reply before its window is full
  std::string hands_to;          // the agent that the root hands its work to; empty: it reads itself
};

// Keeps no state: what it says follows from the request.
class SmallWindow final : public Provider {
 public:
  SmallWindow(Plot plot, Requests& requests, std::vector<Weighed>& weighed)
      : plot_(std::move(plot)), requests_(requests), weighed_(weighed) {}
  std::string_view name() const override { return "small"; }
  std::string encode(const Message& message) const override { return bytes_of(message); }
  std::int64_t window(const ModelName&) const override {
    return plot_.taken_for > 0 ? plot_.taken_for : plot_.window;
  }
  std::optional<Price> price(const ModelName&) const override { return Price{}; }

  Task<Reply> ask(Request request, DeltaSink, StopToken) override {
    EXPECT_EQ(request.fragments.size(), request.messages.size());
    for (std::size_t i = 0; i < request.weights.size(); ++i)
      EXPECT_EQ(request.weights[i], weight_of(request.messages[i])) << "message " << i;
    if (!is_wish(request)) EXPECT_EQ(request.weights.size(), request.messages.size());
    std::string bytes;
    for (const auto& fragment : request.fragments) bytes += fragment;
    requests_.push_back(request.agent + "\n" + bytes);
    Reply reply{.model = request.prefix->model, .message = {.role = Role::assistant}};
    const auto always = estimated_tokens(*request.prefix);
    const auto tokens = always + estimated_tokens(request.prefix->model, request.messages);
    weighed_.push_back({tokens, always, is_wish(request)});
    reply.usage = {.input = tokens, .output = 10, .cost_micros = 0};
    if (tokens > plot_.window) {
      reply.stop = ReplyStop::context_exhausted;
      reply.error = "it does not fit";
      reply.message.text = plot_.says_before_full;
      co_return reply;
    }
    play(request, reply);
    reply.stop = reply.message.calls.empty() ? ReplyStop::finished : ReplyStop::calls;
    co_return reply;
  }

 private:
  static bool is_wish(const Request& request) {
    return request.messages.back().text == wish_for_summary().text;
  }
  // By the last file that was asked for, or by what the summary says of it.
  static int next_file(std::span<const Message> messages) {
    for (const Message& message : std::views::reverse(messages)) {
      if (!message.calls.empty()) return std::stoi(message.calls.back().id.substr(1)) + 1;
      const auto at = message.text.find(kSummary);
      if (at != std::string::npos) return std::stoi(message.text.substr(at + kSummary.size()));
    }
    return 0;
  }
  void play(const Request& request, Reply& reply) const {
    const int next = next_file(request.messages);
    const bool hands_on = request.depth == 0 && !plot_.hands_to.empty();
    if (is_wish(request) && plot_.sums_up) {
      reply.message.text = std::string(kSummary) + std::to_string(next);
    } else if (hands_on && request.messages.size() == 1) {
      reply.message.calls = {
          {"c0", "task", R"({"agent":")" + plot_.hands_to + R"(","prompt":"read them all"})"}};
    } else if (!hands_on && (is_wish(request) || next < plot_.reads)) {
      for (int file = next; file < next + plot_.at_once; ++file) {
        const std::string at = std::to_string(file);
        reply.message.calls.push_back({"c" + at, "Read", R"({"file_path":"f)" + at + R"(.txt"})"});
      }
    } else {
      reply.message.text = "done";
    }
  }

  Plot plot_;
  Requests& requests_;
  std::vector<Weighed>& weighed_;
};

class Compaction : public testing::Test {
 protected:
  Compaction() { begin_anew(); }

  void begin_anew() {
    kept = std::make_unique<SimWorld>();
    kept->script = R"({"v":1,"sessions":[{"replies":[{"text":"never asked"}]}]})";
    std::string words;
    for (int i = 0; i < 200; ++i) words += "word word word word word word word word word word\n";
    for (int i = 0; i < 14; ++i) kept->write_file("f" + std::to_string(i) + ".txt", words);
  }
  Life::Options options() {
    return {.seed = seed,
            .crash = crash,
            .limits = limits,
            .model = [this](Loop&) { return std::make_unique<SmallWindow>(plot, requests, weighed); },
            .profiles = profiles};
  }
  Result<Report> start() {
    Life life(*kept, options());
    RootBrief root = life.brief("read them all");
    root.model = ModelName("small/x");
    root.rules = Rules({{Decision::allow, "task", ""}});
    auto report = life.start(std::move(root));
    has_crashed = life.crashed();
    return report;
  }
  Result<Report> resume() {
    Life life(*kept, options());
    return life.resume(kept->sessions().front().id);
  }
  Result<Report> say(std::string text, RunTask task = RunTask::reply) {
    Life life(*kept, options());
    auto report = life.say(kept->sessions().front().id, {.text = std::move(text), .task = task});
    has_crashed = life.crashed();
    return report;
  }
  std::vector<Compacted> compactions() const {
    std::vector<Compacted> found;
    for (const Event& event : kept->memory->journal) {
      if (const auto* fact = std::get_if<Compacted>(&event.fact)) found.push_back(*fact);
    }
    return found;
  }

  std::unique_ptr<SimWorld> kept;
  Plot plot;
  Requests requests;
  std::vector<Weighed> weighed;  // the same, in the same order
  std::vector<Profile> profiles;
  CrashPoint crash;
  TreeLimits limits;
  std::uint64_t seed = 1;
  bool has_crashed = false;
};

}  // namespace deputy
