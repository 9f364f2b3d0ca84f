#include "base/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>

#include "base/text.h"

namespace deputy {
namespace {

constexpr std::uint32_t kMaxSteps = 1'000'000;
constexpr std::uint32_t kMaxHeapKilobytes = 16 * 1024;

constexpr std::uint32_t kLikeEcmaScript =
    PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX | PCRE2_MATCH_UNSET_BACKREF | PCRE2_ALLOW_EMPTY_CLASS;

}  // namespace

Result<Pattern> Pattern::compile(std::string_view expression) {
  const auto refuse = [&](std::string_view reason) {
    return fail(ErrorCode::invalid, fmt::format("the pattern \"{}\" cannot be used: {}",
                                                shorten(made_visible(expression), 80), reason));
  };
  if (expression.size() > kMaxBytes) return refuse(fmt::format("it is longer than {} bytes", kMaxBytes));
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                                   kLikeEcmaScript | PCRE2_NEVER_BACKSLASH_C, &error, &at, nullptr);
  if (code == nullptr) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    return refuse(fmt::format("{} (at byte {})", reinterpret_cast<const char*>(message.data()), at));
  }
  return Pattern(std::shared_ptr<const void>(
      code, [](const void* owned) { pcre2_code_free(static_cast<pcre2_code*>(const_cast<void*>(owned))); }));
}

Pattern::Match Pattern::search(std::string_view text) const {
  const auto* code = static_cast<const pcre2_code*>(code_.get());
  const std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> context(
      pcre2_match_context_create(nullptr), pcre2_match_context_free);
  const std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> groups(
      pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  if (!context || !groups) return Match::gave_up;
  pcre2_set_match_limit(context.get(), kMaxSteps);
  pcre2_set_heap_limit(context.get(), kMaxHeapKilobytes);
  const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                                groups.get(), context.get());
  if (found == PCRE2_ERROR_NOMATCH) return Match::no;
  return found >= 0 ? Match::yes : Match::gave_up;
}

}  // namespace deputy
