#include "model/context_estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.h"

namespace deputy {

namespace {

// How a family of models cuts text, and what it puts round messages and tools, in tokens. Found from recorded
// traffic.
struct Family {
  std::string_view mark;  // in the model's name
  double density;         // against tokens_in
  double request;         // once
  double message;         // each
  double call;            // each, and for its result as much
  double tools;           // once, where there are any
  double tool_text;       // of what a tool's name, description and schema come to
  double thinking = 0;    // once, where a reply has room for thoughts
  double several = 0;     // once, where there are several tools: how to call them at once
  int digits = 0;         // 1: each digit is a token; 0: they are taken by threes
};

// The first that fits ("llama" is in the name of whatever an Ollama runs). What is not known is taken to be
// as dear as any of its kind: too high an estimate is mended by the first count, too low a one ends in an
// error. So a Claude that nobody recorded cuts text as finely as Opus 4.7, but for the Opus before it, which
// cut like the Sonnet of their time; and a model of a compatible server is told of tools at Llama's length
// and has the marks of its template (<|im_start|>) cut as text, as happens where they are no tokens of its
// own. An alias (-4-0) is the dated name (-4-20250514).
constexpr std::array kFamilies{
    Family{"claude-3", 1.15, 4, 4, 25, 300, 1.0, 26},
    Family{"claude-sonnet-4-0", 1.15, 4, 4, 25, 300, 1.0, 26},
    Family{"claude-sonnet-4-2", 1.15, 4, 4, 25, 300, 1.0, 26},
    Family{"claude-opus-4-0", 1.15, 4, 4, 25, 300, 1.0, 26},
    Family{"claude-opus-4-1", 1.15, 4, 4, 25, 300, 1.0, 26},
    Family{"claude-opus-4-2", 1.15, 4, 4, 25, 300, 1.0, 26},
    Family{"claude-opus-4-5", 1.15, 4, 4, 25, 540, 1.0, 26},
    Family{"claude-opus-4-6", 1.15, 4, 4, 25, 540, 1.0, 26},
    Family{"claude-sonnet-4", 1.15, 4, 4, 25, 540, 1.0, 26},
    Family{"claude-haiku-4", 1.15, 4, 4, 25, 540, 1.0, 26},
    Family{"claude-4", 1.15, 4, 4, 25, 540, 1.0, 26},
    Family{"claude", 1.4, 4, 4, 25, 640, 1.0, 26},
    Family{"gpt-oss", 1.1, 10, 4, 10, 60, 1.0},
    Family{"gpt-5", 1.05, 4, 4, 6, 8, 0.65, 0, 80},
    Family{"gpt-", 1.05, 4, 4, 6, 8, 0.65},
    Family{"openai/o", 1.05, 4, 4, 6, 8, 0.65},
    Family{"gemini", 1.0, 3, 1, 4, 0, 0.95, 0, 0, 1},
    Family{"qwen", 1.1, 10, 4, 10, 90, 1.0},
    Family{"llama", 1.1, 10, 4, 10, 140, 1.0},
    Family{"kimi", 1.1, 4, 4, 8, 20, 1.0},
    Family{"muse", 1.1, 4, 4, 8, 20, 1.0},
    Family{"deepseek", 1.05, 2, 1, 8, 60, 1.0},
    Family{"compatible/", 1.1, 10, 16, 10, 140, 1.0},
    Family{"", 1.1, 4, 4, 8, 30, 0.9},
};

// A reply that may be no longer has no room for thoughts: Claude takes no smaller budget for them.
constexpr int kLeastForThoughts = 1024;

const Family& family_of(const ModelName& model) {
  const std::string name = lowered(model.value);
  return *std::ranges::find_if(kFamilies, [&](const Family& family) { return name.contains(family.mark); });
}

enum class Kind : std::uint8_t { lower, upper, digit, space, line, mark, wide };

constexpr Kind looked_at(unsigned char c) {
  if (c >= 'a' && c <= 'z') return Kind::lower;
  if (c >= 'A' && c <= 'Z') return Kind::upper;
  if (c >= '0' && c <= '9') return Kind::digit;
  if (c == '\n' || c == '\r') return Kind::line;
  if (c == ' ' || c == '\t') return Kind::space;
  return c < 0x80 ? Kind::mark : Kind::wide;
}

// Every byte of a conversation is asked for.
constexpr auto kKinds = [] {
  std::array<Kind, 256> kinds{};
  for (std::size_t c = 0; c < kinds.size(); ++c) kinds[c] = looked_at(static_cast<unsigned char>(c));
  return kinds;
}();

Kind kind_of(char c) { return kKinds[static_cast<unsigned char>(c)]; }

// Characters of two bytes are letters of alphabets, several to a token; of three and four, one is a token or
// more.
double tokens_in_wide(std::string_view run) {
  double tokens = 0;
  for (const char c : run) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0xF0)
      tokens += 2;
    else if (byte >= 0xE0)
      tokens += 1;
    else if (byte >= 0xC0)
      tokens += 0.55;
  }
  return tokens;
}

double tokens_in_run(Kind kind, std::string_view run) {
  const auto length = static_cast<double>(run.size());
  switch (kind) {
    case Kind::lower:  // words are known whole, long ones in parts, and what is no word at all in shreds
      return length <= 9 ? 1 : length <= 24 ? std::ceil(length / 6) : length / 4;
    case Kind::upper:
      return length <= 4 ? 1 : length / 3;
    case Kind::digit:
      return std::ceil(length / 3);
    case Kind::space:  // one belongs to the word that follows
      return run.size() == 1 ? 0 : 1;
    case Kind::line:
      return 1;
    case Kind::mark:
      return std::ceil(length / 3);
    case Kind::wide:
      return tokens_in_wide(run);
  }
  return length;
}

