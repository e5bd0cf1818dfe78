#include "penstock/base/strings.h"

#include <gtest/gtest.h>

#include <limits>

#include "penstock/base/status.h"

namespace penstock {
namespace {

TEST(StrCat, JoinsWhatItIsGiven) {
  EXPECT_EQ(StrCat("a", 1, ' ', int64_t{-5}, true, 2.5, std::string("z")), "a1 -5true2.5z");
  EXPECT_EQ(StrCat(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(StrJoin(std::vector<int>{1, 2, 3}, ", "), "1, 2, 3");
}

TEST(StrSplit, KeepsEmptyPieces) {
  EXPECT_EQ(StrSplit("a,,b", ','), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(StrSplit("", ','), (std::vector<std::string_view>{""}));
}

TEST(ParseNumbers, WholeTextOrNothing) {
  int64_t i = 0;
  EXPECT_TRUE(ParseInt64("-42", &i));
  EXPECT_EQ(i, -42);
  EXPECT_FALSE(ParseInt64("42x", &i));
  EXPECT_FALSE(ParseInt64("", &i));
  EXPECT_FALSE(ParseInt64("9223372036854775808", &i));
  double d = 0;
  EXPECT_TRUE(ParseDouble("1e3", &d));
  EXPECT_EQ(d, 1000);
  EXPECT_FALSE(ParseDouble("1e", &d));
}

TEST(Status, CarriesCodeMessageAndTheInnermostNode) {
  EXPECT_TRUE(Status().ok());
  const Status status = InvalidArgument("axis ", 5).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.ToString(), "InvalidArgument: axis 5");
  EXPECT_EQ(status.At("inner").At("outer").node(), "inner");
  try {
    throw std::bad_alloc();
  } catch (...) {
    EXPECT_EQ(CurrentStatus().code(), Code::kResourceExhausted);
  }
}

}  // namespace
}  // namespace penstock
