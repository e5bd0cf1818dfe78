// MatMul and its batched forms.
#include <algorithm>
#include <utility>
#include <vector>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/linalg/gemm.h"
#include "penstock/kernels/cpu/math/convert.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/nn/convolve.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

constinit BranchTable<3> batch_ways{"batch_matmul/way", {"one product", "one after the other", "several at once"}};

// The matrix that lies row by row at `data`, or its transpose (adjoint).
MatrixView View(const void* data, int64_t columns, bool transpose, bool conjugate) {
  return transpose ? MatrixView{data, 1, columns, conjugate} : MatrixView{data, columns, 1, false};
}

struct MatMul {
  bool transpose_a, transpose_b;
  DataType type;
  explicit MatMul(const NodeView& node)
      : transpose_a(node.attr<bool>("transpose_a")),
        transpose_b(node.attr<bool>("transpose_b")),
        type(node.output_type(0)) {}
  void operator()(KernelContext& k) const { Compute(k); }
  struct Sizes {
    int64_t m, n, depth;
  };
  // Of the product of two inputs. InvalidArgument: they have none.
  static Sizes Measure(const KernelContext& k, int first, bool transpose_a, bool transpose_b) {
    const Shape &a = k.shape(first), &b = k.shape(first + 1);
    k.Require(a.rank() == 2, "In[0] ndims must be >= 2: In[0] is not a matrix. Instead it has shape ", a);
    k.Require(b.rank() == 2, "In[1] ndims must be >= 2: In[1] is not a matrix. Instead it has shape ", b);
    const int64_t depth = a.dim(transpose_a ? 0 : 1);
    k.Require(depth == b.dim(transpose_b ? 1 : 0), "Matrix size-incompatible: In[0]: ", a, ", In[1]: ", b);
    return {a.dim(transpose_a ? 1 : 0), b.dim(transpose_b ? 0 : 1), depth};
  }
  static void RequireAddend(const KernelContext& k, const Shape& addend, const Shape& shape) {
    k.Require(addend == shape, "Inputs to operation ", k.node().name(),
              " of type AddN must have the same size and shape.  Input 0: ", addend, " != input 1: ", shape);
  }
  // `addend`: the input that the product is added to; `bias`: the one that is added to each row, before the activation.
  // -1: none.
  void Compute(KernelContext& k, int addend = -1, int bias = -1,
               Epilogue::Activation activation = Epilogue::kNone) const {
    const auto [m, n, depth] = Measure(k, 0, transpose_a, transpose_b);
    const void *pa = k.input(0).raw(), *pb = k.input(1).raw();
    const Shape shape({m, n});
    const MatrixView va = View(pa, k.shape(0).dim(1), transpose_a, false);
    const MatrixView vb = View(pb, k.shape(1).dim(1), transpose_b, false);
    if (addend >= 0) RequireAddend(k, k.shape(addend), shape);
    Epilogue epilogue;
    if (bias >= 0) {
      k.Require(k.shape(bias) == Shape({n}), "Bias must be a vector of ", n, " elements, but has shape ",
                k.shape(bias));
      epilogue.bias = k.input(bias).raw();
      epilogue.activation = activation;
    }
    const void* from = addend >= 0 ? k.input(addend).raw() : nullptr;
    Tensor& c = from && from != pa && from != pb ? k.OutputLike(0, {addend}, shape) : k.Output(0, shape);
    if (from && from != c.raw()) CopyElements(k, type, c.mutable_raw(), from, shape.num_elements());
    Gemm(k, type, m, n, depth, va, vb, c.mutable_raw(), n, addend >= 0, &epilogue);
  }
};

