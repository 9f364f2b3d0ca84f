#include "net/http2_session.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "base/text.h"
#include "net/curl_url.h"

namespace deputy {

struct Http2Session::Stream {
  Http2Reader* reader;  // none once it was given up; it stays until nghttp2 has let go of it
  std::string body;     // of the request, until it was sent and an answer has begun
  std::size_t sent = 0;
  int status = 0;
  HttpHeaders lines;
  std::size_t head_bytes = 0;
  bool is_answered = false;                         // its head has come
  bool is_whole = false;                            // the answer has
  std::optional<std::uint64_t> unheard_since = {};  // taken_, where others had been served before it

  // Who has begun to answer will not refuse it any more.
  void drop_sent_body() {
    if (!is_answered || sent < body.size()) return;
    std::string().swap(body);  // an assignment would keep its place
    sent = 0;
  }
};

namespace {

constexpr int kGoOn = 0;

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

// What belongs to a connection of HTTP/1.1 has no place in HTTP/2.
bool is_of_a_connection(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"connection",       "host",    "keep-alive",
                                                      "proxy-connection", "upgrade", "transfer-encoding"};
  return std::ranges::find(kNames, name) != kNames.end();
}

nghttp2_nv line_of(const HttpHeader& header) {
  const auto bytes = [](const std::string& text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));  // as C has it
  };
  return {.name = bytes(header.name),
          .value = bytes(header.value),
          .namelen = header.name.size(),
          .valuelen = header.value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

HttpHeaders http2_head(const HttpRequest& request) {
  CurlUrl url;
  url.take(request.url);
  const std::string port = url.part(CURLUPART_PORT);
  const std::string query = url.part(CURLUPART_QUERY);
  HttpHeaders head{
      {":method", request.method},
      {":scheme", "https"},
      {":authority", url.part(CURLUPART_HOST, CURLU_PUNYCODE) + (port == "443" ? "" : ":" + port)},
      {":path", url.part(CURLUPART_PATH) + (query.empty() ? "" : "?" + query)},
  };
  for (const HttpHeader& header : request.headers) {
    std::string name = lowered(header.name);
    if (name == "host") head[2].value = trimmed(header.value);
    if (!is_of_a_connection(name)) head.push_back({std::move(name), std::string(trimmed(header.value))});
  }
  if (!find_header(head, "accept")) head.push_back({"accept", "*/*"});
  if (!request.body.empty() || request.method == "POST")
    head.push_back({"content-length", std::to_string(request.body.size())});
  return head;
}

// What nghttp2 calls. Nothing may be thrown through it.
struct Http2Session::Callbacks {
  template <class Call>
  static int guarded(Call call) {
    try {
      call();
      return kGoOn;
    } catch (...) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  // Nothing where nobody reads it.
  static Stream* stream_of(nghttp2_session* session, StreamId id) {
    auto* const stream = static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
    return stream && stream->reader ? stream : nullptr;
  }

  static int on_begin_headers(nghttp2_session* session, const nghttp2_frame* frame, void*) {
    Stream* const stream = stream_of(session, frame->hd.stream_id);
    if (stream && !stream->is_answered) {  // perhaps not the first one: a 1xx comes before the answer
      stream->lines.clear();
      stream->head_bytes = 0;
    }
    return kGoOn;
  }

  static int on_header(nghttp2_session* session, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                       void*) {
    Stream* const stream = stream_of(session, frame->hd.stream_id);
    if (!stream || stream->is_answered) return kGoOn;  // a trailer
    return guarded([&] {
      stream->head_bytes += name_size + value_size + std::string_view(": \r\n").size();
      if (stream->head_bytes > kMaxHeadBytes) {
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_ENHANCE_YOUR_CALM);
      } else if (text_of(name, name_size) == ":status") {
        stream->status = std::atoi(std::string(text_of(value, value_size)).c_str());
      } else {
        stream->lines.push_back(
            {std::string(text_of(name, name_size)), std::string(text_of(value, value_size))});
      }
    });
  }

  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* of) {
    if (frame->hd.type == NGHTTP2_SETTINGS) static_cast<Http2Session*>(of)->knows_settings_ = true;
    Stream* const stream = stream_of(session, frame->hd.stream_id);
    if (!stream || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)) return kGoOn;
    return guarded([&] {
      if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) stream->is_whole = true;
      if (stream->is_answered || stream->head_bytes > kMaxHeadBytes) return;
      if (stream->status < 200) {  // one before the answer, or none at all
        if (stream->status < 100)
          nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_PROTOCOL_ERROR);
        return;
      }
      stream->is_answered = true;
      stream->drop_sent_body();
      stream->reader->head({stream->status, std::move(stream->lines)});
    });
  }

  static int on_data(nghttp2_session* session, std::uint8_t, StreamId id, const std::uint8_t* bytes,
                     std::size_t size, void*) {
    // One slow stream must not stop the others: the connection's window is wide, only the stream's is kept.
    nghttp2_session_consume_connection(session, size);
    Stream* const stream = stream_of(session, id);
    if (!stream || !stream->is_answered) return kGoOn;
    return guarded([&] { stream->reader->bytes(text_of(bytes, size)); });
  }

  static int on_close(nghttp2_session*, StreamId id, std::uint32_t code, void* of) {
    auto& self = *static_cast<Http2Session*>(of);
    const auto found = self.streams_.find(id);
    if (found == self.streams_.end()) return kGoOn;
    return guarded([&] {
      Http2End end = end_of(*found->second, code);  // where that throws, end_all() tells it
      if (end.how == Http2End::How::complete) self.has_served_ = true;
      const std::unique_ptr<Stream> ended = std::move(found->second);
      self.streams_.erase(found);
      if (ended->reader) ended->reader->end(std::move(end));
    });
  }

  static Http2End end_of(Stream& stream, std::uint32_t code) {
    if (stream.is_whole && stream.is_answered) return {.how = Http2End::How::complete};
    if (code == NGHTTP2_REFUSED_STREAM && !stream.is_answered) {
      return {.how = Http2End::How::refused,
              .why = "the server takes no more requests",
              .body = std::move(stream.body)};
    }
    if (stream.head_bytes > kMaxHeadBytes) return {.why = "the head of its answer is too large"};
    return {.why = fmt::format("the server ended the stream ({})", nghttp2_http2_strerror(code))};
  }

  static ssize_t read_body(nghttp2_session*, StreamId, std::uint8_t* to, std::size_t most,
                           std::uint32_t* flags, nghttp2_data_source* source, void*) {
    auto& stream = *static_cast<Stream*>(source->ptr);
    const std::size_t count = std::min(most, stream.body.size() - stream.sent);
    std::copy_n(stream.body.data() + stream.sent, count, to);
    stream.sent += count;
    if (stream.sent == stream.body.size()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      stream.drop_sent_body();
    }
    return ssize_t(count);
  }
};

