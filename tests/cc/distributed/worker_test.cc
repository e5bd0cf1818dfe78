// Workers, called directly and over the transport: steps over two tasks, their failures and their cleanup.
#include "penstock/graph/function.h"
#include "two_tasks.h"

namespace penstock {
namespace {

Tensor Floats(const std::vector<float>& values) { return Tensor::Vector(values); }
std::vector<float> Values(const Tensor& t) {
  if (t.dtype() != DT_FLOAT) return {};
  return {t.flat<float>().begin(), t.flat<float>().end()};
}

class Workers : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Roads, Workers, testing::Bool(),
                         [](const auto& remote) { return remote.param ? "OverTheTransport" : "Directly"; });

// w, a variable on the ps: w = fed; fed * w is computed on the worker.
struct Product {
  explicit Product(TwoTasks& tasks, const std::string& shared_name = "w") {
    fed = {tasks.Placeholder(DT_FLOAT), 0};
    Node* handle = tasks.Add(kPsCpu, "VarHandleOp", {},
                             {{"dtype", DT_FLOAT}, {"shape", PartialShape({2})}, {"shared_name", shared_name}});
    assign = tasks.Add(kPsCpu, "AssignVariableOp", {{handle, 0}, fed}, {{"dtype", DT_FLOAT}});
    read = {tasks.Add(kPsCpu, "ReadVariableOp", {{handle, 0}}, {{"dtype", DT_FLOAT}}), 0};
    product = {tasks.Add(kWorkerCpu, "Mul", {fed, read}), 0};
  }
  Endpoint fed, read, product;
  Node* assign;
};

TEST_P(Workers, ReadsAVariableOfAnotherTask) {
  TwoTasks tasks({}, GetParam());
  const Product p(tasks);
  tasks.RunOnce({{p.fed}, {}, {p.assign}}, {Floats({2, 3})});
  const auto step = tasks.Prepare({{p.fed}, {p.product}, {}});
  // Either task may be the first to begin: a value may be received before its step.
  for (const auto& order : {std::vector{kPs, kWorker}, std::vector{kWorker, kPs}}) {
    const auto result = tasks.Run(step, {Floats({10, 100})}, order);
    ASSERT_TRUE(result.status().ok()) << result.status().ToString();
    EXPECT_EQ(Values(result.fetched[0]), (std::vector<float>{20, 300}));
  }
  EXPECT_EQ(tasks.worker(kPs).num_steps(), 0);
  EXPECT_EQ(tasks.worker(kWorker).num_steps(), 0);
}

TEST_P(Workers, ReportsTheCauseWhereItIsAndDerivedErrorsElsewhere) {
  TwoTasks tasks({}, GetParam());
  const Product p(tasks);
  const auto step = tasks.Prepare({{p.fed}, {p.product}, {}});
  const auto result = tasks.Run(step, {Floats({1, 1})});
  const Status& cause = result.statuses.at(kPs);
  EXPECT_EQ(cause.code(), Code::kFailedPrecondition);
  EXPECT_NE(cause.message().find("[[{{node ReadVariableOp}}]]"), std::string::npos) << cause.ToString();
  EXPECT_FALSE(IsDerived(cause));
  const Status& derived = result.statuses.at(kWorker);
  EXPECT_EQ(derived.code(), Code::kCancelled);
  EXPECT_TRUE(IsDerived(derived)) << derived.ToString();
  EXPECT_EQ(tasks.worker(kPs).num_steps(), 0);
}

TEST_P(Workers, PassesDeadValuesOn) {
  TwoTasks tasks({}, GetParam());
  const Endpoint fed{tasks.Placeholder(DT_BOOL), 0};
  Node* data = tasks.Constant(kPsCpu, Floats({1, 2}));
  Node* branch = tasks.Add(kPsCpu, "Switch", {{data, 0}, fed});
  Node* off = tasks.Add(kWorkerCpu, "Neg", {{branch, 0}});
  Node* on = tasks.Add(kWorkerCpu, "Square", {{branch, 1}});
  const Endpoint merged{tasks.Add(kWorkerCpu, "Merge", {{off, 0}, {on, 0}}), 0};
  EXPECT_EQ(Values(tasks.RunOnce({{fed}, {merged}, {}}, {Tensor(false)})), (std::vector<float>{-1, -2}));
  EXPECT_EQ(Values(tasks.RunOnce({{fed}, {merged}, {}}, {Tensor(true)})), (std::vector<float>{1, 4}));
  // A client cannot fetch one.
  const auto result = tasks.Run(tasks.Prepare({{fed}, {{on, 0}}, {}}), {Tensor(false)});
  EXPECT_EQ(result.statuses.at(kWorker).code(), Code::kInternal);
  EXPECT_NE(result.statuses.at(kWorker).message().find("Failed to fetch outputs for step "), std::string::npos);
  EXPECT_NE(result.statuses.at(kWorker).message().find(" was not valid."), std::string::npos);
}

TEST_P(Workers, EndsAStepThatWaitsWhenItIsCancelled) {
  TwoTasks tasks({}, GetParam());
  const Product p(tasks);
  tasks.RunOnce({{p.fed}, {}, {p.assign}}, {Floats({2, 3})});
  const auto step = tasks.Prepare({{p.fed}, {p.product}, {}});
  RunGraphRequest request = tasks.PartOf(step, kWorker, 5);
  request.sends = {{step.feed_keys[0], Floats({1, 1})}};
  const auto cancellation = MakeRef<CancellationManager>();
  Answer<RunGraphResponse> answer;
  tasks.Calls(kWorker).RunGraph(std::move(request), cancellation, answer.Done());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(answer.IsThere());  // the ps has not begun
  cancellation->Cancel();
  const Status status = answer.Error();
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_TRUE(IsDerived(status));
  for (const std::string& task : {kPs, kWorker}) {
    tasks.Cleanup(task, 5);
    EXPECT_EQ(tasks.worker(task).num_steps(), 0);
  }
}

TEST_P(Workers, LetsAReceiverOfAStepThatNeverBeginsGo) {
  WorkerOptions options;
  options.patience = std::chrono::milliseconds(50);
  TwoTasks tasks(options, GetParam());
  const std::string hex = StrCat(kPsCpu, ";", "0", ";", kWorkerCpu, ";x;0:0");
  Answer<Received> foreign, early;
  tasks.Calls(kPs).ReceiveTensor(7, hex, nullptr, Into(foreign));
  EXPECT_EQ(foreign.Error().code(), Code::kAborted);  // of another life
  const std::string key = FeedKey({kPsCpu, tasks.Incarnation(kPsCpu)}, 0);
  tasks.Calls(kPs).ReceiveTensor(7, key, nullptr, Into(early));
  const Status status = early.Error();
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_NE(status.message().find("Step 7 has not begun on this task within 50 ms."), std::string::npos);
  EXPECT_EQ(tasks.worker(kPs).num_steps(), 0);
}

TEST_P(Workers, RefusesWhatIsMeantForAnEarlierLife) {
  TwoTasks tasks({}, GetParam());
  const Product p(tasks);
  const auto step = tasks.Prepare({{p.fed}, {}, {p.assign}});
  const uint64_t before = tasks.Incarnation(kPsCpu);
  const std::string key = FeedKey({kPsCpu, before}, 0);
  tasks.Start(kPs);
  const uint64_t now = tasks.Incarnation(kPsCpu);

  Answer<Received> received;
  tasks.Calls(kPs).ReceiveTensor(1, key, nullptr, Into(received));
  Status status = received.Error();
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_EQ(status.message(),
            StrCat("RecvTensor expects a different device incarnation: ", before, " vs. ", now, ". Your worker job (\"",
                   kPs, "\") was probably restarted. Check your worker job for the reason why it was restarted."));

  Answer<RunGraphResponse> run;
  tasks.Calls(kPs).RunGraph(tasks.PartOf(step, kPs, 1), nullptr, run.Done());
  status = run.Error();
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_EQ(status.message(), "Graph handle is not found: " + step.handles.at(kPs));

  Answer<> deregistered;
  tasks.Calls(kPs).DeregisterGraph("", false, step.handles.at(kPs), deregistered.Done());
  EXPECT_EQ(deregistered.Error().message(),
            StrCat("Graph handle is not found: ", step.handles.at(kPs), ". Possibly, this worker just restarted."));

  RegisterGraphRequest request;
  request.session = "abc";
  request.has_session = true;
  Answer<std::string> registered;
  tasks.Calls(kPs).RegisterGraph(std::move(request), registered.Done());
  status = registered.Error();
  EXPECT_EQ(status.code(), Code::kAborted);
  EXPECT_EQ(status.message(),
            "Session handle is not found: abc. Possibly this worker (\"/job:ps/replica:0/task:0\") "
            "just restarted.");
}

TEST_P(Workers, RunsARequestOnce) {
  TwoTasks tasks({}, GetParam());
  const Product p(tasks);
  const auto step = tasks.Prepare({{}, {{tasks.Constant(kWorkerCpu, Tensor(1.0f)), 0}}, {}});
  for (const bool is_first : {true, false}) {
    RunGraphRequest request = tasks.PartOf(step, kWorker, 3);
    request.request_id = 4711;
    Answer<RunGraphResponse> answer;
    tasks.Calls(kWorker).RunGraph(std::move(request), nullptr, answer.Done());
    const Status status = answer.Error();
    EXPECT_EQ(status.ok(), is_first);
    if (is_first) continue;
    EXPECT_EQ(status.code(), Code::kAborted);
    EXPECT_TRUE(status.message().starts_with("The same RunGraph (Worker) request was received twice. "));
  }
}

TEST_P(Workers, KeepsIsolatedSessionsApart) {
  TwoTasks tasks({}, GetParam());
  const Product p(tasks);
  const auto read_in = [&](const std::string& session, bool isolated) {
    tasks.session = session;
    for (const std::string& task : {kPs, kWorker}) {
      WorkerSessionRequest request;
      request.session = session;
      request.isolate_state = isolated;
      Answer<> created;
      tasks.Calls(task).CreateSession(std::move(request), created.Done());
      EXPECT_TRUE(created.Error().ok());
    }
    const auto result = tasks.Run(tasks.Prepare({{p.fed}, {p.product}, {}}), {Floats({1, 1})});
    for (const std::string& task : {kPs, kWorker}) {
      Answer<> deleted;
      tasks.Calls(task).DeleteSession(session, deleted.Done());
      EXPECT_TRUE(deleted.Error().ok());
    }
    return result.status().code();
  };
  tasks.RunOnce({{p.fed}, {}, {p.assign}}, {Floats({2, 3})});
  EXPECT_EQ(read_in("a", false), Code::kOk);
  EXPECT_EQ(read_in("b", true), Code::kFailedPrecondition);
  // The variable outlives sessions, but not this.
  EXPECT_EQ(read_in("c", false), Code::kOk);
  Answer<> cleaned;
  tasks.Calls(kPs).CleanupAll({}, cleaned.Done());
  EXPECT_TRUE(cleaned.Error().ok());
  EXPECT_EQ(read_in("d", false), Code::kFailedPrecondition);
}

TEST_P(Workers, DropsTheSessionsOfAMasterThatStartsAgain) {
  TwoTasks tasks({}, GetParam());
  const auto create = [&](const std::string& session, int64_t incarnation) {
    WorkerSessionRequest request;
    request.session = session;
    request.master_task = kWorker;
    request.master_incarnation = incarnation;
    Answer<> created;
    tasks.Calls(kPs).CreateSession(std::move(request), created.Done());
    EXPECT_TRUE(created.Error().ok());
  };
  const auto is_there = [&](const std::string& session) {
    RegisterGraphRequest request;
    request.session = session;
    request.has_session = true;
    Answer<std::string> registered;
    tasks.Calls(kPs).RegisterGraph(std::move(request), registered.Done());
    return registered.Error().ok();
  };
  create("a", 1);
  create("b", 1);
  EXPECT_TRUE(is_there("a") && is_there("b"));
  create("c", 2);
  EXPECT_FALSE(is_there("a") || is_there("b"));
  EXPECT_TRUE(is_there("c"));
}

TEST_P(Workers, RunsAStepInPieces) {
  TwoTasks tasks({}, GetParam());
  const Endpoint a{tasks.Placeholder(DT_FLOAT), 0}, b{tasks.Placeholder(DT_FLOAT), 0};
  const Endpoint twice{tasks.Add(kPsCpu, "AddV2", {a, a}), 0};
  const Endpoint sum{tasks.Add(kPsCpu, "AddV2", {twice, b}), 0};
  const auto step = tasks.Prepare({{a, b}, {twice, sum}, {}});
  Answer<RunGraphResponse> ps, first, last;
  RunGraphRequest request = tasks.PartOf(step, kPs, 9);
  request.is_partial = request.is_last_partial = true;
  tasks.Calls(kPs).RunGraph(request, nullptr, ps.Done());
  request = tasks.PartOf(step, kWorker, 9);
  request.is_partial = true;
  request.sends = {{step.feed_keys[0], Tensor(3.0f)}};
  request.receives = {step.fetch_keys[0]};
  tasks.Calls(kWorker).RunGraph(request, nullptr, first.Done());
  EXPECT_EQ(first.Value().received.at(0).second.scalar<float>(), 6);
  request.is_last_partial = true;
  request.sends = {{step.feed_keys[1], Tensor(4.0f)}};
  request.receives = {step.fetch_keys[1]};
  tasks.Calls(kWorker).RunGraph(request, nullptr, last.Done());
  EXPECT_EQ(last.Value().received.at(0).second.scalar<float>(), 10);
  ps.Value();
  for (const std::string& task : {kPs, kWorker}) {
    tasks.Cleanup(task, 9);
    EXPECT_EQ(tasks.worker(task).num_steps(), 0);
  }
}

// A master optimizes the functions of each graph: those of two graphs may have one name and differ.
TEST_P(Workers, CallsTheFunctionsOfEachGraph) {
  TwoTasks tasks({}, GetParam());
  Node* three = tasks.Constant(kPsCpu, Tensor(3.0f));
  Node* call = tasks.Add(kPsCpu, "StatefulPartitionedCall", {{three, 0}},
                         {{"Tin", std::vector<DataType>{DT_FLOAT}},
                          {"Tout", std::vector<DataType>{DT_FLOAT}},
                          {"f", FuncRef{"f", {}}},
                          {"_noinline", true}});
  for (const auto& [op, expected] : {std::pair{"Neg", -3.0f}, {"Square", 9.0f}}) {
    Graph body;
    const auto add = [&](const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs) {
      return body.AddNode({.op = op,
                           .name = body.UniqueName(op),
                           .inputs = std::move(inputs),
                           .control_inputs = {},
                           .attrs = std::move(attrs),
                           .device = ""});
    };
    Node* x = add("Placeholder", {}, {{"dtype", DT_FLOAT}});
    FunctionSpec spec;
    spec.name = "f";
    spec.inputs = {{x, 0}};
    spec.outputs = {{add(op, {{x, 0}}, {}), 0}};
    spec.attrs = {{"_noinline", true}};
    tasks.graph->set_library(FunctionLibrary().With(GraphToFunction(body, spec)));
    EXPECT_EQ(tasks.RunOnce({{}, {{call, 0}}, {}}).scalar<float>(), expected);
  }
}

TEST_P(Workers, RecordsWhatRan) {
  TwoTasks tasks({}, GetParam());
  Node* one = tasks.Constant(kWorkerCpu, Tensor(1.0f));
  const auto step = tasks.Prepare({{}, {{one, 0}}, {}});
  RunGraphRequest request = tasks.PartOf(step, kWorker, 3);
  request.record_timeline = request.record_partition_graphs = true;
  request.receives = step.fetch_keys;
  Answer<RunGraphResponse> answer;
  tasks.Calls(kWorker).RunGraph(std::move(request), nullptr, answer.Done());
  const RunMetadata metadata = answer.Value().metadata;
  const std::string report = SerializeRunMetadata(metadata);
  EXPECT_NE(report.find(kWorkerCpu), std::string::npos);  // its step stats
  EXPECT_NE(report.find("_Send"), std::string::npos);     // the graph
}

TEST_P(Workers, StopsItsSteps) {
  TwoTasks tasks({}, GetParam());
  const Product p(tasks);
  tasks.RunOnce({{p.fed}, {}, {p.assign}}, {Floats({2, 3})});
  const auto step = tasks.Prepare({{p.fed}, {p.product}, {}});
  RunGraphRequest request = tasks.PartOf(step, kWorker, 5);
  request.sends = {{step.feed_keys[0], Floats({1, 1})}};
  Answer<RunGraphResponse> answer;
  tasks.Calls(kWorker).RunGraph(std::move(request), nullptr, answer.Done());
  for (int i = 0; i < 1000 && tasks.worker(kWorker).num_steps() == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  tasks.worker(kWorker).Stop();
  EXPECT_EQ(answer.Error().code(), Code::kCancelled);
  EXPECT_EQ(tasks.worker(kWorker).num_steps(), 0);
}

}  // namespace
}  // namespace penstock
