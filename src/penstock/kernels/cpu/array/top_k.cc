// The largest elements of rows: short selections by a sorted list, long ones by radix sort.
#include <algorithm>
#include <bit>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/loops.h"

namespace penstock {

namespace {

constinit BranchTable<6> top_ways{"top_k/row", {"largest", "kept", "partial sort", "sort", "radix 8", "radix 11"}};

// An unsigned integer that is smaller the larger the value: sorting keys up sorts values down. Equal values (0 and -0
// too) have equal keys; NaN comes last.
template <class T>
auto FallingKey(T v) {
  if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    using F = std::conditional_t<sizeof(T) == 8, double, float>;
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    const F f = static_cast<F>(v) + F(0);  // -0 becomes 0
    const U bits = std::bit_cast<U>(f);
    constexpr U kSign = U(1) << (sizeof(U) * 8 - 1);
    if (f != f) return ~U(0);
    return static_cast<U>(bits & kSign ? bits : ~(bits | kSign) & ~kSign);
  } else {
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    using S = std::conditional_t<std::is_signed_v<T>, std::make_signed_t<U>, U>;
    const U u = static_cast<U>(static_cast<S>(v));
    constexpr U kFlip = std::is_signed_v<T> ? U(1) << (sizeof(U) * 8 - 1) : 0;
    return static_cast<U>(~(u ^ kFlip));
  }
}

// What is sorted: a 32-bit key above the position in one number, or a 64-bit key beside it. Compares as (key,
// position).
struct Wide {
  uint64_t key;
  uint32_t at;
  friend bool operator<(const Wide& a, const Wide& b) { return a.key != b.key ? a.key < b.key : a.at < b.at; }
};
uint64_t Entry(uint32_t key, uint32_t at) { return uint64_t{key} << 32 | at; }
Wide Entry(uint64_t key, uint32_t at) { return {key, at}; }
uint32_t PlaceOf(uint64_t e) { return static_cast<uint32_t>(e); }
uint32_t PlaceOf(const Wide& e) { return e.at; }
uint64_t KeyOf(uint64_t e) { return e >> 32; }
uint64_t KeyOf(const Wide& e) { return e.key; }

// Sorts by key, least significant digit first; entries come in order of position, which equal keys keep. Digits that
// are the same everywhere cost nothing but the counting.
template <int kBits, int kKeyBits, class E>
void RadixSort(E* items, E* spare, int64_t n) {
  constexpr int kDigits = (kKeyBits + kBits - 1) / kBits, kValues = 1 << kBits;
  std::vector<uint32_t> counts(kDigits * kValues);
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t key = KeyOf(items[i]);
    for (int d = 0; d < kDigits; ++d) ++counts[d * kValues + (key >> (d * kBits) & (kValues - 1))];
  }
  E* from = items;
  E* to = spare;
  for (int d = 0; d < kDigits; ++d) {
    uint32_t* count = &counts[d * kValues];
    if (count[KeyOf(from[0]) >> (d * kBits) & (kValues - 1)] == n) continue;
    uint32_t sum = 0;
    for (int v = 0; v < kValues; ++v) sum += std::exchange(count[v], sum);
    for (int64_t i = 0; i < n; ++i) to[count[KeyOf(from[i]) >> (d * kBits) & (kValues - 1)]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::copy(from, from + n, items);
}

// The k largest of a row of n by comparing with the smallest kept so far; most elements cost one comparison.
template <class T>
void KeepLargest(const T* x, int64_t n, int64_t k, std::vector<std::pair<T, int64_t>>& kept) {
  kept.clear();
  int64_t i = 0;
  const auto insert = [&](T v, int64_t at) {
    if (static_cast<int64_t>(kept.size()) == k) kept.pop_back();
    auto place = kept.end();
    while (place != kept.begin() && (place - 1)->first < v) --place;
    kept.insert(place, {v, at});
  };
  for (; i < n && static_cast<int64_t>(kept.size()) < k; ++i) insert(x[i], i);
  constexpr int64_t kBlock = 32;
  for (; i + kBlock <= n; i += kBlock) {
    const T least = kept.back().first;
    bool any = false;
    for (int64_t j = 0; j < kBlock; ++j) any |= least < x[i + j];
    if (!any) continue;
    for (int64_t j = 0; j < kBlock; ++j) {
      if (kept.back().first < x[i + j]) insert(x[i + j], i + j);
    }
  }
  for (; i < n; ++i) {
    if (kept.back().first < x[i]) insert(x[i], i);
  }
}

template <class T>
bool HasNan(const T* x, int64_t n) {
  bool nan = false;
  if constexpr (!std::is_integral_v<T>) {
    for (int64_t i = 0; i < n; ++i) nan |= x[i] != x[i];
  }
  return nan;
}

// put(j, position): the j-th largest of the row.
template <class T, class Put>
void TopRow(const T* x, int64_t n, int64_t k, Put put) {
  constexpr bool kNarrow = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
  if (k == 0) return;
  if constexpr (std::is_same_v<T, float>) {
    if (k == 1 && !HasNan(x, n)) {
      const int64_t at = CpuLoops().argmax_f32(x, n);
      // It does not tell apart what is not above the lowest number.
      if (x[at] > std::numeric_limits<float>::lowest()) {
        top_ways.Enter(0);
        return put(0, at);
      }
    }
  }
  if constexpr (!kNarrow) {
    if (k <= 64 && k * 8 <= n && !HasNan(x, n)) {
      top_ways.Enter(1);
      static thread_local std::vector<std::pair<T, int64_t>> kept;
      KeepLargest(x, n, k, kept);
      for (int64_t j = 0; j < k; ++j) put(j, kept[j].second);
      return;
    }
  }
  top_ways.Enter(k * 4 < n ? 2 : n < 256 ? 3 : n < 16384 ? 4 : 5);
  using E = decltype(Entry(FallingKey(x[0]), 0));
  std::vector<E> items(n);
  for (int64_t i = 0; i < n; ++i) items[i] = Entry(FallingKey(x[i]), static_cast<uint32_t>(i));
  if (k * 4 < n) {
    std::nth_element(items.begin(), items.begin() + k, items.end());
    std::sort(items.begin(), items.begin() + k);
  } else if (n < 256) {
    std::sort(items.begin(), items.end());
  } else {
    std::vector<E> spare(n);
    constexpr int kKeyBits = sizeof(E) == 8 ? 32 : 64;
    if (n < 16384) {
      RadixSort<8, kKeyBits>(items.data(), spare.data(), n);
    } else {
      RadixSort<11, kKeyBits>(items.data(), spare.data(), n);
    }
  }
  for (int64_t j = 0; j < k; ++j) put(j, PlaceOf(items[j]));
}

template <class T>
struct TopK {
  int64_t k_attr;

  explicit TopK(const NodeView& node) : k_attr(node.attr_or<int64_t>("k", -1)) {}
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    int64_t count = k_attr;
    if (k.num_inputs() > 1) {
      k.Require(k.input(1).rank() == 0, "k must be scalar, got shape ", k.shape(1));
      count = k.input(1).dtype() == DT_INT16 ? *k.input(1).data<int16_t>() : k.Int(1);
    }
    k.Require(count >= 0, "Need k >= 0, got ", count);
    k.Require(in.rank() >= 1, "input must be >= 1-D, got shape ", in.shape());
    const int64_t n = in.dim(in.rank() - 1);
    k.Require(n >= count, "input must have at least k columns. Had ", n, ", needed ", count);
    k.Require(n <= std::numeric_limits<uint32_t>::max(), "rows of more than 2^32 - 1 elements");
    Shape shape = in.shape();
    shape.set_dim(in.rank() - 1, count);
    Tensor& values = k.Output(0, shape);
    Tensor& indices = k.Output(1, shape);
    if (shape.num_elements() == 0) return;
    const T* x = in.data<T>();
    T* y = values.mutable_data<T>();
    const DataType index_type = indices.dtype();
    if (index_type == DT_INT16) k.Require(n <= 32768, "rows of ", n, " elements need wider indices than int16");
    const int64_t cost = n * (count * 8 <= n ? 1 : 12);
    k.Parallel(in.num_elements() / n, cost, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* row = x + r * n;
        const int64_t first = r * count;
        const auto into = [&](auto* at) {
          TopRow(row, n, count, [&](int64_t j, int64_t i) {
            y[first + j] = row[i];
            at[first + j] = static_cast<std::remove_reference_t<decltype(*at)>>(i);
          });
        };
        if (index_type == DT_INT32) {
          into(indices.mutable_data<int32_t>());
        } else if (index_type == DT_INT64) {
          into(indices.mutable_data<int64_t>());
        } else {
          into(indices.mutable_data<int16_t>());
        }
      }
    });
  }
};

