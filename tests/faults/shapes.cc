#include "shapes.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/anthropic.h"
#include "model/gemini.h"
#include "model/ollama.h"
#include "model/openai_chat.h"
#include "model/openai_responses.h"

namespace deputy {

namespace {

// An event with its type in both places.
std::string typed(std::string_view type, std::string_view rest) {
  return fmt::format("event: {}\ndata: {{\"type\":\"{}\"{}{}}}\n\n", type, type, rest.empty() ? "" : ",",
                     rest);
}
std::string plain(std::string_view json) { return fmt::format("data: {}\n\n", json); }

Shape anthropic() {
  const std::string start = typed(
      "message_start",
      R"("message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":10,"output_tokens":1}})");
  const auto end = [](std::string_view reason) {
    return typed("message_delta",
                 fmt::format(R"("delta":{{"stop_reason":"{}"}},"usage":{{"output_tokens":5}})", reason));
  };
  return {
      .name = "anthropic",
      .dialect = anthropic_dialect,
      .content_type = "text/event-stream",
      .text = {start, typed("content_block_start", R"("index":0,"content_block":{"type":"text","text":""})"),
               typed("content_block_delta", R"("index":0,"delta":{"type":"text_delta","text":"Hello, "})"),
               typed("content_block_delta",
                     "\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"w\xc3\xb6rld "
                     "\xf0\x9f\x98\x80\"}"),
               typed("content_block_stop", R"("index":0)"), end("end_turn"), typed("message_stop", "")},
      .calls =
          {start,
           typed("content_block_start",
                 R"("index":0,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{}})"),
           typed("content_block_delta",
                 R"("index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\":"})"),
           typed("content_block_delta",
                 R"("index":0,"delta":{"type":"input_json_delta","partial_json":"\"a\"}"})"),
           typed("content_block_stop", R"("index":0)"), end("tool_use"), typed("message_stop", "")},
      .thought =
          {start,
           typed(
               "content_block_start",
               R"("index":0,"content_block":{"type":"thinking","thinking":"first Read","signature":"sealed"})"),
           typed("content_block_stop", R"("index":0)"),
           typed(
               "content_block_start",
               R"("index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"Read","input":{"path":"a"}})"),
           typed("content_block_stop", R"("index":1)"), end("tool_use"), typed("message_stop", "")},
      .ping = typed("ping", "")};
}

Shape openai_chat() {
  const auto chunk = [](std::string_view delta, std::string_view finish = "null") {
    return plain(fmt::format(
        R"({{"id":"c1","object":"chat.completion.chunk","choices":[{{"index":0,"delta":{},"finish_reason":{}}}]}})",
        delta, finish));
  };
  const std::string counted =
      plain(R"({"id":"c1","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}})");
  const std::string done = plain("[DONE]");
  return {
      .name = "openai-chat",
      .dialect = [] { return openai_chat_dialect(ChatFlavour::openai); },
      .content_type = "text/event-stream",
      .text = {chunk(R"({"role":"assistant","content":""})"), chunk(R"({"content":"Hello, "})"),
               chunk("{\"content\":\"w\xc3\xb6rld \xf0\x9f\x98\x80\"}"), chunk("{}", "\"stop\""), counted,
               done},
      .calls =
          {chunk(
               R"({"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"Read","arguments":""}}]})"),
           chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]})"),
           chunk(R"({"tool_calls":[{"index":0,"function":{"arguments":"\"a\"}"}}]})"),
           chunk("{}", "\"tool_calls\""), counted, done},
      .thought =
          {chunk(R"({"role":"assistant","reasoning_content":"first Read, sealed"})"),
           chunk(
               R"({"tool_calls":[{"index":0,"id":"call_thought","type":"function","function":{"name":"Read","arguments":"{\"path\":\"a\"}"}}]})"),
           chunk("{}", "\"tool_calls\""), counted, done},
      .ending = 3,  // a reason to finish; the count and [DONE] may be missing
      .ping = ": OPENROUTER PROCESSING\n\n"};
}

