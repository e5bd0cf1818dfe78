// Sets along the last dimension of dense or sparse tensors.
#include <algorithm>
#include <map>
#include <set>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/sparse/sparse_tensor.h"

namespace penstock {
namespace {

using SetTypes = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, TString>;

// The sets of one tensor by the flat position of their row; rows without values are left out.
template <class T>
struct Sets {
  using Element = std::conditional_t<std::is_same_v<T, TString>, std::string_view, T>;
  std::map<int64_t, std::set<Element>> rows;
  std::vector<int64_t> shape;  // of the rows

  Sets(KernelContext& k, int at, bool sparse, bool validate) {
    if (sparse) {
      ReadSparse(k, at, validate);
    } else {
      ReadDense(k, at);
    }
  }

 private:
  void ReadDense(KernelContext& k, int at) {
    const Shape& dims = k.shape(at);
    k.Require(dims.rank() >= 2, "Shape ", dims, " has rank ", dims.rank(), " < 2");
    shape.assign(dims.begin(), dims.end() - 1);
    const auto values = k.in<T>(at);
    const int64_t size = dims.dim(dims.rank() - 1);
    for (size_t i = 0; i < values.size(); ++i) rows[static_cast<int64_t>(i) / size].insert(values[i]);
  }

  void ReadSparse(KernelContext& k, int at, bool validate) {
    const SparseInput in(k, at);
    k.Require(in.rank >= 2, "Shape [", StrJoin(in.shape, ","), "] has rank ", in.rank, " < 2");
    shape.assign(in.shape.begin(), in.shape.end() - 1);
    const std::vector<int64_t> strides = SparseStrides(shape);
    const T* values = in.values->data<T>();
    for (int64_t e = 0; e < in.entries; ++e) {
      if (validate && e > 0) {
        const int order = ComparePositions(in.at(e - 1), in.at(e), in.rank);
        k.Require(order != 0, "indices[", e, "] = [", Index(in, e), "] is repeated");
        k.Require(order < 0, "indices[", e, "] = [", Index(in, e), "] is out of order");
      }
      rows[FlatPosition(in.at(e), strides)].insert(values[e]);
    }
  }

  static std::string Index(const SparseInput& in, int64_t e) {
    return StrJoin(std::span(in.at(e), static_cast<size_t>(in.rank)), ",");
  }
};

template <class T>
struct SetSize {
  bool validate;
  explicit SetSize(const NodeView& node) : validate(node.attr<bool>("validate_indices")) {}
  void operator()(KernelContext& k) const {
    const Sets<T> sets(k, 0, true, validate);
    const auto out = k.out<int32_t>(0, Shape(sets.shape));
    std::fill(out.begin(), out.end(), 0);
    for (const auto& [row, set] : sets.rows) out[row] = static_cast<int32_t>(set.size());
  }
};

template <class T>
class SetOperation {
 public:
  explicit SetOperation(const NodeView& node)
      : first_sparse_(node.num_inputs() == 6),
        second_sparse_(node.num_inputs() >= 4),
        validate_(node.attr<bool>("validate_indices")) {
    std::string name = node.attr<std::string>("set_operation");
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto known = std::find(std::begin(kNames), std::end(kNames), name);
    if (known == std::end(kNames)) throw InvalidArgument("Invalid set_operation ", name, ".");
    operation_ = static_cast<Operation>(known - std::begin(kNames));
  }

  void operator()(KernelContext& k) const {
    const Sets<T> a(k, 0, first_sparse_, validate_), b(k, first_sparse_ ? 3 : 1, second_sparse_, validate_);
    k.Require(a.shape == b.shape, "Mismatched shapes [", StrJoin(a.shape, ","), "] vs [", StrJoin(b.shape, ","), "]");
    std::map<int64_t, Values> results;
    const Set none;
    const auto at = [&](const Sets<T>& sets, int64_t row) -> const Set& {
      const auto found = sets.rows.find(row);
      return found == sets.rows.end() ? none : found->second;
    };
    for (const auto& [row, set] : a.rows) results[row] = Apply(set, at(b, row));
    for (const auto& [row, set] : b.rows) {
      if (!a.rows.contains(row)) results[row] = Apply(none, set);
    }
    Put(k, a.shape, results);
  }

 private:
  using Element = typename Sets<T>::Element;
  using Set = std::set<Element>;
  using Values = std::vector<Element>;
  enum Operation { kAMinusB, kBMinusA, kIntersection, kUnion };
  static constexpr std::string_view kNames[] = {"a-b", "b-a", "intersection", "union"};

  Values Apply(const Set& a, const Set& b) const {
    Values values;
    const auto to = std::back_inserter(values);
    switch (operation_) {
      case kAMinusB: std::set_difference(a.begin(), a.end(), b.begin(), b.end(), to); break;
      case kBMinusA: std::set_difference(b.begin(), b.end(), a.begin(), a.end(), to); break;
      case kIntersection: std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), to); break;
      case kUnion: std::set_union(a.begin(), a.end(), b.begin(), b.end(), to); break;
    }
    return values;
  }

  static void Put(KernelContext& k, const std::vector<int64_t>& rows_shape, const std::map<int64_t, Values>& results) {
    int64_t total = 0, longest = 0;
    for (const auto& [row, values] : results) {
      total += static_cast<int64_t>(values.size());
      longest = std::max(longest, static_cast<int64_t>(values.size()));
    }
    const auto rank = static_cast<int64_t>(rows_shape.size()) + 1;
    int64_t* indices = k.Output(0, Shape({total, rank})).mutable_data<int64_t>();
    T* out = k.Output(1, Shape({total})).mutable_data<T>();
    for (const auto& [row, values] : results) {
      for (size_t i = 0; i < values.size(); ++i, indices += rank) {
        int64_t rest = row;
        for (int64_t d = rank - 2; d >= 0; --d) {
          indices[d] = rest % rows_shape[d];
          rest /= rows_shape[d];
        }
        indices[rank - 1] = static_cast<int64_t>(i);
        *out++ = T(values[i]);
      }
    }
    std::vector<int64_t> shape = rows_shape;
    shape.push_back(longest);
    PutVector(k, 2, shape);
  }

  const bool first_sparse_, second_sparse_, validate_;
  Operation operation_;
};

}  // namespace

void RegisterSetKernels(KernelRegistry& kernels) {
  kernels.Add<SetSize>("SetSize", SetTypes{});
  for (const char* kinds : {"DenseToDense", "DenseToSparse", "SparseToSparse"}) {
    kernels.Add<SetOperation>(StrCat(kinds, "SetOperation"), SetTypes{});
  }
}

}  // namespace penstock
