// A forked child allocates, whatever other threads were doing.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "penstock/tensor/tensor.h"

namespace penstock {
namespace {

void AllocateAllSizes() {
  for (int64_t bytes = 64; bytes <= int64_t{4} << 20; bytes *= 2) {
    Tensor t(DT_UINT8, Shape({bytes}));
    t.mutable_data<uint8_t>()[bytes - 1] = 1;
  }
}

TEST(Allocator, WorksInForkedChildren) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (!stop) AllocateAllSizes();
    });
  }
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // in case that it hangs
      AllocateAllSizes();
      _exit(0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << i << ": " << (WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "");
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace penstock
