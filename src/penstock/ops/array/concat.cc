// Tensors joined and taken apart: concat, pack, split, unpack.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

// Joins inputs [first, last) along the axis that input `axis_input` gives.
void ConcatShape(ShapeContext& c, int first, int last, int axis_input) {
  c.WithRank(axis_input, 0);
  PartialShape merged;
  for (int i = first; i < last; ++i) {
    if (c.in(i).rank() == 0) throw InvalidArgument("Can't concatenate scalars (use tf.stack instead)");
  }
  const Tensor* axis_value = c.in_value(axis_input);
  int rank = -1;
  for (int i = first; i < last && rank < 0; ++i) rank = c.in(i).rank();
  if (rank < 0) return;
  for (int i = first; i < last; ++i) {
    if (c.in(i).known_rank() && c.in(i).rank() != rank) {
      throw InvalidArgument("Shape must be rank ", rank, " but is rank ", c.in(i).rank());
    }
  }
  if (!axis_value) return c.out(0, PartialShape::OfRank(rank));
  const int64_t wanted = axis_value->IntAt(0);
  if (wanted < -rank || wanted >= rank) {
    throw InvalidArgument("Shape must be at least rank ", wanted < 0 ? -wanted : wanted + 1, " but is rank ", rank,
                          ": ConcatOp : Expected concatenating dimensions in the range [", -rank, ", ", rank,
                          "), but got ", wanted);
  }
  const int axis = static_cast<int>(wanted < 0 ? wanted + rank : wanted);
  PartialShape out = PartialShape::OfRank(rank);
  int64_t joined = 0;
  for (int i = first; i < last; ++i) {
    PartialShape in = c.in(i).known_rank() ? c.in(i) : PartialShape::OfRank(rank);
    joined = joined < 0 || in[axis] < 0 ? -1 : shapes::AddDims(joined, in[axis]);
    in.set_dim(axis, -1);
    out = shapes::Merge(out, in);
  }
  out.set_dim(axis, joined);
  c.out(0, out);
}

// Vectors that hold parts of a shape, one after the other.
PartialShape JoinedShape(ShapeContext& c, int first, int last) {
  PartialShape joined(std::vector<int64_t>{});
  for (int i = first; i < last; ++i) {
    const PartialShape& in = c.in(i);
    if (!in.known_rank() || in.rank() != 1) return {};
    const PartialShape part = shapes::PerhapsShape(c, i);
    joined = shapes::Concatenate(joined, part);
  }
  return joined;
}

// Gives each joined input x(first...) its part of the gradient.
void ConcatGradient(GradContext& g, int first, int last, Out axis) {
  const Out dy = g.dy();
  if (last - first == 1) return g.Set(first, dy);
  const Tensor* axis_value = g.scope().Constant(axis);
  if (axis_value) {
    std::vector<int64_t> sizes;
    for (int i = first; i < last; ++i) {
      const PartialShape& shape = g.x(i).shape();
      if (!shape.known_rank()) break;
      const int64_t size = shape[shapes::NormalAxis(axis_value->IntAt(0), shape.rank())];
      if (size < 0) break;
      sizes.push_back(size);
    }
    if (static_cast<int>(sizes.size()) == last - first) {
      const Outs parts =
          g.CallAll("SplitV", std::vector<Out>{dy, g.scope().Const(Tensor::Vector(sizes)), Cast(axis, DT_INT32)},
                    {{"num_split", last - first}});
      for (int i = first; i < last; ++i) g.Set(i, parts[i - first]);
      return;
    }
  }
  Outs inputs;
  for (int i = first; i < last; ++i) inputs.push_back(g.x(i));
  const Outs sizes = g.CallAll("ShapeN", inputs, {{"N", last - first}});
  Outs offset_args{Cast(axis, DT_INT32)};
  offset_args.insert(offset_args.end(), sizes.begin(), sizes.end());
  const Outs offsets = g.CallAll("ConcatOffset", offset_args, {{"N", last - first}});
  for (int i = 0; i < last - first; ++i) g.Set(first + i, g.Call("Slice", {dy, offsets[i], sizes[i]}));
}

int PackAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    throw InvalidArgument("Invalid axis: ", axis, "; must be in [", -rank, ",", rank, ")");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

void SplitShape(ShapeContext& c, int value, int axis_input, const std::vector<int64_t>* sizes) {
  const int n = c.num_outputs();
  if (c.in(axis_input).rank() > 0) throw InvalidArgument("Input must be scalar but has rank ", c.in(axis_input).rank());
  const PartialShape& in = c.in(value);
  const Tensor* axis_value = c.in_value(axis_input);
  if (!axis_value) {
    for (int i = 0; i < n; ++i) c.out(i, n == 1 ? in : shapes::AnyOfRank(in.rank()));
    return;
  }
  if (!in.known_rank()) return;
  const int64_t wanted = axis_value->IntAt(0);
  if (wanted < -in.rank() || wanted >= in.rank()) {
    throw InvalidArgument("Shape must be at least rank ", wanted < 0 ? -wanted : wanted + 1, " but is rank ", in.rank(),
                          ": -input rank(-", in.rank(), ") <= split_dim < input rank (", in.rank(), "), but got ",
                          wanted);
  }
  const int axis = static_cast<int>(wanted < 0 ? wanted + in.rank() : wanted);
  if (!sizes) {
    if (in[axis] >= 0 && in[axis] % n != 0) {
      throw InvalidArgument("Dimension size must be evenly divisible by ", n, " but is ", in[axis],
                            ". Number of ways to split should evenly divide the split dimension");
    }
    PartialShape part = in;
    part.set_dim(axis, in[axis] < 0 ? -1 : in[axis] / n);
    for (int i = 0; i < n; ++i) c.out(i, part);
    return;
  }
  int64_t total = 0;
  int open = -1;
  for (int i = 0; i < n; ++i) {
    if ((*sizes)[i] == -1) {
      if (open >= 0) throw InvalidArgument("size_splits can only have one -1");
      open = i;
    } else {
      if ((*sizes)[i] < -1) throw InvalidArgument("Split size at index ", i, " must be >= 0. Got: ", (*sizes)[i]);
      total = shapes::AddDims(total, (*sizes)[i]);
    }
  }
  if (in[axis] >= 0 && (open < 0 ? total != in[axis] : total > in[axis])) {
    throw InvalidArgument("can't split axis of size ", in[axis], " into pieces of size [", StrJoin(*sizes, ","), "]");
  }
  for (int i = 0; i < n; ++i) {
    PartialShape part = in;
    part.set_dim(axis, i == open ? (in[axis] < 0 ? -1 : in[axis] - total) : (*sizes)[i]);
    c.out(i, part);
  }
}

void SplitGradient(GradContext& g, Out axis) {
  Outs parts;
  for (int i = 0; i < g.num_outputs(); ++i) parts.push_back(g.dy(i));
  const int64_t n = static_cast<int64_t>(parts.size());
  const int value = g.op().InputIndex("value");
  if (n == 1) return g.Set(value, parts[0]);
  parts.push_back(axis);
  g.Set(value, g.CallAll("ConcatV2", parts, {{"N", n}})[0]);
}

// Ranges from input `first` on are scalars, as outputs 1 and 2 are.
void QuantizedRanges(ShapeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i) c.WithRank(i, 0);
  for (int i = 1; i <= 2; ++i) c.out(i, PartialShape(std::vector<int64_t>{}));
}

}  // namespace

