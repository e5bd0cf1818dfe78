// Diagonals and bands of matrices.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

// The band [lower, upper] of diagonals that a scalar or a pair gives, if known.
struct Band {
  bool known = false, one = false;
  int64_t lower = 0, upper = 0;
};

Band BandFromInput(ShapeContext& c, int i) {
  Band band;
  c.WithRankAtMost(i, 1);
  const Tensor* value = c.in_value(i);
  if (!value) return band;
  const std::vector<int64_t> k = shapes::Integers(*value);
  if (k.empty() || k.size() > 2)
    throw InvalidArgument("diag_index must be a vector with one or two elements. It has ", k.size(), " elements.");
  band = {true, value->rank() == 0 || k.size() == 1 || k[0] == k.back(), k[0], k.back()};
  if (band.lower > band.upper) throw InvalidArgument("lower_diag_index is greater than upper_diag_index");
  return band;
}

// The smaller of two dimensions; nothing is smaller than 0.
int64_t Smaller(int64_t a, int64_t b) { return a == 0 || b == 0 ? 0 : a < 0 || b < 0 ? -1 : std::min(a, b); }

// Length of the longest diagonal in the band; InvalidArgument if the band lies outside the matrix.
int64_t LongestDiagonal(const Band& band, int64_t rows, int64_t cols) {
  if (rows < 0 || cols < 0) return -1;
  for (const int64_t d : {band.lower, band.upper}) {
    if (d != 0 && (d <= -rows || d >= cols))
      throw InvalidArgument(d == band.lower ? "lower" : "upper", "_diag_index is out of bound: ", d);
  }
  return std::min(rows + std::min<int64_t>(band.upper, 0), cols - std::max<int64_t>(band.lower, 0));
}

void MatrixDiagShape(ShapeContext& c) {
  const PartialShape in = c.WithRankAtLeast(0, 1);
  if (!in.known_rank()) return;
  PartialShape out = in;
  out.AddDim(in[in.rank() - 1]);
  c.out(0, out);
}

void MatrixDiagV2Shape(ShapeContext& c) {
  const PartialShape in = c.WithRankAtLeast(0, 1);
  c.WithRank(2, 0);
  c.WithRank(3, 0);
  c.WithRank(4, 0);
  const Band band = BandFromInput(c, 1);
  if (!in.known_rank() || !band.known) return;
  const std::optional<int64_t> rows_given = c.in_int(2), cols_given = c.in_int(3);
  if (!band.one) c.WithRankAtLeast(0, 2);
  const int64_t length = in[in.rank() - 1];
  PartialShape out = shapes::Subshape(in, 0, in.rank() - (band.one ? 1 : 2));
  if (!band.one && in[in.rank() - 2] >= 0 && in[in.rank() - 2] != band.upper - band.lower + 1) {
    throw InvalidArgument(
        "The number of rows of `diagonal` doesn't match the number of diagonals implied from `d_lower` and "
        "`d_upper`. num_diags = ",
        band.upper - band.lower + 1, ", d_lower = ", band.lower, ", d_upper = ", band.upper, ", diagonal.shape = ", in);
  }
  int64_t rows = -1, cols = -1;
  if (length >= 0 && rows_given && cols_given) {
    const int64_t min_rows = length - std::min<int64_t>(band.upper, 0),
                  min_cols = length + std::max<int64_t>(band.lower, 0);
    rows = *rows_given;
    cols = *cols_given;
    if (rows == -1 && cols == -1) {
      rows = cols = std::max(min_rows, min_cols);
    } else if (rows == -1) {
      rows = min_rows;
    } else if (cols == -1) {
      cols = min_cols;
    }
    if (rows < min_rows) throw InvalidArgument("num_rows is too small: ", rows);
    if (cols < min_cols) throw InvalidArgument("num_cols is too small: ", cols);
    if (rows != min_rows && cols != min_cols) {
      throw InvalidArgument(
          "num_rows and num_cols are not consistent with lower_diag_index, upper_diag_index, and the length of the "
          "given diagonals.\nnum_rows = ",
          rows, " != min_num_rows = ", min_rows, ", num_cols = ", cols, " != min_num_cols = ", min_cols);
    }
  }
  out.AddDim(rows);
  out.AddDim(cols);
  c.out(0, out);
}

