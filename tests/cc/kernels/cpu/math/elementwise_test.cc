#include "penstock/kernels/cpu/math/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/cc/kernels/kernel_runner.h"

namespace penstock {
namespace {

using testing::Make;
using testing::Noise;
using testing::RunOp;
using testing::Values;

// a - b with NumPy's rules, index by index.
std::vector<float> SlowSub(const Tensor& a, const Tensor& b, const Shape& out) {
  std::vector<float> result;
  for (int64_t i = 0; i < out.num_elements(); ++i) {
    const auto at = [&](const Tensor& t) {
      int64_t rest = i, offset = 0, step = 1;
      for (int d = out.rank() - 1, e = t.rank() - 1; e >= 0; --d, --e) {
        const int64_t index = rest % out.dim(d);
        rest /= out.dim(d);
        if (t.dim(e) != 1) offset += index * step;
        step *= t.dim(e);
      }
      return t.data<float>()[offset];
    };
    result.push_back(at(a) - at(b));
  }
  return result;
}

TEST(Elementwise, BroadcastsAsNumPyDoes) {
  const std::pair<Shape, Shape> cases[] = {{{7}, {7}},
                                           {{}, {5}},
                                           {{5}, {}},
                                           {{1}, {4}},
                                           {{3, 4}, {4}},
                                           {{3, 1}, {1, 4}},
                                           {{2, 3, 4}, {3, 1}},
                                           {{2, 1, 3, 1, 5}, {4, 1, 6, 1}},
                                           {{100, 3}, {3}},
                                           {{100, 3}, {100, 1}},
                                           {{5, 100}, {5, 1}},
                                           {{0, 3}, {3}},
                                           {{1, 0}, {4, 1}},
                                           {{1, 1, 1}, {1, 1}},
                                           {{70, 1, 70}, {1, 70, 70}},
                                           {{1000, 2, 1}, {1, 3}}};
  for (const auto& [a, b] : cases) {
    const Tensor x = Noise(a, 1), y = Noise(b, 2);
    const Shape* const shapes[] = {&a, &b};
    const Shape out = MakeBroadcast(shapes).out;
    const Tensor z = RunOp("Sub", {x, y})[0];
    EXPECT_EQ(z.shape().ToString(), out.ToString());
    EXPECT_EQ(Values<float>(z), SlowSub(x, y, out)) << a.ToString() << " " << b.ToString();
  }
}

TEST(Elementwise, RefusesShapesThatDoNotFit) {
  try {
    RunOp("AddV2", {Noise({2, 3}), Noise({4})});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(std::string(e.what()).find("Incompatible shapes: [2,3] vs. [4]"), std::string::npos) << e.what();
  }
}

TEST(Elementwise, ComputesHalfInFloat) {
  const Tensor a = Make<Half>({3}, {Half(1.0f), Half(2048.0f), Half(-0.5f)}), b = Make<Half>({}, {Half(3.0f)});
  const Tensor c = RunOp("Mul", {a, b})[0];
  EXPECT_EQ(float(c.data<Half>()[0]), 3.0f);
  EXPECT_EQ(float(c.data<Half>()[1]), 6144.0f);
  EXPECT_EQ(float(c.data<Half>()[2]), -1.5f);
}

TEST(Elementwise, IntegerDivisionNeverTraps) {
  const Tensor lowest = Make<int32_t>({1}, {INT32_MIN}), minus_one = Make<int32_t>({1}, {-1}),
               zero = Make<int32_t>({1}, {0});
  for (const char* op : {"Div", "FloorDiv", "TruncateDiv"}) {
    EXPECT_EQ(Values<int32_t>(RunOp(op, {lowest, minus_one})[0])[0], INT32_MIN) << op;
    EXPECT_THROW(RunOp(op, {lowest, zero}), Error) << op;
  }
  for (const char* op : {"FloorMod", "TruncateMod"}) {
    EXPECT_EQ(Values<int32_t>(RunOp(op, {lowest, minus_one})[0])[0], 0) << op;
    EXPECT_THROW(RunOp(op, {lowest, zero}), Error) << op;
  }
}

TEST(Elementwise, CastsBetweenAllNumbers) {
  const Tensor x = Make<double>({5}, {1.5, -2.5, 300.0, NAN, 1e20});
  EXPECT_EQ(Values<int32_t>(RunOp("Cast", {x}, {{"DstT", DT_INT32}})[0]),
            (std::vector<int32_t>{1, -2, 300, INT32_MIN, INT32_MIN}));
  EXPECT_EQ(Values<uint8_t>(RunOp("Cast", {x}, {{"DstT", DT_UINT8}})[0]), (std::vector<uint8_t>{1, 254, 44, 0, 0}));
  EXPECT_EQ(Values<bool>(RunOp("Cast", {x}, {{"DstT", DT_BOOL}})[0]),
            (std::vector<bool>{true, true, true, true, true}));
  const Tensor h = RunOp("Cast", {x}, {{"DstT", DT_HALF}})[0];
  EXPECT_EQ(float(h.data<Half>()[1]), -2.5f);
  const DataType all[] = {DT_FLOAT,     DT_DOUBLE,     DT_HALF,  DT_BFLOAT16, DT_INT8,        DT_INT16,
                          DT_INT32,     DT_INT64,      DT_UINT8, DT_UINT16,   DT_UINT32,      DT_UINT64,
                          DT_COMPLEX64, DT_COMPLEX128, DT_BOOL,  DT_QINT8,    DT_FLOAT8_E5M2, DT_FLOAT8_E4M3FN};
  for (const DataType from : all) {
    const Tensor a = RunOp("Cast", {Make<int32_t>({2}, {0, 1})}, {{"DstT", from}})[0];
    for (const DataType to : all) {
      const Tensor b = RunOp("Cast", {a}, {{"DstT", to}})[0];
      const Tensor back = RunOp("Cast", {b}, {{"DstT", DT_INT32}})[0];
      EXPECT_EQ(Values<int32_t>(back), (std::vector<int32_t>{0, 1})) << ToString(from) << " to " << ToString(to);
    }
  }
}

}  // namespace
}  // namespace penstock
