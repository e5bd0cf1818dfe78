// The classes _core.Session and Callable: running parts of a graph.
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <optional>
#include <thread>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "penstock/base/alarms.h"
#include "penstock/distributed/cluster_server.h"
#include "penstock/distributed/cluster_session.h"
#include "penstock/distributed/remote_master.h"
#include "penstock/kernel/interrupts.h"
#include "penstock/runtime/eager.h"
#include "penstock/runtime/session.h"

namespace penstock::python {
namespace {

std::string Bytes(nb::handle b) { return {PyBytes_AsString(b.ptr()), size_t(PyBytes_Size(b.ptr()))}; }

// --- Ctrl-C. Our handler counts and then calls the one that was there (Python's, which only sets a flag); the
// executors watch the count, so a step of the main thread ends, and Python raises KeyboardInterrupt.
struct sigaction g_previous;
std::atomic<int> g_in_handler{0};  // the handler may run on any thread, and Python's flag is set at its end

void OnInterrupt(int signal, siginfo_t* info, void* context) {
  g_in_handler.fetch_add(1);
  g_interrupts.fetch_add(1);
  RingInterrupt();
  if (g_previous.sa_flags & SA_SIGINFO) {
    if (g_previous.sa_sigaction) g_previous.sa_sigaction(signal, info, context);
  } else if (g_previous.sa_handler != SIG_DFL && g_previous.sa_handler != SIG_IGN) {
    g_previous.sa_handler(signal);
  }
  g_in_handler.fetch_sub(1);
}

void WatchInterrupts() {
  struct sigaction now;
  if (sigaction(SIGINT, nullptr, &now) != 0 || ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == OnInterrupt)) return;
  if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) return;
  g_previous = now;
  struct sigaction ours = {};
  ours.sa_sigaction = OnInterrupt;
  ours.sa_flags = SA_SIGINFO;
  sigemptyset(&ours.sa_mask);
  sigaction(SIGINT, &ours, nullptr);
}

bool OnMainThread() {
  static const unsigned long main_thread = [] {
    nb::object threading = nb::module_::import_("threading");
    return nb::cast<unsigned long>(threading.attr("main_thread")().attr("ident"));
  }();
  return PyThread_get_thread_ident() == main_thread;
}

// What came before the runtime begins to count is Python's to raise. To be called on the main thread only.
void RaiseEarlierInterrupt() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

struct PyServer {
  std::shared_ptr<ClusterServer> server;
};

constexpr std::string_view kGrpc = "grpc://";

// NotFoundError unless the target is this process itself or an address.
void RequireKnown(const std::string& target) {
  if (target.empty() || target == "local" || target.starts_with(kGrpc)) return;
  throw NotFound("No session factory registered for the given session options: {target: \"", target,
                 "\"}; this runtime knows \"\" and \"grpc://HOST:PORT\"");
}

// The master that a target names: of this process, or far away.
std::shared_ptr<MasterInterface> MasterOf(const std::string& target, const ClusterServer* server) {
  if (server) return server->master();
  return MakeRemoteMaster(target.substr(kGrpc.size()));
}

// A session of the one task of a cluster, in its process, needs no master.
bool IsLocal(const std::string& target, const ClusterServer* server, const SessionOptions& options) {
  return !target.starts_with(kGrpc) || (!getenv("FORCE") && server && server->is_alone() && options.cluster.empty());
}

std::shared_ptr<SessionInterface> MakeSession(std::shared_ptr<Graph> graph, const std::string& target,
                                              const std::string& config) {
  RequireKnown(target);
  SessionOptions options = ParseConfig(config);
  const std::shared_ptr<ClusterServer> server = ClusterServer::Find(target);
  if (!IsLocal(target, server.get(), options)) {
    return std::make_shared<ClusterSession>(std::move(graph), MasterOf(target, server.get()), target, config);
  }
  // Iterators end with their session, and wait for threads that may be calling Python.
  return std::shared_ptr<SessionInterface>(
      new Session(std::move(graph), std::move(options), server ? server->local() : nullptr),
      [](SessionInterface* dying) {
        std::optional<NoGil> no_gil;
        if (Py_IsInitialized() && PyGILState_Check()) no_gil.emplace();
        delete dying;
      });
}

