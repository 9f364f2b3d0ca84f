#include "model/call_ids.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>

#include "base/text.h"

namespace deputy::api {

void give_own_ids(Message& reply, std::span<const Message> before) {
  if (reply.calls.empty()) return;
  std::unordered_set<std::string_view> taken;
  for (const Message& message : before) {
    for (const Call& call : message.calls) taken.insert(call.id);
  }
  for (std::size_t i = 0; i < reply.calls.size(); ++i) {
    Call& call = reply.calls[i];
    if (!taken.contains(call.id)) {
      taken.insert(call.id);
      continue;
    }
    call.id = "call_" + sha256_hex(fmt::format("{}\n{}\n{}", before.size(), i, call.id)).substr(0, 24);
    reply.wire.clear();
  }
}

}  // namespace deputy::api
