#include "model/call_ids.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/json.h"
#include "base/text.h"

namespace deputy::api {

namespace {

// Where a call of a turn keeps its id. Ollama's have none.
struct Place {
  json::object* call;
  std::string_view key;
};

// In order, in whichever provider's form. What a call is made with is not looked into: it may look like a
// call.
void find_places(json::value& value, std::vector<Place>& places) {
  if (auto* list = value.if_array()) {
    for (json::value& one : *list) find_places(one, places);
  }
  auto* object = value.if_object();
  if (object == nullptr) return;
  const std::string type = string_or(*object, "type", "");
  if (type == "tool_use") return places.push_back({object, "id"});
  if (type == "function_call") return places.push_back({object, "call_id"});
  if (object->contains("function"))
    return places.push_back({object->contains("id") ? object : nullptr, "id"});
  if (auto* call = object->if_contains("functionCall"); call != nullptr && call->is_object()) {
    return places.push_back({&call->get_object(), "id"});
  }
  for (const std::string_view inside : {"content", "parts", "tool_calls"}) {
    if (auto* member = object->if_contains(inside)) find_places(*member, places);
  }
}

}  // namespace

void put_ids_into_wire(Message& reply, std::span<const std::size_t> renamed) {
  if (renamed.empty()) return;
  const std::string wire = std::exchange(reply.wire, {});
  const std::size_t turn = wire.find('\n') + 1;
  auto items = parse_json("[" + wire.substr(turn) + "]");  // some have one, some have several
  if (turn == 0 || !items) return;
  std::vector<Place> places;
  find_places(*items, places);
  if (places.size() != reply.calls.size()) return;
  for (const std::size_t i : renamed) {
    if (places[i].call != nullptr) (*places[i].call)[places[i].key] = reply.calls[i].id;
  }
  const std::string text = to_json_text(*items);
  reply.wire = wire.substr(0, turn) + text.substr(1, text.size() - 2);
}

std::string id_made_from(std::string_view seed) { return "call_" + sha256_hex(seed).substr(0, 12); }

void give_own_ids(Message& reply, std::span<const Message> before) {
  if (reply.calls.empty()) return;
  // Those of the few new ones are gathered, not all that there ever were.
  std::unordered_set<std::string_view> given;
  for (const Call& call : reply.calls) given.insert(call.id);
  std::unordered_set<std::string_view> taken;
  for (const Message& message : before) {
    for (const Call& call : message.calls) {
      if (given.contains(call.id)) taken.insert(call.id);
    }
  }
  std::vector<std::size_t> renamed;
  for (std::size_t i = 0; i < reply.calls.size(); ++i) {
    Call& call = reply.calls[i];
    if (!taken.contains(call.id)) {
      taken.insert(call.id);
      continue;
    }
    call.id = id_made_from(fmt::format("{}\n{}\n{}", before.size(), i, call.id));
    renamed.push_back(i);
  }
  put_ids_into_wire(reply, renamed);
}

}  // namespace deputy::api
