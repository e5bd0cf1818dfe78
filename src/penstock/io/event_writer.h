// Event files, which TensorBoard reads: records of Event messages, written by a thread of their own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "penstock/base/status.h"

namespace penstock {

double WallTime();  // seconds since 1970

// Thread-safe. Whoever writes never waits for the disk, unless 256 MiB are waiting already. What the disk refuses is
// thrown by the next call.
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
  void OpenLocked();
  void Loop();
  void AwaitClosing(std::unique_lock<std::mutex>& lock);  // another thread may be at it
  const std::string prefix_, suffix_;
  mutable std::mutex mutex_;
  std::condition_variable work_, done_;
  std::string path_, pending_;
  bool writing_ = false, running_ = false, stopping_ = false;
  int fd_ = -1;
  Status status_;
  std::thread thread_;
};

}  // namespace penstock
