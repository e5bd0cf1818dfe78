#include "penstock/io/event_writer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "penstock/io/files.h"
#include "penstock/io/records.h"
#include "penstock/io/summary.h"

namespace penstock {
namespace {

constexpr size_t kMostPending = size_t{256} << 20;

constexpr auto kLongestUnflushed = std::chrono::seconds(30);

}  // namespace

double WallTime() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

EventWriter::EventWriter(std::string prefix, std::string suffix)
    : prefix_(std::move(prefix)), suffix_(std::move(suffix)) {}

EventWriter::~EventWriter() {
  try {
    Close();
  } catch (const Error&) {  // there is nobody left to be told
  }
}

std::string EventWriter::path() const {
  std::lock_guard lock(mutex_);
  return path_;
}

void EventWriter::OpenLocked() {
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) != 0) std::snprintf(host, sizeof(host), "localhost");
  const double now = WallTime();
  char seconds[32];
  std::snprintf(seconds, sizeof(seconds), "%010lld", static_cast<long long>(now));
  const std::string stem = StrCat(prefix_, ".out.tfevents.", std::string_view(seconds), ".", std::string_view(host));
  path_ = stem + suffix_;
  FileSystem& files = FileSystemOf(path_);
  // Another writer may have begun in the same second.
  for (int i = 1; !sink_; ++i) {
    try {
      sink_ = files.Create(path_, WriteMode::kNew);
    } catch (const Error& e) {
      if (e.code() != Code::kAlreadyExists) throw;
      path_ = StrCat(stem, ".", i, suffix_);
    }
  }
  pending_ = RecordFrame(FileVersionEvent(now));
  running_ = true;
  thread_ = std::thread([this] { Loop(); });
}

void EventWriter::Send(Lock& lock, const std::string& bytes, bool flush) {
  lock.unlock();
  Status status;
  try {
    sink_->Append(bytes);
    if (flush) sink_->Flush();
  } catch (...) {
    status = CurrentStatus();
  }
  lock.lock();
  if (!status.ok()) status_ = status;
}

void EventWriter::Loop() {
  Lock lock(mutex_);
  const auto busy = [this] { return stopping_ || !pending_.empty() || flushes_wanted_ > flushes_done_; };
  auto flush_at = std::chrono::steady_clock::time_point::max();
  while (true) {
    if (flush_at == std::chrono::steady_clock::time_point::max()) {
      work_.wait(lock, busy);
    } else {
      work_.wait_until(lock, flush_at, busy);
    }
    const bool late = std::chrono::steady_clock::now() >= flush_at;
    if (stopping_ && pending_.empty()) break;
    const uint64_t wanted = flushes_wanted_;
    const bool flush = wanted > flushes_done_ || late;
    Send(lock, std::exchange(pending_, {}), flush);
    if (flush) {
      flushes_done_ = wanted;
      flush_at = std::chrono::steady_clock::time_point::max();
    } else {
      flush_at = std::min(flush_at, std::chrono::steady_clock::now() + kLongestUnflushed);
    }
    done_.notify_all();
  }
  lock.unlock();
  Status status;
  try {
    sink_->Close();
  } catch (...) {
    status = CurrentStatus();
  }
  lock.lock();
  if (!status.ok()) status_ = status;
  running_ = false;
  done_.notify_all();
}

void EventWriter::Await(Lock& lock, const std::function<bool()>& ready) {
  if (ready()) return;
  // Without the lock while the guard around the waiting is set up and ends: it may need another one.
  lock.unlock();
  WaitForFiles([&] {
    Lock inner(mutex_);
    done_.wait(inner, ready);
  });
  lock.lock();
}

void EventWriter::AwaitClosing(Lock& lock) {
  while (stopping_) Await(lock, [this] { return !stopping_; });
}

void EventWriter::FlushLocked(Lock& lock) {
  if (!sink_) return;
  const uint64_t mine = ++flushes_wanted_;
  work_.notify_one();
  Await(lock, [this, mine] { return flushes_done_ >= mine || !running_; });
  ThrowIfError(std::exchange(status_, Status()));
}

void EventWriter::Open() {
  Lock lock(mutex_);
  AwaitClosing(lock);
  if (sink_) return;
  OpenLocked();
  FlushLocked(lock);  // so that the file shows what it is
}

void EventWriter::Write(std::string_view event) {
  const std::string frame = RecordFrame(event);
  Lock lock(mutex_);
  AwaitClosing(lock);
  ThrowIfError(std::exchange(status_, Status()));
  if (!sink_) OpenLocked();
  Await(lock, [this] { return pending_.size() < kMostPending; });
  pending_ += frame;
  work_.notify_one();
}

void EventWriter::Flush() {
  Lock lock(mutex_);
  AwaitClosing(lock);
  FlushLocked(lock);
}

void EventWriter::Close() {
  Lock lock(mutex_);
  AwaitClosing(lock);
  if (!sink_) return;
  stopping_ = true;
  work_.notify_one();
  Await(lock, [this] { return !running_; });  // it ends when all is written
  thread_.join();
  sink_.reset();
  flushes_done_ = flushes_wanted_;
  stopping_ = false;
  done_.notify_all();
  ThrowIfError(std::exchange(status_, Status()));
}

}  // namespace penstock
