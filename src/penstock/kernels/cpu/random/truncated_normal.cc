// Normal numbers between bounds, with parameters for each batch.
#include <algorithm>
#include <cmath>
#include <vector>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/random/random_samplers.h"

namespace penstock {
namespace {

constinit BranchTable<3> draws{"truncated_normal/draw", {"normals", "uniforms", "exponentials"}};

constexpr int kMostTries = 1000;
constexpr int64_t kPieceOfOne = 100;  // batches with the same parameters are cut into pieces of this size

// One distribution. Its numbers come from the stream that `philox` begins, to `to` and what follows.
template <class T>
class Truncated {
 public:
  Truncated(T mean, T deviation, T low, T high) : mean_(mean), deviation_(deviation) {
    KernelContext::Require(deviation > T(0) && low < high && (Finite(low) || Finite(high)), "Invalid parameters");
    if ((std::isinf(static_cast<double>(low)) && low < T(0)) || high < mean) {
      std::swap(low, high);
      deviation_ = -deviation;
    }
    low_ = (low - mean) / deviation_;
    high_ = (high - mean) / deviation_;
  }
  void Draw(Philox* philox, T* to, T* end) const {
    const T inside(1.3);  // a bound this far from the mean, on the other side of it than the other bound
    const T root = Sqrt(low_ * low_ + T(4));
    const T cutoff = T(2) * Exp(T(0.5) + (low_ * (low_ - root)) / T(4)) / (low_ + root);
    if ((low_ < -inside && high_ >= T(0)) || (high_ > inside && low_ <= T(0))) {
      draws.Enter(0);
      DrawByNormals(philox, to, end);
    } else if (high_ - low_ < cutoff) {
      draws.Enter(1);
      DrawByUniforms(philox, to, end);
    } else {
      draws.Enter(2);
      DrawByExponentials(philox, to, end);
    }
  }

 private:
  static bool Finite(T v) { return std::isfinite(static_cast<double>(v)); }
  // half is rounded after each operation, as in TensorFlow.
  static T Exp(T v) {
    return Rounded(v, [](auto x) { return std::exp(x); });
  }
  static T Log(T v) {
    return Rounded(v, [](auto x) { return std::log(x); });
  }
  static T Sqrt(T v) {
    return Rounded(v, [](auto x) { return std::sqrt(x); });
  }
  template <class F>
  static T Rounded(T v, F f) {
    if constexpr (std::is_same_v<T, double>) {
      return f(v);
    } else {
      return T(f(static_cast<float>(v)));
    }
  }
  static void Failed(const char* how) {
    throw Internal("TruncatedNormal ", std::string_view(how), " rejection sampler failed to accept a sample.");
  }

  void DrawByNormals(Philox* philox, T* to, T* end) const {
    T normals[random::Normal<T>::kCount];
    for (int tries = 0; to != end;) {
      random::Normal<T>()((*philox)().data(), normals);
      for (const T normal : normals) {
        if (to == end) break;
        if (normal >= low_ && normal <= high_) {
          *to++ = normal * deviation_ + mean_;
          tries = 0;
        } else if (++tries > kMostTries) {
          Failed("randn");
        }
      }
    }
  }
  void DrawByUniforms(Philox* philox, T* to, T* end) const {
    constexpr int kCount = random::Uniform<T>::kCount;
    const T range = high_ - low_, shift = low_ < T(0) ? T(0) : low_ * low_;
    T places[kCount], chances[kCount];
    for (int tries = 0; to != end;) {
      random::Uniform<T>()((*philox)().data(), places);
      random::Uniform<T>()((*philox)().data(), chances);
      for (int i = 0; i < kCount && to != end; ++i) {
        const T z = places[i] * range + low_;
        if (chances[i] <= Exp((shift - z * z) / T(2))) {
          *to++ = z * deviation_ + mean_;
          tries = 0;
        } else if (++tries >= kMostTries) {
          Failed("uniform");
        }
      }
    }
  }
  void DrawByExponentials(Philox* philox, T* to, T* end) const {
    constexpr int kCount = random::Uniform<T>::kCount;
    const T alpha = (low_ + Sqrt(low_ * low_ + T(4))) / T(2);
    T uniforms[kCount];
    for (int tries = 0; to != end;) {
      random::Uniform<T>()((*philox)().data(), uniforms);
      for (int i = 0; i < kCount && to != end; i += 2) {
        const T z = -Log(uniforms[i]) / alpha + low_;
        const T x = low_ < alpha ? alpha - z : low_ - alpha;
        if (uniforms[i + 1] <= Exp(-x * x / T(2)) && z < high_) {
          *to++ = z * deviation_ + mean_;
          tries = 0;
        } else if (++tries >= kMostTries) {
          Failed("exponential distribution");
        }
      }
    }
  }
  T mean_, deviation_, low_, high_;
};

template <class T>
class ParameterizedTruncatedNormal : public Kernel {
 public:
  explicit ParameterizedTruncatedNormal(const NodeView& node)
      : philox_(node.attr<int64_t>("seed"), node.attr<int64_t>("seed2")) {}
  void Run(KernelContext& k) override {
    k.Require(k.shape(0).rank() == 1, "Input shape should be a vector, got shape: ", k.shape(0));
    const Shape shape = k.ShapeInput(0);
    k.Require(shape.rank() >= 1, "Shape tensor must not be empty, got ", k.shape(0));
    static constexpr const char* kNames[] = {"means", "stddevs", "minvals", "maxvals"};
    bool alike = true;
    for (int i = 1; i <= 4; ++i) {
      k.Require(k.shape(i).rank() <= 1, "Input ", kNames[i - 1],
                " should be a scalar or vector, got shape: ", k.shape(i));
      // Bounds in vectors of one element are taken batch by batch, as in TensorFlow.
      alike &= k.shape(i).rank() == 0 || (i <= 2 && k.shape(i)[0] == 1);
    }
    for (int i = 1; i <= 4; ++i) {
      const int64_t n = k.input(i).num_elements();
      k.Require(n == 1 || n == shape[0], "Input ", kNames[i - 1],
                " should have length 1 or shape[0], got shape: ", k.shape(i));
    }
    const auto out = k.out<T>(0, shape);
    const auto size = static_cast<int64_t>(out.size());
    if (size == 0) return;
    const int64_t piece = alike ? kPieceOfOne : size / shape[0], batches = (size + piece - 1) / piece;
    const Philox start =
        philox_.Reserve(static_cast<uint64_t>(batches) * 2 * kMostTries * static_cast<uint64_t>(piece + 3) / 4);
    const auto parameter = [&](int i, int64_t batch) {
      return k.input(i).template data<T>()[k.input(i).num_elements() == 1 ? 0 : batch];
    };
    k.Parallel(batches, 100 * piece, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        Philox philox = start;
        philox.Skip(static_cast<uint64_t>(b) * 2 * kMostTries * static_cast<uint64_t>(piece + 3) / 4);
        const Truncated<T> distribution(parameter(1, b), parameter(2, b), parameter(3, b), parameter(4, b));
        distribution.Draw(&philox, out.data() + b * piece, out.data() + std::min(size, (b + 1) * piece));
      }
    });
  }

