// Fourier transforms by Eigen's; lengths with large prime factors go through a convolution (Bluestein).
#include <cmath>
#include <numbers>

#include <unsupported/Eigen/FFT>

#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

// One-dimensional transforms of one length. Not to be shared between threads.
template <class R>
class Transform {
 public:
  using C = std::complex<R>;
  explicit Transform(int64_t n) : n_(n) {
    fft_.SetFlag(Eigen::FFT<R>::Unscaled);
    if (LargestFactor(n) <= kLargestFactor) return;
    m_ = 1;
    while (m_ < 2 * n - 1) m_ *= 2;
    chirp_.resize(n);
    for (int64_t i = 0; i < n; ++i) {  // e^(-pi i k^2 / n), the exponent's period taken out first
      const auto square = static_cast<uint64_t>(i) * static_cast<uint64_t>(i) % static_cast<uint64_t>(2 * n);
      const double angle = std::numbers::pi * static_cast<double>(square) / static_cast<double>(n);
      chirp_[i] = C(static_cast<R>(std::cos(angle)), static_cast<R>(-std::sin(angle)));
    }
    std::vector<C> kernel(m_);
    for (int64_t i = 0; i < n; ++i) kernel[i] = kernel[(m_ - i) % m_] = std::conj(chirp_[i]);
    kernel_.resize(m_);
    fft_.fwd(kernel_.data(), kernel.data(), m_);
    a_.resize(m_);
    b_.resize(m_);
  }
  // `to` and `from` must not overlap. The inverse is not scaled.
  void Run(const C* from, C* to, bool inverse) {
    if (n_ == 1) {
      *to = *from;
    } else if (m_ == 0) {
      inverse ? fft_.inv(to, from, n_) : fft_.fwd(to, from, n_);
    } else {
      const auto turned = [&](C v) { return inverse ? std::conj(v) : v; };
      std::fill(a_.begin(), a_.end(), C());
      for (int64_t i = 0; i < n_; ++i) a_[i] = turned(from[i]) * chirp_[i];
      fft_.fwd(b_.data(), a_.data(), m_);
      for (int64_t i = 0; i < m_; ++i) b_[i] *= kernel_[i];
      fft_.inv(a_.data(), b_.data(), m_);
      for (int64_t i = 0; i < n_; ++i) to[i] = turned(a_[i] * chirp_[i] / static_cast<R>(m_));
    }
  }

 private:
  static constexpr int64_t kLargestFactor = 32;
  static int64_t LargestFactor(int64_t n) {
    int64_t largest = 1;
    for (int64_t p = 2; p * p <= n; ++p) {
      while (n % p == 0) n /= p, largest = p;
    }
    return std::max(largest, n);
  }

  int64_t n_, m_ = 0;  // m_: length of the convolution, if there is one
  Eigen::FFT<R> fft_;
  std::vector<C> chirp_, kernel_, a_, b_;
};

// Transforms data [outer, n, inner] along n in place.
template <class R>
void TransformAxis(KernelContext& k, std::complex<R>* data, int64_t outer, int64_t n, int64_t inner, bool inverse) {
  using C = std::complex<R>;
  if (outer * n * inner == 0) return;
  const auto cost = static_cast<int64_t>(5 * static_cast<double>(n) * (1 + std::log2(static_cast<double>(n))));
  k.Parallel(outer * inner, std::max<int64_t>(1, cost), [&](int64_t begin, int64_t end) {
    Transform<R> transform(n);
    std::vector<C> from(n), to(n);
    const R scale = R(1) / static_cast<R>(n);
    for (int64_t line = begin; line < end; ++line) {
      C* at = data + line / inner * n * inner + line % inner;
      for (int64_t i = 0; i < n; ++i) from[i] = at[i * inner];
      transform.Run(from.data(), to.data(), inverse);
      for (int64_t i = 0; i < n; ++i) at[i * inner] = inverse ? to[i] * scale : to[i];
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

// Calls fn(offset in `part`, offset in `whole`) for each line along the last dimension of the shape `part`, which fits
// into `whole`.
template <class F>
void ForEachLine(const Shape& part, const Shape& whole, const F& fn) {
  const int rank = part.rank();
  const int64_t lines = Product(part, 0, rank - 1);
  for (int64_t line = 0; line < lines; ++line) {
    int64_t rest = line, offset = 0, step = whole[rank - 1];
    for (int i = rank - 2; i >= 0; --i) {
      offset += rest % part[i] * step;
      rest /= part[i], step *= whole[i];
    }
    fn(line * part[rank - 1], offset);
  }
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
    std::fill(y.begin(), y.end(), C());
    if (in.num_elements() == 0) return;
    const R* x = k.in<R>(0).data();
    Transform<R> transform(n);
    std::vector<C> from(n), to(n);
    ForEachLine(shape, in, [&](int64_t at_y, int64_t at_x) {
      std::copy(x + at_x, x + at_x + n, from.begin());
      transform.Run(from.data(), to.data(), false);
      std::copy(to.begin(), to.begin() + kept, y.data() + at_y);
    });
    TransformAxes(k, y.data(), shape, first, last, false);
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
    std::fill(y.begin(), y.end(), R(0));
    if (in.num_elements() == 0) return;
    half.set_dim(last, n / 2 + 1);
    Tensor temp = k.Temp(kTypeOf<C>, half);
    C* t = temp.mutable_data<C>();
    const C* x = k.in<C>(0).data();
    ForEachLine(half, in, [&](int64_t at_t, int64_t at_x) { std::copy(x + at_x, x + at_x + n / 2 + 1, t + at_t); });
    TransformAxes(k, t, half, first, last, true);
    Transform<R> transform(n);
    std::vector<C> from(n), to(n);
    const R scale = R(1) / static_cast<R>(n);
    ForEachLine(half, shape, [&](int64_t at_t, int64_t at_y) {
      from[0] = t[at_t].real();  // what the spectrum of real numbers cannot have is ignored
      for (int64_t i = 1; 2 * i <= n; ++i) from[i] = t[at_t + i], from[n - i] = std::conj(t[at_t + i]);
      if (n % 2 == 0) from[n / 2] = t[at_t + n / 2].real();
      transform.Run(from.data(), to.data(), true);
      for (int64_t i = 0; i < n; ++i) y[at_y + i] = to[i].real() * scale;
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
