// Diagonals and bands of matrices: each diagonal is one strided line.
#include <algorithm>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"

namespace penstock {

namespace {

constinit BranchTable<2> band_results{"band_part/result", {"new memory", "the input's memory"}};

struct Diag {
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    k.Require(in.rank() >= 1, "Input must be at least rank 1, got 0");
    std::vector<int64_t> dims(in.shape().begin(), in.shape().end());
    dims.insert(dims.end(), in.shape().begin(), in.shape().end());
    Tensor& out = k.Output(0, Shape(dims));
    ZeroElements(k, out.dtype(), out.mutable_raw(), out.num_elements());
    const int64_t n = in.num_elements();
    const CopyAxis axis{n, n + 1, 1};
    if (n > 0) CopyBox(k, out.dtype(), {&axis, 1}, out.mutable_raw(), in.raw());
  }
};

struct DiagPart {
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    k.Require(in.rank() > 0 && in.rank() % 2 == 0, "The rank of the tensor should be even and positive, got shape ",
              in.shape());
    const int half = in.rank() / 2;
    Shape shape;
    for (int i = 0; i < half; ++i) {
      k.Require(in.dim(i) == in.dim(i + half), "Invalid shape ", in.shape(), ": dimensions ", i, " and ", i + half,
                " do not match.");
      shape.AddDim(in.dim(i));
    }
    Tensor& out = k.Output(0, shape);
    const int64_t n = out.num_elements();
    const CopyAxis axis{n, 1, n + 1};
    if (n > 0) CopyBox(k, out.dtype(), {&axis, 1}, out.mutable_raw(), in.raw());
  }
};

// The diagonals lower to upper of rows x cols matrices, and how they lie in a [diagonals, longest] array.
struct Bands {
  int64_t lower = 0, upper = 0, rows = 0, cols = 0;
  bool super_right = false, sub_right = false;

  int64_t count() const { return upper - lower + 1; }
  int64_t LengthOf(int64_t d) const { return std::min(rows + std::min<int64_t>(d, 0), cols - std::max<int64_t>(d, 0)); }
  int64_t longest() const { return std::min(rows + std::min<int64_t>(upper, 0), cols - std::max<int64_t>(lower, 0)); }
  // Where diagonal d starts in its row of the array, and in the matrix.
  int64_t Offset(int64_t d) const { return (d >= 0 ? super_right : sub_right) ? longest() - LengthOf(d) : 0; }
  int64_t MatrixStart(int64_t d) const { return d >= 0 ? d : -d * cols; }
  bool ragged() const { return LengthOf(lower) != longest() || LengthOf(upper) != longest(); }
};

Bands BandsOf(const NodeView& node) {
  Bands b;
  const std::string align = node.attr_or<std::string>("align", "LEFT_LEFT");
  b.super_right = align.starts_with("RIGHT");
  b.sub_right = align.ends_with("RIGHT");
  return b;
}

// Reads the pair (or scalar) of diagonal numbers in input i.
void ReadBand(KernelContext& k, int i, Bands* b) {
  const Tensor& index = k.input(i);
  k.Require(index.rank() <= 1, "diag_index must be a scalar or vector, received shape: ", index.shape());
  k.Require(index.num_elements() >= 1 && index.num_elements() <= 2,
            "diag_index must have only one or two elements, received ", index.num_elements(), " elements.");
  b->lower = index.IntAt(0);
  b->upper = index.IntAt(index.num_elements() - 1);
  k.Require(b->lower <= b->upper, "lower_diag_index must not be larger than upper_diag_index: ", b->lower, " > ",
            b->upper);
}

void CheckBand(KernelContext& k, const Bands& b) {
  k.Require((-b.rows < b.lower && b.lower < b.cols) || b.lower == 0, "lower_diag_index is out of bound: ", b.lower,
            ". It must be between ", -b.rows, " and ", b.cols);
  k.Require((-b.rows < b.upper && b.upper < b.cols) || b.upper == 0, "upper_diag_index is out of bound: ", b.upper,
            " It must be between ", -b.rows, " and ", b.cols);
}

// Copies all diagonals between `batch` matrices and arrays of diagonals.
void MoveDiagonals(KernelContext& k, DataType type, const Bands& b, int64_t batch, void* matrices, void* diagonals,
                   bool to_matrices) {
  const int64_t longest = b.longest(), size = static_cast<int64_t>(DataTypeSize(type));
  for (int64_t d = b.upper; d >= b.lower; --d) {
    const int64_t n = b.LengthOf(d);
    if (n <= 0) continue;
    char* m = static_cast<char*>(matrices) + b.MatrixStart(d) * size;
    char* v = static_cast<char*>(diagonals) + ((b.upper - d) * longest + b.Offset(d)) * size;
    const int64_t matrix = b.rows * b.cols, array = b.count() * longest;
    if (to_matrices) {
      const CopyAxis axes[] = {{batch, matrix, array}, {n, b.cols + 1, 1}};
      CopyBox(k, type, axes, m, v);
    } else {
      const CopyAxis axes[] = {{batch, array, matrix}, {n, 1, b.cols + 1}};
      CopyBox(k, type, axes, v, m);
    }
  }
}

