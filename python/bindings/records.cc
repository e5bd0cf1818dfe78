// TFRecord files.
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "penstock/io/record_stream.h"

namespace penstock::python {
namespace {

nb::object Next(RecordStream& stream) {
  std::string record;
  uint64_t offset;
  const bool more = Waiting([&] { return stream.Next(&record, &offset); });
  return more ? nb::object(nb::bytes(record.data(), record.size())) : nb::none();
}

}  // namespace

void BindRecords(nb::module_& m) {
  nb::class_<RecordStream>(m, "RecordStream")
      .def("__init__",
           [](RecordStream* self, const std::string& path, const std::string& compression) {
             Waiting([&] { new (self) RecordStream(path, CompressionFromName(compression)); });
           })
      .def("next", &Next);

  nb::class_<RecordFile>(m, "RecordFile")
      .def("__init__",
           [](RecordFile* self, const std::string& path, const std::string& compression, int level) {
             Waiting([&] { new (self) RecordFile(path, CompressionFromName(compression), level); });
           })
      .def("write",
           [](RecordFile& file, const nb::bytes& record) {
             Waiting([&, v = View(record)] { file.Write(v); });
           })
      .def("flush", [](RecordFile& file) { Waiting([&] { file.Flush(); }); })
      .def("close", [](RecordFile& file) { Waiting([&] { file.Close(); }); });
}

}  // namespace penstock::python
