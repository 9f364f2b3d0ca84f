#include "base/digest.h"

#include <fmt/format.h>
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

}  // namespace

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  must(EVP_DigestInit_ex(context_->state.get(), EVP_sha256(), nullptr));
}

Sha256::~Sha256() = default;

void Sha256::feed(std::string_view piece) {
  must(EVP_DigestUpdate(context_->state.get(), piece.data(), piece.size()));
}

std::string Sha256::hex() {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  must(EVP_DigestFinal_ex(context_->state.get(), digest, &size));
  std::string hex;
  hex.reserve(std::size_t{size} * 2);
  for (unsigned int i = 0; i < size; ++i) fmt::format_to(std::back_inserter(hex), "{:02x}", digest[i]);
  return hex;
}

}  // namespace deputy
