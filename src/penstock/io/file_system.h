// What a file system does. Paths of the form scheme://... belong to the file system of that scheme, all others to the
// local one; files.h is what readers and writers use.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"

namespace penstock {

struct FileInfo {
  uint64_t size = 0;
  int64_t modified_ns = 0;  // since 1970
  bool is_directory = false;
};

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
};

// Reads at any position. Thread-safe.
class FileSource {
 public:
  virtual ~FileSource() = default;
  virtual uint64_t size() const = 0;
  // Exactly n bytes, which the file has.
  virtual void Read(uint64_t offset, size_t n, char* out) const = 0;
};

// Takes bytes one after the other.
class FileSink {
 public:
  virtual ~FileSink() = default;
  virtual void Append(std::string_view bytes) = 0;
  virtual void Flush() = 0;  // others can read what was appended, unless the file is to appear whole
  virtual void Close() = 0;
};

enum class WriteMode {
  kWhole,    // appears under its name when it is closed, on the disk and in the place of what was there; else never
  kNew,      // AlreadyExists if there is one
  kReplace,  // begins empty
  kAppend,
};

// Thread-safe. Errors have TensorFlow's codes and name the path.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual std::optional<FileInfo> Find(const std::string& path) = 0;  // none if it does not exist
  virtual std::unique_ptr<FileSource> Open(const std::string& path) = 0;
  virtual std::unique_ptr<FileSink> Create(const std::string& path, WriteMode mode) = 0;
  virtual std::vector<DirectoryEntry> List(const std::string& directory) = 0;
  virtual void Rename(const std::string& from, const std::string& to) = 0;  // replaces `to`
  virtual void Remove(const std::string& path) = 0;
  virtual void MakeDirectory(const std::string& path) = 0;    // AlreadyExists, NotFound (what it is to be in)
  virtual void MakeDirectories(const std::string& path) = 0;  // with those around it; no error if they exist
  virtual void RemoveDirectory(const std::string& path) = 0;  // FailedPrecondition unless it is empty
  virtual void RemoveTree(const std::string& path) = 0;       // with all that is in it
  // Removes what processes that were killed while they wrote whole files left in a directory. What cannot be told from
  // the work of a living process stays.
  virtual void RemoveAbandoned(const std::string& /*directory*/) {}
  // Keeps other processes of this machine that ask for it too from a directory, as long as the result lives. Null where
  // that cannot be done.
  virtual std::shared_ptr<void> LockDirectory(const std::string& /*directory*/) { return nullptr; }
};

std::string_view SchemeOf(std::string_view path);  // "s3" of s3://bucket/key, "" of local paths
FileSystem& FileSystemOf(std::string_view path);   // Unimplemented: nobody knows the scheme

// Asked once for each scheme that is not known; null if it does not know it either.
using FileSystemFactory = std::function<std::unique_ptr<FileSystem>(const std::string& scheme)>;
void SetFileSystemFactory(FileSystemFactory factory);

// A file system that is made by the factory may need a lock that the calling thread holds (Python's): who waits for
// another thread that writes files does so through here.
void WaitForFiles(const std::function<void()>& wait);
void SetFileWait(std::function<void(const std::function<void()>&)> around);

std::unique_ptr<FileSystem> MakeLocalFileSystem();
std::unique_ptr<FileSystem> MakeMemoryFileSystem();

}  // namespace penstock