Http2Session::Http2Session() {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
  nghttp2_session* session = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&option) != 0) {
    nghttp2_session_callbacks_del(callbacks);
    throw std::bad_alloc();
  }
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &Callbacks::on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, &Callbacks::on_header);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &Callbacks::on_frame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, &Callbacks::on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &Callbacks::on_close);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_no_closed_streams(option, 1);
  const int made = nghttp2_session_client_new2(&session, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  if (made != 0) throw std::bad_alloc();
  session_.reset(session);
  const std::array<nghttp2_settings_entry, 2> settings{
      {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0}, {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow}}};
  constexpr std::int32_t kConnectionWindow = 1 << 30;
  if (nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) != 0 ||
      nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kConnectionWindow) != 0) {
    throw std::bad_alloc();
  }
}

Http2Session::~Http2Session() = default;

std::size_t Http2Session::room() const {
  if (!nghttp2_session_check_request_allowed(session_.get())) return 0;
  const std::size_t allowed =
      nghttp2_session_get_remote_settings(session_.get(), NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
  const std::size_t most = knows_settings_ ? std::min(kMostStreams, allowed) : 1;
  return most - std::min(most, streams_.size());
}

StreamId Http2Session::start(const HttpHeaders& head, std::string body, Http2Reader& reader) {
  std::vector<nghttp2_nv> lines(head.size());
  std::ranges::transform(head, lines.begin(), line_of);
  auto made = std::make_unique<Stream>(&reader, std::move(body));
  Stream& stream = *made;
  if (has_served_) stream.unheard_since = taken_;
  nghttp2_data_provider provider{.source = {.ptr = &stream}, .read_callback = &Callbacks::read_body};
  const StreamId id = StreamId(nghttp2_session_get_next_stream_id(session_.get()));
  streams_.insert_or_assign(id,
                            std::move(made));  // before nghttp2 knows of it, which needs no memory of ours
  const StreamId given = nghttp2_submit_request(session_.get(), nullptr, lines.data(), lines.size(),
                                                stream.body.empty() ? nullptr : &provider, &stream);
  assert(given < 0 || given == id);
  if (given < 0) {
    streams_.erase(id);
    throw std::bad_alloc();
  }
  return id;
}

void Http2Session::give_up(StreamId id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  found->second->reader = nullptr;
  nghttp2_submit_rst_stream(session_.get(), NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

void Http2Session::taken(StreamId stream, std::size_t bytes) {
  nghttp2_session_consume_stream(session_.get(), stream, bytes);
}

Result<void> Http2Session::take(std::string_view bytes) {
  ++taken_;
  const auto taken = nghttp2_session_mem_recv(
      session_.get(), reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0) return fail(ErrorCode::io, nghttp2_strerror(int(taken)));
  return {};
}

Result<std::string_view> Http2Session::next_to_send() {
  const std::uint8_t* bytes = nullptr;
  const auto size = nghttp2_session_mem_send(session_.get(), &bytes);
  if (size < 0) return fail(ErrorCode::io, nghttp2_strerror(int(size)));
  return text_of(bytes, std::size_t(size));
}

bool Http2Session::is_over() const {
  return !nghttp2_session_want_read(session_.get()) && !nghttp2_session_want_write(session_.get());
}

void Http2Session::end_all(const Http2End& end) {
  for (const auto& [id, stream] : streams_) {
    if (!stream->reader) continue;
    Http2End told{.how = end.how};
    if (end.how == Http2End::How::cut && stream->unheard_since == taken_) {
      told.how = Http2End::How::refused;
      told.body = std::move(stream->body);
    }
    try {
      told.why = end.why;
    } catch (const std::bad_alloc&) {  // it must be told that it ended, if not why
    }
    std::exchange(stream->reader, nullptr)->end(std::move(told));
  }
}

}  // namespace deputy
