// Conditional accumulators: gradients are summed up until somebody takes their mean; those of an old step are dropped.
#include <iterator>
#include <vector>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/data_flow/wait_list.h"
#include "penstock/kernels/cpu/state/named_resource.h"

namespace penstock {
namespace {

using Gradients = Types<float, double, Half, BFloat16>;

// What all of them share: the step, the count, and whoever waits for enough gradients.
class Accumulator : public Resource {
 public:
  struct Spec {
    DataType type;
    PartialShape shape;
    std::string name;
    bool mean;
    bool sparse;
  };
  using Outputs = std::vector<Tensor>;
  explicit Accumulator(Spec spec) : spec_(std::move(spec)), waiting_(true) {}

  const Spec& spec() const { return spec_; }
  std::string DebugString() const override { return "accumulator '" + spec_.name + "'"; }
  int64_t Count() {
    std::lock_guard lock(waiting_.mutex());
    return count_;
  }
  void SetGlobalStep(int64_t step) {
    std::lock_guard lock(waiting_.mutex());
    step_ = step;
  }
  // `gradient`: the value, or indices, values and (perhaps) shape.
  void Apply(int64_t local_step, const Outputs& gradient) {
    {
      std::lock_guard lock(waiting_.mutex());
      Check(gradient);
      if (local_step < step_) return;
      Add(gradient);
      ++count_;
    }
    waiting_.Flush();
  }
  void Take(int64_t wanted, const Ref<CancellationManager>& cancellation, std::function<void(Status, Outputs)> done) {
    if (wanted <= 0) throw InvalidArgument("Argument num_required must be positive, but was ", wanted);
    auto outputs = std::make_shared<Outputs>();
    waiting_.Add(
        ShareRef(this), cancellation, "TakeGrad operation",
        [this, wanted, outputs] {
          if (count_ < wanted) return false;
          ++step_;
          *outputs = Result();
          count_ = 0;
          return true;
        },
        [outputs, done = std::move(done)](Status status) { done(std::move(status), std::move(*outputs)); });
  }

 protected:
  // Called under the mutex.
  virtual void Check(const Outputs& gradient) const = 0;
  virtual void Add(const Outputs& gradient) = 0;
  virtual Outputs Result() = 0;  // and starts anew
  const Spec spec_;
  int64_t count_ = 0;

 private:
  int64_t step_ = 0;
  WaitList waiting_;
};

template <class T>
using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
class DenseAccumulator : public Accumulator {
 public:
  using Accumulator::Accumulator;

 protected:
  void Check(const Outputs& gradient) const override {
    const Shape& shape = gradient[0].shape();
    if (count_ > 0 && shape != sum_.shape()) {
      throw InvalidArgument("Shape mismatch: expected ", sum_.shape(), ", got ", shape);
    }
    if (!spec_.shape.IsCompatibleWith(shape))
      throw InvalidArgument("Shape mismatch: expected ", spec_.shape, ", got ", shape);
  }
  void Add(const Outputs& gradient) override {
    if (count_ == 0) {
      sum_ = gradient[0].Clone();
      return;
    }
    T* sum = sum_.template mutable_data<T>();
    const T* values = gradient[0].data<T>();
    for (int64_t i = 0; i < sum_.num_elements(); ++i) {
      sum[i] = static_cast<T>(static_cast<Sum<T>>(sum[i]) + static_cast<Sum<T>>(values[i]));
    }
  }
  Outputs Result() override {
    if (spec_.mean) {
      T* sum = sum_.template mutable_data<T>();
      const auto n = static_cast<Sum<T>>(count_);
      for (int64_t i = 0; i < sum_.num_elements(); ++i) sum[i] = static_cast<T>(static_cast<Sum<T>>(sum[i]) / n);
    }
    return {std::exchange(sum_, Tensor())};
  }

 private:
  Tensor sum_;
};

// Rows by their index; the mean of a row is over the gradients that have it.
template <class T>
class SparseAccumulator : public Accumulator {
 public:
  using Accumulator::Accumulator;

