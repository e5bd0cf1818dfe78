// Function calls, through the step's FunctionCaller.
#include <algorithm>
#include <atomic>
#include <memory>

#include "penstock/kernel/function_scope.h"
#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

std::vector<Tensor> Inputs(KernelContext& k, int first) {
  std::vector<Tensor> args;
  args.reserve(k.num_inputs() - first);
  for (int i = first; i < k.num_inputs(); ++i) args.push_back(k.Take(i));
  return args;
}

Status SetOutputs(KernelContext& k, std::vector<Tensor> results) {
  if (static_cast<int>(results.size()) != k.num_outputs()) {
    return Status(Code::kInvalidArgument,
                  StrCat("the function returned ", results.size(), " values, but ", k.num_outputs(), " are expected"));
  }
  for (int i = 0; i < k.num_outputs(); ++i) {
    if (results[i].dtype() != k.node().output_type(i)) {
      return Status(Code::kInvalidArgument, StrCat("the function's result ", i, " has type ", results[i].dtype(),
                                                   ", but ", k.node().output_type(i), " is expected"));
    }
    k.SetOutput(i, std::move(results[i]));
  }
  return {};
}

FunctionCaller& Caller(KernelContext& k) {
  if (!k.step().functions) throw Internal("this step cannot call functions");
  return *k.step().functions;
}

// Calls a function whose results are the outputs.
void CallFor(KernelContext& k, const FuncRef& function, std::vector<Tensor> args, AsyncKernel::Done done) {
  Caller(k).CallAsync(function, std::move(args), k,
                      [&k, done = std::move(done)](Status status, std::vector<Tensor> results) {
                        if (status.ok()) status = SetOutputs(k, std::move(results));
                        done(std::move(status));
                      });
}

class Call : public AsyncKernel {
 public:
  Call(const NodeView& node, FuncRef function) : function_(std::move(function)) {}
  explicit Call(const NodeView& node) : Call(node, node.attr<FuncRef>("f")) {
    const AttrValue* executor = node.attrs().Find("executor_type");
    const std::string* name = executor ? executor->If<std::string>() : nullptr;
    if (name && !name->empty() && *name != "DEFAULT" && *name != "SINGLE_THREADED_EXECUTOR") {
      throw NotFound("No executor factory registered for the given executor type: ", *name);
    }
  }
  void RunAsync(KernelContext& k, Done done) override { CallFor(k, function_, Inputs(k, 0), std::move(done)); }

 private:
  const FuncRef function_;
};

// The function on a device that a value names.
class RemoteCall : public AsyncKernel {
 public:
  explicit RemoteCall(const NodeView& node) : function_(node.attr<FuncRef>("f")) {}
  void RunAsync(KernelContext& k, Done done) override {
    k.Require(k.shape(0).rank() == 0, "RemoteCall needs the name of one device, not a tensor of shape ", k.shape(0));
    FuncRef there = function_;
    there.attrs.Set(kTargetDeviceAttr, k.Scalar<TString>(0).view());
    CallFor(k, there, Inputs(k, 1), std::move(done));
  }

 private:
  const FuncRef function_;
};

bool IsTrue(const Tensor& value) {
  if (value.rank() > 0) return value.num_elements() > 0;
  if (value.dtype() == DT_STRING) return !value.data<TString>()->view().empty();
  if (!IsNumber(value.dtype()) && value.dtype() != DT_BOOL) {
    throw InvalidArgument(value.dtype(), " cannot be a condition");
  }
  const auto* bytes = static_cast<const uint8_t*>(value.raw());
  const int64_t size = value.bytes(), part = IsComplex(value.dtype()) ? size / 2 : size;
  const bool has_sign = IsFloating(value.dtype()) || IsComplex(value.dtype());
  for (int64_t i = 0; i < size; ++i) {
    const bool sign = has_sign && (i + 1) % part == 0;  // the last byte begins with it; -0 is zero
    if (bytes[i] & (sign ? 0x7f : 0xff)) return true;
  }
  return false;
}