void RegisterConcatOps(OpRegistry& ops) {
  ops.Add("Concat")
      .Input("concat_dim: int32")
      .Input("values: N * T")
      .Output("output: T")
      .Attr("N: int >= 2")
      .Attr("T: type")
      .Shape([](ShapeContext& c) { ConcatShape(c, 1, c.num_inputs(), 0); })
      .ShapeValue([](ShapeContext& c) { return JoinedShape(c, 1, c.num_inputs()); })
      .Gradient([](GradContext& g) { ConcatGradient(g, 1, g.num_inputs(), g.x(0)); })
      .Doc("The tensors `values` one after the other along dimension `concat_dim`.");

  ops.Add("ConcatV2")
      .Input("values: N * T")
      .Input("axis: Tidx")
      .Output("output: T")
      .Attr("N: int >= 2")
      .Attr("T: type")
      .Attr("Tidx: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) { ConcatShape(c, 0, c.num_inputs() - 1, c.num_inputs() - 1); })
      .ShapeValue([](ShapeContext& c) { return JoinedShape(c, 0, c.num_inputs() - 1); })
      .Gradient([](GradContext& g) { ConcatGradient(g, 0, g.num_inputs() - 1, g.x(g.num_inputs() - 1)); })
      .Doc("The tensors `values` one after the other along dimension `axis`.");

  // Of quantized numbers, each tensor with a range of its own.
  const auto with_ranges = [](OpBuilder op) {
    op.Input("input_mins: N * float").Input("input_maxes: N * float").Output("output: T").Output("output_min: float")
        .Output("output_max: float").Attr("N: int >= 2").Attr("T: type")
        .Doc("The quantized tensors `values` one after the other along a dimension, in a range that holds all.");
    return op;
  };
  with_ranges(ops.Add("QuantizedConcat").Input("concat_dim: int32").Input("values: N * T"))
      .Shape([](ShapeContext& c) {
        const int n = static_cast<int>(c.attr<int64_t>("N"));
        ConcatShape(c, 1, n + 1, 0);
        QuantizedRanges(c, n + 1);
      });
  with_ranges(ops.Add("QuantizedConcatV2").Input("values: N * T").Input("axis: Tidx"))
      .Attr("Tidx: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) {
        const int n = static_cast<int>(c.attr<int64_t>("N"));
        ConcatShape(c, 0, n, n);
        QuantizedRanges(c, n + 1);
      });

  ops.Add("ConcatOffset")
      .Input("concat_dim: int32")
      .Input("shape: N * shape_type")
      .Output("offset: N * shape_type")
      .Attr("N: int >= 2")
      .Attr("shape_type: {int32, int64} = DT_INT32")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 0);
        for (int i = 1; i < c.num_inputs(); ++i) c.out(i - 1, c.in(i));
      })
      .Free()
      .Doc("Where each of the tensors of shapes `shape` starts in their concatenation.");

  ops.Add("Pack")
      .Input("values: N * T")
      .Output("output: T")
      .Attr("N: int >= 1")
      .Attr("T: type")
      .Attr("axis: int = 0")
      .Shape([](ShapeContext& c) {
        PartialShape merged;
        for (int i = 0; i < c.num_inputs(); ++i) {
          try {
            merged = shapes::Merge(merged, c.in(i));
          } catch (const Error& e) {
            throw InvalidArgument(e.what(), "\n\tFrom merging shape ", i == 0 ? 0 : i - 1, " with other shapes.");
          }
        }
        if (!merged.known_rank()) return;
        const int axis = PackAxis(c.attr<int64_t>("axis"), merged.rank() + 1);
        std::vector<int64_t> dims = merged.dims();
        dims.insert(dims.begin() + axis, c.num_inputs());
        c.out(0, PartialShape(std::move(dims)));
      })
      .ShapeValue([](ShapeContext& c) {
        std::vector<int64_t> dims;
        bool scalars = false;  // one known to be a scalar tells that all are
        for (int i = 0; i < c.num_inputs(); ++i) {
          if (c.in(i).known_rank() && c.in(i).rank() != 0) return PartialShape();
          scalars |= c.in(i).known_rank();
          const PartialShape part = shapes::PerhapsShape(c, i);
          dims.push_back(part.rank() == 1 ? part[0] : -1);
        }
        return scalars ? PartialShape(std::move(dims)) : PartialShape();
      })
      .Gradient([](GradContext& g) {
        const Outs parts =
            g.CallAll("Unpack", std::vector<Out>{g.dy()}, {{"num", g.num_inputs()}, {"axis", g.attr("axis")}});
        for (int i = 0; i < g.num_inputs(); ++i) g.Set(i, parts[i]);
      })
      .Doc("Tensors of one shape side by side along a new dimension `axis`.");

  ops.Add("Unpack")
      .Input("value: T")
      .Output("output: num * T")
      .Attr("num: int >= 0")
      .Attr("T: type")
      .Attr("axis: int = 0")
      .Shape([](ShapeContext& c) {
        const PartialShape& in = c.in(0);
        if (!in.known_rank()) return;
        if (in.rank() == 0) throw InvalidArgument("Shape must be at least rank 1 but is rank 0");
        const int axis = PackAxis(c.attr<int64_t>("axis"), in.rank());
        shapes::RequireDim(in[axis], c.attr<int64_t>("num"));
        std::vector<int64_t> dims = in.dims();
        dims.erase(dims.begin() + axis);
        for (int i = 0; i < c.num_outputs(); ++i) c.out(i, PartialShape(dims));
      })
      .Gradient([](GradContext& g) {
        Outs parts;
        for (int i = 0; i < g.num_outputs(); ++i) parts.push_back(g.dy(i));
        if (parts.empty()) return g.Set(0, ZerosLike(g.x(0)));
        g.Set(0, g.CallAll("Pack", parts, {{"axis", g.attr("axis")}})[0]);
      })
      .Doc("The `num` slices of `value` along dimension `axis`, without that dimension.");

  ops.Add("Split")
      .Input("split_dim: int32")
      .Input("value: T")
      .Output("output: num_split * T")
      .Attr("num_split: int >= 1")
      .Attr("T: type")
      .Shape([](ShapeContext& c) { SplitShape(c, 1, 0, nullptr); })
      .Gradient([](GradContext& g) { SplitGradient(g, g.x(0)); })
      .Doc("`value` in `num_split` equal parts along dimension `split_dim`.");

  ops.Add("SplitV")
      .Input("value: T")
      .Input("size_splits: Tlen")
      .Input("split_dim: int32")
      .Output("output: num_split * T")
      .Attr("num_split: int >= 1")
      .Attr("T: type")
      .Attr("Tlen: {int8, int32, int64} = DT_INT64")
      .Shape([](ShapeContext& c) {
        const PartialShape sizes = c.WithRank(1, 1);
        shapes::RequireDim(sizes[0], c.num_outputs());
        const Tensor* values = c.in_value(1);
        std::vector<int64_t> parts(c.num_outputs(), -1);
        if (values) {
          parts = shapes::Integers(*values);
        } else if (c.num_outputs() > 1) {
          const PartialShape& in = c.in(0);
          if (!in.known_rank()) return;
          const Tensor* axis = c.in_value(2);
          PartialShape part = axis ? in : PartialShape::OfRank(in.rank());
          if (axis) part.set_dim(shapes::NormalAxis(axis->IntAt(0), in.rank()), -1);
          for (int i = 0; i < c.num_outputs(); ++i) c.out(i, part);
          return;
        }
        SplitShape(c, 0, 2, &parts);
      })
      .Gradient([](GradContext& g) { SplitGradient(g, g.x(2)); })
      .Doc("`value` in parts of sizes `size_splits` along dimension `split_dim`; one size may be -1: what is left.");

  ops.Add("ParallelConcat")
      .Input("values: N * T")
      .Output("output: T")
      .Attr("N: int >= 1")
      .Attr("T: type")
      .Attr("shape: shape")
      .Shape([](ShapeContext& c) {
        const PartialShape& shape = c.attr<PartialShape>("shape");
        if (!shape.fully_known()) throw InvalidArgument("All input shapes must be fully defined.");
        PartialShape in = shape;
        if (in.rank() < 1) throw InvalidArgument("Shape must be at least rank 1 but is rank 0");
        in.set_dim(0, 1);
        for (int i = 0; i < c.num_inputs(); ++i) {
          if (!c.in(i).fully_known()) throw InvalidArgument("All input shapes must be fully defined.");
          if (c.in(i) != in) throw InvalidArgument("Size of first dimension must be 1.");
        }
        c.out(0, shape);
      })
      .Doc("Tensors of one row each as the rows of a tensor of shape `shape`.");
}

}  // namespace penstock
