#include "penstock/io/files.h"

#include <fnmatch.h>

#include <algorithm>

namespace penstock {
namespace {

constexpr size_t kBufferSize = size_t{1} << 16, kPiece = size_t{4} << 20;

bool HasWildcard(std::string_view part) { return part.find_first_of("*?[\\") != std::string_view::npos; }

// Where the directories of a path begin: behind the scheme.
size_t RootOf(std::string_view path) {
  const std::string_view scheme = SchemeOf(path);
  return scheme.empty() ? 0 : scheme.size() + 3;
}

// The paths among `found` with `part` below each that exist and match.
std::vector<std::string> Below(const std::vector<std::string>& found, const std::string& part) {
  std::vector<std::string> matches;
  for (const std::string& directory : found) {
    FileSystem& files = FileSystemOf(directory);
    if (!HasWildcard(part)) {
      matches.push_back(directory + part);
      continue;
    }
    const std::string place = directory.empty() ? "." : directory;
    const auto info = files.Find(place);
    if (!info || !info->is_directory) continue;
    for (const DirectoryEntry& entry : files.List(place)) {
      if (fnmatch(part.c_str(), entry.name.c_str(), FNM_PATHNAME) == 0) matches.push_back(directory + entry.name);
    }
  }
  return matches;
}

}  // namespace

bool FileExists(const std::string& path) { return FileSystemOf(path).Find(path).has_value(); }

std::string ReadWholeFile(const std::string& path) {
  const InputFile file(path);
  return file.Read(0, file.size());
}

void RenameFile(const std::string& from, const std::string& to) {
  if (&FileSystemOf(from) != &FileSystemOf(to)) {
    throw Unimplemented("Renaming ", from, " to ", to, " not implemented");
  }
  FileSystemOf(from).Rename(from, to);
}

void RemoveFile(const std::string& path) { FileSystemOf(path).Remove(path); }

void CopyFile(const std::string& from, const std::string& to) {
  const InputFile source(from);
  OutputFile target(to);
  for (uint64_t at = 0; at < source.size(); at += kPiece) {
    target.Append(source.Read(at, std::min<uint64_t>(kPiece, source.size() - at)));
  }
  target.Commit();
}

void MakeDirectories(const std::string& path) { FileSystemOf(path).MakeDirectories(path); }

bool RemoveEmptyDirectory(const std::string& path) {
  try {
    FileSystemOf(path).RemoveDirectory(path);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void RemoveAbandoned(const std::string& directory) {
  FileSystemOf(directory).RemoveAbandoned(directory.empty() ? "." : directory);
}

std::string_view DirectoryOf(std::string_view path) {
  const size_t slash = path.rfind('/'), root = RootOf(path);
  if (slash == std::string_view::npos) return {};
  if (root > 0) return path.substr(0, std::max(slash, root));
  return path.substr(0, slash == 0 ? 1 : slash);
}

std::vector<std::string> MatchingPaths(const std::string& pattern) {
  if (pattern.empty()) return {};
  const size_t root = RootOf(pattern);
  std::vector<std::string> found{pattern.substr(0, root)};
  for (size_t at = root; at < pattern.size();) {
    const size_t end = std::min(pattern.find('/', at), pattern.size());
    if (end > at) found = Below(found, pattern.substr(at, end - at));
    if (end < pattern.size()) {
      for (std::string& path : found) path += '/';
    }
    at = end + 1;
  }
  std::erase_if(found, [](const std::string& path) { return !FileExists(path); });
  // What is looked for in the current directory is found in ".", as TensorFlow says.
  const std::string_view fixed = std::string_view(pattern).substr(0, pattern.find_first_of("*?[\\"));
  if (root == 0 && fixed.size() < pattern.size() && fixed.find('/') == fixed.npos) {
    for (std::string& path : found) path.insert(0, "./");
  }
  std::sort(found.begin(), found.end());
  return found;
}

InputFile::InputFile(const std::string& path) : path_(path), source_(FileSystemOf(path).Open(path)) {}

void InputFile::Read(uint64_t offset, size_t n, char* out) const {
  if (offset > size() || n > size() - offset) {
    throw OutOfRange(path_, ": file ends at ", size(), " before ", n, " bytes at ", offset, " could be read");
  }
  source_->Read(offset, n, out);
}

std::string InputFile::Read(uint64_t offset, size_t n) const {
  if (offset > size() || n > size() - offset) Read(offset, n, nullptr);
  std::string bytes(n, '\0');
  Read(offset, n, bytes.data());
  return bytes;
}

OutputFile::OutputFile(const std::string& path, WriteMode mode)
    : whole_(mode == WriteMode::kWhole), sink_(FileSystemOf(path).Create(path, mode)) {}

OutputFile::~OutputFile() {
  if (whole_ || !sink_) return;
  try {
    Commit();
  } catch (const Error&) {  // nobody is left to tell
  }
}

bool OutputFile::Fits(uint64_t bytes) const { return sink_ && bytes <= kBufferSize - buffer_.size(); }

void OutputFile::Append(std::string_view bytes) {
  size_ += bytes.size();
  if (!Fits(bytes.size())) WriteOut();
  if (bytes.size() <= kBufferSize) {
    buffer_.append(bytes);
  } else {
    sink_->Append(bytes);
  }
}

void OutputFile::WriteOut() {
  if (!sink_) throw FailedPrecondition("the file is closed");
  sink_->Append(buffer_);
  buffer_.clear();
}

void OutputFile::Flush() {
  WriteOut();
  sink_->Flush();
}

void OutputFile::Commit() {
  WriteOut();
  sink_->Close();
  sink_.reset();
}

void WriteWholeFile(const std::string& path, std::string_view contents) {
  OutputFile file(path);
  file.Append(contents);
  file.Commit();
}

}  // namespace penstock
