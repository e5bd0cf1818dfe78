// Files, on whatever file system their paths name. Errors: NotFound, PermissionDenied, AlreadyExists,
// FailedPrecondition, ... with the path.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/io/file_system.h"

namespace penstock {

bool FileExists(const std::string& path);
std::string ReadWholeFile(const std::string& path);
void RenameFile(const std::string& from, const std::string& to);  // replaces `to`
void RemoveFile(const std::string& path);
void CopyFile(const std::string& from, const std::string& to);  // replaces `to`
void MakeDirectories(const std::string& path);                  // with their parents; no error if they are there
// Removes a directory if it is empty; false if it is not, or is none.
bool RemoveEmptyDirectory(const std::string& path);
void RemoveAbandoned(const std::string& directory);   // as FileSystem's; "" is the working directory
std::string_view DirectoryOf(std::string_view path);  // "" without a slash
// Paths that match a pattern with *, ? and [...], sorted.
std::vector<std::string> MatchingPaths(const std::string& pattern);

// Reads at any position. Thread-safe.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  uint64_t size() const { return source_->size(); }
  const std::string& path() const { return path_; }
  // Exactly n bytes into `out`; OutOfRange if the file ends before.
  void Read(uint64_t offset, size_t n, char* out) const;
  std::string Read(uint64_t offset, size_t n) const;

 private:
  const std::string path_;
  const std::unique_ptr<FileSource> source_;
};

// Writes a file, by default one that appears under its name whole or not at all: without Commit, nothing remains of it.
// What was appended to others is not lost.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path, WriteMode mode = WriteMode::kWhole);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  void Append(std::string_view bytes);
  bool Fits(uint64_t bytes) const;  // whether appending them only fills the buffer
  void Flush();
  uint64_t size() const { return size_; }
  void Commit();  // nothing can be appended after it

 private:
  void WriteOut();
  const bool whole_;
  std::string buffer_;
  std::unique_ptr<FileSink> sink_;
  uint64_t size_ = 0;
};

void WriteWholeFile(const std::string& path, std::string_view contents);  // at once, as OutputFile

}  // namespace penstock