struct ToBool {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(IsTrue(k.input(0)))); }
};

class If : public AsyncKernel {
 public:
  explicit If(const NodeView& node)
      : then_(node.attr<FuncRef>("then_branch")), else_(node.attr<FuncRef>("else_branch")) {}
  void RunAsync(KernelContext& k, Done done) override {
    const FuncRef& taken = IsTrue(k.input(0)) ? then_ : else_;
    CallFor(k, taken, Inputs(k, 1), std::move(done));
  }

 private:
  const FuncRef then_, else_;
};

class Case : public AsyncKernel {
 public:
  explicit Case(const NodeView& node) : branches_(node.attr<std::vector<FuncRef>>("branches")) {}
  void RunAsync(KernelContext& k, Done done) override {
    const int64_t last = static_cast<int64_t>(branches_.size()) - 1, index = k.Int(0);
    CallFor(k, branches_[index < 0 || index > last ? last : index], Inputs(k, 1), std::move(done));
  }

 private:
  const std::vector<FuncRef> branches_;
};

// Calls one after the other, each with the results of the one before, until `Next` has no more. A call that ends at
// once goes on in the loop of Drive, so that the stack does not grow.
class Repetition : public std::enable_shared_from_this<Repetition> {
 public:
  using Next = std::function<bool(Repetition&)>;  // sets `function` and `args`; false: it is over
  Repetition(KernelContext& k, AsyncKernel::Done done, std::vector<Tensor> values)
      : values(std::move(values)), k_(k), done_(std::move(done)), count_(this->values.size()) {}

  std::vector<Tensor> values;   // the loop's variables
  std::vector<Tensor> results;  // of the last call
  const FuncRef* function = nullptr;
  std::vector<Tensor> args;
  Next next;

  // The results of a body become the variables.
  void TakeResults(std::string_view kind) {
    if (results.size() != count_) {
      throw InvalidArgument(kind, " loop body returned ", results.size(), " arguments. Expected: ", count_);
    }
    values = std::move(results);
  }

  void Drive() {
    try {
      for (;;) {
        if (k_.cancelled()) throw Cancelled("the step was cancelled");
        if (!next(*this)) return End(SetOutputs(k_, std::move(values)));
        state_ = kCalling;
        Caller(k_).CallAsync(*function, std::move(args), k_,
                             [self = shared_from_this()](Status status, std::vector<Tensor> got) {
                               self->Returned(std::move(status), std::move(got));
                             });
        int calling = kCalling;
        if (state_.compare_exchange_strong(calling, kWaiting)) return;  // Returned goes on
        if (!status_.ok()) return End(status_);
      }
    } catch (...) {
      End(CurrentStatus());
    }
  }

 private:
  enum { kCalling, kWaiting, kReturned };
  void Returned(Status status, std::vector<Tensor> got) {
    status_ = std::move(status);
    results = std::move(got);
    if (state_.exchange(kReturned) != kWaiting) return;  // Drive goes on
    if (!status_.ok()) return End(status_);
    Drive();
  }
  void End(Status status) {
    const AsyncKernel::Done done = std::move(done_);
    next = nullptr;
    done(std::move(status));
  }

  KernelContext& k_;
  AsyncKernel::Done done_;
  const size_t count_;
  std::atomic<int> state_{kCalling};
  Status status_;
};

class While : public AsyncKernel {
 public:
  explicit While(const NodeView& node) : cond_(node.attr<FuncRef>("cond")), body_(node.attr<FuncRef>("body")) {}
  void RunAsync(KernelContext& k, Done done) override {
    auto loop = std::make_shared<Repetition>(k, std::move(done), Inputs(k, 0));
    loop->next = [this, last = static_cast<const FuncRef*>(nullptr)](Repetition& r) mutable {
      if (last == &cond_) {
        if (r.results.size() != 1)
          throw InvalidArgument("Expected a single scalar, but got ", r.results.size(), " tensors.");
        if (!IsTrue(r.results[0])) return false;
        last = &body_;
        r.args = std::move(r.values);
      } else {
        if (last == &body_) r.TakeResults("While");
        last = &cond_;
        r.args = r.values;
      }
      r.function = last;
      return true;
    };
    loop->Drive();
  }

