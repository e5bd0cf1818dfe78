// Files as Python sees them, and file systems that Python has: an object with the methods of penstock's own FileSystem
// (files/remote_files.py).
#include "penstock/io/file_system.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "bindings.h"
#include "penstock/io/files.h"

namespace penstock::python {
namespace {

constexpr size_t kPiece = size_t{8} << 20;

// Runs `f` with the GIL; what Python raises becomes an Error.
template <class F>
auto InPython(F&& f) {
  if (!WithGil::Possible()) throw Cancelled("Python has ended");
  const WithGil gil;
  try {
    return f();
  } catch (nb::python_error& e) {
    throw FromPython(e);
  } catch (const nb::builtin_exception& e) {
    throw Internal("a file system gave a value of a wrong type: ", std::string_view(e.what()));
  } catch (const nb::cast_error&) {
    throw Internal("a file system gave a value of a wrong type");
  }
}

// A Python object that may be let go of on any thread, also when Python has ended.
class Held {
 public:
  explicit Held(nb::object object) : object_(new nb::object(std::move(object))) {}
  ~Held() {
    if (!WithGil::Possible()) return;
    const WithGil gil;
    delete object_;
  }
  Held(const Held&) = delete;
  const nb::object& operator*() const { return *object_; }

 private:
  nb::object* object_;
};

// Reads in large pieces, the last of which is kept. The GIL guards it.
class PythonSource : public FileSource {
 public:
  PythonSource(std::string path, nb::object source, uint64_t size)
      : path_(std::move(path)), source_(std::move(source)), size_(size) {}
  uint64_t size() const override { return size_; }
  void Read(uint64_t offset, size_t n, char* out) const override {
    InPython([&] {
      while (n > 0) {
        if (offset < at_ || offset >= at_ + piece_.size()) Fetch(offset, n);
        const size_t skip = offset - at_, some = std::min(n, piece_.size() - skip);
        std::memcpy(out, piece_.data() + skip, some);
        out += some;
        offset += some;
        n -= some;
      }
    });
  }

 private:
  void Fetch(uint64_t offset, size_t n) const {
    const uint64_t wanted = std::min<uint64_t>(std::max(n, kPiece), size_ - offset);
    const auto bytes = nb::cast<nb::bytes>((*source_).attr("read")(offset, wanted));
    if (bytes.size() == 0 || bytes.size() > wanted) throw OutOfRange(path_, ": file ended while it was read");
    piece_ = View(bytes);
    at_ = offset;
  }
  const std::string path_;
  const Held source_;
  const uint64_t size_;
  mutable uint64_t at_ = 0;
  mutable std::string piece_;
};

// Gathers what is appended; a file that is to appear whole is sent in pieces, others when they are flushed.
class PythonSink : public FileSink {
 public:
  PythonSink(nb::object sink, bool whole) : sink_(std::move(sink)), whole_(whole) {}
  ~PythonSink() override {
    if (closed_) return;
    try {
      InPython([&] { (*sink_).attr("discard")(); });
    } catch (const Error&) {  // nobody is left to tell
    }
  }
  void Append(std::string_view bytes) override {
    waiting_ += bytes;
    if (whole_ && waiting_.size() >= kPiece) Send();
  }
  void Flush() override {
    if (!whole_) Send();
  }
  void Close() override {
    Send();
    InPython([&] { (*sink_).attr("close")(); });
    closed_ = true;
  }

 private:
  void Send() {
    if (waiting_.empty()) return;
    InPython([&] { (*sink_).attr("append")(ToBytes(waiting_)); });
    waiting_.clear();
  }
  const Held sink_;
  const bool whole_;
  bool closed_ = false;
  std::string waiting_;
};

class PythonFileSystem : public FileSystem {
 public:
  explicit PythonFileSystem(nb::object system) : system_(std::move(system)) {}
  std::optional<FileInfo> Find(const std::string& path) override {
    return InPython([&]() -> std::optional<FileInfo> {
      const nb::object found = (*system_).attr("find")(path);
      if (found.is_none()) return std::nullopt;
      const auto [size, modified_ns, is_directory] = nb::cast<std::tuple<uint64_t, int64_t, bool>>(found);
      return FileInfo{size, modified_ns, is_directory};
    });
  }
  std::unique_ptr<FileSource> Open(const std::string& path) override {
    return InPython([&] {
      nb::object source = (*system_).attr("open")(path);
      const auto size = nb::cast<uint64_t>(source.attr("size"));
      return std::make_unique<PythonSource>(path, std::move(source), size);
    });
  }
  std::unique_ptr<FileSink> Create(const std::string& path, WriteMode mode) override {
    const char* name = mode == WriteMode::kWhole     ? "whole"
                       : mode == WriteMode::kNew     ? "new"
                       : mode == WriteMode::kReplace ? "replace"
                                                     : "append";
    return InPython(
        [&] { return std::make_unique<PythonSink>((*system_).attr("create")(path, name), mode == WriteMode::kWhole); });
  }
  std::vector<DirectoryEntry> List(const std::string& directory) override {
    return InPython([&] {
      std::vector<DirectoryEntry> entries;
      for (const nb::handle entry : (*system_).attr("list")(directory)) {
        entries.push_back({nb::cast<std::string>(entry[0]), nb::cast<bool>(entry[1])});
      }
      return entries;
    });
  }
  void Rename(const std::string& from, const std::string& to) override { Call("rename", from, to); }
  void Remove(const std::string& path) override { Call("remove", path); }
  void MakeDirectory(const std::string& path) override { Call("make_directory", path); }
  void MakeDirectories(const std::string& path) override { Call("make_directories", path); }
  void RemoveDirectory(const std::string& path) override { Call("remove_directory", path); }
  void RemoveTree(const std::string& path) override { Call("remove_tree", path); }

