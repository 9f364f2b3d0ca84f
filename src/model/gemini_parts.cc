#include "model/gemini_parts.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "model/gemini_args.h"
#include "model/gemini_decoder.h"
#include "model/gemini_turn.h"
#include "model/json_string.h"
#include "model/raw_json.h"
#include "model/reply_draft.h"
#include "model/wire.h"

namespace deputy::gemini {

namespace {

using api::Object;
using api::text_of;

// Nothing but its text, and whether it is a thought: such parts may be joined.
bool is_plain(Object part) {
  for (const auto& member : api::members_of(part)) {
    if (member.key != "text" && member.key != "thought") return false;
  }
  return true;
}

std::string arguments_of(Object call, std::string_view raw_part) {
  if (auto raw = raw_object(raw_part, "/functionCall/args")) return *std::move(raw);
  const auto arguments = api::member_of(call, "args");
  return arguments ? api::json_of(*arguments) : "{}";
}

// One piece of an argument. Text grows, everything else comes whole.
bool add_piece(json::value& arguments, Object piece) {
  json::value* place = place_at(arguments, text_of(piece, "jsonPath"));
  if (place == nullptr) return false;
  const auto spelled = api::member_of(piece, "stringValue");
  if (const auto text = spelled ? api::text_in(*spelled) : std::nullopt) {
    if (place->is_null()) place->emplace_string();
    if (!place->is_string()) return false;
    place->get_string().append(*text);
  } else if (const auto number = api::member_of(piece, "numberValue")) {
    *place = parse_json(api::json_of(*number)).value_or(nullptr);
  } else if (const auto flag = api::member_of(piece, "boolValue")) {
    *place = api::is_true(piece, "boolValue");
  }
  return true;
}

}  // namespace

Parts::Taken Parts::take(Object part, std::string raw) {
  const std::string_view signature = text_of(part, "thoughtSignature");
  if (const auto call = api::object_of(part, "functionCall")) {
    return take_call(*call, std::move(raw), signature);
  }
  const auto spelled = api::member_of(part, "text");
  if (!spelled || !api::text_in(*spelled)) return add({.raw = std::move(raw)});
  const std::string_view text = text_of(part, "text");
  const auto kind = api::is_true(part, "thought") ? Part::Kind::thought : Part::Kind::text;
  if (!is_plain(part)) return add({.kind = kind, .raw = std::move(raw), .text = std::string(text)});
  if (text.empty()) return Taken::yes;
  if (parts_.empty() || parts_.back().kind != kind || !parts_.back().raw.empty()) {
    return add({.kind = kind, .text = std::string(text)});
  }
  bytes_ += text.size();
  parts_.back().text += text;
  return bytes_ > api::kMostBytes ? Taken::too_large : Taken::yes;
}

Parts::Taken Parts::take_call(Object call, std::string raw, std::string_view signature) {
  const std::string_view name = text_of(call, "name");
  const bool goes_on = api::is_true(call, "willContinue");
  if (name.empty()) {
    if (!open_) return Taken::unreadable;
    if (!signature.empty()) open_->signature = signature;
    if (const Taken taken = add_arguments(call); taken != Taken::yes) return taken;
    return goes_on ? Taken::yes : close_call();
  }
  if (open_) {
    if (const Taken taken = close_call(); taken != Taken::yes) return taken;
  }
  Call made{.id = std::string(text_of(call, "id")), .name = std::string(name)};
  if (goes_on || api::member_of(call, "partialArgs")) {
    open_ = {.call = std::move(made), .arguments = json::object{}, .signature = std::string(signature)};
    if (const Taken taken = add_arguments(call); taken != Taken::yes) return taken;
    return goes_on ? Taken::yes : close_call();
  }
  made.arguments = arguments_of(call, raw);
  return add({.kind = Part::Kind::call, .raw = std::move(raw), .call = std::move(made)});
}

Parts::Taken Parts::add_arguments(Object call) {
  for (const Object piece : api::objects_of(call, "partialArgs")) {
    bytes_ += text_of(piece, "jsonPath").size() + text_of(piece, "stringValue").size();
    if (bytes_ > api::kMostBytes) return Taken::too_large;
    if (!add_piece(open_->arguments, piece)) return Taken::unreadable;
  }
  return Taken::yes;
}

Parts::Taken Parts::close_call() {
  OpenCall open = *std::exchange(open_, std::nullopt);
  open.call.arguments = to_json_text(open.arguments);
  std::string raw = call_part(open.call, open.signature);
  return add({.kind = Part::Kind::call, .raw = std::move(raw), .call = std::move(open.call)});
}

Parts::Taken Parts::add(Part part) {
  bytes_ += part.raw.empty() ? part.text.size() : part.raw.size();
  if (part.call) ++calls_;
  if (bytes_ > api::kMostBytes || calls_ > api::kMostCalls || parts_.size() == kMaxParts) {
    return Taken::too_large;
  }
  parts_.push_back(std::move(part));
  return Taken::yes;
}

Message Parts::finished(std::string_view reply_id, Keep keep) const {
  Message message{.role = Role::assistant};
  std::vector<std::string> turn;
  bool has_more_than_thoughts = false;
  for (const Part& part : parts_) {
    if (part.kind == Part::Kind::text) message.text += part.text;
    if (part.kind == Part::Kind::thought) message.thinking += part.text;
    if (part.call) {
      if (keep == Keep::no_calls) continue;
      message.calls.push_back(*part.call);
      if (part.call->id.empty()) {
        message.calls.back().id = fmt::format("{}{}_{}", kLocalId, reply_id, message.calls.size());
      }
    }
    if (part.kind != Part::Kind::thought) has_more_than_thoughts = true;
    if (!part.raw.empty()) {
      turn.push_back(part.raw);
    } else if (part.kind == Part::Kind::text) {
      turn.push_back(text_part(part.text));
    } else {
      turn.push_back(fmt::format(R"({{"text":{},"thought":true}})", json_string(part.text)));
    }
  }
  const std::string own = model_turn(turn);
  if (has_more_than_thoughts && own != model_turn(message)) {
    message.wire = api::wire_for(kProvider, own);
  }
  return message;
}

}  // namespace deputy::gemini
