#include "model/http_provider.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <utility>

#include "async/apart.h"
#include "async/sleep.h"
#include "base/text.h"
#include "model/call_ids.h"
#include "model/catalog.h"
#include "model/context_estimate.h"

namespace deputy {

namespace {

constexpr std::int64_t kCautiousWindow = 128'000;  // where nothing is known
// An answer that may not even have so many tokens is not worth a request.
constexpr std::int64_t kUsefulOutput = 1024;
// What was sent before is in the provider's cache for a while, where it keeps one.
constexpr Duration kCacheLives = std::chrono::minutes{5};
// A first request that is turned down for so long is as large as it seems: others may be let in meanwhile, so
// that no limit ends its wait, and each time that it is turned down they wait too.
constexpr Duration kDoubtLasts = std::chrono::minutes{5};

std::string assembled(const EncodedPrefix& prefix, std::span<const std::string> fragments) {
  std::size_t size = prefix.head.size() + prefix.tail.size() + fragments.size();
  for (const std::string& fragment : fragments) size += fragment.size();
  std::string body;
  body.reserve(size);
  body += prefix.head;
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    if (i > 0) body += ',';
    body += fragments[i];
  }
  body += prefix.tail;
  return body;
}

bool is_counted(const Usage& usage) { return usage.input > 0 || usage.output > 0; }

std::string too_long(std::int64_t tokens, std::int64_t output, std::int64_t window, const ModelName& model) {
  return fmt::format(
      "the conversation comes to about {} tokens; with {} for an answer that does not fit the window of {} "
      "of {}",
      with_thousands(static_cast<std::uint64_t>(tokens)), with_thousands(static_cast<std::uint64_t>(output)),
      with_thousands(static_cast<std::uint64_t>(window)), model.value);
}

// Behind what a provider says of a model that it does not have.
std::string meant_instead_of(const ModelName& model) {
  const auto near = names_near(model);
  return near.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(near, " or "));
}

}  // namespace

HttpProvider::HttpProvider(Parts parts) : parts_(std::move(parts)) { redactor_.hide(parts_.endpoint.key); }

std::int64_t HttpProvider::window(const ModelName& model) const {
  return parts_.facts(model).window.value_or(kCautiousWindow);
}

Task<Reply> HttpProvider::ask(Request request, DeltaSink deltas, StopToken stop) {
  Usage untold = kUntaken;
  try {
    Asking asking{.request = request, .deltas = deltas, .stop = stop, .untold = untold};
    if (auto reply = prepare(asking)) co_return *std::move(reply);
    for (;;) {
      auto turn = co_await apart(
          [&] { return asking.governor->enter(asking.rank, parts_.patience.longest_rate_limit, stop); });
      if (!turn) co_return sent_away(asking);
      asking.began = parts_.loop.clock().now();
      untold = {};
      auto outcome = co_await try_once(asking, *turn);
      if (settle(asking, turn, outcome)) co_return *std::move(outcome);
      if (asking.wait == Duration{}) continue;
      // The line turns away who is stopped.
      co_await apart([&] { return sleep_for(parts_.loop, asking.wait, stop); });
    }
  } catch (const std::bad_alloc&) {  // the others go on: this one is given up, and what it held is free
  }
  co_return ended(ReplyStop::failed, request.prefix->model,
                  "The machine has no memory left for this request. Run fewer at once.", untold);
}

std::optional<Reply> HttpProvider::prepare(Asking& asking) {
  Request& request = asking.request;
  const ModelName& model = request.prefix->model;
  if (!parts_.key_variable.empty() && parts_.endpoint.key.empty()) {
    return ended(ReplyStop::no_key, model,
                 fmt::format("no API key for provider {}: set {}", name(), parts_.key_variable));
  }
  asking.rank = {request.depth, request.messages.size(), parts_.loop.clock().now(), estimated_input(request)};
  if (auto full = choose_prefix(asking)) return full;
  asking.governor = &parts_.governors.of(parts_.endpoint.base_url + "\n" + parts_.endpoint.key,
                                         std::string(bare_name(model)), parts_.patience.at_once);
  asking.asked = request.fragments;
  if (!refused_.empty()) request.fragments = asking.anew = written_anew(request, Anew::refused);
  return std::nullopt;
}

