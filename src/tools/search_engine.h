// The search services that WebSearch can ask, each as two pure functions: a query into a request, an answer
// into hits.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/network.h"

namespace deputy {

enum class SearchService { searxng, brave, tavily };

std::string_view name_of(SearchService service);
std::optional<SearchService> search_service_from(std::string_view name);

struct SearchSettings {
  SearchService service = SearchService::searxng;
  std::string base_url;  // empty: the service's own; SearXNG has none and needs it
  std::string key;       // SearXNG needs none
};

// Each on one line: what one hit says is not taken for another.
struct SearchHit {
  std::string title;
  std::string url;
  std::string excerpt;
  bool operator==(const SearchHit&) const = default;
};

inline constexpr std::size_t kMostSearchHits = 10;

HttpRequest search_request(const SearchSettings& settings, std::string_view query);
Result<std::vector<SearchHit>> search_hits(SearchService service, std::string_view body);

}  // namespace deputy
