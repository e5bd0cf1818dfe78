#include "penstock/rpc/byte_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace penstock::rpc {
namespace {

class Tcp final : public ByteStream {
 public:
  explicit Tcp(Fd socket) : socket_(std::move(socket)) {}
  int fd() const override { return socket_.get(); }
  ssize_t Read(const iovec* parts, int count) override {
    for (;;) {
      const ssize_t n = readv(socket_.get(), parts, count);
      if (n >= 0) return n;
      if (errno != EINTR) return -errno;
    }
  }
  ssize_t Write(const iovec* parts, int count) override {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(parts);
    message.msg_iovlen = count;
    for (;;) {
      const ssize_t n = sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
      if (n >= 0) return n;
      if (errno != EINTR) return -errno;
    }
  }

 private:
  Fd socket_;
};

void Set(int fd, int level, int option, int value) { setsockopt(fd, level, option, &value, sizeof(value)); }

}  // namespace

std::unique_ptr<ByteStream> TcpStream(Fd socket, std::chrono::milliseconds timeout) {
  const int fd = socket.get();
  Set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (timeout.count() > 0) {
    Set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(timeout.count()));
    // An idle connection is probed three times within the same time.
    const int step = std::max<int>(1, static_cast<int>(timeout.count() / 4000));
    Set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    Set(fd, IPPROTO_TCP, TCP_KEEPIDLE, step);
    Set(fd, IPPROTO_TCP, TCP_KEEPINTVL, step);
    Set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  }
  return std::make_unique<Tcp>(std::move(socket));
}

}  // namespace penstock::rpc
