#include <openssl/x509v3.h>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <stdexcept>

#include "duly/error.h"
#include "src/redis/stream.h"
#include "src/redis/tcp.h"

namespace duly::redis {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

void require_file(const error_code& error, const char* what, const std::filesystem::path& file) {
  if (!error) return;
  throw Error(ErrorCode::invalid_argument, std::string(what) + ": " + file.string() + ": " +
                                               error.message() + ", expected a readable PEM file");
}

ssl::context make_context(const LinkOptions& options) {
  ssl::context context(ssl::context::tls_client);
  context.set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  context.set_verify_mode(ssl::verify_peer);
  error_code error;
  if (options.ca_file.empty()) {
    context.set_default_verify_paths(error);
    if (error) {
      throw Error(ErrorCode::invalid_argument, "CA files of the system: " + error.message() +
                                                   ", expected readable ones or a CA file");
    }
  } else {
    context.load_verify_file(options.ca_file.string(), error);
    require_file(error, "CA file", options.ca_file);
  }
  if (!options.certificate_file.empty()) {
    context.use_certificate_chain_file(options.certificate_file.string(), error);
    require_file(error, "certificate file", options.certificate_file);
    const auto& key = options.key_file.empty() ? options.certificate_file : options.key_file;
    context.use_private_key_file(key.string(), ssl::context::pem, error);
    require_file(error, "key file", key);
  }
  return context;
}

class TlsStream final : public Stream {
 public:
  TlsStream(asio::io_context& context, const LinkOptions& options)
      : url_(options.url), tls_(make_context(options)), stream_(context, tls_) {
    SSL* const tls = stream_.native_handle();
    bool is_set = false;
    if (is_ip_address(url_.host)) {
      is_set = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), url_.host.c_str()) == 1;
    } else {
      // RFC 6066: a server name is a host name, never an address.
      SSL_set_tlsext_host_name(tls, url_.host.c_str());
      is_set = SSL_set1_host(tls, url_.host.c_str()) == 1;
    }
    // Never go on with a certificate of just anybody.
    if (!is_set)
      throw Error(ErrorCode::invalid_argument, "redis url: host that no certificate can name");
  }

  asio::awaitable<void> connect() override {
    co_await connect_tcp(stream_.next_layer(), url_.host, url_.port);
    error_code error;
    co_await stream_.async_handshake(ssl::stream_base::client,
                                     asio::redirect_error(asio::use_awaitable, error));
    if (!error) co_return;
    if (const auto verdict = SSL_get_verify_result(stream_.native_handle()); verdict != X509_V_OK) {
      throw std::runtime_error(std::string("server certificate: ") +
                               X509_verify_cert_error_string(verdict));
    }
    throw boost::system::system_error(error);
  }
  asio::awaitable<std::size_t> read(asio::mutable_buffer into) override {
    co_return co_await stream_.async_read_some(into, asio::use_awaitable);
  }
  asio::awaitable<Sent> write(const std::vector<asio::const_buffer>& buffers) override {
    Sent sent;
    sent.bytes = co_await asio::async_write(stream_, buffers,
                                            asio::redirect_error(asio::use_awaitable, sent.error));
    // What the engine took last may have left before the error: how much of it, it does not say.
    if (sent.error) sent.bytes = asio::buffer_size(buffers);
    co_return sent;
  }
  void close() override {
    error_code ignored;
    stream_.next_layer().close(ignored);
  }

 private:
  Url url_;
  ssl::context tls_;
  ssl::stream<asio::ip::tcp::socket> stream_;
};

}  // namespace

std::unique_ptr<Stream> make_tls_stream(asio::io_context& context, const LinkOptions& options) {
  return std::make_unique<TlsStream>(context, options);
}

void check_tls_files(const LinkOptions& options) { make_context(options); }

}  // namespace duly::redis
