// What k-means clustering needs, with TensorFlow's draws for a seed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/linalg/gemm.h"
#include "penstock/kernels/cpu/random/draw_below.h"

namespace penstock {
namespace {

constinit BranchTable<2> point_blocks{"nearest_neighbors/points", {"all at once", "some at a time"}};

// A matrix of points, and half of each one's squared norm.
struct Points {
  const float* data;
  int64_t count, dims;
  std::vector<float> half_norms;

  explicit Points(const Tensor& t) : data(t.data<float>()), count(t.dim(0)), dims(t.dim(1)) {
    half_norms.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) half_norms[i] = Dot(i, i) / 2;
  }
  float Dot(int64_t i, int64_t j) const {
    return std::inner_product(data + i * dims, data + (i + 1) * dims, data + j * dims, 0.0f);
  }
};

struct KmeansPlusPlus {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 2, "Input points should be a matrix.");
    const char* names[] = {"num_to_sample", "seed", "num_retries_per_sample"};
    for (int i = 0; i < 3; ++i) k.Require(k.shape(i + 1).rank() == 0, "Input ", names[i], " should be a scalar.");
    const int64_t wanted = k.Int(1), retries = k.Int(3);
    k.Require(k.shape(0).dim(0) > 0, "Expected points.rows() > 0.");
    k.Require(wanted > 0, "Expected num_to_sample > 0.");
    k.Require(wanted <= k.shape(0).dim(0), "Expected num_to_sample <= points.rows(). ", wanted, " vs ",
              k.shape(0).dim(0), ".");
    const Points points(k.input(0));
    const int64_t n = points.count;
    const int64_t tries =
        1 + (retries >= 0 ? retries : 2 + static_cast<int64_t>(std::log(static_cast<double>(wanted))));
    PhiloxSingles singles{Philox(static_cast<uint64_t>(k.Int(2)))};
    std::unordered_set<int64_t> taken;
    // Half of each point's squared distance to the nearest one taken, and their running sums.
    std::vector<float> nearest(n, std::numeric_limits<float>::infinity()), sums(n), now(n), best(n);

    const auto draw = [&] {
      const auto any = [&] {
        return static_cast<int64_t>(Below(static_cast<uint64_t>(n), [&] { return Next64(singles); }));
      };
      if (taken.empty()) return any();
      for (;;) {
        const float total = sums.back();
        int64_t index = n;
        if (total > 0) index = std::ranges::upper_bound(sums, UnitFloat(singles()) * total) - sums.begin();
        if (index == n) index = any();  // all points are where one is that was taken
        if (!taken.contains(index)) return index;
        if (k.cancelled()) throw Cancelled("Step was cancelled.");
      }
    };
    float* to = k.Output(0, Shape({wanted, points.dims})).mutable_data<float>();
    for (int64_t i = 0; i < wanted; ++i) {
      if (i > 0) std::partial_sum(nearest.begin(), nearest.end(), sums.begin());
      float least = std::numeric_limits<float>::infinity();
      int64_t chosen = -1;
      for (int64_t t = 0; t < tries; ++t) {
        const int64_t index = draw();
        k.Parallel(n, points.dims, [&](int64_t begin, int64_t end) {
          for (int64_t p = begin; p < end; ++p) {
            now[p] = std::min(nearest[p], points.half_norms[p] - points.Dot(p, index) + points.half_norms[index]);
          }
        });
        const float sum = std::accumulate(now.begin(), now.end(), 0.0f);
        if (chosen >= 0 && !(sum < least)) continue;
        least = sum;
        chosen = index;
        best.swap(now);
      }
      nearest.swap(best);
      taken.insert(chosen);
      std::copy_n(points.data + chosen * points.dims, points.dims, to + i * points.dims);
    }
  }
};

struct Kmc2Chain {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 1, "Input distances should be a vector.");
    k.Require(k.shape(1).rank() == 0, "Input seed should be a scalar.");
    const auto distances = k.in<float>(0);
    k.Require(!distances.empty(), "Expected distances_tensor.size() > 0.");
    PhiloxSingles singles{Philox(static_cast<uint64_t>(k.Int(1)))};
    size_t at = 0;
    for (size_t i = 1; i < distances.size(); ++i) {
      if (distances[i] > UnitFloat(singles()) * distances[at]) at = i;
    }
    k.SetOutput(0, Tensor(static_cast<int64_t>(at)));
  }
};

struct NearestNeighbors {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 2, "Input points should be a matrix.");
    k.Require(k.shape(1).rank() == 2, "Input centers should be a matrix.");
    k.Require(k.shape(2).rank() == 0, "Input k should be a scalar.");
    const int64_t dims = k.shape(0).dim(1);
    k.Require(k.shape(0).dim(0) > 0, "Expected points.rows() > 0.");
    k.Require(dims == k.shape(1).dim(1), "Expected point_dimensions == center_dimensions: ", dims, " vs ",
              k.shape(1).dim(1), ".");
    k.Require(k.Int(2) >= 0, "Expected k >= 0.");
    const Points points(k.input(0)), centers(k.input(1));
    const int64_t most = std::min(k.Int(2), centers.count);
    const Shape shape({points.count, most});
    const auto indices = k.out<int64_t>(0, shape);
    const auto distances = k.out<float>(1, shape);
    if (most == 0) return;
    // Some points against all centers at a time.
    constexpr int64_t kProducts = 1 << 18;
    const int64_t block = std::clamp<int64_t>(kProducts / centers.count, 1, points.count);
    point_blocks.Enter(block == points.count ? 0 : 1);
    std::vector<float> products(static_cast<size_t>(block * centers.count));
    for (int64_t first = 0; first < points.count; first += block) {
      const int64_t rows = std::min(block, points.count - first);
      Gemm(k, DT_FLOAT, rows, centers.count, dims, {points.data + first * dims, dims, 1}, {centers.data, 1, dims},
           products.data(), centers.count);
      k.Parallel(rows, 2 * centers.count, [&](int64_t begin, int64_t end) {
        std::vector<std::pair<float, int64_t>> near(static_cast<size_t>(centers.count));
        for (int64_t r = begin; r < end; ++r) {
          for (int64_t c = 0; c < centers.count; ++c) {
            near[c] = {centers.half_norms[c] - products[r * centers.count + c], c};
          }
          std::partial_sort(near.begin(), near.begin() + most, near.end());
          for (int64_t j = 0; j < most; ++j) {
            indices[(first + r) * most + j] = near[j].second;
            distances[(first + r) * most + j] = 2 * (points.half_norms[first + r] + near[j].first);
          }
        }
      });
    }
  }
};

}  // namespace

void RegisterClusteringKernels(KernelRegistry& kernels) {
  kernels.Add<KmeansPlusPlus>("KmeansPlusPlusInitialization").HostInput(1).HostInput(2).HostInput(3);
  kernels.Add<Kmc2Chain>("KMC2ChainInitialization").HostInput(1);
  kernels.Add<NearestNeighbors>("NearestNeighbors").HostInput(2);
}

}  // namespace penstock
