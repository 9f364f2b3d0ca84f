#include "app/bundle_passwords.h"

#include <algorithm>
#include <array>

#include "base/redaction.h"

namespace deputy {
namespace {

constexpr std::string_view kEnds = " \t\r\n\v\f/?#";  // of host, port, user and password
constexpr std::string_view kQuotes = "'\"`<>\\";
constexpr std::string_view kOfScheme = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
constexpr std::string_view kOfPort = "0123456789\\";
constexpr std::array<std::string_view, 2> kCuts{"…", "..."};  // what stands where a text was cut short
// Shorter secrets may be words, and so may shorter beginnings of others.
constexpr std::size_t kShortestSecret = 8;
constexpr std::size_t kShortestBeginning = 4;

std::size_t find_cut(std::string_view text, std::size_t from) {
  std::size_t first = text.npos;
  for (const std::string_view cut : kCuts) first = std::min(first, text.find(cut, from));
  return first;
}

// Where the "://" that begins here ends, or 0. Its slashes may be escaped, as some write them in JSON.
std::size_t end_of_scheme(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  for (int slashes = 0; slashes < 2; ++slashes, ++end) {
    end = text.find_first_not_of('\\', end);
    if (end == text.npos || text[end] != '/') return 0;
  }
  return end;
}

// What closes what stands before the scheme that ends with this colon; '/' where nothing does, which ends it
// anyway.
char closing_of(std::string_view text, std::size_t colon) {
  const std::size_t before = text.substr(0, colon).find_last_not_of(kOfScheme);
  if (before == text.npos || !kQuotes.contains(text[before])) return '/';
  return text[before] == '<' ? '>' : text[before];
}

// With nothing but a port behind its colon, if it has one.
bool is_host(std::string_view authority) {
  const std::size_t colon = authority.find(':');
  return colon == authority.npos || authority.find_first_not_of(kOfPort, colon + 1) == authority.npos;
}

// Host and port, and before them user and password. In quotes they end with these, unless a password has
// begun, which has its '@' first.
std::string_view authority_at(std::string_view text, std::size_t begin, char closing) {
  const std::string_view open = text.substr(begin, text.find_first_of(kEnds, begin) - begin);
  const std::string_view closed = open.substr(0, open.find(closing));
  return is_host(closed) ? closed : open.substr(0, open.find(closing, open.find('@')));
}

// What was cut short before its '@': behind the colon of a host stands nothing but a port.
std::string_view cut_password(std::string_view authority) {
  const std::size_t colon = authority.find(':');
  if (colon == authority.npos || authority.starts_with('[') || is_host(authority)) return {};
  const std::size_t cut = find_cut(authority, colon);
  if (cut == authority.npos) return {};
  const std::string_view secret = authority.substr(colon + 1, cut - colon - 1);
  return is_host(authority.substr(0, cut)) || secret.starts_with(kRedacted) ? "" : secret;
}

std::string taken_out(std::string_view text, std::set<std::string>& all) {
  auto [clean, secrets] = without_passwords(text);
  all.insert(secrets.begin(), secrets.end());
  return std::move(clean);
}

// How much of the end of the text is the beginning of the secret.
std::size_t beginning_at_end(std::string_view text, std::string_view secret) {
  for (std::size_t size = std::min(secret.size(), text.size()); size >= kShortestBeginning; --size)
    if (text.ends_with(secret.substr(0, size))) return size;
  return 0;
}

bool may_be_json(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != text.npos && (text[begin] == '{' || text[begin] == '[');
}

// Arguments, as a model writes them, are JSON themselves: there it is plain where each string ends.
void take_out_of_string(json::value& value, std::set<std::string>& secrets) {
  const std::string_view text = value.get_string();
  if (!text.contains("//") && !text.contains("\\/")) return;
  auto inner = may_be_json(text) ? parse_json(text) : std::unexpected(Error{});
  if (!inner) {
    value = taken_out(text, secrets);
    return;
  }
  const json::value before = *inner;
  take_out_passwords(*inner, secrets);
  if (*inner != before) value = to_json_text(*inner);
}

void take_out_of_keys(json::object& object, std::set<std::string>& secrets) {
  if (std::ranges::none_of(object,
                           [](const auto& member) { return std::string_view(member.key()).contains('/'); }))
    return;
  json::object clean;
  for (auto& member : object) clean[taken_out(member.key(), secrets)] = std::move(member.value());
  object = std::move(clean);
}

}  // namespace

WithoutPasswords without_passwords(std::string_view text) {
  WithoutPasswords without;
  std::size_t copied = 0;  // what comes before this stands in the text
  for (std::size_t at = text.find(':'); at != text.npos; at = text.find(':', at + 1)) {
    const std::size_t begin = end_of_scheme(text, at);
    if (begin == 0) continue;
    const std::string_view authority = authority_at(text, begin, closing_of(text, at));
    const std::size_t end_of_user = authority.rfind('@');
    if (end_of_user == authority.npos) {
      if (const std::string_view cut = cut_password(authority); !cut.empty()) {
        const auto from = static_cast<std::size_t>(cut.data() - text.data());
        without.text.append(text.substr(copied, from - copied)).append(kRedacted);
        copied = from + cut.size();
      }
      continue;
    }
    const std::string_view user = authority.substr(0, end_of_user);
    const std::size_t colon = user.find(':');
    const bool is_alone = colon == user.npos;
    const std::string_view secret = is_alone ? user : user.substr(colon + 1);
    if (secret.empty() || secret == kRedacted) continue;
    if (!is_alone || user.find_first_of(kQuotes) == user.npos) without.secrets.emplace_back(secret);
    if (is_alone) continue;
    const std::size_t from = begin + colon + 1;
    without.text.append(text.substr(copied, from - copied)).append(kRedacted);
    copied = from + secret.size();
  }
  without.text.append(text.substr(copied));
  return without;
}

void take_out_passwords(json::value& value, std::set<std::string>& secrets) {
  if (auto* list = value.if_array()) {
    for (json::value& each : *list) take_out_passwords(each, secrets);
  } else if (auto* object = value.if_object()) {
    for (auto& member : *object) take_out_passwords(member.value(), secrets);
    take_out_of_keys(*object, secrets);
  } else if (value.is_string()) {
    take_out_of_string(value, secrets);
  }
}

std::string without_cut_secrets(std::string_view text, const std::set<std::string>& secrets) {
  std::string without;
  std::size_t copied = 0;
  for (std::size_t cut = find_cut(text, 0); cut != text.npos; cut = find_cut(text, cut + 1)) {
    std::size_t most = 0;
    for (const std::string& secret : secrets) {
      if (secret.size() >= kShortestSecret)
        most = std::max(most, beginning_at_end(text.substr(copied, cut - copied), secret));
    }
    if (most == 0) continue;
    without.append(text.substr(copied, cut - most - copied)).append(kRedacted);
    copied = cut;
  }
  return without.append(text.substr(copied));
}

void take_out_cut_secrets(json::value& value, const std::set<std::string>& secrets) {
  if (auto* list = value.if_array()) {
    for (json::value& each : *list) take_out_cut_secrets(each, secrets);
  } else if (auto* object = value.if_object()) {
    for (auto& member : *object) take_out_cut_secrets(member.value(), secrets);
  } else if (auto* text = value.if_string(); text && find_cut(*text, 0) != std::string_view::npos) {
    *text = without_cut_secrets(*text, secrets);
  }
}

}  // namespace deputy
