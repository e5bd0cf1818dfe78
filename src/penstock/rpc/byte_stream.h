// The stream of bytes below HTTP/2: a TCP socket. TLS would be a second implementation.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <chrono>
#include <memory>

#include "penstock/rpc/fd.h"

namespace penstock::rpc {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual int fd() const = 0;
  // Never block. Bytes read or written; 0 from Read: the peer has ended; negative: an errno, EAGAIN among them.
  virtual ssize_t Read(const iovec* parts, int count) = 0;
  virtual ssize_t Write(const iovec* parts, int count) = 0;
};

// A connected TCP socket that does not block. Sets its options.
std::unique_ptr<ByteStream> TcpStream(Fd socket, std::chrono::milliseconds timeout);

}  // namespace penstock::rpc
