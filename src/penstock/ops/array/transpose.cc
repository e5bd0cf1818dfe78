// Elements in another order: transposes, reversals, rolls.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

void TransposeShape(ShapeContext& c) {
  const PartialShape& in = c.in(0);
  const Tensor* values = c.in_value(1);
  const PartialShape perm = values ? PartialShape(shapes::Integers(*values)) : c.in_as_shape(1);
  const int64_t elements = c.in(1).num_elements();
  int rank = in.rank();
  if (rank < 0 && values) rank = static_cast<int>(values->num_elements());
  if (rank < 0 && elements >= 0) rank = static_cast<int>(elements);
  if (rank < 0) return;
  // One element may permute a vector or, read leniently, a scalar.
  if (!in.known_rank() && rank < 2) return;
  if (elements >= 0) shapes::RequireDim(rank, elements);
  std::vector<int64_t> dims(rank, -1);
  if (values && in.known_rank()) {
    for (int i = 0; i < rank; ++i) {
      const int64_t from = perm[i];
      if (from < -rank || from >= rank) {
        throw InvalidArgument("perm dim ", from, " is out of range of input rank ", rank);
      }
      dims[i] = in[static_cast<int>(from < 0 ? from + rank : from)];
    }
  } else if (rank == 1 && in.known_rank()) {
    dims[0] = in[0];
  }
  c.out(0, PartialShape(std::move(dims)));
}

// A permutation's inverse: a constant if it is one.
Out Inverse(GradContext& g, Out perm) {
  const Tensor* values = g.scope().Constant(perm);
  if (!values) return g.Call("InvertPermutation", {perm});
  const std::vector<int64_t> p = shapes::Integers(*values);
  std::vector<int32_t> inverse(p.size());
  for (size_t i = 0; i < p.size(); ++i) {
    const size_t at = p[i] < 0 ? p[i] + p.size() : p[i];
    if (at >= p.size()) return g.Call("InvertPermutation", {perm});
    inverse[at] = static_cast<int32_t>(i);
  }
  return ConstVector(g.scope(), std::move(inverse));
}

OpBuilder Permuting(OpRegistry& ops, std::string_view name) {
  return ops.Add(name)
      .Input("x: T")
      .Input("perm: Tperm")
      .Output("y: T")
      .Attr("T: type")
      .Attr("Tperm: {int32, int64} = DT_INT32")
      .Shape(TransposeShape);
}

}  // namespace

void RegisterTransposeOps(OpRegistry& ops) {
  Permuting(ops, "Transpose")
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("Transpose", {g.dy(), Inverse(g, g.x(1))}));
      })
      .Doc("Dimension i of the result is dimension perm[i] of `x`.");

  Permuting(ops, "ConjugateTranspose")
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("ConjugateTranspose", {g.dy(), Inverse(g, g.x(1))}));
      })
      .Doc("Transpose of the complex conjugate.");

  ops.Add("InvertPermutation")
      .Input("x: T")
      .Output("y: T")
      .Attr("T: {int32, int64} = DT_INT32")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) { c.out(0, c.WithRank(0, 1)); })
      .Free()
      .Doc("y such that y[x[i]] = i.");

  ops.Add("Reverse")
      .Input("tensor: T")
      .Input("dims: bool")
      .Output("output: T")
      .Attr(
          "T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, bfloat16, half, float, double, "
          "complex64, complex128, string}")
      .Shape([](ShapeContext& c) {
        const PartialShape dims = c.WithRank(1, 1);
        PartialShape in = c.in(0);
        if (in.known_rank()) {
          if (in.rank() > 8) throw InvalidArgument("Shape must be at most rank 8 but is rank ", in.rank());
          shapes::RequireDim(dims[0], in.rank());
        } else if (dims[0] >= 0) {
          in = shapes::AnyOfRank(dims[0]);
        }
        c.out(0, in);
      })
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("Reverse", {g.dy(), g.x(1)}));
      })
      .Doc("`tensor` backwards along each dimension for which `dims` is true.");

  ops.Add("ReverseV2")
      .Input("tensor: T")
      .Input("axis: Tidx")
      .Output("output: T")
      .Attr("Tidx: {int32, int64} = DT_INT32")
      .Attr(
          "T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, half, float, double, "
          "complex64, complex128, string}")
      .Shape([](ShapeContext& c) {
        c.WithRank(1, 1);
        const PartialShape& in = c.in(0);
        if (in.known_rank()) {
          if (in.rank() > 8) throw InvalidArgument("reverse does not work on tensors with more than 8 dimensions");
          if (const Tensor* axes = c.in_value(1)) {
            std::vector<bool> seen(in.rank());
            const std::vector<int64_t> wanted = shapes::Integers(*axes);
            for (size_t i = 0; i < wanted.size(); ++i) {
              const int64_t a = wanted[i] < 0 ? wanted[i] + in.rank() : wanted[i];
              if (a < 0 || a >= in.rank()) {
                throw InvalidArgument("'axis'[", i, "] = ", wanted[i], " is out of valid range [", 0, ", ",
                                      in.rank() - 1);
              }
              if (seen[a]) throw InvalidArgument("axis ", a, " specified more than once.");
              seen[a] = true;
            }
          }
        }
        c.out(0, in);
      })
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("ReverseV2", {g.dy(), g.x(1)}));
      })
      .Doc("`tensor` backwards along the dimensions `axis`.");

  ops.Add("ReverseSequence")
      .Input("input: T")
      .Input("seq_lengths: Tlen")
      .Output("output: T")
      .Attr("seq_dim: int")
      .Attr("batch_dim: int = 0")
      .Attr("T: type")
      .Attr("Tlen: {int32, int64} = DT_INT64")
      .Shape([](ShapeContext& c) {
        const PartialShape lengths = c.WithRank(1, 1);
        PartialShape in = c.in(0);
        const int64_t batch = c.attr<int64_t>("batch_dim"), seq = c.attr<int64_t>("seq_dim");
        if (!in.known_rank()) return;
        if (batch < 0 || batch >= in.rank()) {
          throw InvalidArgument("batch_dim must be < input rank: ", batch, " vs. ", in.rank());
        }
        if (seq < 0 || seq >= in.rank()) {
          throw InvalidArgument("seq_dim must be < input rank: ", seq, " vs. ", in.rank());
        }
        in.set_dim(static_cast<int>(batch), ShapeContext::MergeDim(in[static_cast<int>(batch)], lengths[0]));
        c.out(0, in);
      })
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("ReverseSequence", {g.dy(), g.x(1)},
                        {{"seq_dim", g.attr("seq_dim")}, {"batch_dim", g.attr("batch_dim")}}));
      })
      .Doc("Backwards along `seq_dim`, for entry i of `batch_dim` its first seq_lengths[i] elements.");

  ops.Add("Roll")
      .Input("input: T")
      .Input("shift: Tshift")
      .Input("axis: Taxis")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tshift: {int32, int64}")
      .Attr("Taxis: {int32, int64}")
      .Shape([](ShapeContext& c) {
        c.WithRankAtLeast(0, 1);
        const PartialShape shift = c.WithRankAtMost(1, 1), axis = c.WithRankAtMost(2, 1);
        if (shift.known_rank() && axis.known_rank()) shapes::Merge(shift, axis);
        c.out(0, c.in(0));
      })
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("Roll", {g.dy(), -g.x(1), g.x(2)}));
      })
      .Doc("Elements moved on by `shift` along the dimensions `axis`; what falls off the end comes in at the start.");
}

}  // namespace penstock