void ResetTarget(const std::string& target, const std::vector<std::string>& containers, const std::string& config) {
  RequireKnown(target);
  const SessionOptions options = ParseConfig(config);
  const std::shared_ptr<ClusterServer> server = ClusterServer::Find(target);
  if (!target.starts_with(kGrpc)) return Session::Reset(containers);
  if (server) Session::Reset(containers, server->local());
  MasterOf(target, server.get())->Reset(containers, options.device_filters);
}

struct PySession {
  std::shared_ptr<Graph> graph;
  std::shared_ptr<SessionInterface> session;
};

// The exception of a status; on the main thread the user's interrupt, if that was the reason.
[[noreturn]] void RaiseOrInterrupt(const Status& status, bool main) {
  if (main && status.code() == Code::kCancelled) {
    while (g_in_handler.load() > 0) std::this_thread::yield();
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  Raise(status);
}

// What one run does around the runtime: feeds in, GIL away, fetches out.
class Runner {
 public:
  Runner(const std::shared_ptr<SessionInterface>& session, std::shared_ptr<const PreparedStep> step)
      : session_(session), step_(std::move(step)) {}

  nb::list Run(std::vector<Tensor>& feeds, const RunOptions& options, RunMetadata* metadata) const {
    std::vector<Tensor> fetches;
    Status status;
    const bool main = OnMainThread();
    if (main) RaiseEarlierInterrupt();
    {
      NoGil no_gil;
      try {
        session_->Run(*step_, feeds, &fetches, options, metadata, main);
      } catch (...) {
        status = CurrentStatus();
      }
    }
    if (!status.ok()) RaiseOrInterrupt(status, main);
    feeds.clear();  // a fetched tensor may be a fed one
    nb::list out = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(fetches.size())));
    for (size_t i = 0; i < fetches.size(); ++i) {
      PyList_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i), ToNumpy(std::move(fetches[i])).release().ptr());
    }
    return out;
  }
  const PreparedStep& step() const { return *step_; }

 private:
  std::shared_ptr<SessionInterface> session_;
  std::shared_ptr<const PreparedStep> step_;
};

struct PyCallable {
  Runner runner;
  RunOptions options;
};

StepSignature MakeSignature(const PySession& self, nb::handle feeds, nb::handle fetches, nb::handle targets) {
  const PyGraph graph{self.graph};
  StepSignature signature{Endpoints(graph, feeds), Endpoints(graph, fetches), {}};
  for (nb::handle target : targets) signature.targets.push_back(graph.At(nb::cast<int>(target)));
  return signature;
}

std::shared_ptr<const PreparedStep> Compile(const PySession& self, const StepSignature& signature,
                                            const RunOptions& options = {}) {
  Status status;
  std::shared_ptr<const PreparedStep> step;
  const bool main = OnMainThread();
  if (main) RaiseEarlierInterrupt();
  {
    NoGil no_gil;
    try {
      step = options.debug_watches.empty() ? self.session->Prepare(signature, main)
                                           : self.session->PrepareDebugged(signature, options, main);
    } catch (...) {
      status = CurrentStatus();
    }
  }
  if (!status.ok()) RaiseOrInterrupt(status, main);
  return step;
}

nb::tuple Run(PySession& self, nb::handle feeds, nb::handle fetches, nb::handle targets, nb::object options,
              bool want_metadata) {
  nb::list feed_ids;
  std::vector<nb::object> values;
  for (nb::handle feed : feeds) {
    feed_ids.append(feed[0]);
    values.push_back(nb::borrow(feed[1]));
  }
  const RunOptions run_options =
      options.is_none() ? RunOptions() : Guard([&] { return ParseRunOptions(Bytes(options)); });
  Runner runner(self.session, Compile(self, MakeSignature(self, feed_ids, fetches, targets), run_options));
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < values.size(); ++i) {
    tensors.push_back(Guard([&] { return FeedFromNumpy(values[i], runner.step().arg_types[i]); }));
  }
  RunMetadata metadata;
  nb::list out = runner.Run(tensors, run_options, want_metadata ? &metadata : nullptr);
  nb::object report = nb::none();
  if (want_metadata) report = ToBytes(SerializeRunMetadata(metadata));
  return nb::make_tuple(out, report);
}

