// Certificates for tests, made when they are needed and never written down: an authority with a key of its
// own, and servers' contexts signed by it.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>
#include <vector>

namespace deputy {

class TestAuthority {
 public:
  TestAuthority();
  std::string pem() const;  // what a client must trust

  enum class Validity { current, expired };
  // For a name ("DNS:server.test") or an address ("IP:127.0.0.1"), offering these protocols ("h2",
  // "http/1.1").
  std::shared_ptr<SSL_CTX> server(const std::string& subject, const std::vector<std::string>& protocols,
                                  Validity validity = Validity::current) const;

 private:
  std::shared_ptr<EVP_PKEY> key_;
  std::shared_ptr<X509> certificate_;
};

}  // namespace deputy
