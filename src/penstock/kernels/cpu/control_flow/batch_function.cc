// A function called once for the inputs of several calls that come at about the same time.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernel/py_function.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

using Clock = std::chrono::steady_clock;

struct Limits {
  int64_t threads, most_rows, most_batches, timeout_micros;
  std::vector<int64_t> sizes;  // that a batch is padded to

  explicit Limits(const NodeView& node)
      : threads(std::max<int64_t>(1, node.attr<int64_t>("num_batch_threads"))),
        most_rows(node.attr<int64_t>("max_batch_size")),
        most_batches(node.attr<int64_t>("max_enqueued_batches")),
        timeout_micros(node.attr<int64_t>("batch_timeout_micros")),
        sizes(node.attr<std::vector<int64_t>>("allowed_batch_sizes")) {
    KernelContext::Require(most_rows > 0, "max_batch_size must be positive; was ", most_rows);
    KernelContext::Require(most_batches > 0, "max_enqueued_batches must be positive; was ", most_batches);
    KernelContext::Require(timeout_micros >= 0, "batch_timeout_micros must be non-negative; was ", timeout_micros);
    const bool split = node.attr<bool>("enable_large_batch_splitting");
    for (size_t i = 0; i < sizes.size(); ++i) {
      KernelContext::Require(sizes[i] > (i == 0 ? 0 : sizes[i - 1]),
                             "allowed_batch_sizes entries must be monotonically increasing");
    }
    KernelContext::Require(sizes.empty() || split || sizes.back() == most_rows,
                           "final entry in allowed_batch_sizes must equal max_batch_size when "
                           "enable_large_batch_splitting is False");
  }
  // How many rows a batch may have, and how many one of `rows` gets.
  int64_t capacity() const { return sizes.empty() ? most_rows : std::min(most_rows, sizes.back()); }
  int64_t Padded(int64_t rows) const {
    const auto size = std::ranges::lower_bound(sizes, rows);
    return size == sizes.end() ? rows : *size;
  }
};

// One call of the op.
struct Task {
  KernelContext* k;
  const FuncRef* function;
  int num_inputs;  // that are batched; those behind them go along as they are
  int64_t rows;
  AsyncKernel::Done done;
  size_t open = 0;                           // parts that are not finished
  Status status;                             // of the first part that failed
  std::vector<std::vector<Tensor>> results;  // of each part
};

// Rows of a task that are in one batch.
struct Part {
  std::shared_ptr<Task> task;
  size_t number;
  int64_t begin, end;
};

Tensor JoinRows(const std::vector<Tensor>& parts) {
  if (parts.size() == 1) return parts[0];
  std::vector<int64_t> dims(parts[0].shape().dims().begin(), parts[0].shape().dims().end());
  dims[0] = 0;
  for (const Tensor& part : parts) {
    const Shape& shape = part.shape();
    if (shape.rank() != parts[0].rank() ||
        !std::equal(dims.begin() + 1, dims.end(), shape.dims().begin() + 1, shape.dims().end())) {
      throw InvalidArgument("Batching input tensors of shapes ", parts[0].shape(), " and ", shape,
                            ": only the first dimension may differ");
    }
    dims[0] += shape.dim(0);
  }
  Tensor all(parts[0].dtype(), Shape(dims));
  int64_t at = 0;
  for (const Tensor& part : parts) {
    CopyElements(part, 0, part.num_elements(), &all, at);
    at += part.num_elements();
  }
  return all;
}

// Batches that fill up or wait for their calls. A batch has a thread, which waits for it and then runs it.
class BatchQueue : public Resource {
 public:
  explicit BatchQueue(Limits limits) : limits_(std::move(limits)) {}
  std::string DebugString() const override { return "BatchResource"; }

