// The model that is there when no other is: a small deterministic policy, no language model and no network,
// that reads a brief and drives the real loop with the real tools (Glob, Grep, List, Read, Note, Delegate),
// then reports. Each finding cites an existing file and line; the same folder gives the same bytes, another
// folder another report. It chooses its next step from the conversation alone, so it survives a resume.
#pragma once

#include "model/provider.h"

namespace deputy {

class RehearsalProvider final : public Provider {
 public:
  std::string_view name() const override { return "rehearsal"; }
  std::string encode(const Message&) const override { return {}; }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override;
  std::int64_t window(const ModelName&) const override { return 200'000; }
  std::optional<Price> price(const ModelName&) const override { return Price{}; }  // it is free
};

// The decision itself: the next message of a conversation, given the tools on offer and how many replies a
// summary among the messages stands for.
Message rehearsed(std::span<const ToolOffer> tools, std::span<const Message> messages,
                  int replies_before = 0);

}  // namespace deputy