 protected:
  void Check(const Outputs& gradient) const override {
    const Tensor &indices = gradient[0], &values = gradient[1];
    const PartialShape& shape = spec_.shape;
    const auto require = [](bool ok, const auto&... parts) {
      if (!ok) throw InvalidArgument(parts...);
    };
    require(indices.rank() == 1, "Input indices should be vector but received shape: ", indices.shape());
    require(values.rank() > 0, "Values cannot be 0-dimensional.");
    require(values.dim(0) == indices.dim(0), "Expected ", indices.dim(0), " non-empty input values, got ",
            values.dim(0));
    const int rank = shape.known_rank() ? shape.rank() : 0;
    if (gradient.size() > 2) {
      const Tensor& dims = gradient[2];
      require(dims.rank() == 1, "Input shape should be vector but received shape: ", dims.shape());
      require(rank <= dims.num_elements(), "Shape mismatch: expected shape rank at least ", rank, ", got ",
              dims.num_elements());
      for (int d = 0; d < rank; ++d) {
        require(shape[d] < 0 || shape[d] == dims.IntAt(d), "Shape mismatch: expected shape dim ", d, " to be ",
                shape[d], ", got ", dims.IntAt(d));
      }
    }
    for (int64_t i = 0; i < indices.num_elements(); ++i) {
      const int64_t index = indices.IntAt(i);
      require(index >= 0, "Shape mismatch: index of slice ", i, " is negative: ", index);
      require(rank == 0 || shape[0] < 0 || index < shape[0], "Shape mismatch: index of slice ", i,
              " exceeded limits of shape; index is ", index, " exceeded ", rank > 0 ? shape[0] : 0);
    }
    if (count_ > 0) {
      require(row_shape_.rank() + 1 == values.rank(), "Shape mismatch: expected values rank ", row_shape_.rank() + 1,
              ", got ", values.rank());
      for (int d = 1; d < values.rank(); ++d) {
        require(row_shape_[d - 1] == values.dim(d), "Shape mismatch: expected values dim ", d, " to be ",
                row_shape_[d - 1], ", got ", values.dim(d));
      }
      return;
    }
    require(rank <= values.rank(), "Shape mismatch: expected values rank at least ", rank, ", got ", values.rank());
    for (int d = 1; d < rank; ++d) {
      require(shape[d] < 0 || shape[d] == values.dim(d), "Shape mismatch: expected values dim ", d, " to be ", shape[d],
              ", got ", values.dim(d));
    }
  }

  // Merges two lists of rows as if both were in order, which only the program can see to: a row that stands twice in a
  // gradient stays there twice, as in TensorFlow.
  void Add(const Outputs& gradient) override {
    const Tensor &indices = gradient[0], &values = gradient[1];
    if (count_ == 0) {
      row_shape_ = values.shape();
      row_shape_.RemoveDim(0);
    }
    const int64_t size = row_shape_.num_elements();
    std::vector<Row> merged;
    merged.reserve(rows_.size() + indices.num_elements());
    auto row = rows_.begin();
    for (int64_t i = 0; i < indices.num_elements(); ++i) {
      const int64_t index = indices.IntAt(i);
      const T* value = values.data<T>() + i * size;
      while (row != rows_.end() && row->index < index) merged.push_back(std::move(*row++));
      if (row == rows_.end() || row->index != index) {
        merged.push_back({index, 1, {value, value + size}});
        continue;
      }
      for (int64_t j = 0; j < size; ++j) row->sum[j] += static_cast<Sum<T>>(value[j]);
      ++row->count;
      merged.push_back(std::move(*row++));
    }
    std::move(row, rows_.end(), std::back_inserter(merged));
    rows_ = std::move(merged);
  }

  Outputs Result() override {
    const auto n = static_cast<int64_t>(rows_.size());
    Shape shape = row_shape_;
    shape.InsertDim(0, n);
    Tensor indices(DT_INT64, Shape({n})), values(spec_.type, shape);
    int64_t* index = indices.mutable_data<int64_t>();
    T* value = values.mutable_data<T>();
    for (const Row& row : rows_) {
      *index++ = row.index;
      const auto divisor = static_cast<Sum<T>>(spec_.mean ? row.count : 1);
      for (const Sum<T> sum : row.sum) *value++ = static_cast<T>(sum / divisor);
    }
    rows_.clear();
    // Of the first dimension only the accumulator's own shape can tell.
    std::vector<int64_t> dims(row_shape_.begin(), row_shape_.end());
    dims.insert(dims.begin(), spec_.shape.known_rank() && spec_.shape.rank() > 0 ? spec_.shape[0] : -1);
    return {indices, values, Tensor::Vector<int64_t>(dims)};
  }

 private:
  struct Row {
    int64_t index, count;
    std::vector<Sum<T>> sum;
  };
  std::vector<Row> rows_;
  Shape row_shape_;
};

template <class T>
class AccumulatorKernel : public NamedResourceKernel<Accumulator> {
 public:
  explicit AccumulatorKernel(const NodeView& node)
      : NamedResourceKernel(node, "tensorflow::ConditionalAccumulatorBase"),
        spec_{node.attr<DataType>("dtype"), node.attr<PartialShape>("shape"), "",
              node.attr<std::string>("reduction_type") == "MEAN", node.op().name.starts_with("Sparse")} {}