Reply HttpProvider::sent_away(const Asking& asking) const {
  const ModelName& model = asking.request.prefix->model;
  if (asking.stop.stopped()) return ended(ReplyStop::stopped, model, "stopped");
  return ended(ReplyStop::failed, model, wants_no_request(asking.governor->shut_for()));
}

bool HttpProvider::settle(Asking& asking, std::optional<Governor::Turn>& turn,
                          std::expected<Reply, Failure>& outcome) {
  Request& request = asking.request;
  const ModelName& model = request.prefix->model;
  Tried& tried = asking.tried;
  finish(outcome, asking);
  if (outcome) {
    if (asking.is_repaired) remember_refused(asking.asked, request.fragments);
    return true;
  }
  const auto give_up = [&](ReplyStop stop, std::string why) {
    outcome = ended(stop, model, std::move(why), asking.untold);
    return true;
  };
  const TimePoint now = parts_.loop.clock().now();
  const Failure failure = weighed(std::move(outcome).error(), weight(asking));
  asking.untold = failure.usage;
  if (asking.stop.stopped()) return give_up(ReplyStop::stopped, "stopped");

  const bool is_rate_limited = failure.kind == Failure::Kind::rate_limited;
  if (is_rate_limited) {
    turn->rejected(failure.retry_after, failure.is_overload);
    tried.count_rejection(now, asking.governor->last_accepted());
    asking.rank.since = now;
    ++asking.rank.rejections;
  } else {
    // Down for so long, for whoever asks.
    if (failure.retry_after) turn->rejected(failure.retry_after);
    tried.count_failure(failure, now - asking.began);
  }
  turn.reset();
  const auto try_again = [&](Duration wait) {
    if (asking.deltas) asking.deltas(Retried{failure.message, asking.attempts, wait, failure.usage});
    ++asking.attempts;
    asking.untold = kUntaken;
    asking.wait = is_rate_limited ? Duration{} : wait;  // it waits in line
    tried.spent += asking.wait;
    return false;
  };
  if (failure.is_malformed && !std::exchange(asking.is_repaired, true)) {
    auto repaired = written_anew(request, Anew::all);
    if (!std::ranges::equal(repaired, request.fragments)) {
      request.fragments = asking.anew = std::move(repaired);
      return try_again({});
    }
  }
  const Retry retry = after_failure(failure, tried, parts_.patience, parts_.random);
  if (const auto* end = std::get_if<GiveUp>(&retry)) {
    const bool is_full = failure.kind == Failure::Kind::context_exhausted;
    const ReplyStop failed = failure.is_silence ? ReplyStop::stalled : ReplyStop::failed;
    const std::string meant = failure.is_unknown ? meant_instead_of(model) : "";
    return give_up(is_full ? ReplyStop::context_exhausted : failed, end->why + meant);
  }
  return try_again(is_rate_limited ? asking.governor->shut_for() : std::get<TryAgain>(retry).wait);
}

Weight HttpProvider::weight(const Asking& asking) const {
  const auto& measured = asking.request.measured;
  const auto since = asking.tried.rejected_since;
  const Duration rejected_for = since ? parts_.loop.clock().now() - *since : Duration{};
  return {.tokens = asking.rank.tokens,
          .cached = measured && rejected_for < kCacheLives ? measured->tokens : 0,
          .may_be_far_less = !measured && rejected_for < kDoubtLasts};
}

// The history from what is known of it, without what a provider wanted back unchanged: that is what it may no
// longer take, and all else is made to be valid.
std::vector<std::string> HttpProvider::written_anew(const Request& request, Anew which) const {
  std::vector<std::string> fragments(request.fragments.begin(), request.fragments.end());
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    if (request.messages[i].wire.empty()) continue;
    if (which == Anew::refused && !refused_.contains(sha256_hex(fragments[i]))) continue;
    Message message = request.messages[i];
    message.wire.clear();
    fragments[i] = encode(message);
  }
  return fragments;
}

// A turn that had to be written anew has to be at the next step, too.
void HttpProvider::remember_refused(std::span<const std::string> asked, std::span<const std::string> taken) {
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i] != taken[i]) refused_.insert(sha256_hex(asked[i]));
  }
}

