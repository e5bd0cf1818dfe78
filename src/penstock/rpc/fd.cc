#include "penstock/rpc/fd.h"

#include <pthread.h>
#include <unistd.h>

#include <mutex>
#include <unordered_set>

#include "penstock/base/fork.h"

namespace penstock::rpc {
namespace {

// Never destroyed: threads may close descriptors while the process ends.
struct OpenFds {
  ForkMutex mutex;
  std::unordered_set<int> fds;
};

OpenFds& Open() {
  static auto* open = [] {
    auto* fresh = new OpenFds;
    // The forking thread held the mutex, so the set is whole, and it is alone in the child.
    pthread_atfork(nullptr, nullptr, [] {
      for (const int fd : Open().fds) close(fd);
      Open().fds.clear();
    });
    return fresh;
  }();
  return *open;
}

}  // namespace

Fd::Fd(int fd) : fd_(fd), generation_(ForkGeneration()) {
  if (fd < 0) return;
  OpenFds& open = Open();
  std::lock_guard lock(open.mutex);
  open.fds.insert(fd);
}

void Fd::Close() {
  const int fd = std::exchange(fd_, -1);
  if (fd < 0 || generation_ != ForkGeneration()) return;
  OpenFds& open = Open();
  std::lock_guard lock(open.mutex);
  open.fds.erase(fd);
  close(fd);
}

}  // namespace penstock::rpc
