// Files of the local machine. Errors: NotFound, PermissionDenied, AlreadyExists, FailedPrecondition, ... with the path.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/status.h"

namespace penstock {

// The error that errno stands for.
Error ErrnoError(std::string_view context, int error_number);

bool FileExists(const std::string& path);
std::string ReadWholeFile(const std::string& path);
void RenameFile(const std::string& from, const std::string& to);  // replaces `to`
void RemoveFile(const std::string& path);
void MakeDirectories(const std::string& path);  // with their parents; no error if they are there
// Removes a directory if it is empty; false if it is not, or is none.
bool RemoveEmptyDirectory(const std::string& path);
std::string_view DirectoryOf(std::string_view path);  // "" without a slash
// Paths that match a pattern with *, ? and [...], sorted.
std::vector<std::string> MatchingPaths(const std::string& pattern);

// Reads at any position. Thread-safe.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  // Exactly n bytes into `out`; OutOfRange if the file ends before.
  void Read(uint64_t offset, size_t n, char* out) const;
  std::string Read(uint64_t offset, size_t n) const;

 private:
  const std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

// Writes a file that appears under its name whole or not at all: bytes go to a temporary file beside it, which Commit
// syncs and renames. Without Commit nothing remains.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  void Append(std::string_view bytes);
  uint64_t size() const { return size_; }
  void Commit();

 private:
  void WriteOut(std::string_view bytes);
  const std::string path_;
  std::string temporary_, buffer_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

void WriteWholeFile(const std::string& path, std::string_view contents);  // at once, as OutputFile

}  // namespace penstock
