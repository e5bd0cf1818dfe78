// Callbacks at given times and after interrupts (SIGINT), for waits that must not poll.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

namespace penstock {

// Wakes those who registered for interrupts. Safe in a signal handler.
void RingInterrupt();

// A registered callback; the destructor removes it. Callbacks run on one thread of the process, which starts at first
// use, so they must be short and may not block. They may hold shared ownership of what they use; the destructor waits
// for a callback that runs (unless it is called from that callback), so references are safe too.
class Alarm {
 public:
  using Clock = std::chrono::steady_clock;

  Alarm() = default;
  // Calls back once at `when`, within about a millisecond. ResourceExhausted if the thread cannot start.
  static Alarm At(Clock::time_point when, std::function<void()> callback);
  // Calls back after each interrupt that is raised from now on. ResourceExhausted if the thread cannot start.
  static Alarm OnInterrupt(std::function<void()> callback);

  Alarm(Alarm&& other) noexcept : id_(other.id_), generation_(other.generation_) { other.id_ = 0; }
  Alarm& operator=(Alarm&& other) noexcept;
  ~Alarm() { Cancel(); }
  void Cancel();

 private:
  Alarm(uint64_t id, int generation) : id_(id), generation_(generation) {}
  uint64_t id_ = 0;  // 0: none
  int generation_ = 0;
};

}  // namespace penstock
