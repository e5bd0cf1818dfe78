// Einsum as transposition, sum and batched matrix product.
#include <algorithm>
#include <complex>
#include <cstring>
#include <map>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/linalg/gemm.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/math/reduce.h"
#include "penstock/ops/linalg/einsum_equation.h"

namespace penstock {
namespace {

constinit BranchTable<2> einsum_batches{"einsum/batches", {"one after the other", "several at once"}};
constinit BranchTable<2> einsum_outputs{"einsum/output", {"direct", "rearranged"}};
constinit BranchTable<2> einsum_operands{"einsum/operand", {"as it lies", "copied"}};

using Labels = std::vector<int>;

bool Has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

// An operand as a strided view: one stride (in elements) for each distinct label; 0 where it is broadcast.
struct View {
  Tensor held;
  const char* data = nullptr;
  Labels labels;
  std::map<int, int64_t> stride;
};
using Sizes = std::map<int, int64_t>;

struct Bytes16 {
  uint64_t a, b;
};
template <class T>
void CopyRun(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t n) {
  const T* x = reinterpret_cast<const T*>(from);
  T* y = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) y[i * to_stride] = x[i * from_stride];
}
using CopyFn = void (*)(const char*, int64_t, char*, int64_t, int64_t);
CopyFn CopyOf(int64_t size) {
  switch (size) {
    case 1: return &CopyRun<uint8_t>;
    case 2: return &CopyRun<uint16_t>;
    case 4: return &CopyRun<uint32_t>;
    case 8: return &CopyRun<uint64_t>;
    default: return &CopyRun<Bytes16>;
  }
}

class Einsum {
 public:
  explicit Einsum(const NodeView& node)
      : equation_(EinsumEquation::Parse(node.attr<std::string>("equation"))),
        type_(node.output_type(0)),
        size_(static_cast<int64_t>(DataTypeSize(type_))),
        copy_(CopyOf(size_)) {}

  void operator()(KernelContext& k) const {
    const int n = k.num_inputs();
    k.Require(n == static_cast<int>(equation_.inputs.size()), "Expected ", equation_.inputs.size(),
              " inputs but got: ", n);
    Sizes sizes;
    Labels labels[2];
    int broadcast = 0;
    for (int i = 0; i < n; ++i) {
      const Shape& shape = k.shape(i);
      labels[i] = EinsumEquation::Expand(equation_.inputs[i], shape.rank(), i);
      for (int d = 0; d < shape.rank(); ++d) {
        const int label = labels[i][d];
        int64_t& size = sizes.emplace(label, shape.dim(d)).first->second;
        const bool dots = label >= EinsumEquation::kBroadcast;
        if (dots) broadcast = std::max(broadcast, label - EinsumEquation::kBroadcast + 1);
        if (dots && size == 1) size = shape.dim(d);
        k.Require(size == shape.dim(d) || (dots && shape.dim(d) == 1), "Expected dimension ", size, " at axis ", d,
                  " of the input shaped ", shape, " but got dimension ", shape.dim(d));
      }
    }
    const Labels output = equation_.ExpandOutput(broadcast);
    Shape out_shape;
    for (const int label : output) out_shape.AddDim(sizes.at(label));

    View views[2];
    for (int i = 0; i < n; ++i) {
      views[i] = MakeView(k.input(i), labels[i], sizes);
      views[i].data = static_cast<const char*>(views[i].held.raw());  // a small value lives in its handle
      SumOut(k, views[i], sizes, output, n == 2 ? labels[1 - i] : Labels());
    }
    Tensor& out = k.Output(0, out_shape);
    char* to = static_cast<char*>(out.mutable_raw());
    if (out.num_elements() == 0) return;
    if (n == 1) {
      Place(k, views[0], sizes, output, out);
    } else {
      Multiply(k, views[0], views[1], sizes, output, out, to);
    }
  }

 private:
  // Dimensions of one label together: the diagonal.
  View MakeView(const Tensor& t, const Labels& labels, const Sizes& sizes) const {
    View view;
    view.held = t;
    int64_t step = 1;
    for (int d = t.rank() - 1; d >= 0; --d) {
      const bool stretched = t.dim(d) == 1 && sizes.at(labels[d]) != 1;
      view.stride[labels[d]] += stretched ? 0 : step;
      step *= t.dim(d);
    }
    for (const int label : labels) {
      if (!Has(view.labels, label)) view.labels.push_back(label);
    }
    return view;
  }

  int64_t Count(const Labels& labels, const Sizes& sizes) const {
    int64_t n = 1;
    for (const int label : labels) n *= sizes.at(label);
    return n;
  }

