// For tests: a model behind HTTP that speaks the toy dialect, on a simulated network that answers as told.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "async/sim_loop.h"
#include "model/http_provider.h"
#include "model/toy_dialect.h"
#include "net/sim_network.h"
#include "support/canary.h"
#include "support/run.h"

namespace deputy {

inline SimExchange answer(std::string body) { return {.status = 200, .chunks = {{std::move(body)}}}; }
inline SimExchange status(int code, std::string body = "no", HttpHeaders headers = {}) {
  return {.status = code, .headers = std::move(headers), .chunks = {{std::move(body)}}};
}
inline SimExchange good() { return answer("text hello\nused 100 20\nend\n"); }

class HttpModel : public testing::Test {
 protected:
  HttpModel() {
    network_.define("http://toy", [this](const HttpRequest& request) {
      requests_.push_back(request);
      asked_at_.push_back(loop_.clock().now().time_since_epoch());
      if (script_.empty()) return good();
      SimExchange next = script_.front();
      if (script_.size() > 1 || !repeat_last_) script_.pop_front();
      return next;
    });
  }

  HttpProvider& provider() {
    if (provider_) return *provider_;
    auto dialect = std::make_unique<ToyDialect>();
    dialect_ = dialect.get();
    provider_ = std::make_unique<HttpProvider>(
        HttpProvider::Parts{.dialect = std::move(dialect),
                            .endpoint = {base_url_, key_},
                            .key_variable = "TOY_KEY",
                            .network = network_,
                            .loop = loop_,
                            .random = random_,
                            .governors = governors_,
                            .facts = [this](const ModelName&) { return facts_; },
                            .clocks = clocks_});
    return *provider_;
  }

  Request request(std::string text = "hi") {
    messages_.push_back({.text = std::move(text)});
    fragments_.push_back(provider().encode(messages_.back()));
    return {.prefix = prefix_,
            .messages = messages_,
            .fragments = fragments_,
            .measured = {},
            .label = {},
            .agent = {}};
  }

  Reply ask(StopToken stop = {}) {
    return run(loop_, provider().ask(
                          request(),
                          [this](const Delta& delta) {
                            if (const auto* text = std::get_if<TextDelta>(&delta)) streamed_ += text->text;
                            if (const auto* retried = std::get_if<Retried>(&delta)) {
                              streamed_ += "|";
                              retried_.push_back(*retried);
                            }
                          },
                          std::move(stop)));
  }
  Duration elapsed() const { return loop_.clock().now().time_since_epoch(); }

  SimLoop loop_{7};
  SimNetwork network_{loop_};
  SeededRandom random_{7};
  Governors governors_{loop_};
  ModelFacts facts_{.window = 100'000, .max_output = {}, .price = Price{.input = 2, .output = 10}};
  std::string base_url_ = "http://toy";
  std::string key_ = canary_of_all_tests().key();
  Clocks clocks_;
  std::unique_ptr<HttpProvider> provider_;
  const ToyDialect* dialect_ = nullptr;

  std::shared_ptr<const RequestPrefix> prefix_ = std::make_shared<RequestPrefix>(RequestPrefix{
      .model = ModelName("toy/one"), .system = "Be brief.", .tools = {}, .max_output_tokens = 500});
  std::vector<Message> messages_;
  std::vector<std::string> fragments_;

  std::deque<SimExchange> script_;
  bool repeat_last_ = false;
  std::vector<HttpRequest> requests_;
  std::vector<Duration> asked_at_;
  std::string streamed_;
  std::vector<Retried> retried_;
};

}  // namespace deputy
