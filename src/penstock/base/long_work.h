// Work that turns out to be long only while it runs: what it makes is large, or it reads a file.
#pragma once

namespace penstock {

// What the caller of usually short work does before it goes on if it is long after all: gives back a lock that others
// wait for. Counts for this thread, until the end of the scope, and is done once.
class LongWork {
 public:
  LongWork() : outer_(Exchange(this)) {}
  virtual ~LongWork() { Exchange(outer_); }
  LongWork(const LongWork&) = delete;
  LongWork& operator=(const LongWork&) = delete;

  // To be called before anything that may take more than some 50 microseconds.
  static void Begins() {
    if (LongWork* const work = current_) {
      current_ = nullptr;
      work->Begin();
    }
  }
  static LongWork* Exchange(LongWork* work) {
    LongWork* const before = current_;
    current_ = work;
    return before;
  }

 protected:
  virtual void Begin() = 0;

 private:
  static thread_local constinit LongWork* current_;
  LongWork* const outer_;
};

inline thread_local constinit LongWork* LongWork::current_ = nullptr;

}  // namespace penstock
