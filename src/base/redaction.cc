#include "base/redaction.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kShortestSecret = 8;
constexpr std::string_view kHidden = "[redacted]";

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string hex_of(std::string_view bytes, bool uppercase) {
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += uppercase ? fmt::format("{:02X}", byte) : fmt::format("{:02x}", byte);
  }
  return hex;
}

// What base64 makes of the secret when `before` other bytes precede it in the encoded text, without the
// characters that also depend on its neighbours.
std::string base64_core(std::string_view secret, std::size_t before, std::string_view last_two) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const std::string bytes = std::string(before, '\0').append(secret);
  const std::size_t first = (before * 8 + 5) / 6;
  const std::size_t last = bytes.size() * 8 / 6;
  std::string core;
  for (std::size_t i = first; i < last; ++i) {
    const std::size_t bit = i * 6;
    unsigned pair = static_cast<unsigned char>(bytes[bit / 8]) * 256U;
    if (bit / 8 + 1 < bytes.size()) pair += static_cast<unsigned char>(bytes[bit / 8 + 1]);
    const unsigned value = pair >> (10 - bit % 8) & 63;
    core += value < 62 ? kLetters[value] : last_two[value - 62];
  }
  return core;
}

std::string url_encoded(std::string_view secret, std::string_view kept, bool uppercase) {
  std::string encoded;
  for (const char c : secret) {
    if (is_alphanumeric(c) || kept.contains(c)) {
      encoded += c;
    } else {
      encoded += '%' + hex_of({&c, 1}, uppercase);
    }
  }
  return encoded;
}

std::string with_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string json_escaped(std::string_view secret) {
  const std::string quoted = to_json_text(json::string(secret));
  return quoted.substr(1, quoted.size() - 2);
}

std::vector<std::string> spellings_of(std::string_view secret) {
  std::vector<std::string> spellings{std::string(secret)};
  for (std::size_t before = 0; before < 3; ++before) {
    spellings.push_back(base64_core(secret, before, "+/"));
    spellings.push_back(base64_core(secret, before, "-_"));
  }
  for (const bool uppercase : {false, true}) {
    spellings.push_back(hex_of(secret, uppercase));
    // RFC 3986, JavaScript's encodeURIComponent, Python's quote, and a form field.
    for (const std::string_view kept : {"-_.~", "-_.~!*'()", "-_.~/"}) {
      spellings.push_back(url_encoded(secret, kept, uppercase));
    }
    spellings.push_back(with_all(url_encoded(secret, "-_.~ ", uppercase), " ", "+"));
  }
  spellings.push_back(json_escaped(secret));
  spellings.push_back(with_all(json_escaped(secret), "/", "\\/"));
  return spellings;
}

struct Shape {
  std::string_view prefix;
  std::size_t shortest_rest;  // of letters, digits, '-' and '_' ('.' too where a token has parts)
  std::string_view also = "";
};

constexpr Shape kShapes[] = {
    {"sk-ant-", 16},     {"sk-proj-", 16}, {"sk-or-", 16}, {"sk-", 20},   {"AIza", 35},  {"AKIA", 16},
    {"ASIA", 16},        {"ghp_", 36},     {"gho_", 36},   {"ghu_", 36},  {"ghs_", 36},  {"ghr_", 36},
    {"github_pat_", 22}, {"glpat-", 20},   {"xoxb-", 20},  {"xoxp-", 20}, {"xoxa-", 20}, {"xapp-", 20},
    {"hf_", 30},         {"npm_", 36},     {"gsk_", 32},   {"xai-", 32},  {"r8_", 32},   {"sk_live_", 16},
    {"rk_live_", 16},    {"eyJ", 40, "."},
};

// A whole PEM block, or what there is of it.
std::size_t private_key_at(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  constexpr std::string_view kEnd = "-----END ";
  if (!text.starts_with(kBegin) || !text.substr(0, 64).contains("PRIVATE KEY-----")) return 0;
  const std::size_t end = text.find(kEnd);
  if (end == std::string_view::npos) return text.size();
  const std::size_t dashes = text.find("-----", end + kEnd.size());
  return dashes == std::string_view::npos ? text.size() : dashes + 5;
}

// Keys begin where a word does. In JSON text that is also after \n, whose letter is not part of the word.
bool begins_word(std::string_view text, std::size_t at) {
  if (at == 0) return true;
  const char before = text[at - 1];
  if (!is_alphanumeric(before) && before != '_' && before != '-') return true;
  return at > 1 && text[at - 2] == '\\' && std::string_view("bfnrt").contains(before);
}

// The length of the key that begins here by its looks, or 0.
std::size_t shape_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.front() == '-') return private_key_at(rest);
  if (!begins_word(text, at)) return 0;
  for (const Shape& shape : kShapes) {
    if (!rest.starts_with(shape.prefix)) continue;
    std::size_t end = shape.prefix.size();
    while (end < rest.size() && (is_alphanumeric(rest[end]) || rest[end] == '-' || rest[end] == '_' ||
                                 shape.also.contains(rest[end]))) {
      ++end;
    }
    const bool has_parts = shape.also.empty() || rest.substr(0, end).contains('.');
    if (has_parts && end - shape.prefix.size() >= shape.shortest_rest) return end;
  }
  return 0;
}

std::size_t beginning_of(std::string_view text) {
  return static_cast<unsigned char>(text[0]) * 256U + static_cast<unsigned char>(text[1]);
}

}  // namespace

void Redactor::hide(std::string_view secret) {
  // A key read from a file brings its line break along, and is used without it.
  secret = trimmed(secret);
  if (secret.size() < kShortestSecret) return;
  for (std::string& spelling : spellings_of(secret)) {
    if (std::ranges::find(needles_, spelling) != needles_.end()) continue;
    beginnings_.set(beginning_of(spelling));
    needles_.push_back(std::move(spelling));
  }
  std::ranges::sort(needles_, [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Redactor::redact(std::string_view text, Shapes shapes) const {
  std::string out;
  std::size_t copied = 0;  // what comes before this stands in `out`
  std::size_t hidden_until = 0;
  for (std::size_t at = 0; at + 1 < text.size(); ++at) {
    std::size_t length = 0;
    if (beginnings_.test(beginning_of(text.substr(at)))) {
      const auto found = std::ranges::find_if(
          needles_, [here = text.substr(at)](const std::string& needle) { return here.starts_with(needle); });
      if (found != needles_.end()) length = found->size();
    }
    if (at >= hidden_until && shapes == Shapes::hidden) length = std::max(length, shape_at(text, at));
    if (length == 0) continue;
    // Secrets that overlap are hidden as one, so that no end of either remains.
    if (at >= hidden_until) {
      out.append(text.substr(copied, at - copied)).append(kHidden);
    }
    hidden_until = std::max(hidden_until, at + length);
    copied = hidden_until;
  }
  return out.append(text.substr(copied));
}

}  // namespace deputy
