// The machine's own file system.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "penstock/base/long_work.h"
#include "penstock/io/file_system.h"
#include "penstock/io/files.h"

namespace penstock {
namespace {

Code CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT: return Code::kNotFound;
    case EEXIST: return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS: return Code::kPermissionDenied;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case EBUSY: return Code::kFailedPrecondition;
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Code::kResourceExhausted;
    case EINVAL:
    case ENAMETOOLONG: return Code::kInvalidArgument;
    default: return Code::kUnknown;
  }
}

Error ErrnoError(std::string_view context, int error_number) {
  return MakeError(CodeOf(error_number), context, "; ", std::string_view(std::strerror(error_number)));
}

// file:///a is /a. InvalidArgument: a path with a NUL, which the system would read up to there.
std::string Local(const std::string& path) {
  if (const size_t nul = path.find('\0'); nul != std::string::npos)
    throw InvalidArgument("the path '", path.substr(0, nul), "\\0", path.substr(nul + 1), "' contains a NUL character");
  return SchemeOf(path).empty() ? path : path.substr(path.find("://") + 3);
}

class LocalSource : public FileSource {
 public:
  explicit LocalSource(const std::string& path) : path_(path) {
    LongWork::Begins();
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw ErrnoError(path, errno);
    struct stat info;
    if (fstat(fd_, &info) != 0 || S_ISDIR(info.st_mode)) {
      const int error_number = S_ISDIR(info.st_mode) ? EISDIR : errno;
      close(fd_);
      throw ErrnoError(path, error_number);
    }
    size_ = static_cast<uint64_t>(info.st_size);
    if (size_ == 0 && S_ISREG(info.st_mode)) ReadUntilEnd();
  }
  ~LocalSource() override { close(fd_); }
  LocalSource(const LocalSource&) = delete;
  uint64_t size() const override { return size_; }
  void Read(uint64_t offset, size_t n, char* out) const override {
    if (!unsized_.empty()) {
      std::memcpy(out, unsized_.data() + offset, n);
      return;
    }
    while (n > 0) {
      const ssize_t got = pread(fd_, out, n, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw ErrnoError(path_, errno);
      if (got == 0) throw OutOfRange(path_, ": file ended while it was read");
      out += got;
      offset += static_cast<uint64_t>(got);
      n -= static_cast<size_t>(got);
    }
  }

 private:
  // Files of /proc have contents but no size.
  void ReadUntilEnd() {
    char buffer[4096];
    ssize_t n;
    while ((n = read(fd_, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)) {
      if (n > 0) unsized_.append(buffer, static_cast<size_t>(n));
    }
    size_ = unsized_.size();
  }
  const std::string path_;
  std::string unsized_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

constexpr size_t kSend = 16 << 20;

// Temporary files are PATH.tempstate-BOOT-PROCESS-NUMBER. Whoever writes one holds a lock on it, which ends with the
// process; BOOT names the running kernel, as only its processes are sure to see each other's locks.
constexpr std::string_view kTemporary = ".tempstate-";

const std::string& Boot() {  // empty if it is not known
  static const std::string boot = [] {
    char id[8];
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const bool known = fd >= 0 && read(fd, id, sizeof(id)) == sizeof(id);
    if (fd >= 0) close(fd);
    return known ? std::string(id, sizeof(id)) : std::string();
  }();
  return boot;
}

// Whether a process of this machine, since it was started, named a temporary file so.
bool IsTemporary(std::string_view name) {
  const size_t at = name.rfind(kTemporary);
  if (at == std::string_view::npos || Boot().empty()) return false;
  std::string_view rest = name.substr(at + kTemporary.size());
  if (rest.substr(0, Boot().size() + 1) != StrCat(Boot(), "-")) return false;
  rest.remove_prefix(Boot().size() + 1);
  const size_t dash = rest.find('-');
  const auto number = [](std::string_view digits) {
    return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dash != std::string_view::npos && number(rest.substr(0, dash)) && number(rest.substr(dash + 1));
}

// A file that is to appear whole is written to a temporary one beside it, which is synced and renamed.
class LocalSink : public FileSink {
 public:
  LocalSink(const std::string& path, WriteMode mode) : path_(path), written_(path), whole_(mode == WriteMode::kWhole) {
    LongWork::Begins();
    const int how = mode == WriteMode::kAppend ? O_APPEND : mode == WriteMode::kReplace ? O_TRUNC : O_EXCL;
    while (!Open(how)) {
    }
  }
  ~LocalSink() override {
    if (fd_ < 0) return;
    close(fd_);
    if (whole_) unlink(written_.c_str());
  }
  LocalSink(const LocalSink&) = delete;

  void Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw ErrnoError(written_, errno);
      bytes.remove_prefix(static_cast<size_t>(n));
      unsent_ += static_cast<size_t>(n);
    }
    if (whole_ && unsent_ >= kSend) {
      // On its way to the disk while more is written, so that there is less to wait for at the end.
      (void)sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE);
      unsent_ = 0;
    }
  }
  void Flush() override {}
  void Close() override {
    if (whole_ && fsync(fd_) != 0) throw ErrnoError(written_, errno);
    // The lock goes with the descriptor, so the file is renamed before.
    if (whole_ && rename(written_.c_str(), path_.c_str()) != 0) throw ErrnoError(path_, errno);
    if (close(std::exchange(fd_, -1)) != 0) throw ErrnoError(path_, errno);
    if (!whole_) return;
    // The new name is safe only when its directory is.
    const std::string directory(DirectoryOf(path_));
    const int dir = open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC);
    if (dir >= 0) {
      (void)fsync(dir);
      close(dir);
    }
  }