// The largest or smallest along an axis, exactly: every recall is reached.
template <class T>
struct ApproxTopK {
  int64_t count, axis;
  bool largest;

  explicit ApproxTopK(const NodeView& node)
      : count(node.attr<int64_t>("k")),
        axis(node.attr<int64_t>("reduction_dimension")),
        largest(node.attr<bool>("is_max_k")) {}
  void operator()(KernelContext& k) const {
    Shape shape = k.shape(0);
    const int64_t rank = shape.rank();
    k.Require(rank >= 1, "input must be >= 1-D, got shape ", shape);
    k.Require(axis >= -rank && axis < rank, "Invalid reduction dimension: ", axis);
    const int d = static_cast<int>(axis < 0 ? axis + rank : axis);
    const int64_t n = shape.dim(d);
    k.Require(n >= count, "input must have at least k columns. Had ", n, ", needed ", count);
    k.Require(n <= std::numeric_limits<int32_t>::max(), "rows of more than 2^31 - 1 elements");
    int64_t inner = 1;
    for (int i = d + 1; i < rank; ++i) inner *= shape.dim(i);
    shape.set_dim(d, count);
    const auto x = k.in<T>(0);
    const auto y = k.out<T>(0, shape);
    const auto at = k.out<int32_t>(1, shape);
    if (shape.num_elements() == 0) return;
    k.Parallel(shape.num_elements() / count, n * 4, [&](int64_t begin, int64_t end) {
      std::vector<float> row(n);
      for (int64_t r = begin; r < end; ++r) {
        const T* from = &x[r / inner * n * inner + r % inner];
        for (int64_t i = 0; i < n; ++i) {
          const float v = static_cast<float>(from[i * inner]);
          row[i] = largest ? v : -v;
        }
        TopRow(row.data(), n, count, [&](int64_t j, int64_t i) {
          const int64_t to = (r / inner * count + j) * inner + r % inner;
          y[to] = from[i * inner];
          at[to] = static_cast<int32_t>(i);
        });
      }
    });
  }
};