void MatrixDiagPartShape(ShapeContext& c) {
  const PartialShape in = c.WithRankAtLeast(0, 2);
  if (!in.known_rank()) return;
  PartialShape out = shapes::Subshape(in, 0, in.rank() - 2);
  const int64_t rows = in[in.rank() - 2], cols = in[in.rank() - 1];
  out.AddDim(Smaller(rows, cols));
  c.out(0, out);
}

void MatrixDiagPartV2Shape(ShapeContext& c) {
  const PartialShape in = c.WithRankAtLeast(0, 2);
  c.WithRank(2, 0);
  const Band band = BandFromInput(c, 1);
  if (!in.known_rank() || !band.known) return;
  PartialShape out = shapes::Subshape(in, 0, in.rank() - 2);
  if (!band.one) out.AddDim(band.upper - band.lower + 1);
  out.AddDim(LongestDiagonal(band, in[in.rank() - 2], in[in.rank() - 1]));
  c.out(0, out);
}

void MatrixSetDiagShape(ShapeContext& c) {
  PartialShape in = c.WithRankAtLeast(0, 2);
  const PartialShape diagonal = c.WithRankAtLeast(1, 1);
  if (in.known_rank()) {
    const int64_t rows = in[in.rank() - 2], cols = in[in.rank() - 1];
    PartialShape want = shapes::Subshape(in, 0, in.rank() - 2);
    want.AddDim(Smaller(rows, cols));
    shapes::Merge(diagonal, want);
    if (diagonal.known_rank()) {
      for (int i = 0; i + 2 < in.rank(); ++i) {
        if (in[i] < 0) in.set_dim(i, diagonal[i]);
      }
    }
  } else if (diagonal.known_rank()) {
    in = shapes::Subshape(diagonal, 0, diagonal.rank() - 1);
    in.AddDim(-1);
    in.AddDim(-1);
  }
  c.out(0, in);
}

void MatrixSetDiagV2Shape(ShapeContext& c) {
  const PartialShape in = c.WithRankAtLeast(0, 2);
  c.WithRankAtLeast(1, 1);
  const Band band = BandFromInput(c, 2);
  if (in.known_rank() && band.known) {
    PartialShape want = shapes::Subshape(in, 0, in.rank() - 2);
    if (!band.one) want.AddDim(band.upper - band.lower + 1);
    want.AddDim(LongestDiagonal(band, in[in.rank() - 2], in[in.rank() - 1]));
    shapes::Merge(c.in(1), want);
  }
  c.out(0, in);
}

// A zero of x's type, to pad diagonals with.
Out Zero(GradContext& g, Out x) { return g.scope().ScalarOf(x.type(), 0); }

AttrMap Align(GradContext& g) {
  const AttrValue* align = g.attrs().Find("align");
  return {{"align", align ? *align : AttrValue("LEFT_LEFT")}};
}

// The diagonals of dy that inputs set, and dy without them.
void MatrixSetDiagV2Gradient(GradContext& g) {
  const Out dy = g.dy(), k = g.x(2);
  g.Set(0, g.Call("MatrixSetDiagV3", {dy, ZerosLike(g.x(1)), k}, Align(g)));
  g.Set(1, g.Call("MatrixDiagPartV3", {dy, k, Zero(g, dy)}, Align(g)));
}

void MatrixDiagPartV2Gradient(GradContext& g) {
  g.Set(0, g.Call("MatrixSetDiagV3", {ZerosLike(g.x(0)), g.dy(), g.x(1)}, Align(g)));
}

