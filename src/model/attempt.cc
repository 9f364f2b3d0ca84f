#include "model/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace deputy {

namespace {

constexpr std::size_t kShownCharacters = 200;

std::string_view host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  return url.substr(url.rfind('@') + 1);  // a password may stand before it
}

// What keeps a body from being read as an answer, for people; empty where nothing does.
std::string why_unreadable(const HttpResponse& response) {
  const auto encoding = find_header(response.headers, "content-encoding");
  if (encoding && lowered(*encoding) != "identity") {
    return fmt::format("answered in the encoding {}, which was not asked for", shorten(*encoding, 40));
  }
  const std::string type = lowered(find_header(response.headers, "content-type").value_or(""));
  if (type.starts_with("text/html") || type.starts_with("application/xhtml")) {
    return "answered with a web page: a proxy or a login page may stand between";
  }
  return {};
}

class Attempt {
 public:
  Attempt(AttemptParts parts, std::string_view url, DeltaSink deltas, const StopToken& stop)
      : parts_(std::move(parts)), host_(host_of(url)), deltas_(std::move(deltas)), stop_(stop) {
    if (!deltas_) deltas_ = [](const Delta&) {};
  }
  ~Attempt() {
    if (timer_) parts_.loop.timers().cancel(*timer_);
  }
  Attempt(const Attempt&) = delete;

  Task<Result<HttpEnd>> begin(HttpRequest request) {
    last_event_ = now();
    watch();
    return parts_.network.exchange(std::move(request),
                                   {.start = [this](const HttpResponse& response) { on_start(response); },
                                    .bytes = [this](std::string_view bytes) { on_bytes(bytes); }},
                                   stop_.token());
  }

  std::expected<Reply, Failure> outcome(const Result<HttpEnd>& end) {
    if (decoder_ && cut_ != Cut::too_large) {
      const bool has_said_all = decoder_->is_complete() || decoder_->may_be_complete();
      auto finished = decoder_->finish();
      if (finished || finished.error().kind != Failure::Kind::transient) return finished;
      Failure failure = has_said_all ? finished.error() : why_cut(end).value_or(finished.error());
      if (end && !had_event_) failure = not_a_stream(finished.error());
      failure.usage = finished.error().usage;
      return std::unexpected(std::move(failure));
    }
    if (response_ && response_->status != 200) return std::unexpected(untaken(refusal()));
    if (auto cut = why_cut(end)) return std::unexpected(cut->is_unreached ? untaken(*cut) : *std::move(cut));
    return std::unexpected(Failure{.message = fmt::format("{} {}.", host_, why_unreadable(*response_))});
  }

 private:
  enum class Cut { none, stalled, too_large, enough };

  TimePoint now() const { return parts_.loop.clock().now(); }

  void on_start(const HttpResponse& response) {
    response_ = response;
    if (response.status != 200 || !why_unreadable(response).empty()) return;
    decoder_ = parts_.dialect.decoder();
    if (parts_.on_accepted) parts_.on_accepted(response.headers);
  }

  void on_bytes(std::string_view bytes) {
    bytes_ += bytes.size();
    if (!had_event_) {
      beginning_.append(bytes.substr(0, kMaxErrorBytes - std::min(kMaxErrorBytes, beginning_.size())));
    }
    if (!decoder_) {
      if (bytes_ > kMaxErrorBytes) give_up(Cut::enough);
      return;
    }
    if (bytes_ > kMaxReplyBytes) return give_up(Cut::too_large);
    const bool has_progressed = decoder_->feed(bytes, deltas_);
    if (has_progressed) {
      had_event_ = true;
      last_event_ = now();
    }
    if (is_lingering_) return;
    is_lingering_ = decoder_->is_complete();
    if (is_lingering_) return call_at(now() + parts_.clocks.linger, Cut::enough);
    if (has_progressed && decoder_->may_be_complete()) watch();
  }

  // Ends the exchange when no event came for too long. Each event only moves a date: the timer looks at it
  // when it fires.
  void watch() {
    const Duration patience = !had_event_                               ? parts_.clocks.first_event
                              : decoder_ && decoder_->may_be_complete() ? parts_.clocks.last_words
                                                                        : parts_.clocks.no_event;
    const TimePoint until = last_event_ + patience;
    if (now() < until) return call_at(until, Cut::stalled);
    give_up(Cut::stalled);
  }

