// Fourier transforms: groups of lines, side by side, through the plans of fft.h.
#include <algorithm>
#include <cmath>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/signal/fft.h"

namespace penstock {
namespace {

constinit BranchTable<3> lanes_taken{"fft/lines", {"one by one", "some at once", "all lanes"}};
constinit BranchTable<2> real_lengths{"fft/real", {"even", "odd"}};
constinit BranchTable<2> real_results{"fft/inverse_real", {"even", "odd"}};

// Some lines of `k.Parallel`'s share, with planes to work in.
template <class T>
struct Group {
  int64_t first, count, lanes;  // lines [first, first + count); planes hold `lanes`
  Planes<T> x, spare;
};

// fn(Group) for all lines; each plane has room for `room` elements of a line. Lines are taken together as long as they
// stay in the cache.
template <class T, class Fn>
void ForEachGroup(KernelContext& k, int64_t lines, int64_t room, const Fn& fn) {
  constexpr int64_t kCacheBytes = 1 << 20;
  const int64_t bytes = 4 * room * static_cast<int64_t>(sizeof(T));
  int64_t lanes = 1;
  while (lanes < Fft<T>().lanes && lanes < lines && 2 * lanes * bytes <= kCacheBytes) lanes *= 2;
  lanes_taken.Enter(lanes == 1 ? 0 : lanes < Fft<T>().lanes ? 1 : 2);
  const auto cost = static_cast<double>(room * lanes) * (1 + std::log2(static_cast<double>(room))) / 2;
  k.Parallel((lines + lanes - 1) / lanes, static_cast<int64_t>(cost), [&](int64_t begin, int64_t end) {
    const int64_t size = room * lanes;
    Tensor memory = k.Temp(kTypeOf<T>, Shape({4 * size}));
    T* const m = memory.mutable_data<T>();
    for (int64_t g = begin; g < end; ++g) {
      const int64_t first = g * lanes;
      fn(Group<T>{first, std::min(lanes, lines - first), lanes, {m, m + size}, {m + 2 * size, m + 3 * size}});
    }
  });
}

// Where the complex numbers of a group's lines begin, as parts; at(line): of the first.
template <class T>
struct Places {
  T* to[kMostFftLanes];
  template <class At>
  Places(const Group<T>& group, const At& at) {
    for (int64_t l = 0; l < group.count; ++l) to[l] = at(group.first + l);
  }
};

template <class T>
void Load(const Group<T>& group, const Places<T>& from, int64_t step, int64_t n) {
  Fft<T>().load(from.to, step, n, group.count, group.lanes, group.x.re, group.x.im);
}
template <class T>
void Store(const Group<T>& group, Planes<T> y, const Places<T>& to, int64_t step, int64_t n, T scale) {
  Fft<T>().store(y.re, y.im, n, group.count, group.lanes, scale, to.to, step);
}
// The planes of the group that are not y.
template <class T>
Planes<T> Other(const Group<T>& group, Planes<T> y) {
  return y.re == group.x.re || y.re == group.x.im ? group.spare : group.x;
}

// Transforms data [outer, n, inner] along n in place.
template <class R>
void TransformAxis(KernelContext& k, std::complex<R>* data, int64_t outer, int64_t n, int64_t inner, bool inverse) {
  if (outer * n * inner == 0) return;
  const auto plan = FftPlan<R>::For(n);
  R* const parts = reinterpret_cast<R*>(data);
  ForEachGroup<R>(k, outer * inner, plan->room(), [&](const Group<R>& group) {
    const Places<R> at(group, [&](int64_t line) { return parts + 2 * (line / inner * n * inner + line % inner); });
    Load(group, at, 2 * inner, n);
    if (inverse) {
      const Planes<R> y = plan->Run(group.x.Turned(), group.spare.Turned(), group.lanes).Turned();
      Store(group, y, at, 2 * inner, n, R(1) / static_cast<R>(n));
    } else {
      Store(group, plan->Run(group.x, group.spare, group.lanes), at, 2 * inner, n, R(1));
    }
  });
}

int64_t Product(const Shape& shape, int begin, int end) {
  int64_t n = 1;
  for (int i = begin; i < end; ++i) n *= shape[i];
  return n;
}

// Transforms the last dimensions from `first` up to `last`.
template <class R>
void TransformAxes(KernelContext& k, std::complex<R>* data, const Shape& shape, int first, int last, bool inverse) {
  for (int axis = last - 1; axis >= first; --axis) {
    TransformAxis(k, data, Product(shape, 0, axis), shape[axis], Product(shape, axis + 1, shape.rank()), inverse);
  }
}

void RequireRank(KernelContext& k, int rank) {
  k.Require(k.shape(0).rank() >= rank, "Input must have rank of at least ", rank, " but got: ", k.shape(0));
}

template <class C, int kRank, bool kInverse>
struct ComplexTransform {
  void operator()(KernelContext& k) const {
    RequireRank(k, kRank);
    const Shape shape = k.shape(0);
    const auto x = k.in<C>(0);
    Tensor& out = k.OutputLike(0, {0}, shape);
    C* y = out.mutable_data<C>();
    if (y != x.data()) std::copy(x.begin(), x.end(), y);
    TransformAxes(k, y, shape, shape.rank() - kRank, shape.rank(), kInverse);
  }
};

// The lengths in input 1, and the input checked against them.
std::vector<int64_t> Lengths(KernelContext& k, int rank, bool forward) {
  RequireRank(k, rank);
  k.Require(k.shape(1).rank() == 1 && k.shape(1)[0] == rank, "fft_length must have shape [", rank, "]");
  const std::vector<int64_t> lengths = k.Ints(1);
  const Shape& in = k.shape(0);
  for (int i = 0; i < rank; ++i) {
    k.Require(lengths[i] >= 0, "fft_length[", i, "] must be >= 0, but got: ", lengths[i]);
    const int64_t least = !forward && i == rank - 1 ? lengths[i] / 2 + 1 : lengths[i];
    const int axis = in.rank() - rank + i;
    k.Require(in[axis] == 0 || in[axis] >= least, "Input dimension ", axis, " must have length of at least ", least,
              " but got: ", in[axis]);
  }
  return lengths;
}

// Where line `line` of those along the last dimension of a shape `part` begins in a larger shape `whole`.
int64_t OffsetIn(const Shape& whole, const Shape& part, int64_t line) {
  int64_t offset = 0, step = whole[whole.rank() - 1];
  for (int i = part.rank() - 2; i >= 0; --i) {
    offset += line % part[i] * step;
    line /= part[i], step *= whole[i];
  }
  return offset;
}

template <class R, int kRank>
struct RealToComplex {
  using C = std::complex<R>;
  void operator()(KernelContext& k) const {
    const std::vector<int64_t> lengths = Lengths(k, kRank, true);
    const Shape& in = k.shape(0);
    const int first = in.rank() - kRank, last = in.rank() - 1;
    Shape full = in, shape = in;
    for (int i = 0; i < kRank; ++i) full.set_dim(first + i, lengths[i]), shape.set_dim(first + i, lengths[i]);
    const int64_t n = full[last], kept = n ? n / 2 + 1 : 0;
    shape.set_dim(last, kept);
    const auto y = k.out<C>(0, shape);
    if (y.empty()) return;
    if (in.num_elements() == 0) return std::fill(y.begin(), y.end(), C());
    Transform(k, k.in<R>(0).data(), in, shape, n, reinterpret_cast<R*>(y.data()));
    TransformAxes(k, y.data(), shape, first, last, false);
  }

