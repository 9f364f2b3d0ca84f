#include "guard/host_name.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/text.h"
#include "guard/code_points.h"

namespace deputy {
namespace {

constexpr std::size_t kMaxHost = 253;
constexpr std::size_t kMaxLabel = 63;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_host_character(char c) { return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-' || c == '_'; }
bool is_ascii(char32_t c) { return c < 0x80; }

// The parameters of RFC 3492.
constexpr std::uint32_t kRadix = 36;
constexpr std::uint32_t kLeast = 1;
constexpr std::uint32_t kMost = 26;
constexpr std::uint32_t kSkew = 38;
constexpr std::uint32_t kDamp = 700;

std::uint32_t adapted_bias(std::uint32_t delta, std::uint32_t points, std::uint32_t damp) {
  delta /= damp;
  delta += delta / points;
  std::uint32_t steps = 0;
  for (; delta > (kRadix - kLeast) * kMost / 2; steps += kRadix) delta /= kRadix - kLeast;
  return steps + (kRadix - kLeast + 1) * delta / (delta + kSkew);
}

char digit_of(std::uint32_t value) { return static_cast<char>(value < 26 ? 'a' + value : '0' + value - 26); }

void append_number(std::string& out, std::uint32_t number, std::uint32_t bias) {
  for (std::uint32_t step = kRadix;; step += kRadix) {
    const std::uint32_t threshold = step <= bias ? kLeast : std::min(step - bias, kMost);
    if (number < threshold) break;
    out += digit_of(threshold + (number - threshold) % (kRadix - threshold));
    number = (number - threshold) / (kRadix - threshold);
  }
  out += digit_of(number);
}

// A label is at most 63 characters once encoded, so no number here can overflow.
std::string punycode(std::u32string_view label) {
  std::string out;
  for (const char32_t c : label) {
    if (is_ascii(c)) out += static_cast<char>(c);
  }
  const auto ascii = static_cast<std::uint32_t>(out.size());
  auto done = ascii;
  if (ascii > 0) out += '-';
  std::uint32_t next = 0x80;
  std::uint32_t delta = 0;
  std::uint32_t bias = 72;
  while (done < label.size()) {
    std::uint32_t least = std::numeric_limits<std::uint32_t>::max();
    for (const char32_t c : label) {
      if (c >= next) least = std::min<std::uint32_t>(least, c);
    }
    delta += (least - next) * (done + 1);
    next = least;
    for (const char32_t c : label) {
      if (c < next) ++delta;
      if (c != next) continue;
      append_number(out, delta, bias);
      bias = adapted_bias(delta, done + 1, done == ascii ? kDamp : 2);
      delta = 0;
      ++done;
    }
    ++delta;
    ++next;
  }
  return "xn--" + out;
}

std::vector<std::u32string> labels_of(std::u32string_view host) {
  constexpr std::u32string_view kDots = U".\u3002\uff0e\uff61";
  std::vector<std::u32string> labels(1);
  for (const char32_t c : host) {
    if (kDots.contains(c)) {
      labels.emplace_back();
    } else {
      labels.back() += c;
    }
  }
  if (labels.size() > 1 && labels.back().empty()) labels.pop_back();
  return labels;
}

}  // namespace

std::optional<std::string> ascii_host(std::string_view host) {
  if (host.empty() || host.size() > 4 * kMaxHost || !is_utf8(host)) return std::nullopt;
  std::string out;
  for (const std::u32string& label : labels_of(code_points(case_folded(host)))) {
    if (label.empty() || label.size() > kMaxLabel) return std::nullopt;
    const std::string encoded =
        std::ranges::all_of(label, is_ascii) ? std::string(label.begin(), label.end()) : punycode(label);
    if (encoded.size() > kMaxLabel || !std::ranges::all_of(encoded, is_host_character)) return std::nullopt;
    if (!out.empty()) out += '.';
    out += encoded;
  }
  if (out.size() > kMaxHost) return std::nullopt;
  return out;
}

bool is_numeric_host(std::string_view ascii_host) {
  std::string_view last = ascii_host.substr(ascii_host.rfind('.') + 1);  // npos + 1 is 0
  const bool is_hex = last.starts_with("0x");
  if (is_hex) last.remove_prefix(2);
  return std::ranges::all_of(last, [&](char c) { return is_digit(c) || (is_hex && c >= 'a' && c <= 'f'); });
}

}  // namespace deputy