void MatrixDiagV2Gradient(GradContext& g) {
  g.Set(0, g.Call("MatrixDiagPartV3", {g.dy(), g.x(1), Zero(g, g.dy())}, Align(g)));
}

void MatrixBandPartShape(ShapeContext& c) {
  c.WithRankAtLeast(0, 2);
  for (int i : {1, 2}) c.WithRank(i, 0);
  c.out(0, c.in(0));
}

}  // namespace

void RegisterDiagonalOps(OpRegistry& ops) {
  ops.Add("Diag")
      .Input("diagonal: T")
      .Output("output: T")
      .Attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}")
      .Shape([](ShapeContext& c) {
        c.WithRankAtLeast(0, 1);
        c.out(0, shapes::Concatenate(c.in(0), c.in(0)));
      })
      .Gradient([](GradContext& g) { g.Set(0, g.Call("DiagPart", {g.dy()})); })
      .Doc(
          "The tensor of twice the rank that has `diagonal` where both halves of the position are equal, zeros "
          "elsewhere.");

  ops.Add("DiagPart")
      .Input("input: T")
      .Output("diagonal: T")
      .Attr("T: {bfloat16, half, float, double, int32, int64, complex64, complex128}")
      .Shape([](ShapeContext& c) {
        const PartialShape& in = c.in(0);
        if (!in.known_rank()) return;
        if (in.rank() % 2 != 0 || in.rank() <= 0) {
          throw InvalidArgument("Input must have even and non-zero rank, input rank is ", in.rank());
        }
        const int half = in.rank() / 2;
        c.out(0, shapes::Merge(shapes::Subshape(in, 0, half), shapes::Subshape(in, half, in.rank())));
      })
      .Gradient([](GradContext& g) { g.Set(0, g.Call("Diag", {g.dy()})); })
      .Doc("The elements of `input` where both halves of the position are equal.");

  ops.Add("MatrixDiag")
      .Input("diagonal: T")
      .Output("output: T")
      .Attr("T: type")
      .Shape(MatrixDiagShape)
      .Gradient([](GradContext& g) { g.Set(0, g.Call("MatrixDiagPart", {g.dy()})); })
      .Doc("Square matrices with the rows of `diagonal` on their diagonals, zeros elsewhere.");

  ops.Add("MatrixDiagV2")
      .Input("diagonal: T")
      .Input("k: int32")
      .Input("num_rows: int32")
      .Input("num_cols: int32")
      .Input("padding_value: T")
      .Output("output: T")
      .Attr("T: type")
      .Shape(MatrixDiagV2Shape)
      .Gradient(MatrixDiagV2Gradient)
      .Doc(
          "Matrices with the given band of diagonals, each row of `diagonal` left-aligned; `padding_value` elsewhere.");

  ops.Add("MatrixDiagV3")
      .Input("diagonal: T")
      .Input("k: int32")
      .Input("num_rows: int32")
      .Input("num_cols: int32")
      .Input("padding_value: T")
      .Output("output: T")
      .Attr("T: type")
      .Attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'")
      .Shape(MatrixDiagV2Shape)
      .Gradient(MatrixDiagV2Gradient)
      .Doc(
          "Matrices with the given band of diagonals, aligned as `align` says (super- then sub-diagonals); "
          "`padding_value` "
          "elsewhere.");

  ops.Add("MatrixDiagPart")
      .Input("input: T")
      .Output("diagonal: T")
      .Attr("T: type")
      .Shape(MatrixDiagPartShape)
      .Gradient([](GradContext& g) {
        const PartialShape& shape = g.x(0).shape();
        const int rank = shape.rank();
        if (rank >= 2 && shape[rank - 1] >= 0 && shape[rank - 1] == shape[rank - 2]) {
          return g.Set(0, g.Call("MatrixDiag", {g.dy()}));
        }
        g.Set(0, g.Call("MatrixSetDiag", {ZerosLike(g.x(0)), g.dy()}));
      })
      .Doc("The main diagonals of matrices.");

  ops.Add("MatrixDiagPartV2")
      .Input("input: T")
      .Input("k: int32")
      .Input("padding_value: T")
      .Output("diagonal: T")
      .Attr("T: type")
      .Shape(MatrixDiagPartV2Shape)
      .Gradient(MatrixDiagPartV2Gradient)
      .Doc("The diagonals k[0] to k[1] of matrices, left-aligned, highest first; short ones end with `padding_value`.");

  ops.Add("MatrixDiagPartV3")
      .Input("input: T")
      .Input("k: int32")
      .Input("padding_value: T")
      .Output("diagonal: T")
      .Attr("T: type")
      .Attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'")
      .Shape(MatrixDiagPartV2Shape)
      .Gradient(MatrixDiagPartV2Gradient)
      .Doc(
          "The diagonals k[0] to k[1] of matrices, aligned as `align` says, highest first; short ones padded with "
          "`padding_value`.");

  ops.Add("MatrixSetDiag")
      .Input("input: T")
      .Input("diagonal: T")
      .Output("output: T")
      .Attr("T: type")
      .Shape(MatrixSetDiagShape)
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("MatrixSetDiag", {g.dy(), ZerosLike(g.x(1))}));
        g.Set(1, g.Call("MatrixDiagPart", {g.dy()}));
      })
      .Doc("`input` with other main diagonals.");

  ops.Add("MatrixSetDiagV2")
      .Input("input: T")
      .Input("diagonal: T")
      .Input("k: int32")
      .Output("output: T")
      .Attr("T: type")
      .Shape(MatrixSetDiagV2Shape)
      .Gradient(MatrixSetDiagV2Gradient)
      .Doc("`input` with other diagonals k[0] to k[1], given left-aligned, highest first.");

  ops.Add("MatrixSetDiagV3")
      .Input("input: T")
      .Input("diagonal: T")
      .Input("k: int32")
      .Output("output: T")
      .Attr("T: type")
      .Attr("align: {'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT', 'RIGHT_RIGHT'} = 'RIGHT_LEFT'")
      .Shape(MatrixSetDiagV2Shape)
      .Gradient(MatrixSetDiagV2Gradient)
      .Doc("`input` with other diagonals k[0] to k[1], given aligned as `align` says, highest first.");

  ops.Add("MatrixBandPart")
      .Input("input: T")
      .Input("num_lower: Tindex")
      .Input("num_upper: Tindex")
      .Output("band: T")
      .Attr("T: type")
      .Attr("Tindex: {int32, int64} = DT_INT64")
      .Shape(MatrixBandPartShape)
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("MatrixBandPart", {g.dy(), g.x(1), g.x(2)}));
      })
      .Doc("`input` with zeros more than `num_lower` below and `num_upper` above the diagonal; negative: no limit.");

  // Names of earlier versions.
  ops.Add("BatchMatrixDiag")
      .Input("diagonal: T")
      .Output("output: T")
      .Attr("T: type")
      .Deprecated(14, "")
      .Shape(MatrixDiagShape)
      .Doc("MatrixDiag.");
  ops.Add("BatchMatrixDiagPart")
      .Input("input: T")
      .Output("diagonal: T")
      .Attr("T: type")
      .Deprecated(14, "")
      .Shape(MatrixDiagPartShape)
      .Doc("MatrixDiagPart.");
  ops.Add("BatchMatrixSetDiag")
      .Input("input: T")
      .Input("diagonal: T")
      .Output("output: T")
      .Attr("T: type")
      .Deprecated(14, "")
      .Shape(MatrixSetDiagShape)
      .Doc("MatrixSetDiag.");
  ops.Add("BatchMatrixBandPart")
      .Input("input: T")
      .Input("num_lower: int64")
      .Input("num_upper: int64")
      .Output("band: T")
      .Attr("T: type")
      .Deprecated(14, "")
      .Shape(MatrixBandPartShape)
      .Doc("MatrixBandPart.");
}

}  // namespace penstock
