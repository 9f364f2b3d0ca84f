#include "support/fault_server.h"

#include <fmt/format.h>

#include <algorithm>

namespace deputy {

namespace {

enum class After { next_step, next_request, gone };

struct Player {
  Peer& peer;

  After operator()(const fault::Send& step) const { return went(peer.write(step.bytes)); }
  After operator()(const fault::Drip& step) const {
    for (const char byte : step.bytes) {
      if (!peer.write({&byte, 1}) || peer.closes_within(step.gap)) return After::gone;
    }
    return After::next_step;
  }
  After operator()(const fault::Flood& step) const {
    for (std::size_t sent = 0; sent < step.most; sent += step.bytes.size()) {
      if (!peer.write(step.bytes)) return After::gone;
      if (step.gap.count() > 0 && peer.closes_within(step.gap)) return After::gone;
    }
    return After::next_step;
  }
  After operator()(fault::Silence) const {
    peer.closes_within();
    return After::gone;
  }
  After operator()(fault::Reset) const {
    peer.reset();
    return After::gone;
  }
  After operator()(fault::KeepOpen) const { return After::next_request; }

  static After went(bool well) { return well ? After::next_step : After::gone; }
};

After play_program(Peer& peer, const FaultProgram& program) {
  for (const FaultStep& step : program) {
    const After after = std::visit(Player{peer}, step);
    if (after != After::next_step) return after;
  }
  return After::gone;
}

}  // namespace

std::string http_answer(int status, const std::vector<std::pair<std::string, std::string>>& headers,
                        const std::string& body) {
  std::string answer = fmt::format("HTTP/1.1 {} Fault\r\n", status);
  for (const auto& [name, value] : headers) answer += fmt::format("{}: {}\r\n", name, value);
  return answer + "\r\n" + body;
}

std::string in_chunks(const std::string& body, std::size_t size) {
  std::string chunks;
  for (std::size_t at = 0; at < body.size(); at += size) {
    const std::string piece = body.substr(at, size);
    chunks += fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
  }
  return chunks + "0\r\n\r\n";
}

FaultServer::FaultServer(std::vector<FaultProgram> programs)
    : programs_(std::move(programs)), server_([this](Peer& peer) { play(peer); }) {}

FaultServer::FaultServer(Answer answer)
    : answer_(std::move(answer)), server_([this](Peer& peer) { play(peer); }) {}

std::vector<std::string> FaultServer::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

FaultProgram FaultServer::next(std::string request) {
  if (answer_) return answer_(request);
  const std::lock_guard lock(mutex_);
  requests_.push_back(std::move(request));
  return programs_[std::min(requests_.size(), programs_.size()) - 1];
}

void FaultServer::play(Peer& peer) {
  for (;;) {
    std::string request = peer.read_request();
    if (request.empty()) return;
    if (play_program(peer, next(std::move(request))) != After::next_request) return;
  }
}

}  // namespace deputy
