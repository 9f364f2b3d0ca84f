// A model behind a server that goes wrong: the real network and provider, with clocks made short.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "async/loop.h"
#include "base/random.h"
#include "model/http_provider.h"
#include "net/curl_network.h"
#include "shapes.h"
#include "support/canary.h"
#include "support/fault_server.h"
#include "support/run.h"

namespace deputy {

inline const std::string kKey = canary_of_all_tests().key();
inline constexpr int kAttempts = 3;

// How long the model's silence is borne: far longer than any good answer takes, or short where silence is the
// fault.
enum class Temper { patient, hasty };

class FaultWorld {
 public:
  FaultWorld(const Shape& shape, const std::string& url, Temper temper, CurlOptions options = {})
      : network_(loop_, std::move(options)),
        provider_({.dialect = shape.dialect(),
                   .endpoint = {url, kKey},
                   .key_variable = {},
                   .network = network_,
                   .loop = loop_,
                   .random = random_,
                   .governors = governors_,
                   .facts = [](const ModelName&) { return ModelFacts{.window = 1'000'000}; },
                   .clocks = clocks(temper),
                   .patience = {.attempts = kAttempts,
                                .first_wait = std::chrono::milliseconds(5),
                                .longest_wait = std::chrono::milliseconds(20)}}),
        prefix_(std::make_shared<RequestPrefix>(RequestPrefix{
            .model = ModelName(shape.name + "/m"), .system = "Be brief.", .max_output_tokens = 500})),
        fragments_{provider_.encode(messages_[0])} {}

  // What is shown as it comes, a bar for each retry.
  std::string shown;
  std::function<void()> on_retry = [] {};

  Reply ask() { return run(loop_, ask_task()); }
  // So many at once.
  std::vector<Reply> ask_many(int count) {
    std::vector<Reply> replies(std::size_t(count), Reply{});
    run(loop_, ask_all(&replies));
    return replies;
  }

 private:
  static Clocks clocks(Temper temper) {
    using namespace std::chrono_literals;
    const Duration borne = temper == Temper::hasty ? Duration(400ms) : Duration(30s);
    return {.connect = 10s, .first_event = borne, .no_event = borne, .linger = 20ms};
  }
  Task<Reply> ask_task() {
    StopSource stop;  // a bound for what would hang
    stop.set_deadline(loop_.timers(), loop_.clock().now() + std::chrono::seconds(50));
    co_return co_await provider_.ask(
        {.prefix = prefix_, .messages = messages_, .fragments = fragments_},
        [this](const Delta& delta) {
          const auto* text = std::get_if<TextDelta>(&delta);
          shown += text ? text->text : std::string_view("|");
          if (!text) on_retry();
        },
        stop.token());
  }
  static Task<> keep(Task<Reply> task, Reply* reply) { *reply = co_await std::move(task); }
  Task<> ask_all(std::vector<Reply>* replies) {
    TaskGroup group(loop_);
    for (Reply& reply : *replies) group.spawn(keep(ask_task(), &reply));
    co_await group.join();
  }

  SystemLoop loop_;
  CurlNetwork network_;
  SeededRandom random_{1};
  Governors governors_{loop_};
  HttpProvider provider_;
  std::shared_ptr<const RequestPrefix> prefix_;
  const std::vector<Message> messages_{{.text = "hi"}};
  std::vector<std::string> fragments_;
};

}  // namespace deputy