// The values of a callable's feeds.
std::vector<Tensor> FeedsOf(const PyCallable& self, const nb::args& args) {
  const size_t wanted = self.runner.step().arg_types.size();
  if (args.size() != wanted) {
    throw nb::type_error(StrCat("the step is fed ", wanted, " values, but got ", args.size()).c_str());
  }
  std::vector<Tensor> feeds;
  feeds.reserve(wanted);
  for (size_t i = 0; i < wanted; ++i) {
    feeds.push_back(Guard([&] { return FeedFromNumpy(args[i], self.runner.step().arg_types[i]); }));
  }
  return feeds;
}

// Called with one value for each feed.
nb::list Call(PyCallable& self, nb::args args) {
  std::vector<Tensor> feeds = FeedsOf(self, args);
  return self.runner.Run(feeds, self.options, nullptr);
}

nb::tuple CallWithMetadata(PyCallable& self, nb::args args) {
  std::vector<Tensor> feeds = FeedsOf(self, args);
  RunMetadata metadata;
  nb::list out = self.runner.Run(feeds, self.options, &metadata);
  return nb::make_tuple(out, ToBytes(SerializeRunMetadata(metadata)));
}

std::string PartialRunSetup(PySession& self, nb::handle feeds, nb::handle fetches, nb::handle targets) {
  const StepSignature signature = MakeSignature(self, feeds, fetches, targets);
  std::string handle;
  Status status;
  {
    NoGil no_gil;
    try {
      handle = self.session->PartialRunSetup(signature);
    } catch (...) {
      status = CurrentStatus();
    }
  }
  if (!status.ok()) Raise(status);
  return handle;
}

nb::list PartialRun(PySession& self, const std::string& handle, nb::handle feeds, nb::handle fetches) {
  const PyGraph graph{self.graph};
  std::vector<std::pair<Endpoint, Tensor>> values;
  for (nb::handle feed : feeds) {
    const nb::object id = feed[0];
    const Endpoint e = graph.At(id);
    const nb::object value = nb::borrow(feed[1]);
    // Copied: the step goes on after this call.
    values.emplace_back(e, Guard([&] {
                          Tensor fed = FeedFromNumpy(value, BaseType(e.type()));
                          return fed.buffer() && fed.buffer()->borrowed() ? fed.Clone() : fed;
                        }));
  }
  const std::vector<Endpoint> wanted = Endpoints(graph, fetches);
  std::vector<Tensor> fetched;
  Status status;
  const bool main = OnMainThread();
  {
    NoGil no_gil;
    try {
      self.session->PartialRun(handle, values, wanted, &fetched, main);
    } catch (...) {
      status = CurrentStatus();
    }
  }
  if (!status.ok()) RaiseOrInterrupt(status, main);
  nb::list out;
  for (Tensor& t : fetched) out.append(ToNumpy(std::move(t)));
  return out;
}

struct PyDevice {
  std::string name, device_type;
  int64_t memory_limit;
  uint64_t incarnation;
};

nb::list Devices(const std::vector<DeviceAttributes>& devices) {
  nb::list out;
  for (const auto& d : devices) out.append(nb::cast(PyDevice{d.name, d.type, d.memory_limit, d.incarnation}));
  return out;
}

}  // namespace