  void Add(const std::shared_ptr<Task>& task) {
    std::lock_guard lock(mutex_);
    const int64_t room = open_ ? limits_.capacity() - open_->rows : 0;
    const int64_t more = (std::max<int64_t>(0, task->rows - room) + limits_.capacity() - 1) / limits_.capacity();
    if (waiting_ + more > limits_.most_batches) {
      throw Unavailable("The batch scheduling queue to which this task was submitted is full; task size is ",
                        task->rows, " but scheduling capacity is ",
                        std::max<int64_t>(0, limits_.most_batches - waiting_) * limits_.capacity() + room);
    }
    for (int64_t begin = 0; begin < task->rows;) {
      if (!open_) Open();
      const int64_t end = std::min(task->rows, begin + limits_.capacity() - open_->rows);
      open_->parts.push_back({task, task->open++, begin, end});
      open_->rows += end - begin;
      begin = end;
      if (open_->rows == limits_.capacity()) Close(*open_);
    }
    task->results.resize(task->open);
  }

 private:
  struct Batch {
    std::vector<Part> parts;
    int64_t rows = 0;
    bool closed = false;
  };

  void Open() {
    const auto batch = std::make_shared<Batch>();
    const auto run = [queue = ShareRef(this), batch,
                      deadline = Clock::now() + std::chrono::microseconds(limits_.timeout_micros)] {
      queue->Wait(*batch, deadline);
      queue->Process(*batch);
      std::lock_guard lock(queue->mutex_);
      --queue->running_;
      queue->changed_.notify_all();
    };
    if (!RunOnGrowingPool(run)) throw ResourceExhausted("No thread can be started that waits for a batch");
    open_ = batch;
    ++waiting_;
  }
  void Close(Batch& batch) {
    if (batch.closed) return;
    batch.closed = true;
    open_ = nullptr;
    changed_.notify_all();
  }
  void Wait(Batch& batch, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return batch.closed; });
    changed_.wait(lock, [&] { return running_ < limits_.threads; });  // until then it may still fill up
    Close(batch);
    ++running_;
    --waiting_;
  }

  void Process(const Batch& batch) {
    Status status;
    try {
      std::vector<Tensor> results = Call(batch);
      int64_t at = 0;
      for (const Part& part : batch.parts) {
        const int64_t end = at + part.end - part.begin;
        std::vector<Tensor>& own = part.task->results[part.number];
        for (const Tensor& result : results) own.push_back(result.dim(0) == end - at ? result : result.Slice(at, end));
        at = end;
      }
    } catch (...) {
      status = CurrentStatus();
    }
    for (const Part& part : batch.parts) Finish(*part.task, status);
  }

  std::vector<Tensor> Call(const Batch& batch) const {
    const Task& last = *batch.parts.back().task;
    const int64_t padding = limits_.Padded(batch.rows) - batch.rows;
    std::vector<Tensor> args;
    for (int i = 0; i < last.num_inputs; ++i) {
      std::vector<Tensor> rows;
      for (const Part& part : batch.parts) {
        const Tensor& input = part.task->k->input(i);
        rows.push_back(part.end - part.begin == input.dim(0) ? input : input.Slice(part.begin, part.end));
      }
      const Tensor first = rows[0].Slice(0, 1);
      rows.insert(rows.end(), static_cast<size_t>(padding), first);
      args.push_back(JoinRows(rows));
    }
    for (int i = last.num_inputs; i < last.k->num_inputs(); ++i) args.push_back(last.k->input(i));

    FunctionCaller* const functions = last.k->step().functions;
    if (!functions) throw Internal("this step cannot call functions");
    struct Answer {
      std::mutex mutex;
      std::condition_variable ready;
      bool done = false;
      Status status;
      std::vector<Tensor> results;
    };
    const auto answer = std::make_shared<Answer>();
    functions->CallAsync(*last.function, std::move(args), *last.k,
                         [answer](Status status, std::vector<Tensor> results) {
                           std::lock_guard lock(answer->mutex);
                           answer->status = std::move(status);
                           answer->results = std::move(results);
                           answer->done = true;
                           answer->ready.notify_all();
                         });
    std::unique_lock lock(answer->mutex);
    answer->ready.wait(lock, [&] { return answer->done; });
    if (!answer->status.ok()) throw Error(answer->status);
    if (static_cast<int>(answer->results.size()) != last.k->num_outputs()) {
      throw InvalidArgument("the function returned ", answer->results.size(), " values, but ", last.k->num_outputs(),
                            " are expected");
    }
    for (const Tensor& result : answer->results) {
      if (result.rank() == 0) throw FailedPrecondition("Batched output tensor has 0 dimensions");
      if (result.dim(0) == batch.rows + padding) continue;
      throw FailedPrecondition(
          "Batched output tensor's 0th dimension does not equal the sum of the 0th dimension "
          "sizes of the input tensors. 0th dimension size: ",
          result.dim(0), "; batch size: ", batch.rows, "; padding size: ", padding);
    }
    return std::move(answer->results);
  }

  void Finish(Task& task, const Status& status) {
    {
      std::lock_guard lock(mutex_);
      if (task.status.ok()) task.status = status;
      if (--task.open > 0) return;
    }
    if (task.status.ok()) {
      try {
        for (int i = 0; i < task.k->num_outputs(); ++i) {
          std::vector<Tensor> parts;
          for (const std::vector<Tensor>& part : task.results) parts.push_back(part[static_cast<size_t>(i)]);
          task.k->SetOutput(i, JoinRows(parts));
        }
      } catch (...) {
        task.status = CurrentStatus();
      }
    }
    task.done(task.status);
  }

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Batch> open_;
  int64_t waiting_ = 0, running_ = 0;  // batches
};

