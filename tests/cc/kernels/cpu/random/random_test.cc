// Random numbers against TensorFlow 2.21's (1.15.5 has the same) for the same seeds, bit for bit.
#include "penstock/base/random.h"

#include <gtest/gtest.h>

#include "penstock/kernels/cpu/loops.h"
#include "tests/cc/kernels/kernel_runner.h"

namespace penstock {
namespace {

using testing::KernelRunner;
using testing::TestStep;

struct Golden {
  const char* op;
  DataType dtype;
  int64_t seed, seed2;
  std::vector<uint64_t> bits;  // of two runs of five numbers
};

const Golden kGolden[] = {
    {"RandomUniform",
     DT_FLOAT,
     87654321,
     42,
     {0x3f73c810, 0x3f2d6a98, 0x3f4b99fa, 0x3f417aea, 0x3ef3b074, 0x3f500fe0, 0x3f18f4ee, 0x3f4bd050, 0x3f137534,
      0x3e0d35b0}},
    {"RandomUniform", DT_HALF, 1, 0, {0x38e0, 0x3978, 0x3980, 0x384e, 0x26c0, 0x35ec, 0x34ec, 0x3760, 0x2540, 0x3b42}},
    {"RandomStandardNormal",
     DT_FLOAT,
     87654321,
     42,
     {0xbe8fc1c0, 0xbe0d0ee3, 0xbf2d23f0, 0x3cc95cdd, 0xbf64c1f5, 0xbebd8fca, 0xbf06e1dd, 0xbe9ee658, 0xbf198512,
      0x3fd8e8b9}},
    {"RandomStandardNormal",
     DT_DOUBLE,
     1,
     0,
     {0x3febf5bf7586beac, 0x3fe9208f6703e30d, 0x3fcbe7a6704fa3a4, 0x3ff26090a554736e, 0xbfc80756ccdb17ef,
      0x3fdd144cc8bad923, 0xbfcf4c6e08dde91c, 0xbfff06913aa8559f, 0xbfdffa697033fa5f, 0x3ff521a997528562}},
    {"TruncatedNormal",
     DT_FLOAT,
     -5,
     123456789012,
     {0xbea8ca92, 0xbfcfa271, 0xbf20a0e0, 0x3f7f0f03, 0xbf0e6749, 0x3fd2a0cb, 0xbeaedc12, 0x3ee3f21a, 0x3eb2986d,
      0x3f030a99}},
    {"TruncatedNormal",
     DT_BFLOAT16,
     1,
     0,
     {0x3e9c, 0x3f11, 0x3ed6, 0x3e6e, 0xbf65, 0x3be0, 0x3e35, 0xbf83, 0xbf56, 0x3fd4}},
};

uint64_t BitsAt(const Tensor& t, int64_t i) {
  switch (DataTypeSize(t.dtype())) {
    case 2: return static_cast<const uint16_t*>(t.raw())[i];
    case 4: return static_cast<const uint32_t*>(t.raw())[i];
    default: return static_cast<const uint64_t*>(t.raw())[i];
  }
}

Tensor ShapeOf(int32_t n) { return Tensor::Vector<int32_t>({n}); }

TEST(Random, SameNumbersAsTensorFlow) {
  for (const Golden& golden : kGolden) {
    TestStep step;
    KernelRunner op(&step, golden.op,
                    {{"dtype", golden.dtype}, {"T", DT_INT32}, {"seed", golden.seed}, {"seed2", golden.seed2}});
    for (int run = 0; run < 2; ++run) {
      const Tensor numbers = op.Run({ShapeOf(5)})[0];
      for (int i = 0; i < 5; ++i) EXPECT_EQ(golden.bits[run * 5 + i], BitsAt(numbers, i)) << golden.op << " " << i;
    }
  }
}

// However the work is split, and wherever a piece begins, the numbers are those of one thread.
TEST(Random, ThreadsDoNotShow) {
  for (const char* name : {"RandomUniform", "RandomStandardNormal", "TruncatedNormal"}) {
    Tensor results[2];
    for (int i = 0; i < 2; ++i) {
      TestStep step(1 + 3 * i);
      KernelRunner op(&step, name, {{"dtype", DT_FLOAT}, {"T", DT_INT32}, {"seed", int64_t{3}}, {"seed2", int64_t{4}}});
      results[i] = op.Run({ShapeOf(100003)})[0];
    }
    EXPECT_EQ(0, std::memcmp(results[0].raw(), results[1].raw(), results[0].bytes())) << name;
  }
}

TEST(Random, PhiloxInVectorsIsPhilox) {
  for (const uint64_t low : {uint64_t{0}, uint64_t{0xFFFFFFFFFFFFFFF0}, uint64_t{0xFFFFFFFA}}) {
    for (const uint32_t stride : {1u, 256u}) {
      Philox philox({static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), 7, 0xFFFFFFFF}, {11, 13});
      constexpr int kGroups = 77;
      uint32_t words[4 * kGroups];
      CpuLoops().philox(philox.counter().data(), philox.key().data(), kGroups, stride, words);
      for (int i = 0; i < kGroups; ++i, philox.Skip(stride)) {
        const Philox::Group expected = Philox::Block(philox.counter(), philox.key());
        for (int j = 0; j < 4; ++j) ASSERT_EQ(expected[j], words[4 * i + j]) << low << " " << stride << " " << i;
      }
    }
  }
}

// The vector code's logarithm, sine and cosine are the C library's, bit for bit, on a sample of all 2^23 arguments.
TEST(Random, NormalPairsAreTheLibrarys) {
  constexpr int kPairs = 1 << 18;
  std::vector<uint32_t> words(2 * kPairs);
  for (int i = 0; i < kPairs; ++i) {
    words[2 * i] = static_cast<uint32_t>(i) * 32 + 5;
    words[2 * i + 1] = static_cast<uint32_t>(i) * 2654435761u;
  }
  std::vector<float> numbers(2 * kPairs);
  CpuLoops().normal_pairs(words.data(), kPairs, numbers.data());
  for (int i = 0; i < kPairs; ++i) {
    float a, b;
    NormalPair(words[2 * i], words[2 * i + 1], &a, &b);
    ASSERT_EQ(a, numbers[2 * i]) << i;
    ASSERT_EQ(b, numbers[2 * i + 1]) << i;
  }
}

TEST(Random, BadArguments) {
  TestStep step;
  KernelRunner op(&step, "RandomUniformInt",
                  {{"Tout", DT_INT32}, {"T", DT_INT32}, {"seed", int64_t{1}}, {"seed2", int64_t{1}}});
  EXPECT_THROW(op.Run({ShapeOf(3), Tensor(int32_t{5}), Tensor(int32_t{5})}), Error);
  EXPECT_THROW(op.Run({ShapeOf(-3), Tensor(int32_t{0}), Tensor(int32_t{5})}), Error);
  EXPECT_EQ(0, op.Run({ShapeOf(0), Tensor(int32_t{5}), Tensor(int32_t{5})})[0].num_elements());
}

}  // namespace
}  // namespace penstock
