// ram://: files in the memory of this process.
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "penstock/base/fork.h"
#include "penstock/io/file_system.h"
#include "penstock/io/files.h"

namespace penstock {
namespace {

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// A file's bytes, which whoever has it open keeps alive.
struct Contents {
  mutable ForkMutex mutex;
  std::string bytes;
  int64_t modified_ns = Now();
};
using File = std::shared_ptr<Contents>;

class MemorySource : public FileSource {
 public:
  explicit MemorySource(File file) : file_(std::move(file)) {
    std::lock_guard lock(file_->mutex);
    size_ = file_->bytes.size();
  }
  uint64_t size() const override { return size_; }
  void Read(uint64_t offset, size_t n, char* out) const override {
    std::lock_guard lock(file_->mutex);
    if (n > 0) std::memcpy(out, file_->bytes.data() + offset, n);
  }

 private:
  const File file_;
  uint64_t size_ = 0;
};

// Directories are there as long as they were made or something is in them.
class MemoryFileSystem : public FileSystem {
 public:
  std::optional<FileInfo> Find(const std::string& path) override {
    std::lock_guard lock(mutex_);
    return FindLocked(Name(path));
  }
  std::unique_ptr<FileSource> Open(const std::string& path) override {
    std::lock_guard lock(mutex_);
    return std::make_unique<MemorySource>(At(path));
  }
  std::unique_ptr<FileSink> Create(const std::string& path, WriteMode mode) override;
  std::vector<DirectoryEntry> List(const std::string& directory) override {
    std::lock_guard lock(mutex_);
    const std::string name = Name(directory);
    const auto found = FindLocked(name);
    if (!found) throw NotFound(directory, "; No such file or directory");
    if (!found->is_directory) throw FailedPrecondition(directory, "; Not a directory");
    std::map<std::string, bool> names;
    const std::string inside = Inside(name);
    for (auto it = files_.lower_bound(inside); it != files_.end() && it->first.starts_with(inside); ++it) {
      Note(it->first.substr(inside.size()), false, &names);
    }
    for (auto it = directories_.upper_bound(inside); it != directories_.end() && it->starts_with(inside); ++it) {
      Note(it->substr(inside.size()), true, &names);
    }
    std::vector<DirectoryEntry> entries;
    for (const auto& [entry, is_directory] : names) entries.push_back({entry, is_directory});
    return entries;
  }
  void Rename(const std::string& from, const std::string& to) override {
    std::lock_guard lock(mutex_);
    const std::string source = Name(from), target = Name(to);
    const auto found = FindLocked(source), there = FindLocked(target);
    if (!found) throw NotFound(from, " to ", to, "; No such file or directory");
    if (there && there->is_directory && !(found->is_directory && EmptyLocked(target))) {
      throw FailedPrecondition(from, " to ", to, "; Is a directory");
    }
    if (source == target) return;
    if (target.starts_with(Inside(source))) throw InvalidArgument(from, " to ", to, "; Invalid argument");
    if (!found->is_directory) {
      const File file = files_.at(source);
      files_.erase(source);
      files_[target] = file;
      return;
    }
    directories_.erase(source);
    directories_.insert(target);
    const std::string inside = Inside(source);
    for (auto it = files_.lower_bound(inside); it != files_.end() && it->first.starts_with(inside);) {
      files_[Inside(target) + it->first.substr(inside.size())] = it->second;
      it = files_.erase(it);
    }
    for (auto it = directories_.lower_bound(inside); it != directories_.end() && it->starts_with(inside);) {
      directories_.insert(Inside(target) + it->substr(inside.size()));
      it = directories_.erase(it);
    }
  }
  void Remove(const std::string& path) override {
    std::lock_guard lock(mutex_);
    At(path);
    files_.erase(Name(path));
  }
  void MakeDirectory(const std::string& path) override {
    std::lock_guard lock(mutex_);
    const std::string name = Name(path);
    if (FindLocked(name)) throw AlreadyExists(path, "; File exists");
    const auto around = FindLocked(std::string(DirectoryOf(name)));
    if (!around) throw NotFound(path, "; No such file or directory");
    if (!around->is_directory) throw FailedPrecondition(path, "; Not a directory");
    directories_.insert(name);
  }
  void MakeDirectories(const std::string& path) override {
    std::lock_guard lock(mutex_);
    for (std::string name = Name(path); !name.empty(); name = std::string(DirectoryOf(name))) {
      if (files_.contains(name)) throw FailedPrecondition(path, "; Not a directory");
      directories_.insert(name);
    }
  }
  void RemoveDirectory(const std::string& path) override {
    std::lock_guard lock(mutex_);
    const std::string name = Name(path);
    const auto found = FindLocked(name);
    if (!found) throw NotFound(path, "; No such file or directory");
    if (!found->is_directory) throw FailedPrecondition(path, "; Not a directory");
    if (!EmptyLocked(name)) throw FailedPrecondition(path, "; Directory not empty");
    directories_.erase(name);
  }
  void RemoveTree(const std::string& path) override {
    std::lock_guard lock(mutex_);
    const std::string name = Name(path), inside = Inside(name);
    if (!FindLocked(name)) throw NotFound(path, "; No such file or directory");
    files_.erase(name);
    directories_.erase(name);
    std::erase_if(files_, [&](const auto& entry) { return entry.first.starts_with(inside); });
    std::erase_if(directories_, [&](const std::string& entry) { return entry.starts_with(inside); });
  }
  void Put(const std::string& path, const File& file) {
    std::lock_guard lock(mutex_);
    const std::string name = Name(path);
    if (const auto found = FindLocked(name); found && found->is_directory) {
      throw FailedPrecondition(path, "; Is a directory");
    }
    files_[name] = file;
  }

