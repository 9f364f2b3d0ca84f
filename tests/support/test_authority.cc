#include "support/test_authority.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace deputy {

namespace {

constexpr long kDay = 24 * 60 * 60;

void add_extension(X509* to, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  ASSERT_NE(extension, nullptr) << value;
  X509_add_ext(to, extension, -1);
  X509_EXTENSION_free(extension);
}

std::shared_ptr<EVP_PKEY> new_key() { return {EVP_EC_gen("P-256"), EVP_PKEY_free}; }

std::shared_ptr<X509> new_certificate(EVP_PKEY* key, const std::string& name, long from, long until) {
  static long serial = 0;
  std::shared_ptr<X509> made(X509_new(), X509_free);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), from);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), until);
  X509_set_pubkey(made.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return made;
}

// The first of the server's protocols that the client offers, "2h2" in the wire's form.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size, const unsigned char* offered,
                    unsigned offered_size, void* wanted) {
  const auto& ours = *static_cast<const std::string*>(wanted);
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, reinterpret_cast<const unsigned char*>(ours.data()),
                            unsigned(ours.size()), offered, offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TestAuthority::TestAuthority()
    : key_(new_key()), certificate_(new_certificate(key_.get(), "test", -kDay, kDay)) {
  X509* const own = certificate_.get();
  X509_set_issuer_name(own, X509_get_subject_name(own));
  add_extension(own, own, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(own, own, NID_subject_key_identifier, "hash");
  X509_sign(own, key_.get(), EVP_sha256());
}

std::string TestAuthority::pem() const {
  const std::unique_ptr<BIO, int (*)(BIO*)> out(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_X509(out.get(), certificate_.get());
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, std::size_t(size)};
}

std::shared_ptr<SSL_CTX> TestAuthority::server(const std::string& subject,
                                               const std::vector<std::string>& protocols,
                                               Validity validity) const {
  const auto key = new_key();
  const bool current = validity == Validity::current;
  const auto made = new_certificate(key.get(), "server", current ? -kDay : -2 * kDay, current ? kDay : -kDay);
  X509_set_issuer_name(made.get(), X509_get_subject_name(certificate_.get()));
  add_extension(made.get(), certificate_.get(), NID_subject_alt_name, subject);
  add_extension(made.get(), certificate_.get(), NID_authority_key_identifier, "keyid");
  X509_sign(made.get(), key_.get(), EVP_sha256());

  const auto wire = std::make_shared<std::string>();
  for (const std::string& protocol : protocols) *wire += char(protocol.size()) + protocol;
  std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()),
                                   [wire](SSL_CTX* ctx) { SSL_CTX_free(ctx); });
  SSL_CTX_use_certificate(context.get(), made.get());
  SSL_CTX_use_PrivateKey(context.get(), key.get());
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, wire.get());
  return context;
}

}  // namespace deputy
