// Elementwise kernels are their formula; loops, broadcasting, threads and buffers are shared.
//
//   struct Atan2 { template <class T> T operator()(T y, T x) const { return std::atan2(y, x); } };
//   AddBinary<Atan2>(kernels, "Atan2", Floats{});
//
// half and bfloat16 are computed in float, block by block, so a formula is never instantiated for them. A formula that
// has a vectorised loop (loops.h) names it: `static constexpr UnaryOp kLoop` and `using InLoop = Types<...>`, the types
// that the loop covers; it is then instantiated for the other types only, and needs no operator() if none are left.
// A formula may throw Error.
#pragma once

#include <string_view>
#include <type_traits>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/loops.h"

namespace penstock {

// --- broadcasting

// Up to four inputs stretched to one shape, after joining dimensions that are stretched alike.
struct Broadcast {
  static constexpr int kMaxInputs = 4;
  Shape out;
  int inputs = 0;
  std::vector<int64_t> dims;                            // joined; at least one; the last is the inner loop
  std::vector<int64_t> strides[kMaxInputs];             // in elements; 0 where stretched
  bool Plain(int input) const { return plain[input]; }  // the input is as the output: no stretching at all
  bool plain[kMaxInputs] = {};
};
// False if the shapes do not fit together.
bool TryMakeBroadcast(std::span<const Shape* const> shapes, Broadcast* plan);
// InvalidArgument "Incompatible shapes: [2] vs. [3]".
Broadcast MakeBroadcast(std::span<const Shape* const> shapes);

// Calls fn(offset in output, offsets in inputs, n) for runs along the inner dimension that cover [begin, end) of the
// output.
void ForEachRun(const Broadcast& plan, int64_t begin, int64_t end,
                FunctionRef<void(int64_t, const int64_t*, int64_t)> fn);
// Copies elements [begin, end) of the stretched input to `to`. size: of an element, 1, 2, 4, 8 or 16.
void Gather(const Broadcast& plan, int input, const void* from, size_t size, int64_t begin, int64_t end, void* to);

// A stretched input, block by block; `size` is that of its elements. A block like the one before is not made again.
class StretchedInput {
 public:
  StretchedInput(const Broadcast& plan, int input, const void* from, size_t size);
  // Makes elements [at, at + n) of the output in `block`, which nobody else writes.
  void Make(int64_t at, int64_t n, void* block);

 private:
  const Broadcast& plan_;
  const int input_;
  const void* const from_;
  const size_t size_;
  int64_t period_ = 1, region_ = 1;  // within `region_` elements of the output those of the input repeat
  int64_t at_ = 0, held_ = 0;        // from where on, and how many elements of one region, the block has
};

// fn(begin, end) over n elements of `picoseconds` each, in pieces that start at multiples of 64.
void ParallelElements(const KernelContext& k, int64_t n, int64_t picoseconds, FunctionRef<void(int64_t, int64_t)> fn);

// --- kernels

namespace elementwise {

// half and bfloat16 are computed in float.
constexpr bool IsFloat16(DataType t) { return t == DT_HALF || t == DT_BFLOAT16; }
template <class T>
using ComputeType = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

template <class F, class T>
void GenericUnary(const void* x, void* y, int64_t n) {
  using R = std::decay_t<decltype(F()(std::declval<const T&>()))>;
  const T* in = static_cast<const T*>(x);
  R* out = static_cast<R*>(y);
  const F f;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = f(in[i]);
}
template <class F, class T>
void GenericBinary(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
  using R = std::decay_t<decltype(F()(std::declval<const T&>(), std::declval<const T&>()))>;
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  R* z = static_cast<R*>(out);
  const F f;
  if (sa == 1 && sb == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) z[i] = f(x[i], y[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) z[i] = f(x[i * sa], y[i * sb]);
  }
}

template <class T, class List>
struct Contains;
template <class T, class... Ts>
struct Contains<T, Types<Ts...>> : std::bool_constant<(std::is_same_v<T, Ts> || ...)> {};
template <class F, class T>
constexpr bool HasLoop() {
  if constexpr (requires { typename F::InLoop; }) {
    return Contains<T, typename F::InLoop>::value;
  } else {
    return false;
  }
}
template <class F, class Node>
UnaryLoop UnaryLoopOf() {
  using T = ComputeType<Node>;
  if constexpr (HasLoop<F, T>()) {
    return CpuLoops()(F::kLoop, kTypeOf<T>);
  } else {
    return &GenericUnary<F, T>;
  }
}
template <class F, class Node>
BinaryLoop BinaryLoopOf() {
  using T = ComputeType<Node>;
  if constexpr (HasLoop<F, T>()) {
    return CpuLoops()(F::kLoop, kTypeOf<T>);
  } else {
    return &GenericBinary<F, T>;
  }
}
template <class F>
constexpr int64_t CostOf() {
  if constexpr (requires { F::kPicoseconds; }) {
    return F::kPicoseconds;
  } else if constexpr (requires { F::kLoop; }) {
    return 500;
  } else {
    return 5000;
  }
}

class UnaryKernel {
 public:
  UnaryKernel(const NodeView& node, UnaryLoop loop, int64_t picoseconds)
      : loop_{.unary = loop, .picoseconds = picoseconds}, in_(node.input_type(0)), out_(node.output_type(0)) {}
  void operator()(KernelContext& k) const;
  const ElementwiseLoop* elementwise() const { return in_ == out_ && !IsFloat16(in_) ? &loop_ : nullptr; }

 private:
  ElementwiseLoop loop_;
  DataType in_, out_;
};

class BinaryKernel {
 public:
  // `stretches`: inputs may have different shapes.
  BinaryKernel(const NodeView& node, BinaryLoop loop, int64_t picoseconds, bool stretches = true)
      : loop_{.binary = loop, .picoseconds = picoseconds, .stretches = stretches},
        in_(node.input_type(0)),
        out_(node.output_type(0)) {}
  void operator()(KernelContext& k) const;
  const ElementwiseLoop* elementwise() const { return in_ == out_ && !IsFloat16(in_) ? &loop_ : nullptr; }

 private:
  ElementwiseLoop loop_;
  DataType in_, out_;
};

template <class F, class... Ts>
struct Unary : UnaryKernel {
  explicit Unary(const NodeView& node) : UnaryKernel(node, Pick(node.input_type(0)), CostOf<F>()) {}
  static UnaryLoop Pick(DataType type) {
    UnaryLoop loop = nullptr;
    ((kTypeOf<Ts> == type ? (loop = UnaryLoopOf<F, Ts>(), 0) : 0), ...);
    return loop;
  }
};
template <class F, class... Ts>
struct Binary : BinaryKernel {
  explicit Binary(const NodeView& node) : BinaryKernel(node, Pick(node.input_type(0)), CostOf<F>()) {}
  static BinaryLoop Pick(DataType type) {
    BinaryLoop loop = nullptr;
    ((kTypeOf<Ts> == type ? (loop = BinaryLoopOf<F, Ts>(), 0) : 0), ...);
    return loop;
  }
};

}  // namespace elementwise

template <class F, class... Ts>
KernelBuilder AddUnary(KernelRegistry& kernels, std::string_view op, Types<Ts...> types) {
  return kernels.Add<elementwise::Unary<F, Ts...>>(op, types);
}
template <class F, class... Ts>
KernelBuilder AddBinary(KernelRegistry& kernels, std::string_view op, Types<Ts...> types) {
  return kernels.Add<elementwise::Binary<F, Ts...>>(op, types);
}

}  // namespace penstock
