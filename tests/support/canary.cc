#include "support/canary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace deputy {

namespace fs = std::filesystem;

namespace {

// What can be read of it: a process may end between the look at its name and the look at its file.
std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string url_encoded(std::string_view key) {
  std::string text;
  for (const char c : key) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '~';
    text += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

}  // namespace

Canary::Canary(std::string_view key, std::string_view url_encoded)
    : spellings_{std::string(key), std::string(url_encoded)} {
  // What it looks like at any place in an encoded text.
  for (std::size_t before = 0; before < 3; ++before) {
    spellings_.push_back(base64(std::string(before, 'x') + std::string(key)).substr((before * 8 + 5) / 6));
  }
}

std::string Canary::base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned bits = 0;
  unsigned count = 0;
  for (const unsigned char c : bytes) {
    bits = bits << 8U | c;
    for (count += 8; count >= 6; count -= 6) text += kLetters[bits >> (count - 6) & 63U];
  }
  return text;  // what follows would change the next one
}

bool Canary::is_in(std::string_view text) const {
  return std::ranges::any_of(spellings_,
                             [&](const std::string& spelling) { return text.contains(spelling); });
}

std::vector<std::string> Canary::files_below(const fs::path& folder) const {
  std::vector<std::string> found;
  std::error_code error;
  auto entry = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->is_regular_file(error) && is_in(read_file(entry->path()))) found.push_back(entry->path());
  }
  return found;
}

std::vector<std::string> Canary::command_lines() const {
  std::vector<std::string> found;
  std::error_code error;
  auto entry = fs::directory_iterator("/proc", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_in(read_file(entry->path() / "cmdline"))) found.push_back(entry->path());
  }
  return found;
}

const Canary& canary_of_all_tests() {
  static const Canary canary = [] {
    const char* given = std::getenv("CANARY_API_KEY");
    const std::string key = given != nullptr ? given : "canary+of/all?tests&5b1c=97e2~d04f";
    return Canary(key, url_encoded(key));
  }();
  return canary;
}

}  // namespace deputy