void* Bytes(const Tensor& t) { return const_cast<void*>(t.raw()); }

// A padding value: the scalar input i, or zero.
Tensor Padding(KernelContext& k, int i, DataType type) {
  if (i < k.num_inputs()) {
    k.Require(k.input(i).num_elements() == 1 && k.input(i).rank() <= 1,
              "padding_value must be a single element, got shape ", k.shape(i));
    return k.input(i);
  }
  Tensor zero(type, Shape());
  ZeroElements(type, zero.mutable_raw(), 1);
  return zero;
}

struct MatrixDiag {
  Bands bands;

  explicit MatrixDiag(const NodeView& node) : bands(BandsOf(node)) {}
  void operator()(KernelContext& k) const {
    Bands b = bands;
    const Tensor& in = k.input(0);
    k.Require(in.rank() >= 1, "diagonal must be at least 1-dim, received shape: ", in.shape());
    int64_t rows = -1, cols = -1;
    if (k.num_inputs() > 1) {
      ReadBand(k, 1, &b);
      k.Require(k.input(2).num_elements() == 1 && k.input(3).num_elements() == 1,
                "num_rows and num_cols must be single values");
      rows = k.input(2).IntAt(0);
      cols = k.input(3).IntAt(0);
      k.Require(rows >= -1 && cols >= -1, "num_rows and num_cols must be -1 or not negative: ", rows, ", ", cols);
    }
    // The size of the band is checked before it is counted with.
    const int64_t count = b.upper - b.lower + 1;
    const bool one = k.num_inputs() == 1 || b.lower == b.upper;
    if (!one) {
      k.Require(in.rank() >= 2, "diagonal must be at least 2-dim, received shape: ", in.shape());
      k.Require(in.dim(in.rank() - 2) == count,
                "The number of diagonals provided in the input does not match the lower_diag_index and ",
                "upper_diag_index range.");
    }
    const int64_t length = in.dim(in.rank() - 1);
    const int64_t min_rows = length - std::min<int64_t>(b.upper, 0), min_cols = length + std::max<int64_t>(b.lower, 0);
    k.Require(rows == -1 || rows >= min_rows, "The number of rows is too small.");
    k.Require(cols == -1 || cols >= min_cols, "The number of columns is too small.");
    if (rows == -1 && cols == -1) {
      rows = cols = std::max(min_rows, min_cols);
    } else if (rows == -1) {
      rows = min_rows;
    } else if (cols == -1) {
      cols = min_cols;
    }
    k.Require(rows == min_rows || cols == min_cols,
              "The number of rows or columns is not consistent with the specified d_lower, d_upper, ", "and diagonal.");
    b.rows = rows;
    b.cols = cols;
    Shape shape = in.shape();
    shape.RemoveDim(in.rank() - 1);
    if (!one) shape.RemoveDim(in.rank() - 2);
    const int64_t batch = shape.num_elements();
    shape.AddDim(rows);
    shape.AddDim(cols);
    const Tensor padding = Padding(k, 4, in.dtype());
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() == 0) return;
    FillElements(k, out.dtype(), out.mutable_raw(), padding.raw(), out.num_elements());
    if (in.num_elements() > 0) MoveDiagonals(k, out.dtype(), b, batch, out.mutable_raw(), Bytes(in), true);
  }
};

struct MatrixDiagPart {
  Bands bands;

  explicit MatrixDiagPart(const NodeView& node) : bands(BandsOf(node)) {}
  void operator()(KernelContext& k) const {
    Bands b = bands;
    const Tensor& in = k.input(0);
    k.Require(in.rank() >= 2, "input must be at least 2-dim, received shape: ", in.shape());
    b.rows = in.dim(in.rank() - 2);
    b.cols = in.dim(in.rank() - 1);
    if (k.num_inputs() > 1) {
      ReadBand(k, 1, &b);
      CheckBand(k, b);
    }
    Shape shape = in.shape();
    shape.RemoveDim(in.rank() - 1);
    shape.RemoveDim(in.rank() - 2);
    const int64_t batch = shape.num_elements();
    if (b.count() > 1) shape.AddDim(b.count());
    shape.AddDim(std::max<int64_t>(b.longest(), 0));
    const Tensor padding = Padding(k, 2, in.dtype());
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() == 0) return;
    if (b.ragged()) FillElements(k, out.dtype(), out.mutable_raw(), padding.raw(), out.num_elements());
    MoveDiagonals(k, out.dtype(), b, batch, Bytes(in), out.mutable_raw(), false);
  }
};