template <class T>
struct NthElement {
  bool reverse;

  explicit NthElement(const NodeView& node) : reverse(node.attr<bool>("reverse")) {}
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    k.Require(k.input(1).rank() == 0, "N must be scalar but has rank ", k.input(1).rank());
    int64_t n = k.Int(1);
    k.Require(n >= 0, "n must be non-negative but is ", n);
    k.Require(in.rank() >= 1, "Input must be at least rank 1 but is rank ", in.rank());
    const int64_t width = in.dim(in.rank() - 1);
    k.Require(width > n, "Input must have last dimension > n = ", n, " but is ", width);
    if (reverse) n = width - n - 1;
    Shape shape = in.shape();
    shape.RemoveDim(in.rank() - 1);
    auto y = k.out<T>(0, shape);
    const T* x = in.data<T>();
    k.Parallel(shape.num_elements(), width * 4, [&](int64_t begin, int64_t end) {
      std::vector<T> row(width);
      for (int64_t r = begin; r < end; ++r) {
        std::copy(x + r * width, x + (r + 1) * width, row.begin());
        if (std::none_of(row.begin(), row.end(), [](T v) { return v != v; })) {
          std::nth_element(row.begin(), row.begin() + n, row.end(), [](T a, T b) { return a < b; });
        } else {  // NaN has no place in an order; with the largest key it can do no harm
          std::nth_element(row.begin(), row.begin() + n, row.end(),
                           [](T a, T b) { return FallingKey(a) > FallingKey(b); });
        }
        y[r] = row[n];
      }
    });
  }
};

