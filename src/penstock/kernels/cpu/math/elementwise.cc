#include "penstock/kernels/cpu/math/elementwise.h"

#include <algorithm>
#include <cstring>

#include "penstock/base/branches.h"

namespace penstock {

bool TryMakeBroadcast(std::span<const Shape* const> shapes, Broadcast* plan) {
  const int inputs = static_cast<int>(shapes.size());
  plan->inputs = inputs;
  int rank = 0;
  for (const Shape* s : shapes) rank = std::max(rank, s->rank());
  std::vector<int64_t> out(rank, 1);
  for (const Shape* s : shapes) {
    for (int d = 0; d < s->rank(); ++d) {
      int64_t& size = out[rank - s->rank() + d];
      if (size == 1) {
        size = s->dim(d);
      } else if (s->dim(d) != size && s->dim(d) != 1) {
        return false;
      }
    }
  }
  plan->out = Shape(out);
  for (int i = 0; i < inputs; ++i) plan->plain[i] = shapes[i]->num_elements() == plan->out.num_elements();

  // Neighbouring dimensions are joined if every input is stretched along both, or along neither.
  unsigned previous = ~0u;
  for (int d = 0; d < rank; ++d) {
    if (out[d] == 1) continue;
    unsigned stretched = 0;
    for (int i = 0; i < inputs; ++i) {
      const int own = d - (rank - shapes[i]->rank());
      if (own < 0 || shapes[i]->dim(own) == 1) stretched |= 1u << i;
    }
    if (!plan->dims.empty() && stretched == previous) {
      plan->dims.back() *= out[d];
    } else {
      plan->dims.push_back(out[d]);
      for (int i = 0; i < inputs; ++i) plan->strides[i].push_back(stretched >> i & 1 ? 0 : 1);
    }
    previous = stretched;
  }
  if (plan->dims.empty()) {
    plan->dims.push_back(plan->out.num_elements());
    for (int i = 0; i < inputs; ++i) plan->strides[i].push_back(1);
  }
  for (int i = 0; i < inputs; ++i) {
    int64_t step = 1;
    for (int d = static_cast<int>(plan->dims.size()) - 1; d >= 0; --d) {
      if (plan->strides[i][d] == 0) continue;
      plan->strides[i][d] = step;
      step *= plan->dims[d];
    }
  }
  return true;
}

Broadcast MakeBroadcast(std::span<const Shape* const> shapes) {
  Broadcast plan;
  if (!TryMakeBroadcast(shapes, &plan)) {
    std::string text;
    for (const Shape* s : shapes) text += (text.empty() ? "" : " vs. ") + s->ToString();
    throw InvalidArgument("Incompatible shapes: ", text);
  }
  return plan;
}

namespace {

// A position in the output as an index for each joined dimension, with the offset of every input.
struct Cursor {
  std::vector<int64_t> index;
  int64_t offset[Broadcast::kMaxInputs] = {};

