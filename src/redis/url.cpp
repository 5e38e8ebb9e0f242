#include "src/redis/url.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <limits>

#include "duly/error.h"

namespace duly::redis {
namespace {

constexpr std::uint64_t kMostDatabase = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMostPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::string_view kShapes =
    "expected redis://host:port/db, rediss://host:port/db or unix:///path?db=n";

/// No message quotes any part of a URL: where an @ was forgotten, any part may hold the password.
[[noreturn]] void refuse(std::string_view finding, std::string_view expected) {
  throw Error(ErrorCode::invalid_argument,
              "redis url: " + std::string(finding) + ", " + std::string(expected));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string decode(std::string_view part, std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? hex_value(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      refuse(std::string(part) + " with a bad %-escape",
             "expected two hexadecimal digits after each % (a plain % is %25)");
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

/// Digits only, at most `most`; nothing otherwise.
std::optional<std::uint64_t> number(std::string_view text, std::uint64_t most) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
    if (value > most) return std::nullopt;
  }
  return value;
}

std::uint32_t database_of(std::string_view text) {
  const auto database = number(text, kMostDatabase);
  if (!database) refuse("database that is not a number in range", "expected 0 .. 2147483647");
  return static_cast<std::uint32_t>(*database);
}

/// `user[:password]`, without the @.
void read_user_info(std::string_view text, Url& url) {
  const std::size_t colon = text.find(':');
  url.user = decode("user", text.substr(0, colon));
  if (colon != std::string_view::npos) url.password = decode("password", text.substr(colon + 1));
}

/// An IPv6 address with an optional zone ("fe80::1%25eth0", RFC 6874; a plain % is taken as well).
std::string ipv6_host(std::string_view text) {
  const std::size_t percent = text.find('%');
  std::string address(text.substr(0, percent));
  in6_addr parsed{};
  if (address.find('\0') != std::string::npos ||
      inet_pton(AF_INET6, address.c_str(), &parsed) != 1) {
    refuse("host in brackets that is no IPv6 address", "expected for example [::1]");
  }
  if (percent == std::string_view::npos) return address;
  std::string_view zone = text.substr(percent + 1);
  if (zone.starts_with("25")) zone.remove_prefix(2);
  const auto belongs = [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-';
  };
  if (zone.empty() || !std::all_of(zone.begin(), zone.end(), belongs)) {
    refuse("IPv6 zone that is no interface name", "expected for example [fe80::1%25eth0]");
  }
  return address + '%' + std::string(zone);
}

std::string plain_host(std::string_view text) {
  if (text.empty()) refuse("empty host", kShapes);
  const auto belongs = [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-';
  };
  if (!std::all_of(text.begin(), text.end(), belongs)) {
    refuse("host with a character that no host name has", "expected A-Z a-z 0-9 . _ - or [IPv6]");
  }
  return std::string(text);
}

/// `host[:port]`.
void read_host_and_port(std::string_view text, Url& url) {
  std::string_view after_host;
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) refuse("host with [ but no ]", "expected [IPv6]:port");
    url.host = ipv6_host(text.substr(1, bracket - 1));
    after_host = text.substr(bracket + 1);
    if (!after_host.empty() && after_host.front() != ':') {
      refuse("text between ] and the port", "expected [IPv6]:port");
    }
  } else {
    const std::size_t colon = text.find(':');
    if (colon != text.rfind(':')) {
      refuse("more than one : in the host",
             "expected an IPv6 address in brackets, as in [::1]:6379");
    }
    url.host = plain_host(text.substr(0, colon));
    if (colon != std::string_view::npos) after_host = text.substr(colon);
  }
  if (after_host.empty()) return;
  const auto port = number(after_host.substr(1), std::numeric_limits<std::uint16_t>::max());
  if (!port || *port == 0) refuse("port that is not a number in range", "expected 1 .. 65535");
  url.port = static_cast<std::uint16_t>(*port);
}

/// `[user[:password]@]host[:port][/db]`. Nothing after the host can hold an @, so the last one
/// separates, whatever the password has.
void read_network(std::string_view text, Url& url) {
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    read_user_info(text.substr(0, at), url);
    text.remove_prefix(at + 1);
  }
  if (text.find_first_of("?#") != std::string_view::npos) {
    refuse("? or # after the host", "expected host:port/db without options");
  }
  const std::size_t slash = text.find('/');
  read_host_and_port(text.substr(0, slash), url);
  if (slash != std::string_view::npos && slash + 1 < text.size()) {
    url.database = database_of(text.substr(slash + 1));
  }
}

/// `[user[:password]@]/path[?db=n]`.
void read_socket(std::string_view text, Url& url) {
  if (!text.starts_with('/')) {
    const std::size_t at = text.rfind("@/");
    if (at == std::string_view::npos) {
      refuse("socket path that does not begin with /", "expected unix:///path?db=n");
    }
    read_user_info(text.substr(0, at), url);
    text.remove_prefix(at + 1);
  }
  if (text.find('#') != std::string_view::npos) {
    refuse("# in the socket path", "expected it written as %23");
  }
  const std::size_t question = text.find('?');
  url.socket_path = decode("socket path", text.substr(0, question));
  if (url.socket_path.size() > kMostPath) {
    refuse("socket path of " + std::to_string(url.socket_path.size()) + " bytes",
           "expected at most " + std::to_string(kMostPath));
  }
  if (url.socket_path.find('\0') != std::string::npos) {
    refuse("socket path with a zero byte", "expected a path without one");
  }
  if (question == std::string_view::npos) return;
  const std::string_view option = text.substr(question + 1);
  if (!option.starts_with("db=")) refuse("unknown option after ?", "expected ?db=n");
  url.database = database_of(option.substr(3));
}

/// RFC 3986: what may stand in a path unescaped, less what duly's URLs separate with.
std::string encode_path(std::string_view path) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  constexpr std::string_view plain = "/-._~!$&'()*+,;=:@";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (is_letter(c) || is_digit(c) || plain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += '%';
      out += digits[byte >> 4];
      out += digits[byte & 0x0F];
    }
  }
  return out;
}

}  // namespace

std::string Url::address() const {
  if (!socket_path.empty()) {
    return "unix://" + encode_path(socket_path) +
           (database == 0 ? "" : "?db=" + std::to_string(database));
  }
  std::string name = host;
  if (const std::size_t percent = name.find('%'); percent != std::string::npos) {
    name.insert(percent + 1, "25");
  }
  if (name.find(':') != std::string::npos) name = '[' + name + ']';
  return (is_tls ? "rediss://" : "redis://") + name + ':' + std::to_string(port) + '/' +
         std::to_string(database);
}

Url parse_url(std::string_view text) {
  constexpr std::string_view separator = "://";
  const std::size_t scheme_end = text.find(separator);
  if (scheme_end == std::string_view::npos) refuse("no scheme", kShapes);
  const std::string scheme = lower(text.substr(0, scheme_end));
  const std::string_view rest = text.substr(scheme_end + separator.size());

  Url url;
  if (scheme == "unix") {
    read_socket(rest, url);
  } else if (scheme == "redis" || scheme == "rediss") {
    url.is_tls = scheme == "rediss";
    read_network(rest, url);
  } else if (scheme == "redis+cluster" || scheme == "redis+sentinel" ||
             scheme == "rediss+cluster" || scheme == "rediss+sentinel") {
    refuse("Cluster and Sentinel, which are not supported yet", kShapes);
  } else {
    refuse("unknown scheme", kShapes);
  }
  return url;
}

}  // namespace duly::redis
