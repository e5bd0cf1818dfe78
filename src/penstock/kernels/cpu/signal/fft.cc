#include "penstock/kernels/cpu/signal/fft.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include "penstock/base/branches.h"
#include "penstock/base/fork.h"

namespace penstock {
namespace {

constinit BranchTable<2> fft_ways{"fft/length", {"small factors", "convolution"}};

// e^(-2 pi i k / n) for 0 <= k < n, in more digits than the result will have.
template <class T>
void PutRoot(int64_t k, int64_t n, T* to) {
  using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
  // Angles beyond a quarter of a turn are mirrored.
  const bool lower = 2 * k > n;
  const int64_t at = lower ? n - k : k;
  const bool left = 4 * at > n;
  const int64_t quarter = left ? n - 2 * at : 2 * at;  // of half a turn, at most a half of it
  const Wide angle = std::numbers::pi_v<Wide> * static_cast<Wide>(quarter) / static_cast<Wide>(n);
  const Wide c = std::cos(angle), s = std::sin(angle);
  to[0] = static_cast<T>(left ? -c : c);
  to[1] = static_cast<T>(lower ? s : -s);
}

std::vector<int> Radices(int64_t n) {
  std::vector<int> radices;
  for (const int r : {4, 2, 3, 5, 7, 11, 13}) {
    for (; n % r == 0; n /= r) radices.push_back(r);
  }
  if (n > 1) return {};
  return radices;
}

// The least length from n on that has small factors only.
int64_t GoodLength(int64_t n) {
  int64_t best = 1;
  while (best < n) best *= 2;
  for (const int64_t odd : {3, 5, 9, 15}) {
    int64_t length = odd;
    while (length < n) length *= 2;
    best = std::min(best, length);
  }
  return best;
}

}  // namespace

template <class T>
FftPlan<T>::FftPlan(int64_t n) : n_(n), turns_(2 * (n + 1)) {
  for (int64_t k = 0; k <= n; ++k) PutRoot(k, 2 * n, &turns_[2 * k]);
  const std::vector<int> radices = Radices(n);
  if (n > 1 && radices.empty()) {
    const int64_t m = GoodLength(2 * n - 1);
    convolution_ = std::make_unique<FftPlan>(m);
    chirp_.resize(2 * n), scaled_chirp_.resize(2 * n), kernel_.resize(2 * m);
    std::vector<T> planes(4 * m, T(0));
    const Planes<T> x{planes.data(), planes.data() + m}, spare{x.re + 2 * m, x.im + 2 * m};
    for (int64_t i = 0; i < n; ++i) {  // e^(-pi i k^2 / n), the exponent's period taken out first
      const auto square = static_cast<uint64_t>(i) * static_cast<uint64_t>(i) % static_cast<uint64_t>(2 * n);
      PutRoot(static_cast<int64_t>(square), 2 * n, &chirp_[2 * i]);
      for (int part = 0; part < 2; ++part) scaled_chirp_[2 * i + part] = chirp_[2 * i + part] / static_cast<T>(m);
      x.re[i] = x.re[(m - i) % m] = chirp_[2 * i];
      x.im[i] = x.im[(m - i) % m] = -chirp_[2 * i + 1];
    }
    const Planes<T> kernel = convolution_->Run(x, spare, 1);
    for (int64_t i = 0; i < m; ++i) kernel_[2 * i] = kernel.re[i], kernel_[2 * i + 1] = kernel.im[i];
    return;
  }
  int64_t rest = n;
  for (const int radix : radices) {
    Pass pass{radix, rest / radix, n / rest, {}, {}};
    pass.twiddles.resize(2 * pass.m * (radix - 1));
    for (int64_t p = 0; p < pass.m; ++p) {
      for (int k = 1; k < radix; ++k) PutRoot(p * k % rest, rest, &pass.twiddles[2 * (p * (radix - 1) + k - 1)]);
    }
    pass.roots.resize(2 * radix);
    for (int j = 0; j < radix; ++j) PutRoot((radix - j) % radix, radix, &pass.roots[2 * j]);
    passes_.push_back(std::move(pass));
    rest /= radix;
  }
}

template <class T>
std::shared_ptr<const FftPlan<T>> FftPlan<T>::For(int64_t n) {
  constexpr size_t kMost = 64;
  static ForkMutex mutex;
  static auto* const plans = new std::map<int64_t, std::shared_ptr<const FftPlan>>;  // lives as long as the process
  {
    const std::scoped_lock lock(mutex);
    if (const auto found = plans->find(n); found != plans->end()) return found->second;
  }
  auto plan = std::make_shared<const FftPlan>(n);
  const std::scoped_lock lock(mutex);
  if (plans->size() >= kMost) plans->clear();
  return plans->emplace(n, std::move(plan)).first->second;
}

template <class T>
Planes<T> FftPlan<T>::Run(Planes<T> x, Planes<T> spare, int64_t lanes) const {
  const FftLoops<T>& loops = Fft<T>();
  fft_ways.Enter(convolution_ ? 1 : 0);
  if (!convolution_) {
    for (const Pass& pass : passes_) {
      loops.pass(pass.radix, pass.m, pass.before * lanes, pass.twiddles.data(), pass.roots.data(), x.re, x.im, spare.re,
                 spare.im);
      std::swap(x, spare);
    }
    return x;
  }
  const int64_t m = convolution_->n_;
  loops.turn(n_, lanes, chirp_.data(), x.re, x.im, spare.re, spare.im);
  std::fill(spare.re + n_ * lanes, spare.re + m * lanes, T(0));
  std::fill(spare.im + n_ * lanes, spare.im + m * lanes, T(0));
  const auto other = [&](Planes<T> y) { return y.re == x.re || y.re == x.im ? spare : x; };
  Planes<T> y = convolution_->Run(spare, x, lanes);
  loops.turn(m, lanes, kernel_.data(), y.re, y.im, y.re, y.im);
  y = convolution_->Run(y.Turned(), other(y).Turned(), lanes).Turned();
  loops.turn(n_, lanes, scaled_chirp_.data(), y.re, y.im, y.re, y.im);
  return y;
}

template class FftPlan<float>;
template class FftPlan<double>;

}  // namespace penstock
