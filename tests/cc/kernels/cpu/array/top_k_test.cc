#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/cc/kernels/kernel_runner.h"

namespace penstock {
namespace {

using testing::Make;
using testing::Noise;
using testing::RunOp;
using testing::Values;

template <class T>
void CheckTopK(const Tensor& x, int32_t count) {
  const int64_t n = x.dim(x.rank() - 1);
  const auto results = RunOp("TopKV2", {x, Tensor(count)}, {{"index_type", DT_INT32}});
  for (int64_t r = 0; r < x.num_elements() / n; ++r) {
    const T* row = x.data<T>() + r * n;
    std::vector<int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
    for (int32_t j = 0; j < count; ++j) {
      ASSERT_EQ(results[1].data<int32_t>()[r * count + j], order[j]) << n << " " << count << " " << j;
      ASSERT_EQ(results[0].data<T>()[r * count + j], row[order[j]]);
    }
  }
}

TEST(TopK, MatchesAStableSort) {
  for (int64_t n : {1, 2, 31, 33, 100, 257, 1000, 20000}) {
    const Tensor noise = Noise({3, n}, static_cast<uint32_t>(n));
    Tensor few(DT_INT32, Shape({3, n})), wide(DT_INT64, Shape({3, n})), bytes(DT_INT8, Shape({3, n}));
    for (int64_t i = 0; i < 3 * n; ++i) {
      const float v = noise.data<float>()[i];
      few.mutable_data<int32_t>()[i] = static_cast<int32_t>(v * 10);
      wide.mutable_data<int64_t>()[i] = static_cast<int64_t>(v * 9e18);
      bytes.mutable_data<int8_t>()[i] = static_cast<int8_t>(v * 127);
    }
    for (int64_t count : {int64_t{0}, int64_t{1}, n / 100, n / 5, n / 2, n}) {
      const int32_t k = static_cast<int32_t>(count);
      CheckTopK<float>(noise, k);
      CheckTopK<int32_t>(few, k);
      CheckTopK<int64_t>(wide, k);
      CheckTopK<int8_t>(bytes, k);
    }
  }
}

TEST(TopK, ZerosOfBothSignsAreEqualAndNanComesLast) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const Tensor x = Make<float>({6}, {-0.0f, nan, 0.0f, -inf, inf, -1});
  const auto y = RunOp("TopKV2", {x, Tensor(int32_t{6})}, {{"index_type", DT_INT32}});
  EXPECT_EQ(Values<int32_t>(y[1]), (std::vector<int32_t>{4, 0, 2, 5, 3, 1}));
}

TEST(TopK, RefusesMoreThanThereAre) {
  EXPECT_THROW(RunOp("TopKV2", {Noise({3}), Tensor(int32_t{4})}, {{"index_type", DT_INT32}}), Error);
  EXPECT_THROW(RunOp("TopKV2", {Noise({3}), Tensor(int32_t{-1})}, {{"index_type", DT_INT32}}), Error);
}

TEST(Unique, NumbersInOrderOfOccurrence) {
  const AttrMap attrs{{"out_idx", DT_INT32}};
  const auto close = RunOp("Unique", {Make<int32_t>({6}, {5, 3, 5, 7, 3, 5})}, attrs);
  EXPECT_EQ(Values<int32_t>(close[0]), (std::vector<int32_t>{5, 3, 7}));
  EXPECT_EQ(Values<int32_t>(close[1]), (std::vector<int32_t>{0, 1, 0, 2, 1, 0}));
  const auto far = RunOp("Unique", {Make<int64_t>({4}, {INT64_MIN, INT64_MAX, 0, INT64_MIN})}, attrs);
  EXPECT_EQ(Values<int64_t>(far[0]), (std::vector<int64_t>{INT64_MIN, INT64_MAX, 0}));
  const auto zeros = RunOp("Unique", {Make<float>({3}, {0.0f, -0.0f, 1.0f})}, attrs);
  EXPECT_EQ(Values<int32_t>(zeros[1]), (std::vector<int32_t>{0, 0, 1}));
}

TEST(Unique, ManyValuesGrowTheTable) {
  const int64_t n = 300000;
  Tensor x(DT_INT64, Shape({n}));
  for (int64_t i = 0; i < n; ++i) x.mutable_data<int64_t>()[i] = (i % 200000) * 1000003;
  const auto y = RunOp("Unique", {x}, {{"out_idx", DT_INT32}});
  ASSERT_EQ(y[0].num_elements(), 200000);
  for (int64_t i = 0; i < n; ++i) ASSERT_EQ(y[1].data<int32_t>()[i], i % 200000);
}

TEST(Unique, RowsAlongAnAxis) {
  const Tensor x = Make<int32_t>({3, 2}, {1, 0, 0, 0, 1, 0});
  const auto rows = RunOp("UniqueWithCountsV2", {x, Tensor::Vector(std::vector<int64_t>{0})}, {{"out_idx", DT_INT32}});
  EXPECT_EQ(Values<int32_t>(rows[0]), (std::vector<int32_t>{1, 0, 0, 0}));
  EXPECT_EQ(Values<int32_t>(rows[1]), (std::vector<int32_t>{0, 1, 0}));
  EXPECT_EQ(Values<int32_t>(rows[2]), (std::vector<int32_t>{2, 1}));
}

TEST(Where, FindsPositions) {
  const Tensor x = Make<float>({2, 3}, {0, 1, 0, -2, 0, 3});
  EXPECT_EQ(Values<int64_t>(RunOp("Where", {x})[0]), (std::vector<int64_t>{0, 1, 1, 0, 1, 2}));
}

}  // namespace
}  // namespace penstock
