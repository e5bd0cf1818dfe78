#include "penstock/tensor/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "penstock/base/status.h"
#include "penstock/tensor/boxed_tensor.h"
#include "penstock/tensor/resource_handle.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

TEST(Types, NamesAndSizes) {
  EXPECT_EQ(ToString(DT_FLOAT), "float");
  EXPECT_EQ(ToString(RefType(DT_INT32)), "int32_ref");
  EXPECT_EQ(DataTypeFromName("float64"), DT_DOUBLE);
  EXPECT_EQ(DataTypeFromName("DT_HALF"), DT_HALF);
  EXPECT_EQ(DataTypeFromName("int8_ref"), RefType(DT_INT8));
  EXPECT_EQ(DataTypeFromName("nothing"), DT_INVALID);
  for (int t = DT_FLOAT; t <= DT_UINT2; ++t) {
    EXPECT_EQ(DataTypeFromName(ToString(DataType(t))), t);
    EXPECT_GT(DataTypeSize(DataType(t)), 0u);
  }
}

TEST(Half, EveryValueGoesToFloatAndBack) {
  for (int bits = 0; bits < 65536; ++bits) {
    const float f = HalfToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(f))));
    } else {
      EXPECT_EQ(FloatToHalf(f), bits);
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(FloatToHalf(1.0f + 1.0f / 2048), FloatToHalf(1.0f));                // a tie: down to even
  EXPECT_EQ(FloatToHalf(1.0f + 3.0f / 2048), FloatToHalf(1.0f + 4.0f / 2048));  // a tie: up to even
  EXPECT_EQ(HalfToFloat(FloatToHalf(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(HalfToFloat(FloatToHalf(65520.0f))));
  EXPECT_EQ(HalfToFloat(FloatToHalf(std::ldexp(1.0f, -25))), 0.0f);                   // a tie: to zero
  EXPECT_EQ(HalfToFloat(FloatToHalf(std::ldexp(1.5f, -25))), std::ldexp(1.0f, -24));  // the smallest subnormal
}

TEST(BFloat16, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(float(BFloat16(1.0f + 1.0f / 256)), 1.0f);
  EXPECT_EQ(float(BFloat16(1.0f + 3.0f / 256)), 1.0f + 4.0f / 256);
  EXPECT_TRUE(std::isnan(float(BFloat16(std::numeric_limits<float>::quiet_NaN()))));
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_EQ(Shape({2, 3, 4}).num_elements(), 24);
  EXPECT_EQ(Shape({0, int64_t{1} << 62, 4}).num_elements(), 0);
  EXPECT_THROW(Shape({int64_t{1} << 62, 4}), Error);
  EXPECT_THROW(Shape({-1}), Error);
  EXPECT_THROW(Shape(std::vector<int64_t>(255, 1)), Error);
}

TEST(Shape, OfHighRankCopiesAndMoves) {
  Shape a(std::vector<int64_t>{1, 2, 3, 4, 5, 6});
  Shape b = a;
  EXPECT_EQ(a, b);
  b.set_dim(0, 9);
  EXPECT_EQ(b.num_elements(), 9 * 720);
  EXPECT_EQ(a.dim(0), 1);
  Shape c = std::move(b);
  b = a;
  c = Shape({7});
  EXPECT_EQ(c.ToString(), "[7]");
  EXPECT_EQ(b, a);
  b.RemoveDim(5);
  b.RemoveDim(4);
  EXPECT_EQ(b, Shape({1, 2, 3, 4}));
}

TEST(PartialShape, MergesWhatIsKnown) {
  const PartialShape unknown, some({-1, 3}), other({2, -1});
  EXPECT_EQ(some.MergeWith(other), PartialShape({2, 3}));
  EXPECT_EQ(unknown.MergeWith(some), some);
  EXPECT_THROW(some.MergeWith(PartialShape({1, 4})), Error);
  EXPECT_THROW(some.MergeWith(PartialShape({1})), Error);
  EXPECT_FALSE(some.fully_known());
  EXPECT_EQ(some.ToString(), "[?,3]");
  EXPECT_EQ(unknown.ToString(), "<unknown>");
}

TEST(TString, SmallAndLarge) {
  for (const size_t size : {0, 1, 22, 23, 24, 1000}) {
    const std::string text(size, 'x');
    TString s(text);
    EXPECT_EQ(s.view(), text);
    TString copy = s, moved = std::move(s);
    EXPECT_EQ(copy, moved);
    copy = std::string_view("short");
    EXPECT_EQ(copy.view(), "short");
    moved = copy;
    EXPECT_EQ(moved.size(), 5u);
  }
  TString s("0123456789012345678901234567890123456789");
  s = s.view().substr(3, 30);  // a piece of itself
  EXPECT_EQ(s.view(), "345678901234567890123456789012");
}

TEST(Tensor, SmallValuesLiveInTheHandle) {
  Tensor t(3.5f);
  EXPECT_FALSE(t.buffer());
  Tensor copy = t;
  *t.mutable_data<float>() = 1;
  EXPECT_EQ(copy.scalar<float>(), 3.5f);
  EXPECT_FALSE(Tensor(DT_INT64, Shape({2})).buffer());
  EXPECT_TRUE(Tensor(DT_INT64, Shape({3})).buffer());
}

TEST(Tensor, SlicesAndReshapesShareTheBuffer) {
  Tensor t(DT_INT32, Shape({4, 8}));
  for (int i = 0; i < 32; ++i) t.mutable_data<int32_t>()[i] = i;
  EXPECT_TRUE(t.unique());
  const Tensor rows = t.Slice(1, 3);
  EXPECT_FALSE(t.unique());
  EXPECT_TRUE(rows.SharesBufferWith(t));
  EXPECT_EQ(rows.shape(), Shape({2, 8}));
  EXPECT_EQ(rows.data<int32_t>()[0], 8);
  const Tensor flat = rows.Reshaped(Shape({16}));
  EXPECT_EQ(flat.data<int32_t>()[15], 23);
  EXPECT_THROW(t.Reshaped(Shape({5})), Error);
  const Tensor copy = rows.Clone();
  EXPECT_FALSE(copy.SharesBufferWith(t));
  EXPECT_EQ(copy.data<int32_t>()[15], 23);
  EXPECT_EQ(Tensor::Vector(std::vector<int32_t>{1, 2, 3}).Slice(1, 2).data<int32_t>()[0], 2);
}

TEST(Tensor, HoldsObjects) {
  Tensor strings(DT_STRING, Shape({2}));
  strings.mutable_data<TString>()[1] = std::string_view("a long string that does not fit inline");
  const Tensor copy = strings.Clone();
  strings.mutable_data<TString>()[1] = std::string_view("b");
  EXPECT_EQ(copy.data<TString>()[1].view(), "a long string that does not fit inline");
  EXPECT_EQ(Tensor(DT_RESOURCE, Shape({})).data<ResourceHandle>()->name, "");
  EXPECT_TRUE(Tensor(DT_VARIANT, Shape({3})).data<Variant>()[2].empty());
}

TEST(Tensor, TooLargeIsAnError) {
  EXPECT_THROW(Tensor(DT_DOUBLE, Shape({int64_t{1} << 61})), Error);
  EXPECT_THROW(Tensor(DT_FLOAT, Shape({int64_t{1} << 50})), Error);
}

TEST(Allocator, HandsFreedBlocksOutAgain) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "under a sanitizer no block is handed out again";
#endif
  Allocator* allocator = CpuAllocator();
  const AllocatorStats before = allocator->Stats();
  void* p = allocator->Allocate(1 << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % kAlignment, 0u);
  EXPECT_EQ(allocator->Stats().bytes_in_use, before.bytes_in_use + (1 << 20));
  allocator->Free(p, 1 << 20);
  EXPECT_EQ(allocator->Stats().bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(allocator->Allocate(1 << 20), p);
  allocator->Free(p, 1 << 20);
  for (size_t size = 1; size < (size_t{1} << 22); size = size * 5 / 4 + 1) {  // every class holds what it is asked for
    auto* block = static_cast<char*>(allocator->Allocate(size));
    std::memset(block, 1, size);
    allocator->Free(block, size);
  }
}

TEST(Buffer, BorrowedMemoryIsReleasedWithTheLastHandle) {
  std::vector<float> memory(100, 2.0f);
  int released = 0;
  {
    Tensor t(DT_FLOAT, Shape({100}), BorrowBuffer(memory.data(), 400, [&] { ++released; }), 0);
    Tensor slice = t.Slice(5, 10);
    t = Tensor();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(slice.data<float>()[0], 2.0f);
  }
  EXPECT_EQ(released, 1);
}

// A variant that holds a tensor of a variant that holds ...
TEST(Variants, AChainLongerThanTheStackIsDestroyed) {
  static int alive = 0;
  class Counted final : public BoxedTensor {
   public:
    explicit Counted(Tensor tensor) : BoxedTensor(std::move(tensor)) { ++alive; }
    ~Counted() override { --alive; }
  };
  constexpr int kLevels = 1'000'000;
  Tensor chain(1.0f);
  for (int i = 0; i < kLevels; ++i) {
    Tensor outer(DT_VARIANT, Shape());
    *outer.mutable_data<Variant>() = Variant(MakeRef<Counted>(std::move(chain)));
    chain = std::move(outer);
  }
  EXPECT_EQ(alive, kLevels);
  chain = Tensor();
  EXPECT_EQ(alive, 0);
}

}  // namespace
}  // namespace penstock
