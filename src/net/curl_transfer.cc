#include "net/curl_transfer.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"

namespace deputy {

CurlTransfer::CurlTransfer(HttpRequest request, HttpSink sink, std::string origin, const CurlOptions& options)
    : Delivery(std::move(sink)), request_(std::move(request)), handle_(request_, std::move(origin), options) {
  set_request();
  set_callbacks();
}

void CurlTransfer::set_request() {
  const std::string& method = request_.method;
  if (method == "HEAD") {
    handle_.set(CURLOPT_NOBODY, 1L);
  } else if (method == "POST" || !request_.body.empty()) {
    handle_.set(CURLOPT_POST, 1L);
    handle_.set(CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request_.body.size()));
    handle_.set(CURLOPT_POSTFIELDS, request_.body.data());
    if (!find_header(request_.headers, "content-type")) headers_.add("Content-Type:");  // no default
  }
  if (method != "HEAD" && (method != "GET" || !request_.body.empty())) {
    handle_.set(CURLOPT_CUSTOMREQUEST, method.c_str());
  }
  headers_.add("Expect:");  // no round trip before the body
  for (const HttpHeader& header : request_.headers) {
    headers_.add(trimmed(header.value).empty() ? header.name + ";"
                                               : fmt::format("{}: {}", header.name, header.value));
  }
  handle_.set(CURLOPT_HTTPHEADER, headers_.lines.get());
  handle_.set(CURLOPT_UPLOAD_BUFFERSIZE, 16384L);
}

void CurlTransfer::set_callbacks() {
  void* const self = this;
  handle_.set(CURLOPT_HEADERFUNCTION, &CurlTransfer::on_header);
  handle_.set(CURLOPT_HEADERDATA, self);
  handle_.set(CURLOPT_WRITEFUNCTION, &CurlTransfer::on_body);
  handle_.set(CURLOPT_WRITEDATA, self);
  handle_.set(CURLOPT_PREREQFUNCTION, &CurlTransfer::on_connected);
  handle_.set(CURLOPT_PREREQDATA, self);
}

void CurlTransfer::start_on(CurlBridge& bridge, std::shared_ptr<CurlTransfer> self) {
  bridge_ = &bridge;
  bridge.add(handle_.get(), [self = std::move(self)](CURLcode code) {
    self->bridge_ = nullptr;
    self->code_ = code;
    self->ended();
  });
}

void CurlTransfer::give_up() {
  if (bridge_) bridge_->abort(handle_.get());
}

void CurlTransfer::go_on() {
  if (bridge_) bridge_->go_on(handle_.get());
}

Task<Result<HttpEnd>> CurlTransfer::finish() {
  HttpEnd end = co_await wait_for_end();
  if (code_ == CURLE_OK && !started_) code_ = CURLE_GOT_NOTHING;  // curl takes half a head for an answer
  if (code_ == CURLE_OK) co_return end;
  if (is_stopped()) co_return std::unexpected(Error::cancelled());
  co_return std::unexpected(handle_.failure(
      code_, started_, head_bytes_ > kMaxHeadBytes ? "the head of its answer is too large" : ""));
}

int CurlTransfer::on_connected(void* to, char*, char*, int, int) {
  return static_cast<CurlTransfer*>(to)->handle_.refused() ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

std::size_t CurlTransfer::on_header(char* data, std::size_t, std::size_t size, void* to) {
  return static_cast<CurlTransfer*>(to)->take_head_line({data, size}) ? size : 0;
}

bool CurlTransfer::take_head_line(std::string_view line) {
  if (started_) return true;        // a trailer
  if (line.starts_with("HTTP/")) {  // perhaps not the first one: a 1xx comes before the answer
    lines_.clear();
    head_bytes_ = 0;
    return true;
  }
  head_bytes_ += line.size();
  if (head_bytes_ > kMaxHeadBytes) return false;
  if (!trimmed(line).empty()) {
    if (auto header = header_in(line)) lines_.push_back(*std::move(header));
    return true;
  }
  long status = 0;
  curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status < 200) return true;
  started_ = true;
  return hand_out({int(status), std::move(lines_)});
}

std::size_t CurlTransfer::on_body(char* data, std::size_t, std::size_t size, void* to) {
  auto& self = *static_cast<CurlTransfer*>(to);
  const bool was_draining = self.is_draining();
  if (!self.hand_out(std::string_view(data, size))) return CURL_WRITEFUNC_ERROR;
  if (self.is_draining() && !was_draining) curl_easy_pause(self.handle_.get(), CURLPAUSE_RECV);
  return size;
}

}  // namespace deputy