 private:
  // False if another name is to be tried: process numbers come again, in containers at every start.
  bool Open(int how) {
    static std::atomic<int> number{0};
    if (whole_) {
      written_ = StrCat(path_, kTemporary, Boot(), "-", static_cast<int64_t>(getpid()), "-", number.fetch_add(1));
    }
    fd_ = open(written_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
    if (fd_ < 0) {
      if (whole_ && errno == EEXIST) return false;
      throw ErrnoError(path_, errno);
    }
    if (!whole_) return true;
    while (flock(fd_, LOCK_EX) != 0 && errno == EINTR) {
    }
    // It may have been taken for an abandoned one before it was locked.
    struct stat info;
    if (fstat(fd_, &info) != 0 || info.st_nlink > 0) return true;
    close(std::exchange(fd_, -1));
    return false;
  }

  const std::string path_;
  std::string written_;
  const bool whole_;
  size_t unsent_ = 0;
  int fd_ = -1;
};

// Removes a temporary file unless somebody holds its lock.
void RemoveUnlessLocked(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  struct stat info;
  // Without links it is another's name by now.
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink > 0) {
    unlink(path.c_str());
  }
  close(fd);
}

class LocalFileSystem : public FileSystem {
 public:
  std::optional<FileInfo> Find(const std::string& path) override {
    struct stat info;
    if (stat(Local(path).c_str(), &info) != 0) return std::nullopt;
    return FileInfo{static_cast<uint64_t>(info.st_size),
                    int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec, S_ISDIR(info.st_mode)};
  }
  std::unique_ptr<FileSource> Open(const std::string& path) override {
    return std::make_unique<LocalSource>(Local(path));
  }
  std::unique_ptr<FileSink> Create(const std::string& path, WriteMode mode) override {
    return std::make_unique<LocalSink>(Local(path), mode);
  }
  std::vector<DirectoryEntry> List(const std::string& directory) override {
    LongWork::Begins();
    const std::string path = Local(directory);
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(path.c_str()), closedir);
    if (!dir) throw ErrnoError(directory, errno);
    std::vector<DirectoryEntry> entries;
    while (const dirent* entry = readdir(dir.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      bool is_directory = entry->d_type == DT_DIR;
      if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
        const auto found = Find(StrCat(path, "/", name));
        is_directory = found && found->is_directory;
      }
      entries.push_back({name, is_directory});
    }
    return entries;
  }
  void Rename(const std::string& from, const std::string& to) override {
    if (rename(Local(from).c_str(), Local(to).c_str()) != 0) throw ErrnoError(StrCat(from, " to ", to), errno);
  }
  void Remove(const std::string& path) override {
    if (unlink(Local(path).c_str()) != 0) throw ErrnoError(path, errno);
  }
  void MakeDirectory(const std::string& path) override {
    if (mkdir(Local(path).c_str(), 0777) != 0) throw ErrnoError(path, errno);
  }
  void MakeDirectories(const std::string& given) override {
    const std::string path = Local(given);
    for (size_t at = 1; at <= path.size() && !path.empty(); ++at) {
      at = std::min(path.find('/', at), path.size());
      const std::string part = path.substr(0, at);
      if (mkdir(part.c_str(), 0777) == 0) continue;
      const int error_number = errno;
      const auto found = Find(part);
      if (!found) throw ErrnoError(part, error_number);
      if (!found->is_directory) throw ErrnoError(part, ENOTDIR);
    }
  }
  void RemoveAbandoned(const std::string& directory) override {
    const std::string path = Local(directory);
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(path.c_str()), closedir);
    while (const dirent* entry = dir ? readdir(dir.get()) : nullptr) {
      if (IsTemporary(entry->d_name)) RemoveUnlessLocked(StrCat(path, "/", std::string_view(entry->d_name)));
    }
  }
  std::shared_ptr<void> LockDirectory(const std::string& directory) override {
    LongWork::Begins();
    const int fd = open(Local(directory).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return nullptr;
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    }
    return {static_cast<void*>(this), [fd](void*) { close(fd); }};
  }
  void RemoveDirectory(const std::string& path) override {
    if (rmdir(Local(path).c_str()) != 0) throw ErrnoError(path, errno);
  }
  void RemoveTree(const std::string& path) override {
    std::error_code error;
    if (std::filesystem::remove_all(Local(path), error) == 0 && !error) throw ErrnoError(path, ENOENT);
    if (error) throw ErrnoError(path, error.value());
  }
};

}  // namespace

std::unique_ptr<FileSystem> MakeLocalFileSystem() { return std::make_unique<LocalFileSystem>(); }

}  // namespace penstock