 private:
  // The transforms of lines of n real numbers, as many as `shape` has lines.
  static void Transform(KernelContext& k, const R* x, const Shape& in, const Shape& shape, int64_t n, R* y) {
    const bool even = n % 2 == 0;
    real_lengths.Enter(even ? 0 : 1);
    const int64_t h = n / 2;
    const auto plan = FftPlan<R>::For(even ? h : n);
    ForEachGroup<R>(k, shape.num_elements() / (h + 1), std::max(plan->room(), h + 1), [&](const Group<R>& group) {
      const Places<R> to(group, [&](int64_t line) { return y + 2 * line * (h + 1); });
      const Places<R> from(group, [&](int64_t line) { return const_cast<R*>(x) + OffsetIn(in, shape, line); });
      if (even) {  // as half as many complex numbers
        Load(group, from, 2, h);
        const Planes<R> z = plan->Run(group.x, group.spare, group.lanes), joined = Other(group, z);
        Fft<R>().join(h, group.lanes, plan->turns(), z.re, z.im, joined.re, joined.im);
        return Store(group, joined, to, 2, h + 1, R(1));
      }
      std::fill_n(group.x.im, n * group.lanes, R(0));
      std::fill_n(group.x.re, n * group.lanes, R(0));
      for (int64_t l = 0; l < group.count; ++l) {
        for (int64_t i = 0; i < n; ++i) group.x.re[i * group.lanes + l] = from.to[l][i];
      }
      Store(group, plan->Run(group.x, group.spare, group.lanes), to, 2, h + 1, R(1));
    });
  }
};

template <class R, int kRank>
struct ComplexToReal {
  using C = std::complex<R>;
  void operator()(KernelContext& k) const {
    const std::vector<int64_t> lengths = Lengths(k, kRank, false);
    const Shape& in = k.shape(0);
    const int first = in.rank() - kRank, last = in.rank() - 1;
    Shape shape = in, half = in;
    for (int i = 0; i < kRank; ++i) shape.set_dim(first + i, lengths[i]), half.set_dim(first + i, lengths[i]);
    const int64_t n = shape[last];
    const auto y = k.out<R>(0, shape);
    if (y.empty()) return;
    if (in.num_elements() == 0) return std::fill(y.begin(), y.end(), R(0));
    half.set_dim(last, n / 2 + 1);
    const C* x = k.in<C>(0).data();
    if (kRank == 1) return Transform(k, reinterpret_cast<const R*>(x), in, half, n, y.data());
    Tensor temp = k.Temp(kTypeOf<C>, half);
    C* t = temp.mutable_data<C>();
    for (int64_t line = 0; line < half.num_elements() / half[last]; ++line) {
      std::copy_n(x + OffsetIn(in, half, line), half[last], t + line * half[last]);
    }
    TransformAxes(k, t, half, first, last, true);
    Transform(k, reinterpret_cast<const R*>(t), half, half, n, y.data());
  }

