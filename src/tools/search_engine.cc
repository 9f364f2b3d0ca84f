#include "tools/search_engine.h"

#include <fmt/format.h>

#include "base/enum_names.h"
#include "base/json.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr EnumNames<SearchService, 3> kServices{{{SearchService::searxng, "searxng"},
                                                 {SearchService::brave, "brave"},
                                                 {SearchService::tavily, "tavily"}}};

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  std::string out;
  for (const char c : text) {
    if (kPlain.contains(c)) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string base_of(const SearchSettings& settings) {
  std::string base = settings.base_url;
  while (base.ends_with('/')) base.pop_back();
  if (!base.empty()) return base;
  return settings.service == SearchService::brave ? "https://api.search.brave.com" : "https://api.tavily.com";
}

// Services mark the words they found.
std::string plain(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    bool is_mark = false;
    for (const std::string_view mark : {"<strong>", "</strong>", "<b>", "</b>", "<em>", "</em>"}) {
      if (!text.substr(at).starts_with(mark)) continue;
      at += mark.size();
      is_mark = true;
      break;
    }
    if (!is_mark) out += text[at++];
  }
  return on_one_line(out);
}

}  // namespace

std::string_view name_of(SearchService service) { return name_in(kServices, service); }
std::optional<SearchService> search_service_from(std::string_view name) { return value_in(kServices, name); }

HttpRequest search_request(const SearchSettings& settings, std::string_view query) {
  HttpRequest request{.headers = {{"accept", "application/json"}}};
  const std::string base = base_of(settings);
  switch (settings.service) {
    case SearchService::searxng:
      request.url = fmt::format("{}/search?format=json&q={}", base, percent_encoded(query));
      break;
    case SearchService::brave:
      request.url =
          fmt::format("{}/res/v1/web/search?count={}&q={}", base, kMostSearchHits, percent_encoded(query));
      request.headers.push_back({"x-subscription-token", settings.key});
      break;
    case SearchService::tavily:
      request.method = "POST";
      request.url = base + "/search";
      request.headers.push_back({"content-type", "application/json"});
      request.headers.push_back({"authorization", "Bearer " + settings.key});
      request.body = to_json_text(json::object{{"query", query}, {"max_results", kMostSearchHits}});
      break;
  }
  return request;
}

Result<std::vector<SearchHit>> search_hits(SearchService service, std::string_view body) {
  TRY(const auto answer, parse_json_object(body));
  const json::object* holder = service == SearchService::brave ? object_at(answer, "web") : &answer;
  std::vector<SearchHit> hits;
  if (!holder && service == SearchService::brave)
    return hits;  // it leaves the part out where nothing was found
  const json::array* results = array_at(*holder, "results");
  if (!results) return fail(ErrorCode::invalid, "the search service sent no list of results");
  for (const auto& each : *results) {
    if (hits.size() == kMostSearchHits) break;
    if (!each.is_object()) continue;
    const json::object& result = each.as_object();
    SearchHit hit{plain(string_or(result, "title", "")), on_one_line(string_or(result, "url", "")),
                  plain(string_or(result, service == SearchService::brave ? "description" : "content", ""))};
    if (!hit.url.empty()) hits.push_back(std::move(hit));
  }
  return hits;
}

}  // namespace deputy