// A product, and a bias for each column and perhaps a rectifier, block by block of the result; or a product that is
// added to a sum of others.
struct FusedMatMul {
  MatMul product;
  Epilogue::Activation activation = Epilogue::kNone;
  bool adds = false;
  explicit FusedMatMul(const NodeView& node) : product(node) {
    const auto& fused = node.attr<std::vector<std::string>>("fused_ops");
    adds = fused.size() == 1 && fused[0] == "Add" && node.num_inputs() == 3;
    if (adds) return;
    if (fused.empty() || fused.size() > 2 || fused[0] != "BiasAdd" || node.num_inputs() != 3) {
      throw Unimplemented("Fusion is not implemented: [", StrJoin(fused, ","), "]");
    }
    if (fused.size() == 1) return;
    if (fused[1] != "Relu" && fused[1] != "Relu6")
      throw Unimplemented("Fusion is not implemented: [", StrJoin(fused, ","), "]");
    activation = fused[1] == "Relu" ? Epilogue::kRelu : Epilogue::kRelu6;
  }
  void operator()(KernelContext& k) const {
    if (adds) return product.Compute(k, 2);
    product.Compute(k, -1, 2, activation);
  }
};

// A sum of products in a loop. To add one of little depth is mostly to read and write the sum: so some are kept, and
// added together.
class ProductSum : public VariantValue {
 public:
  explicit ProductSum(Tensor sum) : sum_(std::move(sum)) {}
  std::string_view TypeName() const override { return "ProductSum"; }
  // The sum in the handle that is input 0, to be changed: itself if nobody else holds it, else a copy.
  static Ref<ProductSum> Take(KernelContext& k) {
    k.Require(k.input(0).rank() == 0, "Input 0 must be a scalar, but has shape ", k.shape(0));
    Tensor handle = k.Take(0);
    auto* sum = handle.data<Variant>()->as<ProductSum>();
    k.Require(sum != nullptr, "Input 0 is no sum of products");
    const bool own = handle.unique() && sum->unique();
    return own ? ShareRef(sum) : Ref<ProductSum>(new ProductSum(*sum));
  }
  const Shape& shape() const { return sum_.shape(); }

  // Adds a^T b.
  void Add(const KernelContext& k, Tensor a, Tensor b) {
    constexpr int64_t kDepth = 256, kLargeBytes = 32 << 10;  // smaller sums stay in the first-level cache
    depth_ += a.dim(0);
    terms_.emplace_back(std::move(a), std::move(b));
    if (depth_ >= kDepth || sum_.num_elements() * static_cast<int64_t>(sizeof(float)) <= kLargeBytes) Value(k);
  }
  const Tensor& Value(const KernelContext& k) {
    if (terms_.empty()) return sum_;
    if (!sum_.unique()) {
      Tensor copy = k.Temp(DT_FLOAT, sum_.shape());
      CopyElements(k, DT_FLOAT, copy.mutable_raw(), sum_.raw(), sum_.num_elements());
      sum_ = std::move(copy);
    }
    std::vector<GemmTerm> products;
    for (const auto& [a, b] : terms_) products.push_back({a.dim(0), a.data<float>(), b.data<float>()});
    AddProducts(k, sum_.dim(0), sum_.dim(1), products, sum_.mutable_data<float>());
    terms_.clear();
    depth_ = 0;
    return sum_;
  }

 private:
  ProductSum(const ProductSum& from) : VariantValue(), sum_(from.sum_), terms_(from.terms_), depth_(from.depth_) {}

  Tensor sum_;
  std::vector<std::pair<Tensor, Tensor>> terms_;  // not yet added
  int64_t depth_ = 0;                             // of all of them
};

void SetSum(KernelContext& k, Ref<ProductSum> sum) {
  Tensor handle(DT_VARIANT, Shape());
  *handle.mutable_data<Variant>() = Variant(std::move(sum));
  k.SetOutput(0, std::move(handle));
}

struct StartProductSum {
  void operator()(KernelContext& k) const {
    k.Require(k.input(0).rank() == 2, "Input 0 must be a matrix, but has shape ", k.shape(0));
    SetSum(k, MakeRef<ProductSum>(k.Take(0)));
  }
};

struct AddToProductSum {
  void operator()(KernelContext& k) const {
    const auto [m, n, depth] = MatMul::Measure(k, 1, true, false);
    Ref<ProductSum> sum = ProductSum::Take(k);
    MatMul::RequireAddend(k, sum->shape(), Shape({m, n}));
    sum->Add(k, k.Take(1), k.Take(2));
    SetSum(k, std::move(sum));
  }
};