 protected:
  Ref<Accumulator> Make(KernelContext&, const std::string& name) const override {
    Accumulator::Spec spec = spec_;
    spec.name = name;
    if (spec.sparse) return MakeRef<SparseAccumulator<T>>(spec);
    return MakeRef<DenseAccumulator<T>>(spec);
  }
  void CheckSharing(KernelContext& k, const Accumulator& found) const override {
    k.Require(
        found.spec().type == spec_.type && found.spec().shape == spec_.shape && found.spec().sparse == spec_.sparse,
        "Shared accumulator '", found.spec().name, "' has type ", found.spec().type, " and shape ", found.spec().shape,
        ", but requested were ", spec_.type, " and ", spec_.shape);
  }

 private:
  const Accumulator::Spec spec_;
};

Ref<Accumulator> AccumulatorOf(KernelContext& k) { return NamedResource<Accumulator>(k, 0); }

void CheckKind(const Accumulator& accumulator, DataType type, bool sparse) {
  if (accumulator.spec().type != type || accumulator.spec().sparse != sparse) {
    throw InvalidArgument("Signature mismatch: the accumulator holds ", accumulator.spec().sparse ? "sparse " : "",
                          "gradients of type ", accumulator.spec().type, ", not ", sparse ? "sparse ones of " : "",
                          type);
  }
}

struct Apply {
  bool sparse, has_shape;
  DataType type;
  explicit Apply(const NodeView& node)
      : sparse(node.op().name.starts_with("Sparse")),
        has_shape(node.attr_or<bool>("has_known_shape", false)),
        type(node.attr<DataType>("dtype")) {}
  void operator()(KernelContext& k) const {
    const Ref<Accumulator> accumulator = AccumulatorOf(k);
    k.Require(k.shape(1).rank() == 0, "Argument local_step must be scalar, but had bad shape ", k.shape(1));
    CheckKind(*accumulator, type, sparse);
    std::vector<Tensor> gradient;
    for (int i = 2; i < (sparse ? 4 + has_shape : 3); ++i) gradient.push_back(k.input(i));
    accumulator->Apply(k.Int(1), gradient);
  }
};

class Take : public AsyncKernel {
 public:
  explicit Take(const NodeView& node)
      : sparse_(node.op().name.starts_with("Sparse")), type_(node.attr<DataType>("dtype")) {}
  void RunAsync(KernelContext& k, Done done) override {
    const Ref<Accumulator> accumulator = AccumulatorOf(k);
    k.Require(k.shape(1).rank() == 0, "Argument num_required must be scalar, but had bad shape ", k.shape(1));
    CheckKind(*accumulator, type_, sparse_);
    accumulator->Take(k.Int(1), k.step().cancellation,
                      [&k, done = std::move(done)](Status status, Accumulator::Outputs outputs) {
                        if (status.ok()) {
                          for (size_t i = 0; i < outputs.size(); ++i) k.SetOutput(static_cast<int>(i), outputs[i]);
                        }
                        done(std::move(status));
                      });
  }

 private:
  const bool sparse_;
  const DataType type_;
};

struct NumAccumulated {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(static_cast<int32_t>(AccumulatorOf(k)->Count()))); }
};
struct SetGlobalStep {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(1).rank() == 0, "Argument new_global_step must be scalar, but had bad shape ", k.shape(1));
    AccumulatorOf(k)->SetGlobalStep(k.Int(1));
  }
};

}  // namespace

void RegisterAccumulatorKernels(KernelRegistry& kernels) {
  for (const char* version : {"", "Resource"}) {
    kernels.Add<AccumulatorKernel>(StrCat(version, "ConditionalAccumulator"), Gradients{}, "dtype");
    kernels.Add<Apply>(StrCat(version, "AccumulatorApplyGradient"), Gradients{}, "dtype");
    kernels.Add<Take>(StrCat(version, "AccumulatorTakeGradient"), Gradients{}, "dtype").HostInput(1);
    kernels.Add<NumAccumulated>(StrCat(version, "AccumulatorNumAccumulated")).HostOutput(0);
    kernels.Add<SetGlobalStep>(StrCat(version, "AccumulatorSetGlobalStep")).HostInput(1);
  }
  kernels.Add<AccumulatorKernel>("SparseConditionalAccumulator", Gradients{}, "dtype");
  kernels.Add<Apply>("SparseAccumulatorApplyGradient", Gradients{}, "dtype");
  kernels.Add<Take>("SparseAccumulatorTakeGradient", Gradients{}, "dtype").HostInput(1);
}

}  // namespace penstock
