#include "base/redaction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/text.h"

namespace deputy {
namespace {

constexpr std::size_t kShortestSecret = 8;
constexpr std::size_t kLongestGap = 64;
constexpr std::size_t kLongestWord = 16 * 1024;        // that is held back because it may be a key
constexpr std::size_t kOpen = std::string_view::npos;  // a length: the text ends before the secret does

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

// Tools break base64 and hex into lines, and put spaces between bytes.
std::vector<std::string> wrapped_spellings_of(std::string_view secret) {
  std::vector<std::string> spellings;
  for (std::size_t before = 0; before < 3; ++before) {
    spellings.push_back(base64_core(secret, before, "+/"));
    spellings.push_back(base64_core(secret, before, "-_"));
  }
  for (const bool uppercase : {false, true}) spellings.push_back(hex_of(secret, uppercase));
  return spellings;
}

std::vector<std::string> plain_spellings_of(std::string_view secret) {
  std::vector<std::string> spellings{std::string(secret)};
  for (const bool uppercase : {false, true}) {
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

bool may_be_gap(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\\'; }

// The white space at the beginning; in JSON text a line break is spelled \\n.
std::size_t gap_at(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && end < kLongestGap) {
    if (std::string_view(" \t\r\n").contains(text[end])) {
      ++end;
    } else if (text[end] == '\\' && end + 1 < text.size() &&
               std::string_view("rnt").contains(text[end + 1])) {
      end += 2;
    } else {
      break;
    }
  }
  return end;
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

// The first byte of each of them: most words are ruled out by one look.
constexpr auto kShapeBeginnings = [] {
  std::array<bool, 256> beginnings{};
  for (const Shape& shape : kShapes) beginnings[static_cast<unsigned char>(shape.prefix.front())] = true;
  return beginnings;
}();

constexpr std::string_view kKeyBegin = "-----BEGIN ";
constexpr std::string_view kKeyEnd = "-----END ";
constexpr std::size_t kLongestKeyHead = 64;

bool is_key_head(std::string_view text) {
  const std::string_view head = text.substr(0, kLongestKeyHead);
  return head.starts_with(kKeyBegin) &&
         (head.contains("PRIVATE KEY-----") || head.contains("PRIVATE KEY BLOCK-----"));
}

// The length of a whole PEM block, kOpen where the text ends within one, else 0.
std::size_t private_key_at(std::string_view text) {
  if (!is_key_head(text)) return 0;
  const std::size_t end = text.find(kKeyEnd);
  if (end == std::string_view::npos) return kOpen;
  const std::size_t dashes = text.find("-----", end + kKeyEnd.size());
  return dashes == std::string_view::npos ? kOpen : dashes + 5;
}

// Whether the text ends where a PEM block may just have begun.
bool may_become_key(std::string_view text) {
  return text.size() < kLongestKeyHead && !text.contains('\n') &&
         (kKeyBegin.starts_with(text) || text.starts_with(kKeyBegin));
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
  if (rest.front() == '-') return std::min(private_key_at(rest), rest.size());
  if (!kShapeBeginnings[static_cast<unsigned char>(rest.front())] || !begins_word(text, at)) return 0;
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

bool is_of_word(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

std::size_t beginning_of(char first, char second) {
  return static_cast<unsigned char>(first) * 256U + static_cast<unsigned char>(second);
}

}  // namespace

void Redactor::hide(std::string_view secret) {
  // A key read from a file brings its line break along, and is used without it.
  secret = trimmed(secret);
  if (secret.size() < kShortestSecret) return;
  for (std::string& spelling : plain_spellings_of(secret)) add({std::move(spelling), false});
  for (std::string& spelling : wrapped_spellings_of(secret)) add({std::move(spelling), true});
}

void Redactor::add(Needle needle) {
  if (std::ranges::find(needles_, needle) != needles_.end()) return;
  beginnings_.set(beginning_of(needle.text[0], needle.text[1]));
  needles_.push_back(std::move(needle));
}

std::size_t Redactor::length_at(std::string_view text, const Needle& needle) {
  std::size_t at = 0;
  for (const char c : needle.text) {
    if (needle.may_wrap && at > 0) at += gap_at(text.substr(at));
    if (at >= text.size()) return kOpen;
    if (text[at] != c) return 0;
    ++at;
  }
  return at;
}

Redactor::Reach Redactor::value_at(std::string_view text) const {
  if (needles_.empty()) return {};
  // None that may wrap begins with white space; without this look long runs of it would take long.
  const bool has_gap = text.size() > 1 && may_be_gap(text[1]) && !may_be_gap(text[0]);
  const std::size_t next = has_gap ? 1 + gap_at(text.substr(1)) : 1;
  const bool may_begin = next >= text.size() || beginnings_.test(beginning_of(text[0], text[1])) ||
                         beginnings_.test(beginning_of(text[0], text[next]));
  Reach reach;
  if (!may_begin) return reach;
  for (const Needle& needle : needles_) {
    const std::size_t length = length_at(text, needle);
    if (length == kOpen) {
      reach.is_open = true;
    } else {
      reach.whole = std::max(reach.whole, length);
    }
  }
  return reach;
}

std::string Redactor::redact(std::string_view text, Shapes shapes) const {
  std::string out;
  std::size_t copied = 0;  // what comes before this stands in `out`
  std::size_t hidden_until = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t length = value_at(text.substr(at)).whole;
    if (at >= hidden_until && shapes == Shapes::hidden) length = std::max(length, shape_at(text, at));
    if (length == 0) continue;
    // Secrets that overlap are hidden as one, so that no end of either remains.
    if (at >= hidden_until) {
      out.append(text.substr(copied, at - copied)).append(kRedacted);
    }
    hidden_until = std::max(hidden_until, at + length);
    copied = hidden_until;
  }
  return out.append(text.substr(copied));
}

static void redact_strings(json::value& value, const Redactor& redactor);

// A private key may stand there line by line.
static void redact_list(json::array& list, const Redactor& redactor) {
  bool is_in_key = false;
  for (json::value& each : list) {
    const bool was_in_key = is_in_key;
    if (const auto* text = each.if_string()) {
      const std::string_view line = *text;
      is_in_key = (was_in_key && !line.contains(kKeyEnd)) || private_key_at(trimmed(line)) == kOpen;
      if (was_in_key) {
        each = kRedacted;
        continue;
      }
    }
    redact_strings(each, redactor);
  }
}

static void redact_members(json::object& object, const Redactor& redactor) {
  bool has_secret_key = false;
  for (auto& member : object) {
    redact_strings(member.value(), redactor);
    const std::string_view key = member.key();
    has_secret_key = has_secret_key || redactor.redact(key) != key;
  }
  if (!has_secret_key) return;
  json::object clean;
  for (auto& member : object) clean[redactor.redact(member.key())] = std::move(member.value());
  object = std::move(clean);
}

static void redact_strings(json::value& value, const Redactor& redactor) {
  if (auto* list = value.if_array()) {
    redact_list(*list, redactor);
  } else if (auto* object = value.if_object()) {
    redact_members(*object, redactor);
  } else if (const auto* text = value.if_string()) {
    const std::string_view before = *text;
    std::string clean = redactor.redact(before);
    if (clean == before) return;
    // Arguments, as a model writes them, are JSON themselves, and stay so.
    if (auto inner = parse_json(before); inner && inner->is_structured() && !parse_json(clean))
      clean = redactor.redact_json(*std::move(inner));
    value = clean;
  }
}

std::string Redactor::redact_json(json::value value) const {
  redact_strings(value, *this);
  return redact_values(to_json_text(value));
}

std::size_t Redactor::settled(std::string_view text, std::size_t wanted) const {
  std::size_t word = wanted;
  if (wanted == text.size() || is_of_word(text[wanted])) {
    while (word > 0 && wanted - word < kLongestWord && is_of_word(text[word - 1])) --word;
  }
  if (wanted - word < kLongestWord) wanted = word;
  std::size_t begin = 0;  // of the secrets that overlap here
  std::size_t end = 0;
  for (std::size_t at = 0; at < wanted; ++at) {
    const std::string_view rest = text.substr(at);
    Reach reach = value_at(rest);
    if (at >= end && rest.front() == '-') {
      const std::size_t key = private_key_at(rest);
      reach.is_open = reach.is_open || key == kOpen || may_become_key(rest);
      if (key != kOpen) reach.whole = std::max(reach.whole, key);
    }
    if (reach.whole == 0 && !reach.is_open) continue;
    if (at >= end) begin = at;
    end = std::max(end, at + reach.whole);
    if (reach.is_open || end > wanted) return begin;
  }
  return wanted;
}

std::string Redactor::rest_of_open_key(std::string_view text) {
  if (private_key_at(text) != kOpen) return "";
  return fmt::format("{}\n{}", text.substr(0, kLongestKeyHead),
                     text.substr(text.size() - std::min(text.size(), kLongestKeyHead)));
}

}  // namespace deputy
