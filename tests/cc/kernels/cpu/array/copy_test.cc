#include "penstock/kernels/cpu/array/copy.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/cc/kernels/kernel_runner.h"

namespace penstock {
namespace {

using testing::Make;
using testing::RunOp;
using testing::Values;

template <class T>
Tensor Count(const Shape& shape, T first = T(0)) {
  Tensor t(kTypeOf<T>, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) t.mutable_data<T>()[i] = static_cast<T>(first + static_cast<T>(i));
  return t;
}

Tensor Perm(const std::vector<int>& perm) { return Tensor::Vector(std::vector<int32_t>(perm.begin(), perm.end())); }

// Element by element, from the definition.
template <class T>
std::vector<T> SlowTranspose(const Tensor& x, const std::vector<int>& perm) {
  const int rank = x.rank();
  Shape out;
  for (int p : perm) out.AddDim(x.dim(p));
  std::vector<T> result;
  std::vector<int64_t> at(rank);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    int64_t rest = i;
    for (int d = rank - 1; d >= 0; --d) {
      at[perm[d]] = rest % out[d];
      rest /= out[d];
    }
    int64_t from = 0;
    for (int d = 0; d < rank; ++d) from = from * x.dim(d) + at[d];
    result.push_back(x.data<T>()[from]);
  }
  return result;
}

template <class T>
void CheckTransposes() {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const int rank = 1 + round % 6;
    Shape shape;
    for (int d = 0; d < rank; ++d) shape.AddDim(1 + random() % (rank <= 2 ? 150 : rank == 3 ? 40 : 7));
    std::vector<int> perm(rank);
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random);
    const Tensor x = Count<T>(shape);
    ASSERT_EQ(Values<T>(RunOp("Transpose", {x, Perm(perm)})[0]), SlowTranspose<T>(x, perm)) << shape.ToString();
  }
}

TEST(Copy, TransposesEveryElementSize) {
  CheckTransposes<uint8_t>();
  CheckTransposes<int16_t>();
  CheckTransposes<float>();
  CheckTransposes<double>();
  CheckTransposes<Complex128>();
}

TEST(Copy, TransposesStrings) {
  Tensor x(DT_STRING, Shape({2, 3}));
  for (int i = 0; i < 6; ++i)
    x.mutable_data<TString>()[i] = TString(StrCat("a string that is too long for the handle ", i));
  const Tensor y = RunOp("Transpose", {x, Perm({1, 0})})[0];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) EXPECT_EQ(y.data<TString>()[i * 2 + j], x.data<TString>()[j * 3 + i]);
  }
}

TEST(Copy, ResultsDoNotDependOnThreads) {
  const Tensor x = Count<float>({37, 211, 5});
  for (const char* op : {"Transpose"}) {
    const auto one = Values<float>(RunOp(op, {x, Perm({1, 2, 0})}, {}, 1)[0]);
    EXPECT_EQ(one, Values<float>(RunOp(op, {x, Perm({1, 2, 0})}, {}, 5)[0]));
  }
}

TEST(Copy, RefusesBadPermutations) {
  const Tensor x = Count<float>({2, 3});
  EXPECT_THROW(RunOp("Transpose", {x, Perm({0})}), Error);
  EXPECT_THROW(RunOp("Transpose", {x, Perm({0, 0})}), Error);
  EXPECT_THROW(RunOp("Transpose", {x, Perm({0, 2})}), Error);
}

TEST(Slice, NegativeStridesAndMasks) {
  const Tensor x = Count<int32_t>({4, 5, 6});
  const auto v = [](std::vector<int32_t> values) { return Tensor::Vector(values); };
  // x[::-2, ..., 1:5:3]
  const Tensor y = RunOp("StridedSlice", {x, v({0, 0, 1}), v({0, 0, 5}), v({-2, 1, 3})},
                         {{"begin_mask", 1}, {"end_mask", 1}, {"ellipsis_mask", 2}})[0];
  EXPECT_EQ(y.shape().ToString(), "[2,5,2]");
  std::vector<int32_t> expected;
  for (int i : {3, 1}) {
    for (int j = 0; j < 5; ++j) {
      for (int k : {1, 4}) expected.push_back(i * 30 + j * 6 + k);
    }
  }
  EXPECT_EQ(Values<int32_t>(y), expected);
  // x[1, None, 2:4, -1]
  const Tensor z = RunOp("StridedSlice", {x, v({1, 0, 2, -1}), v({2, 0, 4, 0}), v({1, 1, 1, 1})},
                         {{"new_axis_mask", 2}, {"shrink_axis_mask", 9}})[0];
  EXPECT_EQ(z.shape().ToString(), "[1,2]");
  EXPECT_EQ(Values<int32_t>(z), (std::vector<int32_t>{47, 53}));
}