  void call_at(TimePoint when, Cut why) {
    if (timer_) parts_.loop.timers().cancel(*timer_);
    timer_ = parts_.loop.timers().call_at(when, [this, why] {
      timer_.reset();
      why == Cut::stalled ? watch() : give_up(why);
    });
  }

  void give_up(Cut why) {
    if (cut_ == Cut::none) cut_ = why;
    stop_.request(StopReason::stalled);
  }

  // A request that was turned away, or that nobody got, costs nothing for certain.
  static Failure untaken(Failure failure) {
    failure.usage.cost_micros = 0;
    return failure;
  }

  // Nothing where the body came to its end.
  std::optional<Failure> why_cut(const Result<HttpEnd>& end) const {
    if (cut_ == Cut::too_large) {
      return Failure{.kind = Failure::Kind::definite,
                     .message = fmt::format("{} sent more than {} MiB in one answer.", host_,
                                            kMaxReplyBytes / 1024 / 1024)};
    }
    if (cut_ == Cut::stalled) {
      return Failure{.message = had_event_ ? fmt::format("{} fell silent for {} in the middle of an answer.",
                                                         host_, to_text(parts_.clocks.no_event))
                                           : fmt::format("{} did not begin to answer within {}.", host_,
                                                         to_text(parts_.clocks.first_event)),
                     .is_silence = true};
    }
    if (end || cut_ == Cut::enough) return std::nullopt;
    const ErrorCode code = end.error().code;
    return Failure{
        .kind = code == ErrorCode::invalid ? Failure::Kind::definite : Failure::Kind::transient,
        .message = to_text(end.error()),
        // The network's own clock is that of the connection: once there is one, the clocks here count.
        .is_unreached = code == ErrorCode::unavailable || code == ErrorCode::timeout};
  }

  Failure refusal() const {
    if (response_->status >= 300 && response_->status < 400) {
      const auto target = find_header(response_->headers, "location").value_or("another place");
      return {.kind = Failure::Kind::definite,
              .message =
                  fmt::format("{} redirects to {}. A key does not follow a redirect: set the base address to "
                              "where the server really is.",
                              host_, shorten(on_one_line(target), kShownCharacters))};
    }
    return parts_.dialect.failure(*response_, beginning_, parts_.loop.clock().wall());
  }

  // Status 200, and yet no event: some servers say so of an error.
  Failure not_a_stream(Failure otherwise) const {
    const auto body = parse_json_object(beginning_);
    if (body && find(*body, "error")) {
      return parts_.dialect.failure(*response_, beginning_, parts_.loop.clock().wall());
    }
    return otherwise;
  }

  AttemptParts parts_;
  std::string host_;
  DeltaSink deltas_;
  StopSource stop_;
  std::optional<TimerId> timer_;
  std::optional<HttpResponse> response_;
  std::unique_ptr<ReplyDecoder> decoder_;
  std::string beginning_;  // of the body, until there is an event
  std::size_t bytes_ = 0;
  bool had_event_ = false;
  bool is_lingering_ = false;
  TimePoint last_event_{};
  Cut cut_ = Cut::none;
};

// What waits for the answer, and holds no more than it needs for that.
Task<std::expected<Reply, Failure>> outcome_of(std::unique_ptr<Attempt> one, Task<Result<HttpEnd>> exchange) {
  const auto end = co_await std::move(exchange);
  co_return one->outcome(end);
}

}  // namespace

Task<std::expected<Reply, Failure>> attempt(AttemptParts parts, HttpRequest request, DeltaSink deltas,
                                            StopToken stop) {  // NOLINT(performance-unnecessary-value-param)
  request.connect_timeout = std::chrono::ceil<std::chrono::milliseconds>(parts.clocks.connect);
  auto one = std::make_unique<Attempt>(std::move(parts), request.url, std::move(deltas), stop);
  auto exchange = one->begin(std::move(request));
  return outcome_of(std::move(one), std::move(exchange));
}

}  // namespace deputy
