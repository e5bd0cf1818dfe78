#include "penstock/io/files.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace penstock {
namespace {

constexpr size_t kBufferSize = size_t{1} << 16;

Code CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
      return Code::kNotFound;
    case EEXIST:
      return Code::kAlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermissionDenied;
    case EISDIR:
    case ENOTDIR:
    case ENOTEMPTY:
    case EBUSY:
      return Code::kFailedPrecondition;
    case ENOSPC:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return Code::kResourceExhausted;
    case EINVAL:
    case ENAMETOOLONG:
      return Code::kInvalidArgument;
    default:
      return Code::kUnknown;
  }
}

}  // namespace

Error ErrnoError(std::string_view context, int error_number) {
  return MakeError(CodeOf(error_number), context, "; ", std::string_view(std::strerror(error_number)));
}

bool FileExists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::string ReadWholeFile(const std::string& path) {
  // By reading until the end: files of /proc have no size.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw ErrnoError(path, errno);
  std::string contents;
  char buffer[kBufferSize];
  ssize_t n;
  while ((n = read(fd, buffer, sizeof(buffer))) != 0) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error_number = errno;
      close(fd);
      throw ErrnoError(path, error_number);
    }
    contents.append(buffer, n);
  }
  close(fd);
  return contents;
}

void RenameFile(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) throw ErrnoError(StrCat(from, " to ", to), errno);
}

void RemoveFile(const std::string& path) {
  if (unlink(path.c_str()) != 0) throw ErrnoError(path, errno);
}

void MakeDirectories(const std::string& path) {
  for (size_t at = 1; at <= path.size() && !path.empty(); ++at) {
    at = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(0, at);
    if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST && !FileExists(part)) throw ErrnoError(part, errno);
  }
}

bool RemoveEmptyDirectory(const std::string& path) { return rmdir(path.c_str()) == 0; }

std::string_view DirectoryOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash == 0 ? 1 : slash);
}

std::vector<std::string> MatchingPaths(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  std::sort(paths.begin(), paths.end());
  return paths;
}

InputFile::InputFile(const std::string& path) : path_(path) {
  fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) throw ErrnoError(path, errno);
  struct stat info;
  if (fstat(fd_, &info) != 0 || S_ISDIR(info.st_mode)) {
    const int error_number = S_ISDIR(info.st_mode) ? EISDIR : errno;
    close(fd_);
    throw ErrnoError(path, error_number);
  }
  size_ = static_cast<uint64_t>(info.st_size);
}

InputFile::~InputFile() { close(fd_); }

void InputFile::Read(uint64_t offset, size_t n, char* out) const {
  if (offset > size_ || n > size_ - offset) {
    throw OutOfRange(path_, ": file ends at ", size_, " before ", n, " bytes at ", offset, " could be read");
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

std::string InputFile::Read(uint64_t offset, size_t n) const {
  if (offset > size_ || n > size_ - offset) Read(offset, n, nullptr);
  std::string bytes(n, '\0');
  Read(offset, n, bytes.data());
  return bytes;
}

OutputFile::OutputFile(const std::string& path) : path_(path) {
  static std::atomic<int> number{0};
  temporary_ = StrCat(path, ".tempstate", static_cast<int64_t>(getpid()), ".", number.fetch_add(1));
  fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) throw ErrnoError(temporary_, errno);
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

void OutputFile::Append(std::string_view bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() <= kBufferSize) {
    buffer_.append(bytes);
    return;
  }
  WriteOut(buffer_);
  buffer_.clear();
  if (bytes.size() <= kBufferSize) {
    buffer_.append(bytes);
  } else {
    WriteOut(bytes);
  }
}

void OutputFile::WriteOut(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw ErrnoError(temporary_, errno);
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

void OutputFile::Commit() {
  WriteOut(buffer_);
  buffer_.clear();
  if (fsync(fd_) != 0) throw ErrnoError(temporary_, errno);
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0) throw ErrnoError(temporary_, errno);
  RenameFile(temporary_, path_);
  // The new name is safe only when its directory is.
  const std::string directory(DirectoryOf(path_));
  const int dir = open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC);
  if (dir >= 0) {
    (void)fsync(dir);
    close(dir);
  }
}

void WriteWholeFile(const std::string& path, std::string_view contents) {
  OutputFile file(path);
  file.Append(contents);
  file.Commit();
}

}  // namespace penstock
