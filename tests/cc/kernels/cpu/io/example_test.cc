#include "penstock/kernels/cpu/io/example.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

using std::string_literals::operator""s;

// Message bytes by hand: a tag is field * 8 + wire type, then a length or a number.
std::string Bytes(char field, const std::string& content) {
  return std::string{static_cast<char>(field * 8 + 2), static_cast<char>(content.size())} + content;
}

Tensor Copied(const FeatureValues& values) {
  Tensor t(values.type, Shape({values.size}));
  values.CopyTo(&t, 0);
  return t;
}

TEST(Example, IntsPackedAndOneByOne) {
  FeatureValues values;
  const std::string message = Bytes(3, Bytes(1, "\x01\xAC\x02"s) + "\x08\x05"s);  // 1, 300 packed; 5 by itself
  ASSERT_TRUE(ReadFeature(message, &values));
  EXPECT_EQ(values.type, DT_INT64);
  ASSERT_EQ(values.size, 3);
  const Tensor copied = Copied(values);
  EXPECT_EQ(copied.data<int64_t>()[0], 1);
  EXPECT_EQ(copied.data<int64_t>()[1], 300);
  EXPECT_EQ(copied.data<int64_t>()[2], 5);
}

TEST(Example, FloatsPackedAndOneByOne) {
  FeatureValues values;
  const std::string one = "\x00\x00\x80\x3f"s, two = "\x00\x00\x00\x40"s;
  const std::string message = Bytes(2, Bytes(1, one + two) + "\x0d"s + one);
  ASSERT_TRUE(ReadFeature(message, &values));
  ASSERT_EQ(values.size, 3);
  const Tensor copied = Copied(values);
  EXPECT_EQ(copied.data<float>()[1], 2.0f);
  EXPECT_EQ(copied.data<float>()[2], 1.0f);
}

TEST(Example, ListsOfOneTypeAddUpAndTheLastTypeCounts) {
  FeatureValues values;
  const std::string ints = Bytes(3, Bytes(1, "\x07")), a = Bytes(1, Bytes(1, "a")), b = Bytes(1, Bytes(1, "b"));
  const std::string message = ints + a + b;
  ASSERT_TRUE(ReadFeature(message, &values));
  EXPECT_EQ(values.type, DT_STRING);
  ASSERT_EQ(values.size, 2);
  EXPECT_EQ(Copied(values).data<TString>()[1].view(), "b");
}

TEST(Example, AnEmptyListHasAType) {
  FeatureValues values;
  ASSERT_TRUE(ReadFeature(Bytes(2, ""), &values));
  EXPECT_EQ(values.type, DT_FLOAT);
  EXPECT_EQ(values.size, 0);
  values = {};
  ASSERT_TRUE(ReadFeature("", &values));
  EXPECT_EQ(values.type, DT_INVALID);
}

TEST(Example, BadBytes) {
  FeatureValues values;
  EXPECT_FALSE(ReadFeature(Bytes(2, Bytes(1, "abc")), &values));   // not whole floats
  EXPECT_FALSE(ReadFeature(Bytes(3, Bytes(1, "\x80")), &values));  // a number without end
  EXPECT_FALSE(ReadFeature("\x0a\x7f", &values));                  // longer than the message
  EXPECT_FALSE(ReadFeature(Bytes(3, Bytes(1, std::string(11, '\x80') + "\x01")), &values));
}

}  // namespace
}  // namespace penstock