  Cursor(const Broadcast& plan, int64_t position) : index(plan.dims.size()) {
    for (int d = static_cast<int>(plan.dims.size()) - 1; d >= 0; --d) {
      index[d] = position % plan.dims[d];
      position /= plan.dims[d];
      for (int i = 0; i < plan.inputs; ++i) offset[i] += index[d] * plan.strides[i][d];
    }
  }
  // Moves n elements along the inner dimension, at most to its end.
  void Advance(const Broadcast& plan, int64_t n) {
    int d = static_cast<int>(plan.dims.size()) - 1;
    index[d] += n;
    for (int i = 0; i < plan.inputs; ++i) offset[i] += n * plan.strides[i][d];
    while (d > 0 && index[d] == plan.dims[d]) {
      for (int i = 0; i < plan.inputs; ++i) offset[i] += plan.strides[i][d - 1] - plan.dims[d] * plan.strides[i][d];
      index[d] = 0;
      ++index[--d];
    }
  }
};

}  // namespace

namespace {

template <class Fn>
void EachRun(const Broadcast& plan, int64_t begin, int64_t end, Fn fn) {
  if (begin >= end) return;  // a cursor divides by the dimensions, that may be 0
  const int64_t inner = plan.dims.back();
  Cursor cursor(plan, begin);
  while (begin < end) {
    const int64_t n = std::min(end - begin, inner - cursor.index.back());
    fn(begin, cursor.offset, n);
    cursor.Advance(plan, n);
    begin += n;
  }
}

// Within each `region` elements of the output an input's elements repeat every `period`.
struct Cycle {
  int64_t period = 1, region = 1;
};
Cycle CycleOf(const Broadcast& plan, int input) {
  Cycle cycle;
  for (size_t d = plan.dims.size(); d-- > 0;) {
    cycle.region *= plan.dims[d];
    if (plan.strides[input][d] == 0 && d + 1 < plan.dims.size()) return cycle;
    cycle.period = cycle.region;
  }
  return cycle;
}

}  // namespace

void ForEachRun(const Broadcast& plan, int64_t begin, int64_t end,
                FunctionRef<void(int64_t, const int64_t*, int64_t)> fn) {
  EachRun(plan, begin, end, fn);
}

namespace {

template <class T>
void GatherAs(const Broadcast& plan, int input, const void* from, int64_t begin, int64_t end, void* to) {
  const T* in = static_cast<const T*>(from);
  T* out = static_cast<T*>(to);
  const int64_t stride = plan.strides[input].back();
  const Cycle cycle = CycleOf(plan, input);
  while (begin < end) {
    // One period element by element, then what there is of the region as copies of it.
    const int64_t stop = std::min(end, (begin / cycle.region + 1) * cycle.region),
                  first = std::min(stop, begin + cycle.period);
    EachRun(plan, begin, first, [&, to = out](int64_t, const int64_t* offsets, int64_t n) mutable {
      const T* p = in + offsets[input];
      for (int64_t i = 0; i < n; ++i) to[i] = p[i * stride];
      to += n;
    });
    const int64_t all = stop - begin;
    for (int64_t done = first - begin, more; done < all; done += more) {
      more = std::min(done, all - done);
      std::memcpy(out + done, out, static_cast<size_t>(more) * sizeof(T));
    }
    out += all;
    begin = stop;
  }
}

struct Bytes16 {
  uint64_t a, b;
};

}  // namespace

void Gather(const Broadcast& plan, int input, const void* from, size_t size, int64_t begin, int64_t end, void* to) {
  switch (size) {
    case 1: return GatherAs<uint8_t>(plan, input, from, begin, end, to);
    case 2: return GatherAs<uint16_t>(plan, input, from, begin, end, to);
    case 4: return GatherAs<uint32_t>(plan, input, from, begin, end, to);
    case 8: return GatherAs<uint64_t>(plan, input, from, begin, end, to);
    default: return GatherAs<Bytes16>(plan, input, from, begin, end, to);
  }
}

StretchedInput::StretchedInput(const Broadcast& plan, int input, const void* from, size_t size)
    : plan_(plan), input_(input), from_(from), size_(size) {
  const Cycle cycle = CycleOf(plan, input);
  period_ = cycle.period, region_ = cycle.region;
}

void StretchedInput::Make(int64_t at, int64_t n, void* block) {
  const int64_t region = at / region_ * region_;
  const bool inside = at + n <= region + region_;
  if (inside && at_ >= region && n <= held_ && (at - at_) % period_ == 0) return;
  Gather(plan_, input_, from_, size_, at, at + n, block);
  at_ = at;
  held_ = inside ? n : 0;
}

void ParallelElements(const KernelContext& k, int64_t n, int64_t picoseconds, FunctionRef<void(int64_t, int64_t)> fn) {
  constexpr int64_t kUnit = 64;
  const int64_t unit_cost = std::max<int64_t>(1, kUnit * picoseconds / 1000);
  if (n <= kUnit) {
    if (n > 0) fn(0, n);
    return;
  }
  k.Parallel((n + kUnit - 1) / kUnit, unit_cost,
             [&](int64_t begin, int64_t end) { fn(begin * kUnit, std::min(n, end * kUnit)); });
}

namespace elementwise {
namespace {

constinit BranchTable<4> binary_shapes{"elementwise/shapes", {"equal", "scalar", "long runs", "short runs"}};

constexpr int64_t kBlock = 512;  // elements of a temporary that stays in the first-level cache

const char* At(const void* base, int64_t index, size_t size) { return static_cast<const char*>(base) + index * size; }
char* At(void* base, int64_t index, size_t size) { return static_cast<char*>(base) + index * size; }

// Runs `loop`, which computes in float, on half or bfloat16 inputs.
void UnaryInFloat(UnaryLoop loop, DataType in, DataType out, const void* x, void* y, int64_t n) {
  alignas(64) float a[kBlock], b[kBlock];
  const Loops& loops = CpuLoops();
  const size_t out_size = DataTypeSize(out);
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t m = std::min(kBlock, n - i);
    loops.cast[in][DT_FLOAT](At(x, i, 2), a, m);
    if (IsFloat16(out)) {
      loop(a, b, m);
      loops.cast[DT_FLOAT][out](b, At(y, i, 2), m);
    } else {
      loop(a, At(y, i, out_size), m);
    }
  }
}

void BinaryInFloat(BinaryLoop loop, DataType in, DataType out, const void* x, int64_t sx, const void* y, int64_t sy,
                   void* z, int64_t n) {
  alignas(64) float a[kBlock], b[kBlock], c[kBlock];
  const Loops& loops = CpuLoops();
  const size_t out_size = DataTypeSize(out);
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t m = std::min(kBlock, n - i);
    loops.cast[in][DT_FLOAT](At(x, i * sx, 2), a, sx ? m : 1);
    loops.cast[in][DT_FLOAT](At(y, i * sy, 2), b, sy ? m : 1);
    if (IsFloat16(out)) {
      loop(a, sx, b, sy, c, m);
      loops.cast[DT_FLOAT][out](c, At(z, i, 2), m);
    } else {
      loop(a, sx, b, sy, At(z, i, out_size), m);
    }
  }
}

}  // namespace

