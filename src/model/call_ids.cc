#include "model/call_ids.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>

#include "base/json.h"
#include "base/text.h"

namespace deputy::api {

namespace {

// Where the calls of a turn keep their ids, in order, in whichever provider's form. What a call is made with
// is not looked into: it may look like a call.
void find_ids(json::value& value, std::vector<json::value*>& ids) {
  if (auto* list = value.if_array()) {
    for (json::value& one : *list) find_ids(one, ids);
  }
  auto* object = value.if_object();
  if (object == nullptr) return;
  const std::string type = string_or(*object, "type", "");
  if (type == "tool_use") return ids.push_back(&(*object)["id"]);
  if (type == "function_call") return ids.push_back(&(*object)["call_id"]);
  if (object->contains("function")) return ids.push_back(object->if_contains("id"));  // Ollama has none
  if (auto* call = object->if_contains("functionCall"); call != nullptr && call->is_object()) {
    return ids.push_back(&call->get_object()["id"]);
  }
  for (const std::string_view inside : {"content", "parts", "tool_calls"}) {
    if (auto* member = object->if_contains(inside)) find_ids(*member, ids);
  }
}

}  // namespace

void put_ids_into_wire(Message& reply) {
  const std::string wire = std::exchange(reply.wire, {});
  const std::size_t turn = wire.find('\n') + 1;
  auto items = parse_json("[" + wire.substr(turn) + "]");  // some have one, some have several
  if (turn == 0 || !items) return;
  std::vector<json::value*> ids;
  find_ids(*items, ids);
  if (ids.size() != reply.calls.size()) return;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != nullptr) *ids[i] = reply.calls[i].id;
  }
  const std::string text = to_json_text(*items);
  reply.wire = wire.substr(0, turn) + text.substr(1, text.size() - 2);
}

void give_own_ids(Message& reply, std::span<const Message> before) {
  if (reply.calls.empty()) return;
  std::unordered_set<std::string_view> taken;
  for (const Message& message : before) {
    for (const Call& call : message.calls) taken.insert(call.id);
  }
  bool has_renamed = false;
  for (std::size_t i = 0; i < reply.calls.size(); ++i) {
    Call& call = reply.calls[i];
    if (!taken.contains(call.id)) {
      taken.insert(call.id);
      continue;
    }
    call.id = "call_" + sha256_hex(fmt::format("{}\n{}\n{}", before.size(), i, call.id)).substr(0, 24);
    has_renamed = true;
  }
  if (has_renamed) put_ids_into_wire(reply);
}

}  // namespace deputy::api
