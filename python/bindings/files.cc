// Checkpoints, event files and records.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "penstock/io/checkpoint_reader.h"
#include "penstock/io/debug_events.h"
#include "penstock/io/event_writer.h"
#include "penstock/io/records.h"

namespace penstock::python {
namespace {

using Records = Shared<RecordReader>;

struct PyDebugEvents {
  std::shared_ptr<DebugEvents> events;
};

nb::object Next(Records& records) {
  std::string record;
  const bool more = records.Use([&](RecordReader& reader) { return reader.Next(&record); });
  return more ? nb::object(ToBytes(record)) : nb::none();
}

}  // namespace

void BindFiles(nb::module_& m) {
  nb::class_<EventWriter>(m, "EventWriter")
      .def(
          "__init__",
          [](EventWriter* self, const std::string& prefix, const std::string& suffix) {
            new (self) EventWriter(prefix, suffix);
          },
          nb::arg("prefix"), nb::arg("suffix") = "")
      .def("open", [](EventWriter& w) { Waiting([&] { w.Open(); }); })
      .def("write", [](EventWriter& w, const nb::bytes& event) { Waiting([&, v = View(event)] { w.Write(v); }); })
      .def("flush", [](EventWriter& w) { Waiting([&] { w.Flush(); }); })
      .def("close", [](EventWriter& w) { Waiting([&] { w.Close(); }); })
      .def("path", [](const EventWriter& w) { return Waiting([&] { return w.path(); }); });

  nb::class_<CheckpointReader>(m, "CheckpointReader")
      .def("__init__", [](CheckpointReader* self,
                          const std::string& prefix) { Waiting([&] { new (self) CheckpointReader(prefix); }); })
      .def("version", &CheckpointReader::version)
      .def("names",
           [](const CheckpointReader& r) {
             nb::list names;
             for (const std::string& name : r.Names()) names.append(nb::bytes(name.data(), name.size()));
             return names;
           })
      .def("has", [](const CheckpointReader& r, const nb::bytes& name) { return r.Find(View(name)).has_value(); })
      .def("dtype",
           [](const CheckpointReader& r, const nb::bytes& name) {
             return Guard([&] { return static_cast<int>(r.Get(View(name)).dtype); });
           })
      .def("shape",
           [](const CheckpointReader& r, const nb::bytes& name) {
             return Guard([&] { return ShapeToPython(PartialShape(r.Get(View(name)).shape)); });
           })
      .def("read", [](const CheckpointReader& r, const nb::bytes& name) {
        return ToNumpy(Waiting([&, v = View(name)] { return r.Read(v); }));
      });

  nb::class_<PyDebugEvents>(m, "DebugEvents")
      .def("__init__",
           [](PyDebugEvents* self, const std::string& directory, const std::string& run_id, int64_t kept) {
             new (self) PyDebugEvents{Waiting([&] { return DebugEvents::Begin(directory, run_id, kept); })};
           })
      .def("write",
           [](PyDebugEvents& self, int file, const nb::bytes& event) {
             if (file < 0 || file >= DebugEvents::kFiles) throw nb::value_error("no such file");
             Waiting([&, v = View(event)] { self.events->Write(DebugEvents::File(file), v); });
           })
      .def("flush_non_execution", [](PyDebugEvents& self) { Waiting([&] { self.events->FlushNonExecution(); }); })
      .def("flush_execution", [](PyDebugEvents& self) { Waiting([&] { self.events->FlushExecution(); }); })
      .def("close", [](PyDebugEvents& self) { Waiting([&] { self.events->Close(); }); });

  nb::class_<Records>(m, "RecordReader")
      .def("__init__", [](Records* self, const std::string& path) { Waiting([&] { new (self) Records(path); }); })
      .def("next", &Next)
      .def("offset",
           [](Records& records) { return records.Use([](RecordReader& reader) { return reader.offset(); }); });
}

}  // namespace penstock::python
