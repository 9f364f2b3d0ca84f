// WebFetch: one page of the open internet as text. The host is judged by the rules before, the address at the
// moment of connecting; a redirect to another host is told, not followed, so that its host is judged too.
// Pages are kept for 15 minutes.
#pragma once

#include <chrono>
#include <list>
#include <map>
#include <string>

#include "net/network.h"
#include "net/web_url.h"
#include "tools/tool.h"

namespace deputy {

struct WebFetchLimits {
  std::size_t body_bytes = std::size_t{5} << 20;
  std::chrono::seconds time{30};
  int redirects = 5;
  std::chrono::minutes kept{15};
  std::size_t kept_bytes = std::size_t{16} << 20;
};

class WebFetchTool final : public Tool {
 public:
  explicit WebFetchTool(Network& network, Decision by_default = Decision::ask, WebFetchLimits limits = {})
      : network_(network), by_default_(by_default), limits_(limits) {}

  const ToolText& text() const override;
  Effect effect() const override { return Effect::repeatable; }
  Company company() const override { return Company::beside_others; }
  Decision by_default() const override { return by_default_; }
  std::string shown(const json::object& arguments) const override;
  std::string in_full(const json::object& arguments) const override;
  std::string subject(const json::object& arguments) const override;  // the host
  Task<Planned> plan(json::object arguments, ToolContext context) override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;

 private:
  struct Kept {
    std::string text;
    TimePoint until{};
    std::list<std::string>::iterator age;
  };
  struct Fetched {
    HttpEnd end;
    std::string body;
    bool cut = false;
  };
  Task<Result<Fetched>> fetch(WebUrl url, StopToken stop);
  Task<ToolResult> follow(WebUrl url, ToolContext context);
  const std::string* find_kept(const std::string& url, TimePoint now);
  void keep(const std::string& url, std::string text, TimePoint now);

  Network& network_;
  Decision by_default_;
  WebFetchLimits limits_;
  std::map<std::string, Kept> kept_;
  std::list<std::string> ages_;  // the oldest first
  std::size_t kept_bytes_ = 0;
};

}  // namespace deputy