 private:
  // Lines of n real numbers from their transforms, which are in `x` as lines of `half` in `in`.
  static void Transform(KernelContext& k, const R* x, const Shape& in, const Shape& half, int64_t n, R* y) {
    const bool even = n % 2 == 0;
    real_results.Enter(even ? 0 : 1);
    const int64_t h = n / 2;
    const auto plan = FftPlan<R>::For(even ? h : n);
    ForEachGroup<R>(k, half.num_elements() / (h + 1), std::max(plan->room(), h + 1), [&](const Group<R>& group) {
      const int64_t lanes = group.lanes;
      const Places<R> from(group, [&](int64_t line) { return const_cast<R*>(x) + 2 * OffsetIn(in, half, line); });
      const Places<R> to(group, [&](int64_t line) { return y + line * n; });
      Load(group, from, 2, h + 1);
      R *const re = group.x.re, *const im = group.x.im;
      std::fill_n(im, lanes, R(0));  // what the spectrum of real numbers cannot have is ignored
      if (even) {
        std::fill_n(im + h * lanes, lanes, R(0));
        Fft<R>().part(h, lanes, plan->turns(), re, im, group.spare.re, group.spare.im);
        const Planes<R> z = plan->Run(group.spare.Turned(), group.x.Turned(), lanes).Turned();
        return Store(group, z, to, 2, h, R(1) / static_cast<R>(h));
      }
      for (int64_t i = 1; i <= h; ++i) {
        for (int64_t l = 0; l < lanes; ++l) {
          re[(n - i) * lanes + l] = re[i * lanes + l], im[(n - i) * lanes + l] = -im[i * lanes + l];
        }
      }
      const Planes<R> z = plan->Run(group.x.Turned(), group.spare.Turned(), lanes).Turned();
      const R scale = R(1) / static_cast<R>(n);
      for (int64_t l = 0; l < group.count; ++l) {
        for (int64_t i = 0; i < n; ++i) to.to[l][i] = z.re[i * lanes + l] * scale;
      }
    });
  }
};

template <int kRank>
void RegisterRank(KernelRegistry& kernels, const std::string& suffix) {
  kernels.Add<ComplexTransform<Complex64, kRank, false>>("FFT" + suffix, Types<Complex64>{}, "Tcomplex");
  kernels.Add<ComplexTransform<Complex128, kRank, false>>("FFT" + suffix, Types<Complex128>{}, "Tcomplex");
  kernels.Add<ComplexTransform<Complex64, kRank, true>>("IFFT" + suffix, Types<Complex64>{}, "Tcomplex");
  kernels.Add<ComplexTransform<Complex128, kRank, true>>("IFFT" + suffix, Types<Complex128>{}, "Tcomplex");
  const auto add = [&]<class R>(R) {
    const std::vector<DataType> complex = {kTypeOf<std::complex<R>>};
    kernels.Add<RealToComplex<R, kRank>>("RFFT" + suffix, Types<R>{}, "Treal").Only("Tcomplex", complex).HostInput(1);
    kernels.Add<ComplexToReal<R, kRank>>("IRFFT" + suffix, Types<R>{}, "Treal").Only("Tcomplex", complex).HostInput(1);
  };
  add(float());
  add(double());
}

}  // namespace

void RegisterSpectralKernels(KernelRegistry& kernels) {
  RegisterRank<1>(kernels, "");
  RegisterRank<2>(kernels, "2D");
  RegisterRank<3>(kernels, "3D");
}

}  // namespace penstock