struct ValueOfProductSum {
  void operator()(KernelContext& k) const { k.SetOutput(0, ProductSum::Take(k)->Value(k)); }
};

class BatchMatMul {
 public:
  explicit BatchMatMul(const NodeView& node)
      : adj_x_(node.attr<bool>("adj_x")),
        adj_y_(node.attr<bool>("adj_y")),
        type_(node.output_type(0)),
        broadcasts_(node.op().name != "BatchMatMul") {
    for (int i = 0; i < 2; ++i) {
      const DataType from = node.input_type(i);
      if (from == type_) continue;
      // BatchMatMulV3 with types of their own: the inputs are converted to the output's.
      convert_[i] = CpuLoops().cast[from][type_];
      if (!convert_[i] && type_ == DT_BFLOAT16 && (from == DT_INT8 || from == DT_UINT8)) {  // over floats, exactly
        convert_[i] = ConversionLoop(from, DT_FLOAT);
        narrow_[i] = ConversionLoop(DT_FLOAT, DT_BFLOAT16);
      }
      if (!convert_[i]) {
        throw Unimplemented("BatchMatMulV3 of ", ToString(node.input_type(0)), " and ", ToString(node.input_type(1)),
                            " to ", ToString(type_), " is not supported");
      }
    }
  }
  void operator()(KernelContext& k) const {
    const Shape &sx = k.shape(0), &sy = k.shape(1);
    k.Require(sx.rank() >= 2, "In[0] ndims must be >= 2: ", sx.rank());
    k.Require(sy.rank() >= 2, "In[1] ndims must be >= 2: ", sy.rank());
    const int64_t x_rows = sx.dim(sx.rank() - 2), x_columns = sx.dim(sx.rank() - 1);
    const int64_t y_rows = sy.dim(sy.rank() - 2), y_columns = sy.dim(sy.rank() - 1);
    const Shape batch_x(sx.dims().first(sx.rank() - 2)), batch_y(sy.dims().first(sy.rank() - 2));
    k.Require(broadcasts_ || batch_x == batch_y, "In[0] and In[1] must have the same batch dimensions: ", sx, " vs. ",
              sy);
    const Shape* const batches[] = {&batch_x, &batch_y};
    Broadcast plan;
    k.Require(TryMakeBroadcast(batches, &plan), "In[0] and In[1] must have compatible batch dimensions: ", sx, " vs. ",
              sy);
    const int64_t m = adj_x_ ? x_columns : x_rows, depth = adj_x_ ? x_rows : x_columns;
    const int64_t n = adj_y_ ? y_rows : y_columns, depth_y = adj_y_ ? y_columns : y_rows;
    k.Require(depth == depth_y, "Matrix size-incompatible: In[0]: ", sx, ", In[1]: ", sy);
    Tensor held[2];
    const char* in[2];
    for (int i = 0; i < 2; ++i) {
      held[i] = k.input(i);
      if (convert_[i]) {
        Tensor converted = k.Temp(narrow_[i] ? DT_FLOAT : type_, k.shape(i));
        convert_[i](held[i].raw(), converted.mutable_raw(), held[i].num_elements());
        held[i] = converted;
        if (narrow_[i]) {
          held[i] = k.Temp(type_, k.shape(i));
          narrow_[i](converted.raw(), held[i].mutable_raw(), converted.num_elements());
        }
      }
      in[i] = static_cast<const char*>(held[i].raw());
    }
    Shape out_shape = plan.out;
    out_shape.AddDim(m);
    out_shape.AddDim(n);
    Tensor& out = k.Output(0, out_shape);
    const int64_t size = static_cast<int64_t>(DataTypeSize(type_)), count = plan.out.num_elements();
    const int64_t x_size = x_rows * x_columns * size, y_size = y_rows * y_columns * size, z_size = m * n * size;
    char* z = static_cast<char*>(out.mutable_raw());
    if (out.num_elements() == 0) return;
    const auto one = [&](int64_t ix, int64_t iy, char* to, bool serial) {
      const MatrixView vx = View(in[0] + ix * x_size, x_columns, adj_x_, adj_x_);
      const MatrixView vy = View(in[1] + iy * y_size, y_columns, adj_y_, adj_y_);
      if (serial) {
        GemmSerial(type_, m, n, depth, vx, vy, to, n);
      } else {
        Gemm(k, type_, m, n, depth, vx, vy, to, n);
      }
    };
    // One B for all and rows that follow each other: one large product.
    if (!adj_x_ && batch_y.num_elements() == 1 && count > 1 && plan.Plain(0)) {
      batch_ways.Enter(0);
      Gemm(k, type_, count * m, n, depth, View(in[0], x_columns, false, false), View(in[1], y_columns, adj_y_, adj_y_),
           z, n);
      return;
    }
    const bool large = m * n * depth > (1 << 21) && count < 8;
    batch_ways.Enter(large ? 1 : 2);
    const auto run = [&](int64_t begin, int64_t end) {
      ForEachRun(plan, begin, end, [&](int64_t at, const int64_t* from, int64_t runs) {
        for (int64_t i = 0; i < runs; ++i) {
          one(from[0] + i * plan.strides[0].back(), from[1] + i * plan.strides[1].back(), z + (at + i) * z_size,
              !large);
        }
      });
    };
    if (large) {
      run(0, count);
    } else {
      k.Parallel(count, std::max<int64_t>(1, m * n * std::max<int64_t>(depth, 1) / 32), run);
    }
  }

