#include "penstock/tensor/elements.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

const std::string kLong(100, 'x');  // longer than what a string holds inline

Tensor Strings(std::initializer_list<std::string_view> values) {
  Tensor t(DT_STRING, Shape({static_cast<int64_t>(values.size())}));
  std::ranges::copy(values, t.mutable_data<TString>());
  return t;
}

TEST(Elements, CopiesAPart) {
  const Tensor from = Tensor::Vector<int32_t>(std::vector<int32_t>{1, 2, 3, 4});
  Tensor to = Tensor::Vector<int32_t>(std::vector<int32_t>{0, 0, 0});
  CopyElements(from, 1, 2, &to, 1);
  EXPECT_TRUE(std::ranges::equal(std::span(to.data<int32_t>(), 3), std::vector{0, 2, 3}));
}

TEST(Elements, TakesStringsThatNobodyElseHolds) {
  Tensor from = Strings({kLong}), to = Strings({"", ""});
  const char* text = from.data<TString>()->data();
  MoveElements(&from, &to, 1);
  EXPECT_EQ(to.data<TString>()[1].view(), kLong);
  EXPECT_EQ(to.data<TString>()[1].data(), text);
}

TEST(Elements, CopiesStringsThatOthersHold) {
  Tensor from = Strings({kLong}), to = Strings({""});
  const Tensor other = from;
  MoveElements(&from, &to, 0);
  EXPECT_EQ(to.scalar<TString>().view(), kLong);
  EXPECT_EQ(other.scalar<TString>().view(), kLong);
}

TEST(Elements, Position) {
  EXPECT_EQ((Position{Shape({2, 3}), 5}.ToString()), "[1,2]");
  EXPECT_EQ((Position{Shape({}), 0}.ToString()), "");
}

}  // namespace
}  // namespace penstock
