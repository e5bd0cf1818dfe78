// TFRecord files.
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "penstock/io/record_stream.h"

namespace penstock::python {
namespace {

using Input = Shared<RecordStream>;
using Output = Shared<RecordFile>;

nb::object Next(Input& input) {
  std::string record;
  uint64_t offset;
  const bool more = input.Use([&](RecordStream& stream) { return stream.Next(&record, &offset); });
  return more ? nb::object(nb::bytes(record.data(), record.size())) : nb::none();
}

// A program may give a record as text too, which is UTF-8.
nb::bytes ToBytes(nb::handle record) {
  PyObject* const given = record.ptr();
  if (!PyUnicode_Check(given) && !PyByteArray_Check(given)) {
    throw nb::type_error(StrCat("Expected binary or unicode string, got ", nb::repr(record).c_str()).c_str());
  }
  PyObject* const bytes = PyUnicode_Check(given) ? PyUnicode_AsUTF8String(given) : PyBytes_FromObject(given);
  if (!bytes) nb::raise_python_error();
  return nb::steal<nb::bytes>(bytes);
}

void Write(Output& output, nb::handle given) {
  const nb::bytes record = PyBytes_Check(given.ptr()) ? nb::borrow<nb::bytes>(given) : ToBytes(given);
  const std::string_view bytes = View(record);
  const auto write = [bytes](RecordFile& file) { file.Write(bytes); };
  output.UseSeldomWaiting([bytes](const RecordFile& file) { return file.Fits(bytes); }, write);
}

}  // namespace

void BindRecords(nb::module_& m) {
  nb::class_<Input>(m, "RecordStream")
      .def("__init__",
           [](Input* self, const std::string& path, const std::string& compression) {
             Waiting([&] { new (self) Input(path, CompressionFromName(compression)); });
           })
      .def("next", &Next);

  nb::class_<Output>(m, "RecordFile")
      .def("__init__",
           [](Output* self, const std::string& path, const std::string& compression, int level) {
             Waiting([&] { new (self) Output(path, CompressionFromName(compression), level); });
           })
      .def("write", &Write, "Adds a record, which is bytes; or text, as UTF-8. TypeError: neither.")
      .def("flush", [](Output& output) { output.Use([](RecordFile& file) { file.Flush(); }); })
      .def("close", [](Output& output) { output.Use([](RecordFile& file) { file.Close(); }); });
}

}  // namespace penstock::python
