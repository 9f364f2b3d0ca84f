#include "base/digest.h"

#include <openssl/evp.h>

#include <array>
#include <iterator>
#include <stdexcept>

namespace deputy {

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> state{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

namespace {

// What a byte comes to that so many others follow: eight are taken at once, each by a table of its own.
constexpr auto kCrcTables = [] {
  constexpr std::uint32_t kPolynomial = 0xedb88320;
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t behind = 1; behind < tables.size(); ++behind) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[behind - 1][byte];
      tables[behind][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

void must(int result) {
  if (result != 1) throw std::runtime_error("SHA-256 is not available in this OpenSSL");
}

const EVP_MD* sha256() {
  const EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  must(found != nullptr);
  return found;
}

}  // namespace

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  // Looked up once: OpenSSL would search its providers for it at every digest.
  static const EVP_MD* const algorithm = sha256();
  must(EVP_DigestInit_ex(context_->state.get(), algorithm, nullptr));
}

Sha256::~Sha256() = default;

void Sha256::feed(std::string_view piece) {
  must(EVP_DigestUpdate(context_->state.get(), piece.data(), piece.size()));
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  must(EVP_DigestFinal_ex(context_->state.get(), digest, &size));
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(std::size_t{size} * 2);
  auto out = std::back_inserter(hex);
  for (unsigned int i = 0; i < size; ++i) {
    *out++ = kDigits[digest[i] >> 4];
    *out++ = kDigits[digest[i] & 0xF];
  }
  return hex;
}

void Crc32::feed(std::string_view piece) {
  const auto& tables = kCrcTables;
  std::uint32_t state = state_;
  const auto byte_at = [&piece](std::size_t at) {
    return std::uint32_t{static_cast<std::uint8_t>(piece[at])};
  };
  for (; piece.size() >= 8; piece.remove_prefix(8)) {
    state ^= byte_at(0) | byte_at(1) << 8 | byte_at(2) << 16 | byte_at(3) << 24;
    state = tables[7][state & 0xff] ^ tables[6][state >> 8 & 0xff] ^ tables[5][state >> 16 & 0xff] ^
            tables[4][state >> 24] ^ tables[3][byte_at(4)] ^ tables[2][byte_at(5)] ^ tables[1][byte_at(6)] ^
            tables[0][byte_at(7)];
  }
  for (; !piece.empty(); piece.remove_prefix(1))
    state = (state >> 8) ^ tables[0][(state ^ byte_at(0)) & 0xff];
  state_ = state;
}

}  // namespace deputy