// No coroutine: each value that one takes or makes stays in its frame while the answer comes.
Task<std::expected<Reply, Failure>> HttpProvider::try_once(Asking& asking, Governor::Turn& turn) const {
  HttpRequest request = parts_.dialect->address(asking.request.prefix->model, parts_.endpoint);
  request.body = assembled(*asking.prefix, asking.request.fragments);
  return attempt({.dialect = *parts_.dialect,
                  .network = parts_.network,
                  .loop = parts_.loop,
                  .clocks = parts_.clocks,
                  .on_accepted = [&turn](const HttpHeaders& headers) { turn.accepted(headers); }},
                 std::move(request), asking.deltas, asking.stop);
}

// Ready for people: priced, and without a key that the other side may have echoed.
void HttpProvider::finish(std::expected<Reply, Failure>& outcome, const Asking& asking) const {
  const ModelName& model = asking.request.prefix->model;
  if (outcome) {
    outcome->model = model;
    api::give_own_ids(outcome->message, asking.request.messages);
    outcome->usage = priced(outcome->usage, model);
    if (!is_counted(outcome->usage)) {
      // So that limits on tokens hold all the same.
      outcome->usage.input = asking.rank.tokens;
      outcome->usage.output = estimated_tokens(model, std::span(&outcome->message, 1));
    }
    outcome->error = redactor_.redact(outcome->error);
  } else {
    if (is_counted(outcome.error().usage)) outcome.error().usage = priced(outcome.error().usage, model);
    outcome.error().message = redactor_.redact(outcome.error().message);
  }
}

// Where the whole output that was asked for has no room any more, less is asked for: providers keep prompts
// in their caches by content, and the cap is none. Where not even a useful answer has room, nothing is sent.
std::optional<Reply> HttpProvider::choose_prefix(Asking& asking) {
  const Request& request = asking.request;
  const ModelName& model = request.prefix->model;
  const std::int64_t tokens = asking.rank.tokens;
  const ModelFacts facts = parts_.facts(model);
  asking.prefix = kept(request.prefix);
  if (!facts.window) return std::nullopt;

  const std::int64_t wanted = std::min<std::int64_t>(
      request.prefix->max_output_tokens, facts.max_output.value_or(request.prefix->max_output_tokens));
  const std::int64_t error = tokens / 20;  // that the estimate may have
  const std::int64_t room = *facts.window - tokens - error;
  if (wanted <= room) return std::nullopt;
  if (room < std::min(wanted, kUsefulOutput)) {
    return ended(ReplyStop::context_exhausted, model,
                 too_long(tokens, std::min(wanted, kUsefulOutput), *facts.window, model));
  }
  asking.prefix = encoded(*request.prefix, std::min(room, wanted));
  return std::nullopt;
}

std::shared_ptr<const EncodedPrefix> HttpProvider::kept(const std::shared_ptr<const RequestPrefix>& prefix) {
  const auto found = kept_.find(prefix);
  if (found != kept_.end()) return found->second;
  std::erase_if(kept_, [](const auto& one) { return one.first.expired(); });
  const auto most = parts_.facts(prefix->model).max_output.value_or(prefix->max_output_tokens);
  return kept_[prefix] = encoded(*prefix, most);
}

std::shared_ptr<const EncodedPrefix> HttpProvider::encoded(const RequestPrefix& prefix,
                                                           std::int64_t max_output) const {
  RequestPrefix capped = prefix;
  capped.max_output_tokens = static_cast<int>(std::min<std::int64_t>(prefix.max_output_tokens, max_output));
  return std::make_shared<const EncodedPrefix>(parts_.dialect->encode(capped));
}

Reply HttpProvider::ended(ReplyStop stop, const ModelName& model, std::string error, Usage usage) const {
  return {.stop = stop,
          .model = model,
          .message = {.role = Role::assistant},
          .usage = usage,
          .error = std::move(error)};
}

Usage HttpProvider::priced(Usage usage, const ModelName& model) const {
  const auto price = parts_.facts(model).price;
  const bool is_free = price && price->input == 0 && price->output == 0;
  if (price && (is_free || is_counted(usage))) usage.cost_micros = cost_of(usage, *price);
  return usage;
}

}  // namespace deputy
