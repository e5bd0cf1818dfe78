// Threads and buffer sizes that are left to choose (kAutotune): they follow measured times.
//
// Threads: one that computes all the time keeps a core busy, so as many of these pay as there are cores; one that waits
// (for files, networks, Python) keeps a core busy for cpu / wall of its time, so `cores * wall / cpu` keep all of them
// busy. Both times are measured around each call. A stage gets more threads only while somebody waits for its elements.
//
// Buffers: one that was full and is found empty was too small for what happened in between, and becomes twice as large.
// All that grew in one iteration together may hold `ram_budget` bytes: half of what is free, unless the program says.
#pragma once

#include <time.h>

#include "penstock/data/dataset.h"

namespace penstock::data {

// Since when, in nanoseconds; of the calling thread for `CLOCK_THREAD_CPUTIME_ID`.
inline int64_t Nanos(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000 + t.tv_nsec;
}

// How long a call takes, and how long it keeps a core busy.
struct CallTimes {
  int64_t wall = -Nanos(CLOCK_MONOTONIC), cpu = -Nanos(CLOCK_THREAD_CPUTIME_ID);
  void Stop() {
    wall += Nanos(CLOCK_MONOTONIC);
    cpu += Nanos(CLOCK_THREAD_CPUTIME_ID);
  }
};

// How many threads of a stage may work at the same time. Not thread-safe.
class TunedThreads {
 public:
  // `asked`: the number, or kAutotune; with that at most `most`.
  TunedThreads(const Options& options, int64_t asked, int64_t most = INT64_MAX);
  int64_t now() const { return now_; }
  bool tuned() const { return least_ < most_; }
  // A call took that long.
  void Learn(const CallTimes& times);
  // Somebody waits for an element.
  void Waited() { waited_ = true; }

 private:
  int64_t cores_, least_, most_, now_;
  double waits_ = 1;  // wall / cpu, a running mean
  bool waited_ = false;
};

// How many elements a stage makes ahead. Not thread-safe.
class TunedBuffer {
 public:
  // `asked`: the number, or kAutotune; with that from `first` to `most`.
  TunedBuffer(std::shared_ptr<IteratorContext> context, int64_t asked, int64_t first, int64_t most);
  ~TunedBuffer() { context_->ReserveBuffer(-reserved_); }
  TunedBuffer(const TunedBuffer&) = delete;
  int64_t now() const { return now_; }
  bool tuned() const { return now_ < most_; }
  // Makes it twice as large, unless there is no memory for `copies` buffers of such elements.
  void Grow(const Element& element, int64_t copies = 1);

 private:
  const std::shared_ptr<IteratorContext> context_;
  const int64_t most_;
  int64_t now_, reserved_ = 0;
};

int64_t BytesOf(const Element& element);

}  // namespace penstock::data