// The shapes of the inputs that are batched, for messages.
struct InputShapes {
  const KernelContext& k;
  int num_inputs;
  std::string ToString() const {
    std::string text;
    for (int i = 0; i < num_inputs; ++i) text += StrCat(" - input ", i, " has shape ", k.shape(i), "\n");
    return text;
  }
};

class BatchFunction : public AsyncKernel {
 public:
  explicit BatchFunction(const NodeView& node)
      : function_(node.attr<FuncRef>("f")),
        queue_name_(node.attr<std::string>("batching_queue")),
        num_inputs_(static_cast<int>(node.attr<std::vector<DataType>>("Tin").size())),
        limits_(node) {}

  void RunAsync(KernelContext& k, Done done) override {
    const InputShapes shapes{k, num_inputs_};
    for (int i = 0; i < num_inputs_; ++i) {
      k.Require(k.shape(i).rank() > 0,
                "Batching input tensors must have at least one dimension.\nBelow are the input "
                "tensors: \n",
                shapes);
      k.Require(k.shape(i).dim(0) == k.shape(0).dim(0),
                "Batching input tensors supplied in a given op invocation must "
                "have equal 0th-dimension size.\nBelow are the input tensors: \n",
                shapes);
    }
    const int64_t rows = k.shape(0).dim(0);
    if (rows == 0) {
      for (int i = 0; i < k.num_outputs(); ++i) k.Output(i, Shape({0}));
      return done({});
    }
    k.Require(rows <= limits_.most_rows, "Task size ", rows, " is larger than maximum input batch size ",
              limits_.most_rows);
    // Calls of other functions never join, whatever their names: those that Python gives are often the same.
    const auto [container, name] = k.ResourceName();
    const Ref<BatchQueue> queue =
        k.resources().FindOrMake<BatchQueue>(container, StrCat(name, "/batching/", queue_name_, "/", function_.name),
                                             [&] { return MakeRef<BatchQueue>(limits_); });
    auto task = std::make_shared<Task>();
    task->k = &k;
    task->function = &function_;
    task->num_inputs = num_inputs_;
    task->rows = rows;
    task->done = std::move(done);
    queue->Add(task);
  }

 private:
  const FuncRef function_;
  const std::string queue_name_;
  const int num_inputs_;
  const Limits limits_;
};

}  // namespace

void RegisterBatchFunctionKernels(KernelRegistry& kernels) { kernels.Add<BatchFunction>("BatchFunction"); }

}  // namespace penstock