 private:
  const FuncRef cond_, body_;
};

class For : public AsyncKernel {
 public:
  explicit For(const NodeView& node) : body_(node.attr<FuncRef>("body")) {}
  void RunAsync(KernelContext& k, Done done) override {
    const auto scalar = [&k](int i) {
      k.Require(k.shape(i).rank() == 0, k.node().op().inputs[i].name, " must be a scalar but got shape ", k.shape(i));
      return k.Int(i);
    };
    const int64_t start = scalar(0), limit = scalar(1), delta = scalar(2);
    k.Require(start == limit || (delta > 0 && start < limit) || (delta < 0 && start > limit),
              "Invalid start/limit/delta: ", start, " ", limit, " ", delta);
    auto loop = std::make_shared<Repetition>(k, std::move(done), Inputs(k, 3));
    loop->next = [this, i = start, limit, delta, first = true](Repetition& r) mutable {
      if (!first) {
        r.TakeResults("For");
        i += delta;
      }
      first = false;
      if (delta > 0 ? i >= limit : i <= limit) return false;
      r.args = std::move(r.values);
      r.args.insert(r.args.begin(), Tensor(static_cast<int32_t>(i)));
      r.function = &body_;
      return true;
    };
    loop->Drive();
  }

 private:
  const FuncRef body_;
};

// Dimensions that are not known are 0.
class FakeParam {
 public:
  explicit FakeParam(const NodeView& node) : type_(node.attr<DataType>("dtype")), shape_(KnownPart(node)) {}
  void operator()(KernelContext& k) const {
    Tensor value(type_, shape_);
    if (IsNumber(type_) || type_ == DT_BOOL) std::memset(value.mutable_raw(), 0, value.bytes());
    k.SetOutput(0, std::move(value));
  }

 private:
  static Shape KnownPart(const NodeView& node) {
    const auto& shape = node.attr<PartialShape>("shape");
    std::vector<int64_t> dims;
    if (shape.known_rank()) {
      for (const int64_t dim : shape.dims()) dims.push_back(std::max<int64_t>(dim, 0));
    } else {
      dims.push_back(0);
    }
    return Shape(dims);
  }

  const DataType type_;
  const Shape shape_;
};

// The runtime makes the gradient of a function when it is asked for SymbolicGradient{f=...}.
class SymbolicGradient : public Call {
 public:
  explicit SymbolicGradient(const NodeView& node)
      : Call(node, {"SymbolicGradient", {{"f", node.attr<FuncRef>("f")}}}) {}
};

}  // namespace

void RegisterFunctionalKernels(KernelRegistry& kernels) {
  kernels.Add<Call>("PartitionedCall");
  kernels.Add<Call>("StatefulPartitionedCall");
  kernels.Add<SymbolicGradient>("SymbolicGradient");
  for (const char* name : {"If", "StatelessIf"}) kernels.Add<If>(name).HostInput(0);
  for (const char* name : {"Case", "StatelessCase"}) kernels.Add<Case>(name).HostInput(0);
  for (const char* name : {"While", "StatelessWhile"}) kernels.Add<While>(name);
  kernels.Add<RemoteCall>("RemoteCall").HostInput(0);
  kernels.Add<FakeParam>("FakeParam");
  kernels.Add<For>("For").HostInput(0).HostInput(1).HostInput(2);
  kernels.Add<ToBool>("ToBool").HostInput(0).HostOutput(0);
}

}  // namespace penstock
