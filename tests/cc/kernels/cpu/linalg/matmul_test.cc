#include <gtest/gtest.h>

#include "tests/cc/kernels/kernel_runner.h"

namespace penstock {
namespace {

using testing::Make;
using testing::Noise;
using testing::RunOp;
using testing::Values;

void CheckProduct(int64_t m, int64_t n, int64_t depth, bool ta, bool tb) {
  const Tensor a = Noise(ta ? Shape({depth, m}) : Shape({m, depth}), 1),
               b = Noise(tb ? Shape({n, depth}) : Shape({depth, n}), 2);
  const Tensor c = RunOp("MatMul", {a, b}, {{"transpose_a", ta}, {"transpose_b", tb}})[0];
  ASSERT_EQ(c.shape().ToString(), Shape({m, n}).ToString());
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < depth; ++p) {
        sum +=
            double(a.data<float>()[ta ? p * m + i : i * depth + p]) * b.data<float>()[tb ? j * depth + p : p * n + j];
      }
      ASSERT_NEAR(c.data<float>()[i * n + j], sum, 1e-5 * (1 + depth / 16.0))
          << m << " " << n << " " << depth << ta << tb;
    }
  }
}

TEST(MatMul, AnySizeAndTransposition) {
  const int64_t sizes[][3] = {{1, 1, 1},    {3, 5, 7},      {12, 32, 16}, {13, 33, 300}, {1, 100, 50}, {100, 1, 50},
                              {4, 2000, 9}, {97, 130, 513}, {0, 3, 2},    {3, 0, 2},     {2, 3, 0}};
  for (const auto& s : sizes) {
    for (int t = 0; t < 4; ++t) CheckProduct(s[0], s[1], s[2], t & 1, t & 2);
  }
}

TEST(MatMul, OtherTypes) {
  const Tensor a = Make<int32_t>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(Values<int32_t>(RunOp("MatMul", {a, a})[0]), (std::vector<int32_t>{7, 10, 15, 22}));
  const Tensor c = Make<Complex64>({1, 2}, {{1, 2}, {0, 1}});
  EXPECT_EQ(Values<Complex64>(RunOp("BatchMatMulV2", {c, c}, {{"adj_y", true}})[0])[0], Complex64(6, 0));
  const Tensor h = RunOp("Cast", {a}, {{"DstT", DT_HALF}})[0];
  EXPECT_EQ(float(RunOp("MatMul", {h, h})[0].data<Half>()[3]), 22.0f);
}

TEST(MatMul, BatchesBroadcast) {
  const Tensor a = Noise({2, 1, 3, 4}), b = Noise({5, 4, 6}, 3);
  const Tensor c = RunOp("BatchMatMulV2", {a, b})[0];
  ASSERT_EQ(c.shape().ToString(), "[2,5,3,6]");
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 5; ++j) {
      const Tensor one = RunOp("MatMul", {a.Slice(i, i + 1).Reshaped({3, 4}), b.Slice(j, j + 1).Reshaped({4, 6})})[0];
      for (int e = 0; e < 18; ++e) EXPECT_FLOAT_EQ(c.data<float>()[(i * 5 + j) * 18 + e], one.data<float>()[e]);
    }
  }
}

TEST(MatMul, RefusesSizesThatDoNotFit) {
  EXPECT_THROW(RunOp("MatMul", {Noise({2, 3}), Noise({4, 3})}), Error);
  EXPECT_THROW(RunOp("MatMul", {Noise({2}), Noise({2, 3})}), Error);
  EXPECT_THROW(RunOp("BatchMatMulV2", {Noise({2, 3, 3}), Noise({3, 3, 3})}), Error);
}

}  // namespace
}  // namespace penstock
