#include "penstock/io/event_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include "penstock/io/files.h"
#include "penstock/io/records.h"
#include "penstock/io/summary.h"

namespace penstock {
namespace {

constexpr size_t kMostPending = size_t{256} << 20;

// Everything, or the errno that stopped it.
int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

}  // namespace

double WallTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

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
  // Another writer may have begun in the same second.
  for (int i = 1; (fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) < 0; ++i) {
    if (errno != EEXIST) throw ErrnoError(path_, errno);
    path_ = StrCat(stem, ".", i, suffix_);
  }
  pending_ = RecordFrame(FileVersionEvent(now));
  running_ = true;
  thread_ = std::thread([this] { Loop(); });
}

void EventWriter::Loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [this] { return stopping_ || !pending_.empty(); });
    if (pending_.empty()) break;
    std::string bytes;
    bytes.swap(pending_);
    writing_ = true;
    lock.unlock();
    const int error_number = WriteAll(fd_, bytes);
    lock.lock();
    writing_ = false;
    if (error_number != 0) status_ = ErrnoError(path_, error_number).status();
    done_.notify_all();
  }
  running_ = false;
  done_.notify_all();
}

void EventWriter::AwaitClosing(std::unique_lock<std::mutex>& lock) {
  done_.wait(lock, [this] { return !stopping_; });
}

void EventWriter::Open() {
  std::unique_lock lock(mutex_);
  AwaitClosing(lock);
  if (fd_ >= 0) return;
  OpenLocked();
  done_.wait(lock, [this] { return pending_.empty() && !writing_; });  // so that the file shows what it is
  ThrowIfError(std::exchange(status_, Status()));
}

void EventWriter::Write(std::string_view event) {
  const std::string frame = RecordFrame(event);
  std::unique_lock lock(mutex_);
  AwaitClosing(lock);
  ThrowIfError(std::exchange(status_, Status()));
  if (fd_ < 0) OpenLocked();
  done_.wait(lock, [this] { return pending_.size() < kMostPending; });
  pending_ += frame;
  work_.notify_one();
}

void EventWriter::Flush() {
  std::unique_lock lock(mutex_);
  AwaitClosing(lock);
  done_.wait(lock, [this] { return pending_.empty() && !writing_; });
  ThrowIfError(std::exchange(status_, Status()));
}

void EventWriter::Close() {
  std::unique_lock lock(mutex_);
  AwaitClosing(lock);
  if (fd_ < 0) return;
  stopping_ = true;
  work_.notify_one();
  done_.wait(lock, [this] { return !running_; });  // it ends when all is written
  thread_.join();
  close(fd_);
  fd_ = -1;
  stopping_ = false;
  done_.notify_all();
  ThrowIfError(std::exchange(status_, Status()));
}

}  // namespace penstock