void BindSession(nb::module_& m) {
  nb::class_<PyDevice>(m, "DeviceInfo")
      .def_ro("name", &PyDevice::name)
      .def_ro("device_type", &PyDevice::device_type)
      .def_ro("memory_limit", &PyDevice::memory_limit)
      .def_ro("incarnation", &PyDevice::incarnation);
  nb::class_<PyCallable>(m, "Callable").def("__call__", &Call).def("with_metadata", &CallWithMetadata);
  nb::class_<PyServer>(m, "Server")
      .def("__init__",
           [](PyServer* self, nb::bytes server_def) {
             const std::string bytes = Bytes(server_def);
             auto server = Waiting([&] { return ClusterServer::Create(ParseServerSpec(bytes)); });
             new (self) PyServer{std::move(server)};
           })
      .def_prop_ro("target", [](const PyServer& self) { return self.server->target(); });
  nb::class_<PySession>(m, "Session")
      .def(
          "__init__",
          [](PySession* self, PyGraph& graph, const std::string& target, nb::bytes config) {
            const std::string options = Bytes(config);
            auto session = Waiting([&] { return MakeSession(graph.graph, target, options); });
            WatchInterrupts();
            new (self) PySession{graph.graph, std::move(session)};
          },
          nb::arg("graph"), nb::arg("target") = "", nb::arg("config") = nb::bytes("", 0))
      .def("run", &Run, nb::arg("feeds"), nb::arg("fetches"), nb::arg("targets"),
           nb::arg("options").none() = nb::none(), nb::arg("metadata") = false)
      .def(
          "callable",
          [](PySession& self, nb::handle feeds, nb::handle fetches, nb::handle targets, nb::object options,
             nb::handle connections) {
            StepSignature signature = MakeSignature(self, feeds, fetches, targets);
            for (nb::handle connection : connections) {
              const std::vector<Endpoint> ends = Endpoints(PyGraph{self.graph}, connection);
              signature.connections.emplace_back(ends.at(0), ends.at(1));
            }
            const RunOptions run_options =
                options.is_none() ? RunOptions() : Guard([&] { return ParseRunOptions(Bytes(options)); });
            return PyCallable{Runner(self.session, Compile(self, signature, run_options)), run_options};
          },
          nb::arg("feeds"), nb::arg("fetches"), nb::arg("targets"), nb::arg("options").none() = nb::none(),
          nb::arg("connections") = nb::tuple())
      .def("partial_run_setup", &PartialRunSetup, nb::arg("feeds"), nb::arg("fetches"), nb::arg("targets"))
      .def("partial_run", &PartialRun, nb::arg("handle"), nb::arg("feeds"), nb::arg("fetches"))
      .def("list_devices",
           [](PySession& self) { return Devices(Waiting([&] { return self.session->ListDevices(); })); })
      .def("close",
           [](PySession& self) {
             NoGil no_gil;
             self.session->Close();
           })
      .def_static(
          "reset",
          [](const std::string& target, const std::vector<std::string>& containers, nb::bytes config) {
            const std::string options = Bytes(config);
            Waiting([&] { ResetTarget(target, containers, options); });
          },
          nb::arg("target"), nb::arg("containers"), nb::arg("config") = nb::bytes("", 0));
  m.def("cache_statistics", [] {
    nb::dict all;
    const auto add = [&](const char* name, const CacheStats& stats) {
      nb::dict entry;
      entry["size"] = stats.size;
      entry["capacity"] = stats.capacity;
      entry["hits"] = stats.hits;
      entry["misses"] = stats.misses;
      entry["evictions"] = stats.evictions;
      all[name] = entry;
    };
    add("eager signatures", EagerContext::Global().signature_cache_stats());
    add("functions", EagerContext::Global().function_cache_stats());
    add("session steps", Session::StepCacheStats());
    return all;
  });
  m.def(
      "list_local_devices",
      [](nb::bytes config) {
        return Devices(Guard([&] {
          std::vector<DeviceAttributes> all;
          for (const auto& device : MakeLocalDevices(ParseConfig(Bytes(config)))) all.push_back(AttributesOf(*device));
          return all;
        }));
      },
      nb::arg("config") = nb::bytes("", 0));
}

}  // namespace penstock::python