 private:
  // The path below ram://, without slashes that stand twice or at the ends; "" is the root.
  static std::string Name(const std::string& path) {
    std::string name;
    for (size_t at = path.find("://") + 3; at < path.size(); ++at) {
      if (path[at] != '/') {
        name.push_back(path[at]);
      } else if (!name.empty() && name.back() != '/') {
        name.push_back('/');
      }
    }
    if (!name.empty() && name.back() == '/') name.pop_back();
    return name;
  }
  static std::string Inside(const std::string& name) { return name.empty() ? name : name + "/"; }
  static void Note(std::string_view below, bool is_directory, std::map<std::string, bool>* names) {
    const size_t slash = below.find('/');
    (*names)[std::string(below.substr(0, slash))] |= is_directory || slash != std::string_view::npos;
  }
  std::optional<FileInfo> FindLocked(const std::string& name) const {
    if (const auto it = files_.find(name); it != files_.end()) {
      std::lock_guard lock(it->second->mutex);
      return FileInfo{it->second->bytes.size(), it->second->modified_ns, false};
    }
    if (name.empty() || directories_.contains(name) || !EmptyLocked(name)) return FileInfo{0, 0, true};
    return std::nullopt;
  }
  bool EmptyLocked(const std::string& name) const {
    const std::string inside = Inside(name);
    const auto file = files_.lower_bound(inside);
    const auto directory = directories_.upper_bound(inside);
    return (file == files_.end() || !file->first.starts_with(inside)) &&
           (directory == directories_.end() || !directory->starts_with(inside));
  }
  const File& At(const std::string& path) const {
    const auto it = files_.find(Name(path));
    if (it != files_.end()) return it->second;
    if (FindLocked(Name(path))) throw FailedPrecondition(path, "; Is a directory");
    throw NotFound(path, "; No such file or directory");
  }

  ForkMutex mutex_;
  std::map<std::string, File> files_;
  std::set<std::string> directories_;
};

class MemorySink : public FileSink {
 public:
  // Put under its name when it is closed if `system` is given.
  MemorySink(File file, MemoryFileSystem* system, std::string path)
      : file_(std::move(file)), system_(system), path_(std::move(path)) {}
  void Append(std::string_view bytes) override {
    std::lock_guard lock(file_->mutex);
    file_->bytes += bytes;
    file_->modified_ns = Now();
  }
  void Flush() override {}
  void Close() override {
    if (system_) system_->Put(path_, file_);
  }

 private:
  const File file_;
  MemoryFileSystem* const system_;
  const std::string path_;
};

std::unique_ptr<FileSink> MemoryFileSystem::Create(const std::string& path, WriteMode mode) {
  if (mode == WriteMode::kWhole) return std::make_unique<MemorySink>(std::make_shared<Contents>(), this, path);
  File file;
  {
    std::lock_guard lock(mutex_);
    const auto it = files_.find(Name(path));
    if (it != files_.end() && mode == WriteMode::kNew) throw AlreadyExists(path, "; File exists");
    if (it != files_.end() && mode == WriteMode::kAppend) file = it->second;
  }
  if (!file) {
    file = std::make_shared<Contents>();
    Put(path, file);
  }
  return std::make_unique<MemorySink>(std::move(file), nullptr, path);
}

}  // namespace

std::unique_ptr<FileSystem> MakeMemoryFileSystem() { return std::make_unique<MemoryFileSystem>(); }

}  // namespace penstock
