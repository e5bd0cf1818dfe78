// Parses "host:port", looks hosts up, opens sockets.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"
#include "penstock/rpc/fd.h"

namespace penstock::rpc {

struct HostPort {
  std::string host;  // without brackets
  int port = 0;
};

// Throws InvalidArgument that names the address.
HostPort ParseAddress(std::string_view address);

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string ToString() const;  // "127.0.0.1:80", "[::1]:80"
};

// Addresses of a host that needs no look-up: numbers, "localhost", and, to listen on, all interfaces.
std::vector<SocketAddress> KnownAddresses(const HostPort& host);
// Looks the host up, which may take seconds. Throws Unavailable.
std::vector<SocketAddress> LookUp(const HostPort& host);

// Begins to connect without waiting; an fd below 0 and errno set if that is impossible.
Fd StartConnect(const SocketAddress& address);
// Throws Unavailable that says why. `port` is set to the one that was taken.
Fd Listen(const SocketAddress& address, int* port);

std::string ErrorText(int error);  // "Connection refused"

}  // namespace penstock::rpc