// to[c] = how many of the n numbers in order at x are before bound v[c], before(x, v), for c < count. Steps need no
// branch, and those of several bounds do not wait for each other.
template <class T, class Before, class Put>
void BoundsOf(const T* x, int64_t n, const T* v, int64_t count, const Before& before, const Put& put) {
  constexpr int64_t kTogether = 8;
  for (int64_t first = 0; first < count; first += kTogether) {
    T value[kTogether];
    int64_t at[kTogether] = {};
    for (int64_t c = 0; c < kTogether; ++c) value[c] = v[std::min(first + c, count - 1)];
    int64_t left = n;
    while (left > 1) {
      const int64_t half = left / 2;
      for (int64_t c = 0; c < kTogether; ++c) at[c] += half & -int64_t{before(x[at[c] + half - 1], value[c])};
      left -= half;
    }
    for (int64_t c = 0; c < std::min(kTogether, count - first); ++c) {
      put(first + c, at[c] + (n > 0 && before(x[at[c]], value[c]) ? 1 : 0));
    }
  }
}

template <class T>
struct Bound {
  bool upper;

  explicit Bound(const NodeView& node) : upper(node.op().name == "UpperBound") {}
  void operator()(KernelContext& k) const {
    const Tensor &sorted = k.input(0), &values = k.input(1);
    k.Require(sorted.rank() == 2, "sorted input argument must be a matrix");
    k.Require(values.rank() == 2, "values argument must be a matrix");
    k.Require(sorted.dim(0) == values.dim(0), "Leading dim_size of both tensors must match.");
    Tensor& out = k.Output(0, values.shape());
    if (out.num_elements() == 0) return;
    const int64_t width = sorted.dim(1), n = values.dim(1);
    k.Require(out.dtype() == DT_INT64 || width < std::numeric_limits<int32_t>::max(),
              "values tensor size must less than INT_MAX");
    const T *s = sorted.data<T>(), *v = values.data<T>();
    k.Parallel(out.num_elements(), 20, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {  // row by row
        const int64_t row = i / n, last = std::min(end, (row + 1) * n);
        const auto put = [&](int64_t at, int64_t bound) {
          if (out.dtype() == DT_INT64) {
            out.mutable_data<int64_t>()[i + at] = bound;
          } else {
            out.mutable_data<int32_t>()[i + at] = static_cast<int32_t>(bound);
          }
        };
        if (upper) {
          BoundsOf(s + row * width, width, v + i, last - i, [](T x, T bound) { return !(bound < x); }, put);
        } else {
          BoundsOf(s + row * width, width, v + i, last - i, [](T x, T bound) { return x < bound; }, put);
        }
        i = last;
      }
    });
  }
};

}  // namespace

void RegisterTopKKernels(KernelRegistry& kernels) {
  kernels.Add<TopK>("TopK", Reals{});
  kernels.Add<TopK>("TopKV2", Reals{});
  kernels.Add<ApproxTopK>("ApproxTopK", Types<Half, BFloat16, float>{});
  kernels.Add<NthElement>("NthElement", Reals{});
  kernels.Add<Bound>("LowerBound", Reals{});
  kernels.Add<Bound>("UpperBound", Reals{});
}

}  // namespace penstock
