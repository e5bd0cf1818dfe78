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
      .def("write",
           [](Output& output, const nb::bytes& record) {
             const std::string_view bytes = View(record);
             const auto write = [bytes](RecordFile& file) { file.Write(bytes); };
             output.UseSeldomWaiting([bytes](const RecordFile& file) { return file.Fits(bytes); }, write);
           })
      .def("flush", [](Output& output) { output.Use([](RecordFile& file) { file.Flush(); }); })
      .def("close", [](Output& output) { output.Use([](RecordFile& file) { file.Close(); }); });
}

}  // namespace penstock::python
