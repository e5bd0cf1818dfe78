// Matrix products.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

void MatMulShape(ShapeContext& c) {
  const PartialShape a = c.WithRank(0, 2), b = c.WithRank(1, 2);
  const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
  ShapeContext::MergeDim(a[ta ? 0 : 1], b[tb ? 1 : 0]);
  c.out(0, PartialShape({a[ta ? 1 : 0], b[tb ? 0 : 1]}));
}

// 0 where the sizes are not known.
double ProductFlops(ShapeContext& c, const char* transposes_first) {
  const PartialShape& a = c.in(0);
  const int64_t results = c.out_shape(0).num_elements();
  if (a.rank() < 2 || results < 0) return 0;
  const int64_t inner = a[a.rank() - (c.attr<bool>(transposes_first) ? 2 : 1)];
  return inner < 0 ? 0 : 2.0 * static_cast<double>(results) * static_cast<double>(inner);
}
double MatMulFlops(ShapeContext& c) { return ProductFlops(c, "transpose_a"); }

void BatchMatMulShapeWith(ShapeContext& c, bool broadcast) {
  const PartialShape a = c.WithRankAtLeast(0, 2), b = c.WithRankAtLeast(1, 2);
  const bool ax = c.attr<bool>("adj_x"), ay = c.attr<bool>("adj_y");
  if (!a.known_rank() || !b.known_rank()) return c.out(0, PartialShape());
  const int ra = a.rank(), rb = b.rank();
  ShapeContext::MergeDim(a[ax ? ra - 2 : ra - 1], b[ay ? rb - 1 : rb - 2]);
  const PartialShape batch_a = shapes::Subshape(a, 0, ra - 2), batch_b = shapes::Subshape(b, 0, rb - 2);
  PartialShape out = broadcast ? shapes::BroadcastShapes(batch_a, batch_b) : batch_a.MergeWith(batch_b);
  if (!out.known_rank()) return c.out(0, PartialShape());
  out.AddDim(a[ax ? ra - 1 : ra - 2]);
  out.AddDim(b[ay ? rb - 2 : rb - 1]);
  c.out(0, out);
}
void BatchMatMulShape(ShapeContext& c) { BatchMatMulShapeWith(c, false); }
void BatchMatMulV2Shape(ShapeContext& c) { BatchMatMulShapeWith(c, true); }

double BatchMatMulFlops(ShapeContext& c) { return ProductFlops(c, "adj_x"); }

// dA and dB of C = op(A) op(B), by the four cases of transposition.
void MatMulGradient(GradContext& g) {
  const Out a = Conj(g.x(0)), b = Conj(g.x(1)), dc = g.dy();
  const bool ta = g.attr<bool>("transpose_a"), tb = g.attr<bool>("transpose_b");
  const auto product = [&](Out x, Out y, bool tx, bool ty) {
    return g.Call("MatMul", {x, y}, {{"transpose_a", tx}, {"transpose_b", ty}});
  };
  if (g.wanted(0)) g.Set(0, ta ? product(b, dc, tb, true) : product(dc, b, false, !tb));
  if (g.wanted(1)) g.Set(1, tb ? product(dc, a, true, ta) : product(a, dc, !ta, false));
}

// The same for stacks of matrices; with broadcasting, batches along which an input was stretched are summed.
void BatchMatMulGradient(GradContext& g) {
  const Out x = g.x(0), y = g.x(1), dz = g.dy();
  const bool ax = g.attr<bool>("adj_x"), ay = g.attr<bool>("adj_y");
  const std::string& op = g.op().name;
  const auto product = [&](Out p, Out q, bool ap, bool aq, DataType type) {
    AttrMap attrs = {{"adj_x", ap}, {"adj_y", aq}};
    if (op == "BatchMatMulV3") attrs.Set("Tout", type);
    return g.Call(op, {p, q}, attrs);
  };
  const Out dx = ax ? product(y, dz, ay, true, x.type()) : product(dz, y, false, !ay, x.type());
  const Out dy = ay ? product(dz, x, true, ax, y.type()) : product(x, dz, !ax, false, y.type());
  const PartialShape &sx = x.shape(), &sy = y.shape();
  const bool same_batches =
      op == "BatchMatMul" || (sx.known_rank() && sy.known_rank() && sx.rank() == sy.rank() && sx.rank() >= 2 &&
                              shapes::Subshape(sx, 0, -2).fully_known() &&
                              shapes::Subshape(sx, 0, -2).dims() == shapes::Subshape(sy, 0, -2).dims());
  if (same_batches) {
    g.Set(0, dx);
    g.Set(1, dy);
    return;
  }
  const Out shape_x = ShapeOf(x), shape_y = ShapeOf(y);
  const auto batch = [&](Out shape) {
    const Out zero = ConstVector(g.scope(), {0}), minus_two = ConstVector(g.scope(), {-2}),
              one = ConstVector(g.scope(), {1});
    return g.Call("StridedSlice", {shape, zero, minus_two, one}, {{"begin_mask", 1}});
  };
  const Outs axes = g.CallAll("BroadcastGradientArgs", Outs{batch(shape_x), batch(shape_y)});
  g.Set(0, Reshape(Sum(dx, axes[0]), shape_x));
  g.Set(1, Reshape(Sum(dy, axes[1]), shape_y));
}

