#include "penstock/io/file_system.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>

#include "penstock/base/fork.h"

namespace penstock {
namespace {

struct Registry {
  ForkMutex mutex;
  std::map<std::string, std::unique_ptr<FileSystem>, std::less<>> systems;
  FileSystemFactory factory;
  Registry() {
    systems[""] = MakeLocalFileSystem();
    systems["file"] = MakeLocalFileSystem();
    systems["ram"] = MakeMemoryFileSystem();
  }
};

// Never destroyed: threads may still write when the process ends.
Registry& TheRegistry() {
  static auto* registry = new Registry;
  return *registry;
}

std::function<void(const std::function<void()>&)>& FileWait() {
  static auto* around = new std::function<void(const std::function<void()>&)>;
  return *around;
}

bool IsSchemeLetter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '+' || c == '-'; }

}  // namespace

std::string_view SchemeOf(std::string_view path) {
  const size_t end = path.find("://");
  if (end == std::string_view::npos || end == 0) return {};
  const std::string_view scheme = path.substr(0, end);
  return std::all_of(scheme.begin(), scheme.end(), IsSchemeLetter) ? scheme : std::string_view();
}

FileSystem& FileSystemOf(std::string_view path) {
  const std::string_view scheme = SchemeOf(path);
  Registry& registry = TheRegistry();
  FileSystemFactory factory;
  {
    std::lock_guard lock(registry.mutex);
    if (const auto it = registry.systems.find(scheme); it != registry.systems.end()) return *it->second;
    factory = registry.factory;
  }
  // Without the lock: it may wait for Python, where another thread may ask for a file.
  std::unique_ptr<FileSystem> made = factory ? factory(std::string(scheme)) : nullptr;
  if (!made) throw Unimplemented("File system scheme '", scheme, "' not implemented (file: '", path, "')");
  std::lock_guard lock(registry.mutex);
  return *registry.systems.try_emplace(std::string(scheme), std::move(made)).first->second;
}

void SetFileSystemFactory(FileSystemFactory factory) {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  registry.factory = std::move(factory);
}

void WaitForFiles(const std::function<void()>& wait) {
  if (FileWait()) {
    FileWait()(wait);
  } else {
    wait();
  }
}

void SetFileWait(std::function<void(const std::function<void()>&)> around) { FileWait() = std::move(around); }

}  // namespace penstock
