// A provider behind HTTP with a network of its own, on the loop of the life that it is used in, and the
// server that a test plays. It has its own governors, unless it is given those of its process.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "model/http_provider.h"
#include "model/tongues.h"
#include "net/sim_network.h"

namespace deputy {

class HostedProvider final : public Provider {
 public:
  HostedProvider(Loop& loop, Tongue tongue, SimNetwork::Server server, std::int64_t window,
                 std::string key = "key", Governors* governors = nullptr)
      : network_(loop),
        own_governors_(loop),
        provider_({.dialect = dialect_of(tongue),
                   .endpoint = {"http://model", std::move(key)},
                   .key_variable = "",
                   .network = network_,
                   .loop = loop,
                   .random = random_,
                   .governors = governors ? *governors : own_governors_,
                   .facts = [window](const ModelName&) {
                     return ModelFacts{
                         .window = window, .max_output = {}, .price = Price{.input = 1, .output = 5}};
                   }}) {
    network_.define("http://model", std::move(server));
  }
  std::string_view name() const override { return provider_.name(); }
  std::string encode(const Message& message) const override { return provider_.encode(message); }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override {
    return provider_.ask(std::move(request), std::move(deltas), std::move(stop));
  }
  std::int64_t window(const ModelName& model) const override { return provider_.window(model); }
  std::optional<Price> price(const ModelName& model) const override { return provider_.price(model); }

 private:
  SimNetwork network_;
  SeededRandom random_{1};
  Governors own_governors_;
  HttpProvider provider_;
};

}  // namespace deputy
