// A master over two workers of this process.
#include "penstock/distributed/master.h"
#include "penstock/distributed/cluster_session.h"
#include "two_tasks.h"

namespace penstock {
namespace {

// A client's graph, whose nodes are placed by the master.
class Client {
 public:
  explicit Client(SessionOptions defaults = {}, const std::string& config = "")
      : master(std::make_shared<Master>(kWorker, tasks.directory(), std::move(defaults))),
        session(graph, master, "grpc://test", config) {}

  Endpoint Add(const std::string& device, const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs = {}) {
    return {graph->AddNode({.op = op,
                            .name = graph->UniqueName(op),
                            .inputs = std::move(inputs),
                            .control_inputs = {},
                            .attrs = std::move(attrs),
                            .device = device}),
            0};
  }
  Endpoint Constant(float value, const std::string& device = "") {
    return Add(device, "Const", {}, {{"value", Tensor(value)}, {"dtype", DT_FLOAT}});
  }
  std::vector<Tensor> Run(const StepSignature& signature, const std::vector<Tensor>& feeds = {},
                          const RunOptions& options = {}, RunMetadata* metadata = nullptr) {
    std::vector<Tensor> fetches;
    session.Run(*session.Prepare(signature, false), feeds, &fetches, options, metadata, false);
    return fetches;
  }
  float Value(Endpoint fetch) { return *Run({{}, {fetch}, {}})[0].data<float>(); }
  Status Failure(const StepSignature& signature, const RunOptions& options = {}) {
    try {
      Run(signature, {}, options);
    } catch (const Error& error) {
      return error.status();
    }
    return {};
  }
  void ExpectNoStepIsLeft() {
    EXPECT_EQ(tasks.worker(kPs).num_steps(), 0);
    EXPECT_EQ(tasks.worker(kWorker).num_steps(), 0);
  }

  TwoTasks tasks;
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::shared_ptr<Master> master;
  ClusterSession session;
};

TEST(Master, TrainsAVariableOfAnotherTask) {
  Client c;
  const Endpoint v = c.Add("/job:ps", "VariableV2", {}, {{"dtype", DT_FLOAT}, {"shape", PartialShape({})}});
  const Endpoint set = c.Add("", "Assign", {v, c.Constant(2)});
  const Endpoint product = c.Add("/job:worker", "Mul", {v, c.Constant(10)});
  c.Run({{}, {}, {set.node}});
  EXPECT_EQ(c.Value(product), 20);
  // The graph grows; what is there keeps its place.
  const Endpoint add = c.Add("", "AssignAdd", {v, product});
  EXPECT_EQ(c.Value(add), 22);
  EXPECT_EQ(c.Value(product), 220);
  c.ExpectNoStepIsLeft();
}

TEST(Master, FeedsAndFetchesAtItsOwnTask) {
  Client c;
  const Endpoint x = c.Add("/job:ps", "Placeholder", {}, {{"dtype", DT_FLOAT}});
  const Endpoint y = c.Add("/job:ps", "Square", {x});
  // Fetched twice, and fed and fetched.
  const auto values = c.Run({{x}, {y, x, y}, {}}, {Tensor(3.0f)});
  EXPECT_EQ(*values[0].data<float>(), 9);
  EXPECT_EQ(*values[1].data<float>(), 3);
  EXPECT_EQ(*values[2].data<float>(), 9);
}

TEST(Master, PlacesFreeNodesOnItsOwnTask) {
  Client c;
  const Endpoint sum = c.Add("", "Add", {c.Constant(1, "/job:ps"), c.Constant(2)});
  RunOptions options;
  options.output_partition_graphs = true;
  RunMetadata metadata;
  c.Run({{}, {sum}, {}}, {}, options, &metadata);
  std::map<std::string, std::string> devices;
  for (const GraphDef& part : metadata.partition_graphs) {
    for (const NodeDef& node : part.nodes) devices[node.name] = node.device;
  }
  EXPECT_EQ(devices["Add"], kWorkerCpu);
  EXPECT_EQ(devices["Const"], kPsCpu);
}

TEST(Master, ReportsTheCauseWithItsTask) {
  Client c;
  const Endpoint missing = c.Add("/job:ps", "Placeholder", {}, {{"dtype", DT_FLOAT}});
  const Endpoint sum = c.Add("/job:worker", "Neg", {missing});
  const Status status = c.Failure({{}, {sum}, {}});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("From /job:ps/replica:0/task:0:\nYou must feed a value for placeholder"))
      << status.message();
  c.ExpectNoStepIsLeft();
}

TEST(Master, RefusesDevicesThatAreNotThere) {
  Client c;
  const Endpoint nowhere = c.Constant(1, "/job:ps/task:7");
  const Status status = c.Failure({{}, {nowhere}, {}});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("explicitly assigned to /job:ps/task:7 but available devices are [ " + kPsCpu + ", " +
                                  kWorkerCpu + " ]"),
            std::string::npos)
      << status.message();
}

