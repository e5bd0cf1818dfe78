// Queues: handles are resources, or in the first version references to a pair of strings.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

void OldHandleShape(ShapeContext& c) { c.out(0, PartialShape({2})); }

void HandleShape(ShapeContext& c) {
  c.out(0, PartialShape({}));
  const auto& types = c.attr<std::vector<DataType>>("component_types");
  const auto& shapes = c.attr<std::vector<PartialShape>>("shapes");
  if (shapes.size() != types.size()) return;
  std::vector<DtypeAndShape> components;
  for (size_t i = 0; i < types.size(); ++i) components.push_back({types[i], shapes[i]});
  c.out_handle(0, std::move(components));
}

void PriorityHandleShape(ShapeContext& c) {
  HandleShape(c);
  std::vector<DtypeAndShape> components = c.outputs()[0].handle_data;
  if (components.empty()) return;
  components.insert(components.begin(), {DT_INT64, PartialShape({})});
  c.out_handle(0, std::move(components));
}

void DequeueShape(ShapeContext& c) {
  const auto& components = c.in_handle(0);
  if (static_cast<int>(components.size()) != c.num_outputs()) return;
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, components[i].shape);
}

void BatchShape(ShapeContext& c, int64_t n) {
  const auto& components = c.in_handle(0);
  if (static_cast<int>(components.size()) != c.num_outputs()) return;
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, shapes::Concatenate(PartialShape({n}), components[i].shape));
}

void DequeueManyShape(ShapeContext& c) {
  const auto n = c.in_int(1);
  if (n && *n < 0) throw InvalidArgument("Input 'n' must be >= 0, but is ", *n);
  BatchShape(c, n.value_or(-1));
}

void DequeueUpToShape(ShapeContext& c) { BatchShape(c, -1); }

// The same op twice: with a reference to strings, and ("V2", stateful) with a resource.
struct Version {
  const char *suffix, *handle;
  bool resource;
};
constexpr Version kVersions[] = {{"", "handle: Ref(string)", false}, {"V2", "handle: resource", true}};

OpBuilder AddOp(OpRegistry& ops, const char* name, const Version& version) {
  OpBuilder op = ops.Add(StrCat(name, version.suffix));
  op.Input(version.handle);
  if (version.resource) {
    op.Stateful();
  } else if (std::string_view(name) != "QueueIsClosed") {
    op.NotDifferentiable();
  }
  return op;
}

OpBuilder AddQueue(OpRegistry& ops, const char* name, const Version& version) {
  OpBuilder op = ops.Add(StrCat(name, version.suffix));
  op.Output(version.handle).Attr("component_types: list(type) >= 1").Attr("shapes: list(shape) >= 0 = []");
  op.Attr("capacity: int = -1").Stateful().Shape(version.resource ? HandleShape : OldHandleShape);
  return op;
}

void AddName(OpBuilder op) { op.Attr("container: string = ''").Attr("shared_name: string = ''"); }

}  // namespace

void RegisterQueueOps(OpRegistry& ops) {
  for (const Version& version : kVersions) {
    AddName(AddQueue(ops, "FIFOQueue", version).Doc("A queue: first in, first out."));
    AddName(
        AddQueue(ops, "RandomShuffleQueue", version)
            .Attr("min_after_dequeue: int = 0")
            .Attr("seed: int = 0")
            .Attr("seed2: int = 0")
            .Doc("A queue that gives a random one of its elements, and keeps `min_after_dequeue` while it is open."));
    AddName(AddQueue(ops, "PaddingFIFOQueue", version)
                .Doc("A FIFOQueue with elements of different sizes; batches are padded with zeros."));
    OpBuilder priority = ops.Add(StrCat("PriorityQueue", version.suffix));
    priority.Output(version.handle).Attr("component_types: list(type) >= 0 = []").Attr("shapes: list(shape) >= 0");
    priority.Attr("capacity: int = -1").Stateful().Shape(version.resource ? PriorityHandleShape : OldHandleShape);
    AddName(priority.Doc("A queue whose elements begin with a priority (int64); the smallest comes first."));
    AddOp(ops, "QueueEnqueue", version)
        .Input("components: Tcomponents").Attr("Tcomponents: list(type) >= 1").Attr("timeout_ms: int = -1")
        .Shape(shapes::None).Doc("Adds an element; waits while the queue is full.");
    AddOp(ops, "QueueEnqueueMany", version)
        .Input("components: Tcomponents").Attr("Tcomponents: list(type) >= 1").Attr("timeout_ms: int = -1")
        .Shape(shapes::None).Doc("Adds the elements that the components hold along their first dimension.");
    AddOp(ops, "QueueDequeue", version)
        .Output("components: component_types")
        .Attr("component_types: list(type) >= 1")
        .Attr("timeout_ms: int = -1")
        .Shape(version.resource ? DequeueShape : shapes::Unknown)
        .Doc("Takes an element; waits for one if there is none.");
    AddOp(ops, "QueueDequeueMany", version)
        .Input("n: int32").Output("components: component_types").Attr("component_types: list(type) >= 1")
        .Attr("timeout_ms: int = -1").Shape(version.resource ? DequeueManyShape : shapes::Unknown)
        .Doc("Takes `n` elements, joined along a new first dimension.");
    AddOp(ops, "QueueDequeueUpTo", version)
        .Input("n: int32").Output("components: component_types").Attr("component_types: list(type) >= 1")
        .Attr("timeout_ms: int = -1").Shape(version.resource ? DequeueUpToShape : shapes::Unknown)
        .Doc("As QueueDequeueMany, but gives what is left of a queue that was closed.");
    AddOp(ops, "QueueClose", version)
        .Attr("cancel_pending_enqueues: bool = false").Shape(shapes::None)
        .Doc("No element can be added any more; those in the queue can still be taken.");
    AddOp(ops, "QueueSize", version)
        .Output("size: int32")
        .Shape(shapes::Scalar)
        .Doc("How many elements the queue holds.");
    AddOp(ops, "QueueIsClosed", version)
        .Output("is_closed: bool")
        .Shape(shapes::Scalar)
        .Doc("Whether the queue was closed.");
  }
}

}  // namespace penstock
