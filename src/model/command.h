// What a person typed as a command, played as a model: the input names one call, the first reply makes it,
// the second gives its result. So a command goes through the same loop, journal and limits as anything a
// model asks for, and can be resumed.
#pragma once

#include "model/provider.h"

namespace deputy {

// The input of such a run.
std::string command_input(std::string_view tool, std::string_view arguments_json);

class CommandProvider final : public Provider {
 public:
  std::string_view name() const override { return "command"; }
  std::string encode(const Message&) const override { return {}; }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override;
  std::int64_t window(const ModelName&) const override { return 1'000'000'000; }
  std::optional<Price> price(const ModelName&) const override { return Price{}; }
};

}  // namespace deputy