  // Copies the view, dimensions in the order of `order`, to memory whose strides are `strides`.
  void Copy(const KernelContext& k, const View& view, const Labels& order, const Sizes& sizes, char* to,
            const std::vector<int64_t>& strides) const {
    const int64_t total = Count(order, sizes);
    if (total == 0) return;
    const int rank = static_cast<int>(order.size());
    const int64_t inner = rank ? sizes.at(order.back()) : 1, rows = total / inner;
    const int64_t from_step = rank ? view.stride.at(order.back()) : 1, to_step = rank ? strides.back() : 1;
    k.Parallel(rows, std::max<int64_t>(1, inner), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t rest = row, from = 0, at = 0;
        for (int d = rank - 2; d >= 0; --d) {
          const int64_t size = sizes.at(order[d]), index = rest % size;
          rest /= size;
          from += index * view.stride.at(order[d]);
          at += index * strides[d];
        }
        copy_(view.data + from * size_, from_step, to + at * size_, to_step, inner);
      }
    });
  }
  static std::vector<int64_t> Contiguous(const Labels& order, const Sizes& sizes) {
    std::vector<int64_t> strides(order.size());
    int64_t step = 1;
    for (int d = static_cast<int>(order.size()) - 1; d >= 0; --d) {
      strides[d] = step;
      step *= sizes.at(order[d]);
    }
    return strides;
  }
  // Whether the view lies in memory as the labels in this order would; if not it is made so.
  void MakeContiguous(const KernelContext& k, View& view, const Labels& order, const Sizes& sizes) const {
    const std::vector<int64_t> strides = Contiguous(order, sizes);
    bool already = true;
    for (size_t d = 0; d < order.size(); ++d) {
      already = already && (sizes.at(order[d]) == 1 || view.stride.at(order[d]) == strides[d]);
    }
    if (!already) {
      Tensor copy = k.Temp(type_, Shape({Count(order, sizes)}));
      Copy(k, view, order, sizes, static_cast<char*>(copy.mutable_raw()), strides);
      view.held = copy;
      view.data = static_cast<const char*>(view.held.raw());
    }
    view.labels = order;
    for (size_t d = 0; d < order.size(); ++d) view.stride[order[d]] = strides[d];
  }

  // Labels that only this input has are summed over.
  void SumOut(const KernelContext& k, View& view, const Sizes& sizes, const Labels& output, const Labels& other) const {
    Labels kept, summed;
    for (const int label : view.labels) {
      (Has(output, label) || Has(other, label) ? kept : summed).push_back(label);
    }
    if (summed.empty()) return;
    Labels order = kept;
    order.insert(order.end(), summed.begin(), summed.end());
    MakeContiguous(k, view, order, sizes);
    const int64_t rows = Count(kept, sizes), n = Count(summed, sizes);
    Tensor in = view.held, sum = k.Temp(type_, Shape({rows}));
    const Tensor axis(int32_t{1});
    const ReductionPlan plan = PlanReduction(Shape({rows, n}), axis);
    if (elementwise::IsFloat16(type_)) {
      Tensor wide = k.Temp(DT_FLOAT, Shape({rows, n})), wide_sum = k.Temp(DT_FLOAT, Shape({rows}));
      CpuLoops().cast[type_][DT_FLOAT](view.data, wide.mutable_raw(), rows * n);
      Reduce(k, ReduceOp::kSum, DT_FLOAT, plan, wide.raw(), wide_sum.mutable_raw());
      CpuLoops().cast[DT_FLOAT][type_](wide_sum.raw(), sum.mutable_raw(), rows);
    } else {
      Reduce(k, ReduceOp::kSum, type_, plan, view.data, sum.mutable_raw());
    }
    view.held = sum;
    view.data = static_cast<const char*>(view.held.raw());
    view.labels = kept;
    view.stride.clear();
    const std::vector<int64_t> strides = Contiguous(kept, sizes);
    for (size_t d = 0; d < kept.size(); ++d) view.stride[kept[d]] = strides[d];
  }

  // The view into the output; a label that the output repeats goes to the diagonal of zeros.
  void Place(const KernelContext& k, const View& view, const Sizes& sizes, const Labels& output, Tensor& out) const {
    char* to = static_cast<char*>(out.mutable_raw());
    Labels order;
    std::vector<int64_t> strides;
    const std::vector<int64_t> steps = Contiguous(output, sizes);
    for (size_t d = 0; d < output.size(); ++d) {
      const auto at = std::find(order.begin(), order.end(), output[d]) - order.begin();
      if (at == static_cast<int64_t>(order.size())) {
        order.push_back(output[d]);
        strides.push_back(steps[d]);
      } else {
        strides[at] += steps[d];
      }
    }
    if (order.size() < output.size()) std::memset(to, 0, out.num_elements() * size_);
    View full = view;
    Copy(k, full, order, sizes, to, strides);
  }

  void Multiply(const KernelContext& k, View& a, View& b, const Sizes& sizes, const Labels& output, Tensor& out,
                char* to) const {
    Labels batch, rows, columns, summed;
    for (const int label : a.labels) {
      if (!Has(b.labels, label)) {
        rows.push_back(label);
      } else {
        (Has(output, label) ? batch : summed).push_back(label);
      }
    }
    for (const int label : b.labels) {
      if (!Has(a.labels, label)) columns.push_back(label);
    }
    const auto join = [](std::initializer_list<const Labels*> parts) {
      Labels all;
      for (const Labels* part : parts) all.insert(all.end(), part->begin(), part->end());
      return all;
    };
    // In the order in which the output has them, so that it may need no transposition.
    const auto by_output = [&](Labels& labels) {
      std::stable_sort(labels.begin(), labels.end(), [&](int p, int q) {
        return std::find(output.begin(), output.end(), p) < std::find(output.begin(), output.end(), q);
      });
    };
    by_output(batch);
    by_output(rows);
    by_output(columns);
    MakeContiguousBut(k, a, batch, join({&rows, &summed}), sizes);
    MakeContiguousBut(k, b, batch, join({&summed, &columns}), sizes);
    const int64_t m = Count(rows, sizes), n = Count(columns, sizes), depth = Count(summed, sizes),
                  count = Count(batch, sizes);
    const Labels product = join({&batch, &rows, &columns});
    const bool direct = product == output;
    einsum_outputs.Enter(direct ? 0 : 1);
    Tensor temp;
    char* c = to;
    if (!direct) {
      temp = k.Temp(type_, Shape({count * m * n}));
      c = static_cast<char*>(temp.mutable_raw());
    }
    const auto one = [&](int64_t i, bool serial) {
      int64_t rest = i, at_a = 0, at_b = 0;
      for (int d = static_cast<int>(batch.size()) - 1; d >= 0; --d) {
        const int64_t size = sizes.at(batch[d]), index = rest % size;
        rest /= size;
        at_a += index * a.stride.at(batch[d]);
        at_b += index * b.stride.at(batch[d]);
      }
      const MatrixView va{a.data + at_a * size_, depth, 1}, vb{b.data + at_b * size_, n, 1};
      if (serial) {
        GemmSerial(type_, m, n, depth, va, vb, c + i * m * n * size_, n);
      } else {
        Gemm(k, type_, m, n, depth, va, vb, c + i * m * n * size_, n);
      }
    };
    const bool large = count < 4 && m * n * depth > 100000;
    einsum_batches.Enter(large ? 0 : 1);
    if (large) {
      for (int64_t i = 0; i < count; ++i) one(i, false);
    } else {
      k.Parallel(count, std::max<int64_t>(1, m * n * std::max<int64_t>(depth, 1) / 16),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) one(i, true);
                 });
    }
    if (direct) return;
    View view;
    view.data = c;
    view.labels = product;
    const std::vector<int64_t> strides = Contiguous(product, sizes);
    for (size_t d = 0; d < product.size(); ++d) view.stride[product[d]] = strides[d];
    Place(k, view, sizes, output, out);
  }

  // The matrix dimensions contiguous; batch dimensions as they are if the matrices already lie so.
  void MakeContiguousBut(const KernelContext& k, View& view, const Labels& batch, const Labels& matrix,
                         const Sizes& sizes) const {
    const std::vector<int64_t> strides = Contiguous(matrix, sizes);
    bool already = true;
    for (size_t d = 0; d < matrix.size(); ++d) {
      already = already && (sizes.at(matrix[d]) == 1 || view.stride.at(matrix[d]) == strides[d]);
    }
    einsum_operands.Enter(already ? 0 : 1);
    if (already) return;
    Labels order = batch;
    order.insert(order.end(), matrix.begin(), matrix.end());
    MakeContiguous(k, view, order, sizes);
  }

  EinsumEquation equation_;
  DataType type_;
  int64_t size_;
  CopyFn copy_;
};

}  // namespace

void RegisterEinsumKernels(KernelRegistry& kernels) { kernels.Add<Einsum>("Einsum", Numbers{}); }

}  // namespace penstock
