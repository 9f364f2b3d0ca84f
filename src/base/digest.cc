#include "base/digest.h"

#include <openssl/evp.h>

#include <iterator>
#include <stdexcept>

namespace deputy {

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> state{EVP_MD_CTX_new(), EVP_MD_CTX_free};
};

namespace {

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

}  // namespace deputy