TEST(Master, EndsAStepAtItsTimeLimit) {
  Client c;
  const Endpoint queue = c.Add("/job:ps", "FIFOQueueV2", {}, {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  const Endpoint next = c.Add("", "QueueDequeueV2", {queue}, {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  RunOptions options;
  options.timeout_ms = 50;
  EXPECT_EQ(c.Failure({{}, {next}, {}}, options).code(), Code::kDeadlineExceeded);
  c.ExpectNoStepIsLeft();
}

TEST(Master, ClosingASessionEndsItsSteps) {
  Client c;
  const Endpoint queue = c.Add("/job:ps", "FIFOQueueV2", {}, {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  const Endpoint next = c.Add("", "QueueDequeueV2", {queue}, {{"component_types", std::vector<DataType>{DT_FLOAT}}});
  auto failure = std::async(std::launch::async, [&] { return c.Failure({{}, {next}, {}}); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  c.session.Close();
  EXPECT_EQ(failure.get().code(), Code::kCancelled);
  EXPECT_EQ(c.Failure({{}, {next}, {}}).message(), "Session has been closed.");
  c.ExpectNoStepIsLeft();
}

TEST(Master, KnowsNoSessionOfAnEarlierLife) {
  Client c;
  const Endpoint one = c.Constant(1);
  EXPECT_EQ(c.Value(one), 1);
  c.master->Reset({}, {});
  const Status status = c.Failure({{}, {one}, {}});
  EXPECT_EQ(status.code(), Code::kAborted);
}

TEST(Master, RunsLoopsOverSeveralTasks) {
  Client c;
  // while (i < 5) i = 2 * i on the ps, with the condition on the worker.
  const Endpoint start = c.Constant(1);
  const auto frame = [](DataType type) { return AttrMap{{"T", type}, {"frame_name", std::string("loop")}}; };
  const Endpoint enter = c.Add("", "Enter", {start}, frame(DT_FLOAT));
  const Endpoint merge = c.Add("", "Merge", {enter, enter});
  const Endpoint limit = c.Add("", "Enter", {c.Constant(5)},
                               {{"T", DT_FLOAT}, {"frame_name", std::string("loop")}, {"is_constant", true}});
  const Endpoint less = c.Add("/job:worker", "Less", {merge, limit});
  const Endpoint condition = c.Add("/job:worker", "LoopCond", {less});
  const Endpoint branch = c.Add("", "Switch", {merge, condition});
  const Endpoint doubled = c.Add("/job:ps", "Add", {{branch.node, 1}, {branch.node, 1}});
  const Endpoint next = c.Add("", "NextIteration", {doubled});
  c.graph->UpdateInput(merge.node, 1, next);
  const Endpoint out = c.Add("", "Exit", {branch});
  EXPECT_EQ(c.Value(out), 8);
  c.ExpectNoStepIsLeft();
}

}  // namespace
}  // namespace penstock