Shape openai_responses() {
  const auto event = [](int number, std::string_view type, std::string_view rest) {
    return typed(type, fmt::format(R"("sequence_number":{},{})", number, rest));
  };
  const auto item = [&](int number, std::string_view json) {
    return event(number, "response.output_item.done", fmt::format(R"("output_index":0,"item":{})", json));
  };
  const auto created = event(0, "response.created", R"("response":{"id":"r1","status":"in_progress"})");
  const auto completed = [&](int number) {
    return event(
        number, "response.completed",
        R"("response":{"id":"r1","status":"completed","usage":{"input_tokens":10,"output_tokens":5}})");
  };
  const std::string said =
      "{\"type\":\"message\",\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\","
      "\"text\":\"" +
      kSaid + "\"}]}";
  return {
      .name = "openai-responses",
      .dialect = openai_responses_dialect,
      .content_type = "text/event-stream",
      .text = {created,
               event(1, "response.output_text.delta",
                     R"("output_index":0,"content_index":0,"delta":"Hello, ")"),
               event(2, "response.output_text.delta",
                     "\"output_index\":0,\"content_index\":0,\"delta\":\"w\xc3\xb6rld \xf0\x9f\x98\x80\""),
               item(3, said), completed(4)},
      .calls =
          {created,
           event(1, "response.function_call_arguments.delta",
                 R"("output_index":0,"delta":"{\"path\":\"a\"}")"),
           item(
               2,
               R"({"type":"function_call","id":"f1","call_id":"call_1","name":"Read","arguments":"{\"path\":\"a\"}"})"),
           completed(3)},
      .thought =
          {created,
           event(
               1, "response.output_item.done",
               R"("output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sealed"})"),
           event(
               2, "response.output_item.done",
               R"("output_index":1,"item":{"type":"function_call","id":"f1","call_id":"call_1","name":"Read","arguments":"{\"path\":\"a\"}"})"),
           completed(3)},
      .ping = typed("keepalive", "")};
}

Shape gemini() {
  const auto chunk = [](std::string_view parts, std::string_view finish = "") {
    return plain(fmt::format(
        R"({{"candidates":[{{"content":{{"role":"model","parts":[{}]}}{},"index":0}}],"usageMetadata":{{"promptTokenCount":10,"candidatesTokenCount":5}},"responseId":"r1"}})",
        parts, finish.empty() ? "" : fmt::format(R"(,"finishReason":"{}")", finish)));
  };
  return {
      .name = "gemini",
      .dialect = gemini_dialect,
      .content_type = "text/event-stream",
      .text = {chunk(R"({"text":"Hello, "})"), chunk("{\"text\":\"w\xc3\xb6rld \xf0\x9f\x98\x80\"}"),
               chunk(R"({"text":""})", "STOP")},
      .calls = {chunk(R"({"functionCall":{"name":"Read","args":{"path":"a"}}})"),
                chunk(R"({"text":""})", "STOP")},
      .thought = {chunk(
                      R"({"functionCall":{"name":"Read","args":{"path":"a"}},"thoughtSignature":"sealed"})"),
                  chunk(R"({"text":""})", "STOP")},
      .ping = ": ping\n\n"};
}

Shape ollama() {
  const auto line = [](std::string_view message, std::string_view rest) {
    return fmt::format("{{\"model\":\"m\",\"created_at\":\"t\",\"message\":{},{}}}\n", message, rest);
  };
  const std::string done = line(R"({"role":"assistant","content":""})",
                                R"("done":true,"done_reason":"stop","prompt_eval_count":10,"eval_count":5)");
  return {
      .name = "ollama",
      .dialect = [] { return ollama_dialect(); },
      .content_type = "application/x-ndjson",
      .text = {line(R"({"role":"assistant","content":"Hello, "})", R"("done":false)"),
               line("{\"role\":\"assistant\",\"content\":\"w\xc3\xb6rld \xf0\x9f\x98\x80\"}",
                    R"("done":false)"),
               done},
      .calls =
          {line(
               R"({"role":"assistant","content":"","tool_calls":[{"function":{"name":"Read","arguments":{"path":"a"}}}]})",
               R"("done":false)"),
           done},
      .thought =
          {line(
               R"({"role":"assistant","content":"","thinking":"first Read, sealed","tool_calls":[{"function":{"name":"Read","arguments":{"path":"a"}}}]})",
               R"("done":false)"),
           done},
      .ping = "\n"};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.name; }

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{anthropic(), openai_chat(), openai_responses(), gemini(), ollama()};
  return all;
}

const Shape& shape_of(std::string_view name) { return *std::ranges::find(shapes(), name, &Shape::name); }

std::string joined(const std::vector<std::string>& events, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < std::min(count, events.size()); ++i) all += events[i];
  return all;
}

}  // namespace deputy
