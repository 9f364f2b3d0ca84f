// A model that follows a script (JSON): for tests, demos and bug reports. The reply is chosen by the number
// of assistant messages in the request and before it was compacted, so it keeps no state and survives a
// resume; each call is logged where the script says. The script itself: script.h.
//   {"v":1,"log":path,"sessions":[{"match":{"label"|"agent"|"depth"},"replies":[
//      {"expect":{"contains"},"text","calls":[{"name","arguments","id"}],"usage","first_byte_ms","error"}]}]}
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "async/loop.h"
#include "base/result.h"
#include "model/provider.h"

namespace deputy {

struct Script;

class ScriptedProvider final : public Provider {
 public:
  using Log = std::function<void(std::string_view line)>;
  // `log` is called with one JSON line a request, when the script names a log.
  static Result<std::unique_ptr<ScriptedProvider>> parse(std::string_view script, Loop& loop, Log log = {});
  ~ScriptedProvider() override;

  std::string_view name() const override { return "scripted"; }
  std::string encode(const Message&) const override { return {}; }
  Task<Reply> ask(Request request, DeltaSink deltas, StopToken stop) override;
  std::int64_t window(const ModelName&) const override { return 200'000; }
  std::optional<Price> price(const ModelName&) const override { return Price{}; }
  const std::string& log_path() const;  // empty where the script names none

 private:
  ScriptedProvider(std::unique_ptr<Script> script, Loop& loop, Log log);
  std::unique_ptr<Script> script_;
  Loop& loop_;
  Log log_;
};

}  // namespace deputy