void UnaryKernel::operator()(KernelContext& k) const {
  const Tensor& x = k.input(0);
  const void* in = x.raw();
  Tensor& y = in_ == out_ ? k.OutputLike(0, {0}, x.shape()) : k.Output(0, x.shape());
  void* out = y.mutable_raw();
  const int64_t n = y.num_elements();
  const size_t in_size = DataTypeSize(in_), out_size = DataTypeSize(out_);
  ParallelElements(k, n, loop_.picoseconds, [&](int64_t begin, int64_t end) {
    if (IsFloat16(in_)) {
      UnaryInFloat(loop_.unary, in_, out_, At(in, begin, 2), At(out, begin, out_size), end - begin);
    } else {
      loop_.unary(At(in, begin, in_size), At(out, begin, out_size), end - begin);
    }
  });
}

void BinaryKernel::operator()(KernelContext& k) const {
  const size_t in_size = DataTypeSize(in_), out_size = DataTypeSize(out_);
  const void* a = k.input(0).raw();
  const void* b = k.input(1).raw();
  const auto run = [&](const void* x, int64_t sx, const void* y, int64_t sy, void* z, int64_t n) {
    if (IsFloat16(in_)) {
      BinaryInFloat(loop_.binary, in_, out_, x, sx, y, sy, z, n);
    } else {
      loop_.binary(x, sx, y, sy, z, n);
    }
  };
  const auto output = [&](const Shape& shape) -> Tensor& {
    return in_ == out_ ? k.OutputLike(0, {0, 1}, shape) : k.Output(0, shape);
  };

  const Shape &sa = k.shape(0), &sb = k.shape(1);
  const bool same = sa == sb;
  k.Require(same || loop_.stretches, "inputs must be the same shape: gradients are ", sa, ", the other input ", sb);
  // Equal shapes, or a scalar on one side: no plan is needed.
  if (same || sa.rank() == 0 || sb.rank() == 0) {
    const bool scalar_a = !same && sa.rank() == 0;
    binary_shapes.Enter(same ? 0 : 1);
    const int64_t step_a = scalar_a ? 0 : 1, step_b = same || scalar_a ? 1 : 0;
    Tensor& out = output(scalar_a ? Shape(sb) : Shape(sa));
    void* z = out.mutable_raw();
    ParallelElements(k, out.num_elements(), loop_.picoseconds, [&](int64_t begin, int64_t end) {
      run(At(a, begin * step_a, in_size), step_a, At(b, begin * step_b, in_size), step_b, At(z, begin, out_size),
          end - begin);
    });
    return;
  }

  const Shape* const shapes[] = {&sa, &sb};
  const Broadcast plan = MakeBroadcast(shapes);
  Tensor& out = output(plan.out);
  void* z = out.mutable_raw();
  const bool short_runs = plan.dims.size() > 1 && plan.dims.back() < 32 && IsPod(in_) && in_size <= 16;
  binary_shapes.Enter(short_runs ? 3 : 2);
  ParallelElements(k, out.num_elements(), loop_.picoseconds, [&](int64_t begin, int64_t end) {
    if (!short_runs) {
      const int64_t step_a = plan.strides[0].back(), step_b = plan.strides[1].back();
      ForEachRun(plan, begin, end, [&](int64_t at, const int64_t* from, int64_t n) {
        run(At(a, from[0], in_size), step_a, At(b, from[1], in_size), step_b, At(z, at, out_size), n);
      });
      return;
    }
    // Many short runs: stretch the inputs block by block, then one long loop.
    alignas(64) char blocks[2][kBlock * 16];
    StretchedInput stretched[] = {{plan, 0, a, in_size}, {plan, 1, b, in_size}};
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t m = std::min(kBlock, end - i);
      const void* from[2] = {At(a, i, in_size), At(b, i, in_size)};
      for (int input = 0; input < 2; ++input) {
        if (plan.Plain(input)) continue;
        stretched[input].Make(i, m, blocks[input]);
        from[input] = blocks[input];
      }
      run(from[0], 1, from[1], 1, At(z, i, out_size), m);
    }
  });
}

}  // namespace elementwise
}  // namespace penstock
