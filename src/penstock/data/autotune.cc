#include "penstock/data/autotune.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "penstock/base/threads.h"

namespace penstock::data {
namespace {

constexpr int64_t kMostThreadsPerCore = 8;
constexpr int64_t kShortest = 20'000;  // nanoseconds: what takes less tells nothing of threads

// Bytes that the system, and this process's control group, have left.
int64_t FreeMemory() {
  int64_t free = sysconf(_SC_AVPHYS_PAGES) * sysconf(_SC_PAGESIZE), most, used;
  std::ifstream system("/proc/meminfo");
  for (std::string word; system >> word;) {
    if (word == "MemAvailable:" && system >> free) free *= 1024;
  }
  std::ifstream limit("/sys/fs/cgroup/memory.max"), current("/sys/fs/cgroup/memory.current");
  if (limit >> most && current >> used) free = std::min(free, std::max<int64_t>(0, most - used));
  return free;
}

}  // namespace

bool IteratorContext::ReserveBuffer(int64_t bytes) {
  std::lock_guard lock(mutex_);
  if (!buffers_free_) buffers_free_ = options.ram_budget > 0 ? options.ram_budget : FreeMemory() / 2;
  if (bytes > *buffers_free_) return false;
  *buffers_free_ -= bytes;
  return true;
}

TunedThreads::TunedThreads(const Options& options, int64_t asked, int64_t most)
    : cores_(options.cpu_budget > 0 ? options.cpu_budget : NumCores()) {
  if (asked != kAutotune) {
    least_ = most_ = now_ = asked;
    return;
  }
  least_ = std::clamp<int64_t>(options.min_parallelism > 0 ? options.min_parallelism : cores_, 1, most);
  most_ = options.autotune ? std::clamp(kMostThreadsPerCore * cores_, least_, most) : least_;
  now_ = std::clamp(options.initial_parallelism > 0 ? options.initial_parallelism : cores_, least_, most_);
}

void TunedThreads::Learn(const CallTimes& times) {
  if (!tuned() || times.wall < kShortest) return;
  waits_ = (7 * waits_ + static_cast<double>(times.wall) / static_cast<double>(std::max<int64_t>(1, times.cpu))) / 8;
  const int64_t pays = static_cast<int64_t>(std::min(static_cast<double>(cores_) * waits_, static_cast<double>(most_)));
  if (pays > now_ && !waited_) return;
  now_ = std::clamp(std::min(pays, 2 * now_), least_, most_);
  waited_ = false;
}

TunedBuffer::TunedBuffer(std::shared_ptr<IteratorContext> context, int64_t asked, int64_t first, int64_t most)
    : context_(std::move(context)),
      most_(asked != kAutotune           ? asked
            : context_->options.autotune ? most
                                         : first),
      now_(asked != kAutotune ? asked : first) {}

void TunedBuffer::Grow(const Element& element, int64_t copies) {
  if (!tuned()) return;
  const int64_t larger = std::min(2 * now_, most_), bytes = (larger - now_) * copies * BytesOf(element);
  if (!context_->ReserveBuffer(bytes)) return;
  reserved_ += bytes;
  now_ = larger;
}

int64_t BytesOf(const Element& element) {
  int64_t bytes = 0;
  for (const Tensor& t : element) {
    bytes += static_cast<int64_t>(t.bytes());
    if (t.dtype() != DT_STRING) continue;
    for (const TString& s : t.flat<TString>()) bytes += static_cast<int64_t>(s.view().size());
  }
  return bytes;
}

}  // namespace penstock::data