 private:
  SharedPhilox philox_;
};

// As one thread of TensorFlow's draws them, batch after batch from one stream; the output is [samples..., batch...].
template <class T>
struct StatelessTruncatedNormal {
  void operator()(KernelContext& k) const {
    const Philox start = random::FromSeed(k, 1);
    const Shape batch = BatchShape(k);
    k.Require(k.shape(0).rank() == 1, "Input shape should be a vector, got shape: ", k.shape(0));
    const Shape shape = k.ShapeInput(0);
    const int sample_dims = shape.rank() - batch.rank();
    bool fits = sample_dims >= 0;
    for (int i = 0; fits && i < batch.rank(); ++i) fits = shape[sample_dims + i] == batch[i];
    k.Require(fits, "Shape passed in must end with broadcasted shape.");
    const auto out = k.out<T>(0, shape);
    if (out.empty()) return;
    const auto batches = static_cast<size_t>(batch.num_elements());
    std::vector<T> parameters[4];
    for (int i = 0; i < 4; ++i) {
      const Shape* const shapes[] = {&k.shape(2 + i), &batch};
      parameters[i].resize(batches);
      Gather(MakeBroadcast(shapes), 0, k.input(2 + i).data<T>(), sizeof(T), 0, static_cast<int64_t>(batches),
             parameters[i].data());
    }
    std::vector<T> drawn(out.size() / batches);
    Philox philox = start;
    for (size_t b = 0; b < batches; ++b) {
      const Truncated<T> distribution(parameters[0][b], parameters[1][b], parameters[2][b], parameters[3][b]);
      distribution.Draw(&philox, drawn.data(), drawn.data() + drawn.size());
      for (size_t i = 0; i < drawn.size(); ++i) out[i * batches + b] = drawn[i];
    }
  }

 private:
  static Shape BatchShape(const KernelContext& k) {
    Shape batch = k.shape(2);
    for (int i = 3; i < 6; ++i) {
      const Shape* const shapes[] = {&batch, &k.shape(i)};
      Broadcast plan;
      k.Require(TryMakeBroadcast(shapes, &plan),
                "means, stddevs, minvals, maxvals must have compatible batch dimensions: ", k.shape(2), " vs. ",
                k.shape(3), " vs. ", k.shape(4), " vs. ", k.shape(5));
      batch = plan.out;
    }
    return batch;
  }
};

}  // namespace

void RegisterTruncatedNormalKernels(KernelRegistry& kernels) {
  kernels.Add<ParameterizedTruncatedNormal>("ParameterizedTruncatedNormal", Types<Half, float, double>{}, "dtype")
      .HostInput(0);
  kernels.Add<StatelessTruncatedNormal>("StatelessParameterizedTruncatedNormal", Types<Half, float, double>{}, "dtype")
      .HostInput(0)
      .HostInput(1);
}

}  // namespace penstock
