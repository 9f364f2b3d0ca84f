#include "model/command.h"

#include "base/json.h"

namespace deputy {

namespace {

Reply reply_to(const Request& request) {
  Reply reply;
  reply.model = request.prefix->model;  // so that children inherit the model the person chose
  reply.usage.cost_micros = 0;
  reply.message.role = Role::assistant;
  const Message& last = request.messages.back();
  if (last.role == Role::tool) {
    reply.message.text = last.results.front().content;  // how it ended is judged by what was started
    return reply;
  }
  const auto command = parse_json_object(last.text);
  const auto tool = command ? string_at(*command, "tool") : std::nullopt;
  const auto* arguments = command ? find(*command, "arguments") : nullptr;
  if (!tool || !arguments) {
    reply.stop = ReplyStop::failed;
    reply.error = "the command's input names no tool";
    return reply;
  }
  reply.stop = ReplyStop::calls;
  reply.message.calls.push_back({.id = "command", .name = *tool, .arguments = to_json_text(*arguments)});
  return reply;
}

}  // namespace

std::string command_input(std::string_view tool, std::string_view arguments_json) {
  return "{\"tool\":" + to_json_text(json::value(tool)) + ",\"arguments\":" + std::string(arguments_json) +
         "}";
}

Task<Reply> CommandProvider::ask(Request request, DeltaSink, StopToken) { co_return reply_to(request); }

}  // namespace deputy