TEST(Slice, GradientPutsBack) {
  const auto v = [](std::vector<int32_t> values) { return Tensor::Vector(values); };
  const Tensor dy = Make<float>({2}, {5, 7});
  const Tensor dx = RunOp("StridedSliceGrad", {v({6}), v({4}), v({0}), v({-2}), dy})[0];
  EXPECT_EQ(Values<float>(dx), (std::vector<float>{0, 0, 7, 0, 5, 0}));
}

TEST(Pad, SurroundsWithTheValue) {
  const Tensor x = Count<int32_t>({2, 3}, 1);
  const Tensor pads = Make<int32_t>({2, 2}, {1, 0, 2, 1});
  const Tensor y = RunOp("PadV2", {x, pads, Tensor(int32_t{9})})[0];
  EXPECT_EQ(Values<int32_t>(y), (std::vector<int32_t>{9, 9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 9, 9, 9, 4, 5, 6, 9}));
  const Tensor mirrored =
      RunOp("MirrorPad", {Count<int32_t>({4}), Make<int32_t>({1, 2}, {3, 2})}, {{"mode", "REFLECT"}})[0];
  EXPECT_EQ(Values<int32_t>(mirrored), (std::vector<int32_t>{3, 2, 1, 0, 1, 2, 3, 2, 1}));
  const Tensor symmetric =
      RunOp("MirrorPad", {Count<int32_t>({4}), Make<int32_t>({1, 2}, {3, 2})}, {{"mode", "SYMMETRIC"}})[0];
  EXPECT_EQ(Values<int32_t>(symmetric), (std::vector<int32_t>{2, 1, 0, 0, 1, 2, 3, 3, 2}));
}

TEST(Tile, RepeatsEachDimension) {
  const Tensor y = RunOp("Tile", {Count<float>({2, 2}), Perm({2, 3})})[0];
  EXPECT_EQ(Values<float>(y),
            (std::vector<float>{0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3, 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3}));
}

TEST(Concat, JoinsAlongEachAxis) {
  const Tensor a = Count<int32_t>({2, 2}), b = Count<int32_t>({2, 1}, 10);
  EXPECT_EQ(Values<int32_t>(RunOp("ConcatV2", {a, b, Tensor(int32_t{1})})[0]),
            (std::vector<int32_t>{0, 1, 10, 2, 3, 11}));
  EXPECT_THROW(RunOp("ConcatV2", {a, b, Tensor(int32_t{0})}), Error);
  EXPECT_THROW(RunOp("ConcatV2", {a, b, Tensor(int32_t{2})}), Error);
}

TEST(Gather, PicksRowsAndRefusesBadIndices) {
  const Tensor x = Count<float>({5, 3});
  const Tensor y = RunOp("GatherV2", {x, Perm({4, 0}), Tensor(int32_t{0})})[0];
  EXPECT_EQ(Values<float>(y), (std::vector<float>{12, 13, 14, 0, 1, 2}));
  const Tensor z = RunOp("GatherV2", {x, Perm({2}), Tensor(int32_t{1})})[0];
  EXPECT_EQ(Values<float>(z), (std::vector<float>{2, 5, 8, 11, 14}));
  EXPECT_THROW(RunOp("GatherV2", {x, Perm({5}), Tensor(int32_t{0})}), Error);
  EXPECT_THROW(RunOp("GatherV2", {x, Perm({-1}), Tensor(int32_t{0})}), Error);
}

TEST(ScatterNd, AddsDuplicates) {
  const Tensor indices = Make<int32_t>({3, 1}, {1, 3, 1});
  const Tensor y = RunOp("ScatterNd", {indices, Make<float>({3}, {1, 2, 4}), Perm({5})})[0];
  EXPECT_EQ(Values<float>(y), (std::vector<float>{0, 5, 0, 2, 0}));
  EXPECT_THROW(RunOp("ScatterNd", {Make<int32_t>({1, 1}, {5}), Make<float>({1}, {1}), Perm({5})}), Error);
}

}  // namespace
}  // namespace penstock