MessageWeight weight_of(std::string_view text) {
  double tokens = 0;
  std::size_t digits = 0;
  while (!text.empty()) {
    const Kind kind = kind_of(text.front());
    std::size_t length = 1;
    while (length < text.size() && kind_of(text[length]) == kind) ++length;
    // A capital begins the word that follows it.
    if (kind == Kind::upper && length == 1) {
      while (length < text.size() && kind_of(text[length]) == Kind::lower) ++length;
      tokens += tokens_in_run(Kind::lower, text.substr(0, length));
    } else {
      tokens += tokens_in_run(kind, text.substr(0, length));
    }
    if (kind == Kind::digit) digits += length * 2 / 3;
    text.remove_prefix(length);
  }
  return {.text = std::llround(std::ceil(tokens)), .digits = static_cast<std::int64_t>(digits)};
}

// Where there are no arguments that is told in a few words, however the schema says so.
MessageWeight weight_of_schema(std::string_view schema) {
  constexpr std::string_view kArguments = R"("properties":{)";
  const std::size_t at = schema.find(kArguments);
  const bool has_none =
      at != std::string_view::npos && schema.substr(at + kArguments.size()).starts_with('}');
  return has_none ? MessageWeight{.text = 8} : weight_of(schema);
}

double tokens_of(const MessageWeight& weight, const Family& family) {
  const double frame =
      static_cast<double>(weight.messages) * family.message + static_cast<double>(weight.calls) * family.call;
  // Thoughts are about as long as their seal is in bytes by five.
  return static_cast<double>(weight.text + family.digits * weight.digits) * family.density + frame +
         static_cast<double>(weight.sealed) / 5;
}

double tokens_of(std::span<const MessageWeight> weights, const Family& family) {
  MessageWeight all;
  for (const MessageWeight& weight : weights) all += weight;
  return tokens_of(all, family);
}

std::vector<MessageWeight> weights_of(std::span<const Message> messages) {
  std::vector<MessageWeight> weights;
  weights.reserve(messages.size());
  for (const Message& message : messages) weights.push_back(weight_of(message));
  return weights;
}

std::int64_t estimated_input(std::int64_t prefix_tokens, const ModelName& model,
                             std::span<const MessageWeight> weights,
                             const std::optional<Measured>& measured) {
  const Family& family = family_of(model);
  const auto prefix = static_cast<double>(prefix_tokens);
  if (!measured || measured->tokens <= 0 || measured->messages > weights.size()) {
    return std::llround(prefix + tokens_of(weights, family));
  }
  const double before = prefix + tokens_of(weights.first(measured->messages), family);
  const auto counted = static_cast<double>(measured->tokens);
  const double measure = before > 0 ? std::clamp(counted / before, 0.5, 2.0) : 1.0;
  return std::llround(counted + measure * tokens_of(weights.subspan(measured->messages), family));
}

}  // namespace

std::int64_t tokens_in(std::string_view text) { return weight_of(text).text; }

std::int64_t estimated_tokens(const RequestPrefix& prefix) {
  const Family& family = family_of(prefix.model);
  double tokens = family.request;
  if (prefix.max_output_tokens > kLeastForThoughts) tokens += family.thinking;
  if (!prefix.system.empty()) tokens += family.message + tokens_of(weight_of(prefix.system), family);
  if (!prefix.tools.empty()) tokens += family.tools;
  if (prefix.tools.size() > 1) tokens += family.several;
  for (const ToolOffer& tool : prefix.tools) {
    MessageWeight weight{.text = 12};
    weight += weight_of(tool.name);
    weight += weight_of(tool.description);
    weight += weight_of_schema(tool.schema);
    tokens += family.tool_text * tokens_of(weight, family);
  }
  return std::llround(tokens);
}

MessageWeight weight_of(const Message& message) {
  MessageWeight weight = weight_of(message.text);
  std::size_t seen = message.text.size();
  for (const Call& call : message.calls) {
    weight += weight_of(call.name);
    weight += weight_of(call.arguments);
    seen += call.name.size() + call.arguments.size();
  }
  for (const ToolResult& result : message.results) weight += weight_of(result.content);
  weight.messages = 1;
  weight.calls = std::ssize(message.calls) + std::ssize(message.results);
  // What a provider wants back sealed counts as the thoughts in it. It does so only while their calls are
  // answered: those of a turn that has ended it drops.
  const std::size_t whole = message.calls.empty() ? 0 : message.wire.size();
  weight.sealed = static_cast<std::int64_t>(whole - std::min(whole, seen + 200));
  return weight;
}

std::int64_t estimated_tokens(const ModelName& model, std::span<const Message> messages) {
  return std::llround(tokens_of(weights_of(messages), family_of(model)));
}

std::int64_t estimated_input(std::int64_t prefix_tokens, const ModelName& model,
                             std::span<const Message> messages, const std::optional<Measured>& measured) {
  return estimated_input(prefix_tokens, model, weights_of(messages), measured);
}

std::int64_t estimated_input(const Request& request) {
  const ModelName& model = request.prefix->model;
  const std::int64_t prefix_tokens =
      request.prefix_tokens > 0 ? request.prefix_tokens : estimated_tokens(*request.prefix);
  if (request.weights.size() != request.messages.size())
    return estimated_input(prefix_tokens, model, request.messages, request.measured);
  return estimated_input(prefix_tokens, model, request.weights, request.measured);
}

}  // namespace deputy
