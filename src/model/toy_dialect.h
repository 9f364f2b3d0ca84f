// A dialect for tests of what all dialects share: a line an event.
//   text …   a piece of the reply        ping     no progress
//   used I O what it counted             refuse S busy for S seconds, said in the middle of an answer
//   end      the terminal event          stop     the same, but that counts may follow
//   garble   stop, of an answer that nobody can use
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <string>

#include "base/text.h"
#include "model/dialect.h"
#include "model/retry_after.h"
#include "model/wire.h"

namespace deputy {

class ToyDecoder final : public ReplyDecoder {
 public:
  bool feed(std::string_view bytes, const DeltaSink& deltas) override {
    bool progress = false;
    for (std::size_t end = 0; (end = bytes.find('\n')) != std::string_view::npos;
         bytes.remove_prefix(end + 1)) {
      line_ += bytes.substr(0, end);
      progress = take(std::exchange(line_, {}), deltas) || progress;
    }
    line_ += bytes;
    return progress;
  }
  bool is_complete() const override { return complete_ || failure_; }
  bool may_be_complete() const override { return is_complete() || stopped_; }
  std::expected<Reply, Failure> finish() override {
    if (failure_) return std::unexpected(*failure_);
    if (is_garbled_)
      return std::unexpected(Failure{.message = "The model wrote nonsense.", .most_attempts = 2});
    if (!complete_ && !stopped_)
      return std::unexpected(Failure{.message = "The answer broke off.", .usage = reply_.usage});
    reply_.message.role = Role::assistant;
    return reply_;
  }

 private:
  static std::int64_t number(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  bool take(const std::string& line, const DeltaSink& deltas) {
    const auto words = split(line, ' ');
    if (line == "end") complete_ = true;
    if (line == "garble") is_garbled_ = true;
    if (line == "stop" || line == "garble") stopped_ = true;
    if (words[0] == "text") {
      reply_.message.text += line.substr(5);
      deltas(TextDelta{std::string_view(line).substr(5)});
    } else if (words[0] == "used") {
      reply_.usage = {.input = number(words.at(1)), .output = number(words.at(2))};
    } else if (words[0] == "refuse") {
      failure_ = Failure{.kind = Failure::Kind::rate_limited,
                         .message = "Busy.",
                         .retry_after = std::chrono::seconds{number(words.at(1))}};
    } else if (line != "end" && line != "stop" && line != "garble") {
      return false;
    }
    return true;
  }

  std::string line_;
  Reply reply_;
  bool complete_ = false;
  bool stopped_ = false;
  bool is_garbled_ = false;
  std::optional<Failure> failure_;
};

class ToyDialect final : public Dialect {
 public:
  std::string_view provider() const override { return "toy"; }
  std::string encode(const Message& message) const override {
    const auto wire = api::own_wire(message, provider());
    return wire ? std::string(*wire) : "<" + message.text + ">";
  }
  EncodedPrefix encode(const RequestPrefix& prefix) const override {
    ++prefixes_encoded;
    return {"[" + prefix.system + "|", fmt::format("|{}]", prefix.max_output_tokens)};
  }
  HttpRequest address(const ModelName& model, const Endpoint& endpoint) const override {
    return {.method = "POST",
            .url = fmt::format("{}/{}", endpoint.base_url, bare_name(model)),
            .headers = {{"x-key", endpoint.key}}};
  }
  std::unique_ptr<ReplyDecoder> decoder() const override { return std::make_unique<ToyDecoder>(); }
  Failure failure(const HttpResponse& response, std::string_view body, WallTime now) const override {
    using enum Failure::Kind;
    Failure failure{.kind = definite, .message = fmt::format("{}: {}", response.status, body)};
    if (response.status == 429 || response.status == 529) failure.kind = rate_limited;
    if (response.status == 408 || response.status == 409 || response.status >= 500) failure.kind = transient;
    if (response.status == 529) failure.kind = rate_limited;
    failure.is_overload = response.status == 529;
    failure.is_malformed = response.status == 400;
    failure.is_unknown = response.status == 404;
    if (response.status == 429) failure.token_quota = token_quota_in(response.headers);
    if (body.contains("too long")) failure.kind = context_exhausted;
    failure.retry_after = retry_after(response.headers, now);
    return failure;
  }

  mutable int prefixes_encoded = 0;
};

}  // namespace deputy
