// Sobol's sequence: P. Bratley and B. L. Fox, Algorithm 659, with the numbers of S. Joe and F. Y. Kuo.
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

#include "penstock/kernels/cpu/random/sobol_table.inc"

constexpr int64_t kMostDimensions = 2056;
constexpr int kBits = 32;
// Of one dimension: what each bit of a point's number adds to it, exclusively, as 32 bits behind the point.
using Directions = std::array<uint32_t, kBits>;

// Polynomials of bits, x^i as bit i: a * b and x^n modulo one of degree `degree`.
uint32_t Product(uint32_t a, uint32_t b, uint32_t modulo, int degree) {
  uint32_t product = 0;
  for (; b != 0; b >>= 1) {
    if (b & 1) product ^= a;
    a <<= 1;
    if (a >> degree & 1) a ^= modulo;
  }
  return product;
}
uint32_t PowerOfX(uint32_t n, uint32_t modulo, int degree) {
  uint32_t power = 1, square = degree == 1 ? 2 ^ modulo : 2;
  for (; n != 0; n >>= 1) {
    if (n & 1) power = Product(power, square, modulo, degree);
    square = Product(square, square, modulo, degree);
  }
  return power;
}
// Whether the powers of x are all polynomials of lower degree but 0.
bool IsPrimitive(uint32_t polynomial, int degree) {
  const uint32_t order = (1u << degree) - 1;
  if (PowerOfX(order, polynomial, degree) != 1) return false;
  uint32_t rest = order;
  for (uint32_t p = 2; rest > 1; ++p) {
    if (p * p > rest) p = rest;
    if (rest % p != 0) continue;
    if (order > 1 && PowerOfX(order / p, polynomial, degree) == 1) return false;
    while (rest % p == 0) rest /= p;
  }
  return true;
}

// The next bits of the table, six of which are a character.
class TableBits {
 public:
  uint32_t operator()(int n) {
    uint32_t bits = 0;
    for (; n > 0; --n, ++at_) {
      bits = bits << 1 | (static_cast<uint32_t>(kSobolNumbers[at_ / 6] - '0') >> (5 - at_ % 6) & 1);
    }
    return bits;
  }

 private:
  size_t at_ = 0;
};

// Dimension after dimension takes the next primitive polynomial; its first numbers m_i, odd and below 2^i, are the
// table's, and the rest follows from them.
std::vector<Directions> MakeDirections() {
  std::vector<Directions> all(kMostDimensions);
  for (int i = 0; i < kBits; ++i) all[0][i] = 1u << (kBits - 1 - i);
  TableBits bits;
  size_t dimension = 1;
  for (int degree = 1; dimension < all.size(); ++degree) {
    for (uint32_t polynomial = (1u << degree) + 1; polynomial >> degree == 1 && dimension < all.size();
         polynomial += 2) {
      if (!IsPrimitive(polynomial, degree)) continue;
      Directions& v = all[dimension++];
      for (int i = 0; i < degree; ++i) v[i] = (2 * bits(i) + 1) << (kBits - 1 - i);
      for (int i = degree; i < kBits; ++i) {
        v[i] = v[i - degree] ^ (v[i - degree] >> degree);
        for (int k = 1; k < degree; ++k) {
          if (polynomial >> (degree - k) & 1) v[i] ^= v[i - k];
        }
      }
    }
  }
  return all;
}

template <class T>
struct SobolSample {
  void operator()(KernelContext& k) const {
    const int64_t dimensions = k.Scalar<int32_t>(0), n = k.Scalar<int32_t>(1), skip = k.Scalar<int32_t>(2);
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    k.Require(dimensions >= 1, "dim must be at least one");
    k.Require(dimensions <= kMostDimensions, "dim must be at most ", kMostDimensions);
    k.Require(n >= 1, "num_results must be at least one");
    k.Require(skip >= 0, "skip must be non-negative");
    k.Require(n < kMost - skip, "num_results+skip must be less than ", kMost);
    static const std::vector<Directions> directions = MakeDirections();
    const auto out = k.out<T>(0, Shape({n, dimensions}));
    k.Parallel(n, dimensions, [&](int64_t begin, int64_t end) {
      std::vector<uint32_t> point(dimensions);
      // The first point, which is 0, is left out. Neighbours differ in one bit of their number's Gray code.
      const auto first = static_cast<uint32_t>(skip + begin + 1);
      for (uint32_t gray = first ^ first >> 1; gray != 0; gray &= gray - 1) {
        Turn(directions, std::countr_zero(gray), point);
      }
      for (int64_t i = begin; i < end; ++i) {
        if (i > begin) Turn(directions, std::countr_zero(static_cast<uint32_t>(skip + i + 1)), point);
        for (int64_t d = 0; d < dimensions; ++d) out[i * dimensions + d] = static_cast<T>(point[d]) * T(0x1p-32);
      }
    });
  }

 private:
  static void Turn(const std::vector<Directions>& directions, int bit, std::vector<uint32_t>& point) {
    for (size_t d = 0; d < point.size(); ++d) point[d] ^= directions[d][bit];
  }
};

}  // namespace

void RegisterSobolKernels(KernelRegistry& kernels) {
  kernels.Add<SobolSample>("SobolSample", Types<float, double>{}, "dtype").HostInput(0).HostInput(1).HostInput(2);
}

}  // namespace penstock
