// A provider in a real dialect whose server is played: what benches measure of a model's request is all ours.
// Its requests go to kPlayedServer, and no history that a bench makes is too long for it.
#pragma once

#include "model/http_provider.h"
#include "model/tongues.h"

namespace deputy {

inline constexpr const char* kPlayedServer = "http://model";

inline HttpProvider::Parts played_provider(Network& network, Loop& loop, Random& random,
                                           Governors& governors) {
  return {.dialect = dialect_of(Tongue::anthropic),
          .endpoint = {kPlayedServer, "key"},
          .key_variable = "",
          .network = network,
          .loop = loop,
          .random = random,
          .governors = governors,
          .facts = [](const ModelName&) {
            return ModelFacts{.window = 1'000'000, .max_output = {}, .price = Price{.input = 1, .output = 5}};
          }};
}

}  // namespace deputy