// Products of matrices that are mostly zero; the gradient keeps the hints.
void SparseMatMulGradient(GradContext& g) {
  const bool ta = g.attr<bool>("transpose_a"), tb = g.attr<bool>("transpose_b");
  const bool sparse_a = g.attr<bool>("a_is_sparse"), sparse_b = g.attr<bool>("b_is_sparse");
  const Out a = g.x(0), b = g.x(1), dc = g.dy();
  const auto product = [&](Out x, Out y, DataType type, bool tx, bool ty, bool sx, bool sy) {
    if (tx) x = Transpose(x, ConstVector(g.scope(), {1, 0})), tx = false;
    if (ty) y = Transpose(y, ConstVector(g.scope(), {1, 0})), ty = false;
    const Out c = g.Call("SparseMatMul", {x, y},
                         {{"transpose_a", tx}, {"transpose_b", ty}, {"a_is_sparse", sx}, {"b_is_sparse", sy}});
    return Cast(c, type);
  };
  g.Set(0, ta ? product(b, dc, a.type(), tb, true, sparse_b, false)
              : product(dc, b, a.type(), false, !tb, false, sparse_b));
  g.Set(1, tb ? product(dc, a, b.type(), true, ta, false, sparse_a)
              : product(a, dc, b.type(), !ta, false, sparse_a, false));
}

}  // namespace

void RegisterMatMulOps(OpRegistry& ops) {
  ops.Add("MatMul").Input("a: T").Input("b: T").Output("product: T").Attr("transpose_a: bool = false")
      .Attr("transpose_b: bool = false")
      .Attr("T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}")
      .Attr("grad_a: bool = false").Attr("grad_b: bool = false").Shape(MatMulShape).Flops(MatMulFlops)
      .Gradient(MatMulGradient).Doc("The product of two matrices.");
  ops.Add("BatchMatMul").Input("x: T").Input("y: T").Output("output: T")
      .Attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}").Attr("adj_x: bool = false")
      .Attr("adj_y: bool = false").Attr("grad_x: bool = false").Attr("grad_y: bool = false").Shape(BatchMatMulShape)
      .Flops(BatchMatMulFlops).Gradient(BatchMatMulGradient).Doc("The products of two stacks of matrices.");
  ops.Add("BatchMatMulV2").Input("x: T").Input("y: T").Output("output: T")
      .Attr("T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
            "complex128}")
      .Attr("adj_x: bool = false").Attr("adj_y: bool = false").Attr("grad_x: bool = false").Attr("grad_y: bool = false")
      .Shape(BatchMatMulV2Shape).Flops(BatchMatMulFlops).Gradient(BatchMatMulGradient)
      .Doc("The products of two stacks of matrices; batch dimensions are broadcast.");
  constexpr char kMixed[] = "{bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128}";
  ops.Add("BatchMatMulV3").Input("x: Ta").Input("y: Tb").Output("output: Tout").Attr(StrCat("Ta: ", kMixed))
      .Attr(StrCat("Tb: ", kMixed))
      .Attr("Tout: {bfloat16, half, float, double, int16, int32, int64, complex64, complex128}")
      .Attr("adj_x: bool = false").Attr("adj_y: bool = false").Attr("grad_x: bool = false").Attr("grad_y: bool = false")
      .Shape(BatchMatMulV2Shape).Flops(BatchMatMulFlops).Gradient(BatchMatMulGradient)
      .Doc("As BatchMatMulV2, with types of their own for inputs and output.");
  ops.Add("_FusedMatMul").Input("a: T").Input("b: T").Input("args: num_args * T").Output("product: T")
      .Attr("transpose_a: bool = false").Attr("transpose_b: bool = false").Attr("T: {bfloat16, half, float}")
      .Attr("num_args: int >= 0").Attr("fused_ops: list(string) = []").Attr("epsilon: float = 0.0001")
      .Attr("leakyrelu_alpha: float = 0.2").Shape(MatMulShape).Flops(MatMulFlops)
      .Doc("The product of two matrices, and what `fused_ops` names done to it; made by graph optimisation.");
  ops.Add("_ProductSum").Input("sum: float").Output("handle: variant").Shape(shapes::Scalar)
      .Doc("A matrix to which a loop will add products; made by graph optimisation.");
  ops.Add("_AddProduct").Input("handle: variant").Input("a: float").Input("b: float").Output("sum: variant")
      .Shape(shapes::Scalar)
      .Doc("A sum of products with one more, a^T b; some are added later, together. Made by graph optimisation.");
  ops.Add("_ProductSumValue").Input("handle: variant").Output("sum: float").Shape(shapes::Unknown)
      .Doc("The sum with all its products; made by graph optimisation.");
  ops.Add("SparseMatMul").Input("a: Ta").Input("b: Tb").Output("product: float").Attr("transpose_a: bool = false")
      .Attr("transpose_b: bool = false").Attr("a_is_sparse: bool = false").Attr("b_is_sparse: bool = false")
      .Attr("Ta: {float, bfloat16} = DT_FLOAT").Attr("Tb: {float, bfloat16} = DT_FLOAT").Shape(MatMulShape)
      .Flops(MatMulFlops).Gradient(SparseMatMulGradient)
      .Doc("The product of two matrices of which one may hold mostly zeros.");
}

}  // namespace penstock
