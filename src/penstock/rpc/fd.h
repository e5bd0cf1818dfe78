// File descriptors that belong to the process that opened them.
#pragma once

#include <utility>

namespace penstock::rpc {

// Owns a descriptor. A forked child closes its copies at once, so that peers see a connection end when the parent ends,
// and the child's destructors leave the number alone, which may be another file's by then.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd);
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)), generation_(other.generation_) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(generation_, other.generation_);
    return *this;
  }
  ~Fd() { Close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_ = -1;
  int generation_ = 0;
};

}  // namespace penstock::rpc
