#include "penstock/rpc/address.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

#include "penstock/base/strings.h"

namespace penstock::rpc {
namespace {

SocketAddress MakeV4(const in_addr& host, int port) {
  SocketAddress address;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(static_cast<uint16_t>(port));
  v4->sin_addr = host;
  address.size = sizeof(sockaddr_in);
  return address;
}

SocketAddress MakeV6(const in6_addr& host, int port) {
  SocketAddress address;
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
  v6->sin6_family = AF_INET6;
  v6->sin6_port = htons(static_cast<uint16_t>(port));
  v6->sin6_addr = host;
  address.size = sizeof(sockaddr_in6);
  return address;
}

}  // namespace

HostPort ParseAddress(std::string_view address) {
  const auto malformed = [&] { return InvalidArgument("Could not interpret \"", address, "\" as a host-port pair."); };
  const size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) throw malformed();
  HostPort parsed{std::string(address.substr(0, colon)), 0};
  const std::string_view digits = address.substr(colon + 1);
  int64_t port;
  if (digits.empty() || digits[0] < '0' || digits[0] > '9' || !ParseInt64(digits, &port) || port > 65535) {
    throw malformed();
  }
  parsed.port = static_cast<int>(port);
  if (parsed.host.size() >= 2 && parsed.host.front() == '[' && parsed.host.back() == ']') {
    parsed.host = parsed.host.substr(1, parsed.host.size() - 2);
  } else if (parsed.host.find(':') != std::string::npos) {
    throw malformed();
  }
  for (const unsigned char c : parsed.host) {
    if (c <= ' ' || c >= 127 || c == '/') throw malformed();
  }
  return parsed;
}

std::string SocketAddress::ToString() const {
  char host[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
    return StrCat(host, ":", ntohs(v4->sin_port));
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
  inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
  return StrCat("[", host, "]:", ntohs(v6->sin6_port));
}

std::vector<SocketAddress> KnownAddresses(const HostPort& host) {
  if (host.host == "localhost") {
    return {MakeV4({htonl(INADDR_LOOPBACK)}, host.port), MakeV6(in6addr_loopback, host.port)};
  }
  if (host.host.empty()) return {MakeV6(in6addr_any, host.port), MakeV4({htonl(INADDR_ANY)}, host.port)};
  in_addr v4;
  if (inet_pton(AF_INET, host.host.c_str(), &v4) == 1) return {MakeV4(v4, host.port)};
  in6_addr v6;
  if (inet_pton(AF_INET6, host.host.c_str(), &v6) == 1) return {MakeV6(v6, host.port)};
  return {};
}

std::vector<SocketAddress> LookUp(const HostPort& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.host.c_str(), std::to_string(host.port).c_str(), &hints, &found);
  if (error != 0) throw Unavailable("DNS resolution failed for ", host.host, ": ", gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = found; each; each = each->ai_next) {
    if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
    SocketAddress& address = addresses.emplace_back();
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
  }
  if (addresses.empty()) throw Unavailable("DNS resolution failed for ", host.host, ": no address");
  return addresses;
}

Fd StartConnect(const SocketAddress& address) {
  Fd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) == 0) return fd;
  if (errno == EINPROGRESS || errno == EINTR) return fd;
  const int error = errno;
  fd.Close();
  errno = error;
  return fd;
}

Fd Listen(const SocketAddress& address, int* port) {
  const auto failed = [&] { return Unavailable("Cannot listen on ", address, ": ", ErrorText(errno)); };
  Fd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) throw failed();
  const int on = 1, off = 0;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.storage.ss_family == AF_INET6) setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.size) != 0 ||
      listen(fd.get(), 1024) != 0) {
    throw failed();
  }
  SocketAddress bound;
  bound.size = sizeof(bound.storage);
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&bound.storage), &bound.size) != 0) throw failed();
  *port = ntohs(bound.storage.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&bound.storage)->sin_port
                                                   : reinterpret_cast<sockaddr_in6*>(&bound.storage)->sin6_port);
  return fd;
}

std::string ErrorText(int error) { return std::generic_category().message(error); }

}  // namespace penstock::rpc