 private:
  bool adj_x_, adj_y_;
  DataType type_;
  bool broadcasts_;
  UnaryLoop convert_[2] = {}, narrow_[2] = {};  // narrow_: what the results of convert_ are then turned into
};

// Products with zeros: float or bfloat16 in, float out. Rows of zeros in A are not skipped: the dense product is
// faster.
struct SparseMatMul {
  bool transpose_a, transpose_b;
  explicit SparseMatMul(const NodeView& node)
      : transpose_a(node.attr<bool>("transpose_a")), transpose_b(node.attr<bool>("transpose_b")) {}
  void operator()(KernelContext& k) const {
    const Shape &a = k.shape(0), &b = k.shape(1);
    k.Require(a.rank() == 2, "a is not a matrix: ", a);
    k.Require(b.rank() == 2, "b is not a matrix: ", b);
    const int64_t m = a.dim(transpose_a ? 1 : 0), depth = a.dim(transpose_a ? 0 : 1);
    const int64_t n = b.dim(transpose_b ? 0 : 1);
    k.Require(depth == b.dim(transpose_b ? 1 : 0), "Matrix size incompatible: a: ", a, ", b: ", b);
    Tensor in[2];
    for (int i = 0; i < 2; ++i) {
      in[i] = k.input(i);
      if (in[i].dtype() == DT_BFLOAT16) {
        Tensor wide = k.Temp(DT_FLOAT, k.shape(i));
        CpuLoops().cast[DT_BFLOAT16][DT_FLOAT](in[i].raw(), wide.mutable_raw(), wide.num_elements());
        in[i] = wide;
      }
    }
    const int64_t a_columns = a.dim(1), b_columns = b.dim(1);
    Tensor& c = k.Output(0, Shape({m, n}));
    Gemm(k, DT_FLOAT, m, n, depth, View(in[0].raw(), a_columns, transpose_a, false),
         View(in[1].raw(), b_columns, transpose_b, false), c.mutable_raw(), n);
  }
};

}  // namespace

void RegisterMatMulKernels(KernelRegistry& kernels) {
  kernels.Add<MatMul>("MatMul", Numbers{});
  kernels.Add<BatchMatMul>("BatchMatMul", Numbers{});
  kernels.Add<BatchMatMul>("BatchMatMulV2", Numbers{});
  kernels.Add<BatchMatMul>("BatchMatMulV3", Numbers{}, "Tout");
  kernels.Add<FusedMatMul>("_FusedMatMul", Types<float>{});
  kernels.Add<StartProductSum>("_ProductSum");
  kernels.Add<AddToProductSum>("_AddProduct");
  kernels.Add<ValueOfProductSum>("_ProductSumValue");
  kernels.Add<SparseMatMul>("SparseMatMul");
}

}  // namespace penstock