struct MatrixSetDiag {
  Bands bands;

  explicit MatrixSetDiag(const NodeView& node) : bands(BandsOf(node)) {}
  void operator()(KernelContext& k) const {
    Bands b = bands;
    const Shape shape = k.shape(0);
    const Tensor& diagonal = k.input(1);
    k.Require(shape.rank() >= 2, "input must be at least 2-dim, received shape: ", shape);
    k.Require(diagonal.rank() >= 1, "diagonal must be at least 1-dim, received shape: ", diagonal.shape());
    b.rows = shape[shape.rank() - 2];
    b.cols = shape[shape.rank() - 1];
    if (k.num_inputs() > 2) {
      ReadBand(k, 2, &b);
      CheckBand(k, b);
    }
    Shape want = shape;
    want.RemoveDim(shape.rank() - 1);
    want.RemoveDim(shape.rank() - 2);
    const int64_t batch = want.num_elements();
    if (b.count() > 1) want.AddDim(b.count());
    want.AddDim(std::max<int64_t>(b.longest(), 0));
    k.Require(
        diagonal.shape() == want,
        "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to the "
        "longests diagonal in range [lower_diag_index:upper_diag_index].\nInput shape: ",
        shape, "\nDiagonal shape: ", diagonal.shape(), "\nExpected diagonal shape: ", want);
    Tensor out = k.CanTake(0) ? k.Take(0) : k.input(0).Clone();
    if (diagonal.num_elements() > 0) MoveDiagonals(k, out.dtype(), b, batch, out.mutable_raw(), Bytes(diagonal), true);
    k.SetOutput(0, std::move(out));
  }
};

struct MatrixBandPart {
  void operator()(KernelContext& k) const {
    const Shape shape = k.shape(0);
    k.Require(shape.rank() >= 2, "input must be at least 2-dim, received shape: ", shape);
    k.Require(k.input(1).rank() == 0, "num_lower must be scalar, got shape ", k.shape(1));
    k.Require(k.input(2).rank() == 0, "num_upper must be scalar, got shape ", k.shape(2));
    const int64_t rows = shape[shape.rank() - 2], cols = shape[shape.rank() - 1];
    const int64_t below = k.Int(1), above = k.Int(2);
    k.Require(below <= rows, "num_lower must be negative or less or equal to number of rows (", rows, ") got: ", below);
    k.Require(above <= cols, "num_upper must be negative or less or equal to number of columns (", cols,
              ") got: ", above);
    if (shape.num_elements() == 0) return k.Forward(0, 0);
    const DataType type = k.input(0).dtype();
    const bool taken = k.CanTake(0);
    band_results.Enter(taken ? 1 : 0);
    const Tensor in = k.Take(0);
    Tensor out = taken ? in : Tensor(type, shape, k.device().allocator());
    k.Parallel(shape.num_elements() / cols, 1 + cols * static_cast<int64_t>(DataTypeSize(type)) / 8,
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const int64_t row = r % rows, at = r * cols;
                   const int64_t first = below < 0 ? 0 : std::clamp<int64_t>(row - below, 0, cols);
                   const int64_t last = above < 0 ? cols : std::clamp<int64_t>(row + above + 1, first, cols);
                   ZeroElements(type, At(out, at), first);
                   if (!taken) CopyElements(type, At(out, at + first), At(in, at + first), last - first);
                   ZeroElements(type, At(out, at + last), cols - last);
                 }
               });
    k.SetOutput(0, std::move(out));
  }
};

}  // namespace

void RegisterDiagonalKernels(KernelRegistry& kernels) {
  kernels.Add<Diag>("Diag");
  kernels.Add<DiagPart>("DiagPart");
  for (const char* op : {"MatrixDiag", "MatrixDiagV2", "MatrixDiagV3", "BatchMatrixDiag"}) kernels.Add<MatrixDiag>(op);
  for (const char* op : {"MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3", "BatchMatrixDiagPart"}) {
    kernels.Add<MatrixDiagPart>(op);
  }
  for (const char* op : {"MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3", "BatchMatrixSetDiag"})
    kernels.Add<MatrixSetDiag>(op);
  for (const char* op : {"MatrixBandPart", "BatchMatrixBandPart"}) kernels.Add<MatrixBandPart>(op);
}

}  // namespace penstock
