// Keys of attributes: equal if and only if the values are.
#include <random>

#include <gtest/gtest.h>

#include "penstock/op/attr_key.h"

namespace penstock {
namespace {

// Values from small domains, so that equal ones are frequent and unequal ones differ in little.
class RandomValues {
 public:
  explicit RandomValues(unsigned seed) : random_(seed) {}

  AttrValue Any(int depth = 2) {
    switch (Below(depth > 0 ? 18 : 16)) {
      case 0: return {};
      case 1: return Text();
      case 2: return Number();
      case 3: return static_cast<float>(Number());
      case 4: return Below(2) == 1;
      case 5: return Type();
      case 6: return Shape();
      case 7: return Numbers();
      case 8: return AttrPlaceholder{Text()};
      case 9: return EmptyList();
      case 10: return List<std::string>([&] { return Text(); });
      case 11: return List<int64_t>([&] { return Number(); });
      case 12: return List<float>([&] { return static_cast<float>(Number()); });
      case 13: return List<bool>([&] { return Below(2) == 1; });
      case 14: return List<DataType>([&] { return Type(); });
      case 15:
        return Below(2) ? AttrValue(List<PartialShape>([&] { return Shape(); }))
                        : AttrValue(List<Tensor>([&] { return Numbers(); }));
      case 16: return Function(depth - 1);
      default: return List<FuncRef>([&] { return Function(depth - 1); });
    }
  }

 private:
  size_t Below(size_t n) { return random_() % n; }
  int64_t Number() { return static_cast<int64_t>(Below(3)); }
  DataType Type() { return Below(2) ? DT_FLOAT : DT_INT32; }
  std::string Text() {
    static const std::string texts[] = {"", "a", "ab", "b", "a\", \"b", std::string("a\0", 2), "\n", "2"};
    return texts[Below(std::size(texts))];
  }
  PartialShape Shape() {
    if (Below(4) == 0) return {};
    std::vector<int64_t> dims(Below(3));
    for (int64_t& dim : dims) dim = static_cast<int64_t>(Below(3)) - 1;
    return PartialShape(dims);
  }
  // Often more elements than a text shows.
  Tensor Numbers() {
    const auto n = static_cast<int64_t>(Below(2) ? 2 : 40);
    if (Below(3) == 0) {
      Tensor texts(DT_STRING, penstock::Shape({n}));
      texts.mutable_data<TString>()[n - 1] = TString(Text());
      return texts;
    }
    Tensor t(Type(), Below(2) ? penstock::Shape({n}) : penstock::Shape({n / 2, 2}));
    for (int64_t i = 0; i < n; ++i) t.mutable_data<int32_t>()[i] = 0;
    t.mutable_data<int32_t>()[n - 1] = static_cast<int32_t>(Below(2));
    return t;
  }
  FuncRef Function(int depth) {
    FuncRef function{Text(), {}};
    for (size_t i = Below(3); i > 0; --i) function.attrs.Set(Text(), Any(depth));
    return function;
  }
  template <class T, class Make>
  std::vector<T> List(Make make) {
    std::vector<T> list;
    for (size_t i = Below(4); i > 0; --i) list.push_back(make());
    return list;
  }
  std::mt19937 random_;
};

TEST(AttrKey, IsEqualIfAndOnlyIfTheValuesAre) {
  RandomValues random(1);
  int equal = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<AttrValue> values;
    std::vector<std::string> keys;
    for (int i = 0; i < 300; ++i) {
      values.push_back(random.Any());
      keys.push_back(CanonicalKey(values.back()));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      for (size_t j = i; j < values.size(); ++j) {
        ASSERT_EQ(keys[i] == keys[j], values[i] == values[j])
            << values[i].KindName() << " " << values[i].ToString() << ", " << values[j].KindName() << " "
            << values[j].ToString();
        equal += i != j && keys[i] == keys[j];
      }
    }
  }
  EXPECT_GT(equal, 1000);
}

// Parts that follow each other cannot pass for others: as the attributes of a function, and one key behind another.
TEST(AttrKey, IsUnambiguousInSequences) {
  RandomValues random(2);
  for (int round = 0; round < 20000; ++round) {
    const AttrValue a = random.Any(1), b = random.Any(1), c = random.Any(1), d = random.Any(1);
    std::string ab, cd;
    AppendKey(a, &ab), AppendKey(b, &ab);
    AppendKey(c, &cd), AppendKey(d, &cd);
    ASSERT_EQ(ab == cd, a == c && b == d);
    ASSERT_EQ(CanonicalKey(AttrMap({{"x", a}, {"y", b}})) == CanonicalKey(AttrMap({{"x", c}, {"y", d}})),
              a == c && b == d);
  }
}

TEST(AttrKey, CountsAllElementsOfATensor) {
  Tensor a(DT_INT32, Shape({12})), b(DT_INT32, Shape({12}));
  for (int i = 0; i < 12; ++i) a.mutable_data<int32_t>()[i] = b.mutable_data<int32_t>()[i] = i;
  EXPECT_EQ(CanonicalKey(AttrValue(a)), CanonicalKey(AttrValue(b)));
  b.mutable_data<int32_t>()[11] = 0;
  EXPECT_EQ(AttrValue(a).ToString(), AttrValue(b).ToString());
  EXPECT_NE(CanonicalKey(AttrValue(a)), CanonicalKey(AttrValue(b)));
}

TEST(AttrKey, TellsZerosApart) {  // a kernel may divide by them
  EXPECT_NE(CanonicalKey(AttrValue(0.0f)), CanonicalKey(AttrValue(-0.0f)));
}

}  // namespace
}  // namespace penstock
