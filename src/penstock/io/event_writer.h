// Event files, which TensorBoard reads: records of Event messages, written by a thread of their own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "penstock/io/file_system.h"

namespace penstock {

double WallTime();  // seconds since 1970

// Thread-safe. Whoever writes never waits for the disk, unless 256 MiB are waiting already. What the disk refuses is
// thrown by the next call. What is on another machine or in a store gets the events when they are flushed, or after
// half a minute.
class EventWriter {
 public:
  // The file is PREFIX.out.tfevents.SECONDS.HOST with the suffix, opened with the first event (of the file's version).
  explicit EventWriter(std::string prefix, std::string suffix = {});
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;

  void Open();                         // at once; returns when the file has its first event
  void Write(std::string_view event);  // a serialized Event
  void Flush();                        // returns when all is in the file
  void Close();                        // Flush; what is written after this goes to a new file
  std::string path() const;            // "" before it is opened

 private:
  using Lock = std::unique_lock<std::mutex>;
  void OpenLocked();
  void Loop();
  void Send(Lock& lock, const std::string& bytes, bool flush);
  void Await(Lock& lock, const std::function<bool()>& ready);
  void AwaitClosing(Lock& lock);  // another thread may be at it
  void FlushLocked(Lock& lock);
  const std::string prefix_, suffix_;
  mutable std::mutex mutex_;
  std::condition_variable work_, done_;
  std::string path_, pending_;
  bool running_ = false, stopping_ = false;
  uint64_t flushes_wanted_ = 0, flushes_done_ = 0;
  std::unique_ptr<FileSink> sink_;
  Status status_;
  std::thread thread_;
};

}  // namespace penstock
