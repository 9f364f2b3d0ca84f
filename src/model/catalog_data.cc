// Facts that their owners published: collected from the MIT-licensed price lists of litellm (August 2026) and
// @pydantic/genai-prices 0.1.8 (November 2026; the newer one where they disagree). Nobody here has checked
// them against a bill.
#include "model/catalog.h"

namespace deputy {
namespace {

constexpr double kUnknown = -1;

// provider, name, window, most output, then dollars for a million tokens: in, out, read from and written to
// a cache.
// clang-format off
constexpr CatalogRow kRows[] = {
    {"anthropic", "claude-fable-5", 1'000'000, 128'000, 10, 50, 1, 12.5},
    {"anthropic", "claude-fable-5-1", 1'000'000, 0, 10, 50, 0.25, 12.5},
    {"anthropic", "claude-haiku-4-5", 200'000, 64'000, 1, 5, 0.1, 1.25},
    {"anthropic", "claude-opus-4-0", 200'000, 0, 15, 75, 1.5, 18.75},
    {"anthropic", "claude-opus-4-1", 200'000, 32'000, 15, 75, 1.5, 18.75},
    {"anthropic", "claude-opus-4-5", 200'000, 64'000, 5, 25, 0.5, 6.25},
    {"anthropic", "claude-opus-4-6", 1'000'000, 128'000, 5, 25, 0.5, 6.25},
    {"anthropic", "claude-opus-4-7", 1'000'000, 128'000, 5, 25, 0.5, 6.25},
    {"anthropic", "claude-opus-4-8", 1'000'000, 128'000, 5, 25, 0.5, 6.25},
    {"anthropic", "claude-opus-5", 1'000'000, 128'000, 5, 25, 0.5, 6.25},
    {"anthropic", "claude-opus-5-5", 1'000'000, 0, 4, 20, 0.2, 5},
    {"anthropic", "claude-sonnet-4-0", 200'000, 0, 3, 15, 0.3, 3.75},
    {"anthropic", "claude-sonnet-4-5", 200'000, 64'000, 3, 15, 0.3, 3.75},
    {"anthropic", "claude-sonnet-4-6", 1'000'000, 64'000, 3, 15, 0.3, 3.75},
    {"anthropic", "claude-sonnet-5", 1'000'000, 128'000, 2, 10, 0.2, 2.5},
    {"openai", "gpt-4.1", 1'047'576, 32'768, 2, 8, 0.5, kUnknown},
    {"openai", "gpt-4.1-mini", 1'047'576, 32'768, 0.4, 1.6, 0.1, kUnknown},
    {"openai", "gpt-4.1-nano", 1'047'576, 32'768, 0.1, 0.4, 0.025, kUnknown},
    {"openai", "gpt-4o", 128'000, 16'384, 2.5, 10, 1.25, kUnknown},
    {"openai", "gpt-4o-mini", 128'000, 16'384, 0.15, 0.6, 0.075, kUnknown},
    {"openai", "gpt-5", 272'000, 128'000, 1.25, 10, 0.125, kUnknown},
    {"openai", "gpt-5-codex", 272'000, 128'000, 1.25, 10, 0.125, kUnknown},
    {"openai", "gpt-5-mini", 272'000, 128'000, 0.25, 2, 0.025, kUnknown},
    {"openai", "gpt-5-nano", 272'000, 128'000, 0.05, 0.4, 0.005, kUnknown},
    {"openai", "gpt-5-pro", 400'000, 128'000, 15, 120, kUnknown, kUnknown},
    {"openai", "gpt-5.1", 272'000, 128'000, 1.25, 10, 0.125, kUnknown},
    {"openai", "gpt-5.1-codex", 272'000, 128'000, 1.25, 10, 0.125, kUnknown},
    {"openai", "gpt-5.1-codex-max", 272'000, 128'000, 1.25, 10, 0.125, kUnknown},
    {"openai", "gpt-5.2", 272'000, 128'000, 1.75, 14, 0.175, kUnknown},
    {"openai", "gpt-5.2-codex", 272'000, 128'000, 1.75, 14, 0.175, kUnknown},
    {"openai", "gpt-5.2-pro", 272'000, 128'000, 21, 168, kUnknown, kUnknown},
    {"openai", "gpt-5.3-codex", 272'000, 128'000, 1.75, 14, 0.175, kUnknown},
    {"openai", "gpt-5.4", 1'050'000, 128'000, 2.5, 15, 0.25, kUnknown},
    {"openai", "gpt-5.4-mini", 272'000, 128'000, 0.75, 4.5, 0.075, kUnknown},
    {"openai", "gpt-5.4-nano", 272'000, 128'000, 0.2, 1.25, 0.02, kUnknown},
    {"openai", "gpt-5.4-pro", 1'050'000, 128'000, 30, 180, 3, kUnknown},
    {"openai", "gpt-5.5", 1'050'000, 128'000, 5, 30, 0.5, kUnknown},
    {"openai", "gpt-5.5-pro", 1'050'000, 128'000, 30, 180, 3, kUnknown},
    {"openai", "gpt-5.6", 1'050'000, 128'000, 5, 30, 0.5, 6.25},
    {"openai", "gpt-5.6-luna", 1'050'000, 128'000, 0.2, 1.2, 0.02, 0.25},
    {"openai", "gpt-5.6-sol", 1'050'000, 128'000, 4, 20, 0.4, 5},
    {"openai", "gpt-5.6-terra", 1'050'000, 128'000, 2, 12, 0.2, 2.5},
    {"openai", "gpt-6-astra", 1'050'000, 0, 10, 50, 1, 12.5},
    {"openai", "gpt-6-luna", 1'050'000, 0, 0.1, 0.5, 0.01, 0.125},
    {"openai", "gpt-6-sol", 1'050'000, 0, 2, 10, 0.2, 2.5},
    {"openai", "o1", 200'000, 100'000, 15, 60, 7.5, kUnknown},
    {"openai", "o1-pro", 200'000, 100'000, 150, 600, kUnknown, kUnknown},
    {"openai", "o3", 200'000, 100'000, 2, 8, 0.5, kUnknown},
    {"openai", "o3-mini", 200'000, 100'000, 1.1, 4.4, 0.55, kUnknown},
    {"openai", "o3-pro", 200'000, 100'000, 20, 80, kUnknown, kUnknown},
    {"openai", "o4-mini", 200'000, 100'000, 1.1, 4.4, 0.275, kUnknown},
    {"gemini", "gemini-2.5-flash", 1'048'576, 65'535, 0.3, 2.5, 0.03, kUnknown},
    {"gemini", "gemini-2.5-flash-lite", 1'048'576, 65'535, 0.1, 0.4, 0.01, kUnknown},
    {"gemini", "gemini-2.5-pro", 1'048'576, 65'535, 1.25, 10, 0.125, kUnknown},
    {"gemini", "gemini-3-flash-preview", 1'048'576, 65'535, 0.5, 3, 0.05, kUnknown},
    {"gemini", "gemini-3-pro-preview", 1'048'576, 65'535, 2, 12, 0.2, kUnknown},
    {"gemini", "gemini-3.1-flash-lite", 1'048'576, 65'536, 0.25, 1.5, 0.025, kUnknown},
    {"gemini", "gemini-3.1-pro-preview", 1'048'576, 65'536, 2, 12, 0.2, kUnknown},
    {"gemini", "gemini-3.5-flash", 1'048'576, 65'535, 1.5, 9, 0.15, kUnknown},
    {"gemini", "gemini-3.5-flash-lite", 1'048'576, 65'536, 0.3, 2.5, 0.03, kUnknown},
    {"gemini", "gemini-3.6-flash", 1'048'576, 65'536, 0.75, 3.75, 0.075, kUnknown},
    {"gemini", "gemini-3.7-flash", 1'000'000, 0, 0.75, 3.75, 0.075, kUnknown},
    {"gemini", "gemini-3.8-flash", 1'000'000, 0, 0.75, 3.75, 0.075, kUnknown},
};
// clang-format on

}  // namespace

std::span<const CatalogRow> catalog_rows() { return kRows; }

}  // namespace deputy
