// WebSearch: asks the one search service that the person has configured. Where there is none, there is no
// such tool.
#pragma once

#include "net/network.h"
#include "tools/search_engine.h"
#include "tools/tool.h"

namespace deputy {

class WebSearchTool final : public Tool {
 public:
  WebSearchTool(Network& network, SearchSettings settings, Decision by_default = Decision::ask)
      : network_(network), settings_(std::move(settings)), by_default_(by_default) {}

  const ToolText& text() const override;
  Effect effect() const override { return Effect::repeatable; }
  Company company() const override { return Company::beside_others; }
  Decision by_default() const override { return by_default_; }
  std::string shown(const json::object& arguments) const override;
  std::string in_full(const json::object& arguments) const override;
  Task<ToolResult> run(json::object arguments, ToolContext context) override;

 private:
  Network& network_;
  SearchSettings settings_;
  Decision by_default_;
};

}  // namespace deputy
