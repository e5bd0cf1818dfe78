#include "penstock/optimize/rewrite.h"
#include "tests/cc/optimize/pass_fixture.h"

namespace penstock {
namespace {

class Narrowing : public PassTest {
 protected:
  // (4 x 6) (6 x 10)
  Node* Product(bool transpose_b = true) {
    Node *a = Arg(DT_FLOAT, PartialShape({4, 6})),
         *b = Arg(DT_FLOAT, PartialShape(transpose_b ? std::vector<int64_t>{10, 6} : std::vector<int64_t>{6, 10}));
    return Add("MatMul", {{a, 0}, {b, 0}}, {{"transpose_b", transpose_b}});
  }
  Endpoint Ints(std::vector<int64_t> values) {
    Tensor t(DT_INT64, Shape({static_cast<int64_t>(values.size())}));
    std::ranges::copy(values, t.mutable_data<int64_t>());
    return {Constant(std::move(t)), 0};
  }
  Endpoint Axis(int32_t axis) { return {Constant(Tensor(axis)), 0}; }
  Node* Split(Node* product, std::vector<int64_t> sizes, int32_t axis = 1) {
    const auto n = static_cast<int64_t>(sizes.size());
    return Add("SplitV", {{product, 0}, Ints(std::move(sizes)), Axis(axis)}, {{"num_split", n}});
  }
  // That `fetch` reads a product with rows [begin, begin + width) of the second matrix.
  void ExpectRows(const Node* fetch, int64_t begin, int64_t width) {
    const Node* product = fetch->input(0).node;
    ASSERT_EQ(product->op_name(), "MatMul");
    EXPECT_EQ(product->shape(0), PartialShape({4, width}));
    const Node* rows = product->input(1).node;
    ASSERT_EQ(rows->op_name(), "Slice");
    EXPECT_EQ(ConstantOf(rows->input(1))->IntAt(0), begin);
    EXPECT_EQ(ConstantOf(rows->input(1))->IntAt(1), 0);
    EXPECT_EQ(ConstantOf(rows->input(2))->IntAt(0), width);
    EXPECT_EQ(Count("MatMul"), 1);
  }
};

TEST_F(Narrowing, OnePartOfASplit) {
  Node* fetch = Fetch({Split(Product(), {2, 5, 3}), 1});
  EXPECT_EQ(NarrowProducts(graph), 1);
  ExpectRows(fetch, 2, 5);
  EXPECT_EQ(Count("SplitV"), 0);
}

TEST_F(Narrowing, OneOfEqualParts) {
  Node* split = Add("Split", {Axis(-1), {Product(), 0}}, {{"num_split", int64_t{5}}});
  Node* fetch = Fetch({split, 4});
  EXPECT_EQ(NarrowProducts(graph), 1);
  ExpectRows(fetch, 8, 2);
}

TEST_F(Narrowing, ASliceOfColumns) {
  Node* fetch = Fetch({Add("Slice", {{Product(), 0}, Ints({0, 3}), Ints({-1, 4})}), 0});
  EXPECT_EQ(NarrowProducts(graph), 1);
  ExpectRows(fetch, 3, 4);
}

TEST_F(Narrowing, NotIfMoreIsRead) {
  Node* split = Split(Product(), {4, 6});
  Fetch({split, 0});
  Fetch({split, 1});
  Node* product = Product();
  Fetch({product, 0});
  Fetch({Split(product, {4, 6}), 1});
  Fetch({Split(Product(), {1, 3}, 0), 1});                                   // rows
  Fetch({Split(Product(false), {4, 6}), 1});                                 // columns that lie far apart
  Fetch({Add("Slice", {{Product(), 0}, Ints({1, 3}), Ints({2, 4})}), 0});    // rows, too
  Fetch({Add("Slice", {{Product(), 0}, Ints({0, 0}), Ints({-1, -1})}), 0});  // all
  EXPECT_EQ(NarrowProducts(graph), 0);
}

}  // namespace
}  // namespace penstock