 private:
  template <class... Args>
  void Call(const char* method, const Args&... args) {
    InPython([&] { (*system_).attr(method)(args...); });
  }
  const Held system_;
};

WriteMode ModeOf(const std::string& mode) {
  if (mode == "x") return WriteMode::kWhole;
  return mode == "a" ? WriteMode::kAppend : WriteMode::kReplace;
}

nb::object Stat(const std::string& path) {
  const std::optional<FileInfo> found = Waiting([&] { return FileSystemOf(path).Find(path); });
  if (!found) return nb::none();
  return nb::make_tuple(found->size, found->modified_ns, found->is_directory);
}

nb::list List(const std::string& directory) {
  nb::list names;
  for (const DirectoryEntry& entry : Waiting([&] { return FileSystemOf(directory).List(directory); })) {
    // Names are bytes that need not be UTF-8.
    names.append(nb::make_tuple(
        nb::steal(PyUnicode_DecodeFSDefaultAndSize(entry.name.data(), static_cast<Py_ssize_t>(entry.name.size()))),
        entry.is_directory));
  }
  return names;
}

// A function of one path that returns nothing.
template <class F>
void DefPath(nb::module_& m, const char* name, F f) {
  m.def(name, [f](const std::string& path) { Waiting([&] { f(path); }); }, nb::arg("path"));
}

}  // namespace

void BindFileSystems(nb::module_& m) {
  m.def("file_stat", &Stat, nb::arg("path"));
  m.def("file_list", &List, nb::arg("directory"));
  m.def("file_rename", [](const std::string& from, const std::string& to) { Waiting([&] { RenameFile(from, to); }); });
  m.def("file_copy", [](const std::string& from, const std::string& to) { Waiting([&] { CopyFile(from, to); }); });
  DefPath(m, "file_remove", [](const std::string& path) { RemoveFile(path); });
  DefPath(m, "make_directory", [](const std::string& path) { FileSystemOf(path).MakeDirectory(path); });
  DefPath(m, "make_directories", [](const std::string& path) { MakeDirectories(path); });
  DefPath(m, "remove_tree", [](const std::string& path) { FileSystemOf(path).RemoveTree(path); });
  m.def("matching_paths", [](const std::string& pattern) { return Waiting([&] { return MatchingPaths(pattern); }); });
  m.def("set_file_system_factory", [](nb::object factory) {
    // Never destroyed: files may be asked for while the interpreter ends.
    auto* kept = new nb::object(std::move(factory));
    SetFileSystemFactory([kept](const std::string& scheme) {
      return InPython([&]() -> std::unique_ptr<FileSystem> {
        nb::object system = (*kept)(scheme);
        return system.is_none() ? nullptr : std::make_unique<PythonFileSystem>(std::move(system));
      });
    });
    SetFileWait([](const std::function<void()>& wait) {
      if (!Py_IsInitialized() || !PyGILState_Check()) return wait();
      const NoGil no_gil;
      wait();
    });
  });

  nb::class_<InputFile>(m, "InputFile")
      .def("__init__", [](InputFile* self, const std::string& path) { Waiting([&] { new (self) InputFile(path); }); })
      .def("size", &InputFile::size)
      .def("read", [](const InputFile& file, uint64_t offset, size_t n) {
        return ToBytes(Waiting([&] { return file.Read(offset, n); }));
      });
  using Output = Shared<OutputFile>;
  nb::class_<Output>(m, "OutputFile")
      .def("__init__", [](Output* self, const std::string& path,
                          const std::string& mode) { Waiting([&] { new (self) Output(path, ModeOf(mode)); }); })
      .def("append",
           [](Output& output, const nb::bytes& b) { output.Use([v = View(b)](OutputFile& file) { file.Append(v); }); })
      .def("size", [](Output& output) { return output.Use([](OutputFile& file) { return file.size(); }); })
      .def("flush", [](Output& output) { output.Use([](OutputFile& file) { file.Flush(); }); })
      .def("commit", [](Output& output) { output.Use([](OutputFile& file) { file.Commit(); }); });
}

}  // namespace penstock::python
