#include <gtest/gtest.h>

#include <cmath>

#include "penstock/base/behavior.h"
#include "tests/cc/kernels/kernel_runner.h"

namespace penstock {
namespace {

using testing::Make;
using testing::Noise;
using testing::RunOp;
using testing::Values;

// The sum over the axes whose bit is set, element by element in double.
std::vector<double> SlowSum(const Tensor& x, unsigned reduced) {
  std::vector<double> sums;
  int64_t results = 1;
  for (int d = 0; d < x.rank(); ++d) results *= reduced >> d & 1 ? 1 : x.dim(d);
  sums.assign(results, 0);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    int64_t rest = i, at = 0, step = 1;
    for (int d = x.rank() - 1; d >= 0; --d) {
      const int64_t index = rest % x.dim(d);
      rest /= x.dim(d);
      if (reduced >> d & 1) continue;
      at += index * step;
      step *= x.dim(d);
    }
    sums[at] += x.data<float>()[i];
  }
  return sums;
}

TEST(Reduction, SumsOverAnyAxes) {
  const Shape shapes[] = {{},
                          {1},
                          {17},
                          {100000},
                          {3, 5},
                          {1000, 3},
                          {3, 1000},
                          {2000, 70},
                          {6, 5, 4},
                          {2, 300, 3, 40},
                          {4, 1, 5, 1},
                          {3, 2, 2, 3, 2, 2},
                          {1, 100000, 2},
                          {9000, 1},
                          {100, 5000}};
  for (const Shape& shape : shapes) {
    const Tensor x = Noise(shape);
    for (unsigned reduced = 0; reduced < 1u << shape.rank(); ++reduced) {
      std::vector<int32_t> axes;
      for (int d = 0; d < shape.rank(); ++d) {
        if (reduced >> d & 1) axes.push_back(d % 2 ? d : d - shape.rank());
      }
      const Tensor axis_tensor = Tensor::Vector(axes);
      const auto expected = SlowSum(x, reduced);
      const auto got = Values<float>(RunOp("Sum", {x, axis_tensor})[0]);
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], expected[i], 2e-5 * (1 + std::sqrt(double(x.num_elements()) / got.size())))
            << shape.ToString() << reduced;
      }
      EXPECT_EQ(got, Values<float>(RunOp("Sum", {x, axis_tensor}, {}, 1)[0])) << "depends on the number of threads";
    }
  }
}

TEST(Reduction, EmptyInputsGiveTheNeutralElement) {
  const Tensor x(DT_FLOAT, Shape({2, 0})), axis(int32_t{1});
  EXPECT_EQ(Values<float>(RunOp("Sum", {x, axis})[0]), (std::vector<float>{0, 0}));
  EXPECT_EQ(Values<float>(RunOp("Prod", {x, axis})[0]), (std::vector<float>{1, 1}));
  EXPECT_EQ(Values<float>(RunOp("Max", {x, axis})[0]), (std::vector<float>{-INFINITY, -INFINITY}));
  EXPECT_TRUE(std::isnan(Values<float>(RunOp("Mean", {x, axis})[0])[0]));
  const Tensor b(DT_BOOL, Shape({2, 0}));
  EXPECT_EQ(Values<bool>(RunOp("All", {b, axis})[0]), (std::vector<bool>{true, true}));
  EXPECT_EQ(Values<bool>(RunOp("Any", {b, axis})[0]), (std::vector<bool>{false, false}));
}

TEST(Reduction, NarrowTypesDoNotLoseTheSum) {
  Tensor ones(DT_BFLOAT16, Shape({1000, 3}));
  for (auto& v : ones.mutable_flat<BFloat16>()) v = BFloat16(1.0f);
  EXPECT_EQ(float(RunOp("Sum", {ones, Tensor(int32_t{0})})[0].data<BFloat16>()[1]), 1000.0f);
  const Tensor bytes = Make<uint8_t>({3}, {255, 255, 255});
  EXPECT_EQ(Values<uint8_t>(RunOp("Mean", {bytes, Tensor(int32_t{0})})[0])[0], 255);
}

TEST(Reduction, PositionsOfExtremes) {
  const Tensor x = Make<float>({3, 4}, {1, 5, 5, 2, NAN, -1, 0, NAN, -3, -3, -2, -9});
  const Tensor axis(int32_t{1});
  EXPECT_EQ(Values<int64_t>(RunOp("ArgMax", {x, axis})[0]), (std::vector<int64_t>{1, 2, 2}));
  EXPECT_EQ(Values<int64_t>(RunOp("ArgMin", {x, axis})[0]), (std::vector<int64_t>{0, 1, 3}));
  EXPECT_EQ(Values<int64_t>(RunOp("ArgMax", {x, Tensor(int32_t{0})})[0]), (std::vector<int64_t>{0, 0, 0, 0}));
  const Tensor wide = Noise({2, 1000});
  const auto at = Values<int64_t>(RunOp("ArgMax", {wide, axis})[0]);
  for (int r = 0; r < 2; ++r) {
    for (int i = 0; i < 1000; ++i) EXPECT_LE(wide.data<float>()[r * 1000 + i], wide.data<float>()[r * 1000 + at[r]]);
  }
}

TEST(Reduction, RefusesBadAxes) {
  const Tensor x = Noise({2, 2});
  EXPECT_THROW(RunOp("Sum", {x, Tensor(int32_t{2})}), Error);
  EXPECT_THROW(RunOp("Sum", {x, Tensor(int32_t{-3})}), Error);
  EXPECT_THROW(RunOp("ArgMax", {Tensor(DT_FLOAT, Shape({2, 0})), Tensor(int32_t{1})}), Error);
}

TEST(Reduction, AnAxisThatComesTwiceIsReducedOnceInVersionOneAndRefusedInVersionTwo) {
  const Tensor x = Make<float>({2, 2}, {1, 2, 3, 4}), axes = Make<int32_t>({2}, {0, -2});
  EXPECT_EQ(Values<float>(RunOp("Sum", {x, axes})[0]), (std::vector<float>{4, 6}));
  g_version_two = true;
  EXPECT_THROW(RunOp("Sum", {x, axes}), Error);
  g_version_two = false;
}

}  // namespace
}  // namespace penstock
