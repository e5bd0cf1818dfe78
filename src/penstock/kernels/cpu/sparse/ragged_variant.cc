// Ragged tensors as single variants, so that they go through lists, datasets and loops as one value.

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/data_flow/tensor_list.h"

namespace penstock {
namespace {

// One ragged tensor: row splits (int32 or int64, from the outermost dimension on) and values.
class RaggedTensorVariant : public VariantValue {
 public:
  RaggedTensorVariant(std::vector<Tensor> splits, Tensor values)
      : splits(std::move(splits)), values(std::move(values)) {}
  std::string_view TypeName() const override { return "RaggedTensorVariant"; }
  std::string DebugString() const override {
    std::string text = "RaggedTensorVariant(values=" + values.ToString();
    for (const Tensor& s : splits) text += ", splits=" + s.ToString();
    return text + ")";
  }
  void Encode(std::string*, std::vector<Tensor>* tensors) const override {
    *tensors = splits;
    tensors->push_back(values);
  }
  static Ref<VariantValue> Decode(std::string_view, std::vector<Tensor> tensors) {
    if (tensors.empty()) throw InvalidArgument("A RaggedTensorVariant has no values");
    Tensor values = std::move(tensors.back());
    tensors.pop_back();
    if (values.rank() == 0) throw InvalidArgument("The values of a RaggedTensorVariant are a scalar");
    int64_t rows = values.dim(0);
    for (auto split = tensors.rbegin(); split != tensors.rend(); ++split) {
      const bool is_vector = (split->dtype() == DT_INT32 || split->dtype() == DT_INT64) && split->rank() == 1 &&
                             split->num_elements() > 0 && split->dtype() == tensors[0].dtype();
      bool fits = is_vector && split->IntAt(0) == 0 && split->IntAt(split->num_elements() - 1) == rows;
      for (int64_t i = 1; fits && i < split->num_elements(); ++i) fits = split->IntAt(i - 1) <= split->IntAt(i);
      if (!fits) throw InvalidArgument("The row splits of a RaggedTensorVariant do not fit: ", split->ToString());
      rows = split->num_elements() - 1;
    }
    return MakeRef<RaggedTensorVariant>(std::move(tensors), std::move(values));
  }
  Ref<VariantValue> ZerosLike() const override {
    Tensor zeros(values.dtype(), values.shape());
    ZeroElements(values.dtype(), zeros.mutable_raw(), zeros.num_elements());
    return MakeRef<RaggedTensorVariant>(splits, std::move(zeros));
  }
  Ref<VariantValue> Add(const VariantValue& other) const override {
    const auto* same = dynamic_cast<const RaggedTensorVariant*>(&other);
    if (!same || same->values.dtype() != values.dtype()) {
      throw InvalidArgument("a RaggedTensorVariant of ", values.dtype(), " and ", other.DebugString(),
                            " cannot be added");
    }
    return MakeRef<RaggedTensorVariant>(splits, AddElements(values, same->values));
  }

  const std::vector<Tensor> splits;
  const Tensor values;
};

Tensor Scalar(Ref<VariantValue> value) {
  Tensor scalar(DT_VARIANT, Shape());
  *scalar.mutable_data<Variant>() = Variant(std::move(value));
  return scalar;
}

void SetInt(Tensor& t, int64_t i, int64_t value) {
  if (t.dtype() == DT_INT32) {
    t.mutable_data<int32_t>()[i] = static_cast<int32_t>(value);
  } else {
    t.mutable_data<int64_t>()[i] = value;
  }
}

// Rows [begin, end) of splits, as splits that begin at 0.
Tensor RowsOf(const Tensor& splits, int64_t begin, int64_t end) {
  Tensor rows(splits.dtype(), Shape({end - begin + 1}));
  for (int64_t i = begin; i <= end; ++i) SetInt(rows, i - begin, splits.IntAt(i) - splits.IntAt(begin));
  return rows;
}

// Checks that splits begin at 0, never fall, and end at `end`.
void CheckSplits(KernelContext& k, const Tensor& splits, int64_t end) {
  k.Require(splits.rank() == 1 && splits.num_elements() > 0,
            "Ragged splits must be a non-empty vector, but have shape ", splits.shape());
  const int64_t n = splits.num_elements();
  k.Require(splits.IntAt(0) == 0, "First value of ragged splits must be 0.");
  for (int64_t i = 1; i < n; ++i) {
    k.Require(splits.IntAt(i - 1) <= splits.IntAt(i), "Ragged splits must be sorted");
  }
  k.Require(splits.IntAt(n - 1) == end, "Last value of ragged splits must be the number of values, ", end, ", but is ",
            splits.IntAt(n - 1));
}

struct RaggedTensorToVariant {
  bool batched;
  explicit RaggedTensorToVariant(const NodeView& node) : batched(node.attr<bool>("batched_input")) {}
  void operator()(KernelContext& k) const {
    const int rank = k.num_inputs() - 1;
    const Tensor& values = k.input(rank);
    k.Require(rank == 0 || values.rank() > 0, "params.rank must be nonzero");
    std::vector<Tensor> splits;
    for (int i = 0; i < rank; ++i) {
      CheckSplits(k, k.input(i), i + 1 < rank ? k.input(i + 1).num_elements() - 1 : values.dim(0));
      splits.push_back(k.input(i));
    }
    if (!batched) return k.SetOutput(0, Scalar(MakeRef<RaggedTensorVariant>(std::move(splits), values)));
    k.Require(rank > 0 || values.rank() > 0, "A batch must have at least one dimension, but the input is a scalar");
    const int64_t rows = rank > 0 ? splits[0].num_elements() - 1 : values.dim(0);
    Variant* out = k.Output(0, Shape({rows})).mutable_data<Variant>();
    for (int64_t row = 0; row < rows; ++row) {
      int64_t begin = row, end = row + 1;
      std::vector<Tensor> parts;
      for (int i = 0; i < rank; ++i) {
        const int64_t first = splits[i].IntAt(begin), last = splits[i].IntAt(end);
        if (i > 0) parts.push_back(RowsOf(splits[i], begin, end));
        begin = first;
        end = last;
      }
      Tensor part = values.Slice(begin, end).Clone();
      if (rank == 0) {
        Shape inner = values.shape();
        inner.RemoveDim(0);
        part = part.Reshaped(inner);
      }
      out[row] = Variant(MakeRef<RaggedTensorVariant>(std::move(parts), std::move(part)));
    }
  }
};

// The ragged tensors in a tensor of variants. InvalidArgument: another variant, or values of another type.
std::vector<const RaggedTensorVariant*> Encoded(KernelContext& k, DataType dtype) {
  std::vector<const RaggedTensorVariant*> found;
  for (const Variant& variant : k.in<Variant>(0)) {
    const auto* ragged = variant.as<RaggedTensorVariant>();
    k.Require(ragged, "Input Variant element at index ", found.size(), " doesn't hold a RaggedTensorVariant");
    k.Require(ragged->values.dtype() == dtype, "Expected values Tensor dtype: ", dtype,
              ", found: ", ragged->values.dtype());
    found.push_back(ragged);
  }
  return found;
}

// The values of all, one behind the other.
Tensor Joined(KernelContext& k, const std::vector<const RaggedTensorVariant*>& all, DataType dtype) {
  Shape shape({0});
  int64_t rows = 0;
  for (const auto* ragged : all) {
    const Tensor& values = ragged->values;
    if (values.rank() == 0) [[unlikely]] {
      throw InvalidArgument("Ragged values must have rank >= 1; an encoded element has values ", values.ToString());
    }
    Shape first = ragged == all.front() ? values.shape() : shape, own = values.shape();
    first.set_dim(0, 0);
    own.set_dim(0, 0);
    k.Require(first == own, "All values must have compatible shapes, but ", values.shape(), " comes after ", shape);
    shape = own;
    rows += values.dim(0);
  }
  shape.set_dim(0, rows);
  Tensor joined(dtype, shape, k.device().allocator());
  int64_t at = 0;
  for (const auto* ragged : all) {
    CopyElements(k, dtype, At(joined, at), ragged->values.raw(), ragged->values.num_elements());
    at += ragged->values.num_elements();
  }
  return joined;
}

struct RaggedTensorFromVariant {
  int64_t input_rank, output_rank;
  DataType dtype, splits_type;
  explicit RaggedTensorFromVariant(const NodeView& node)
      : input_rank(node.attr<int64_t>("input_ragged_rank")),
        output_rank(node.attr<int64_t>("output_ragged_rank")),
        dtype(node.attr<DataType>("Tvalues")),
        splits_type(node.attr<DataType>("Tsplits")) {}

  void operator()(KernelContext& k) const {
    const Shape& outer = k.shape(0);
    const int64_t rank = input_rank >= 0 ? input_rank : output_rank - outer.rank();
    k.Require(rank >= 0,
              "Inferred input_ragged_rank (output_ragged_rank - encoded_variant.dims()) must be >= 0, found "
              "output_ragged_rank: ",
              output_rank, ", encoded_variant.dims(): ", outer.rank());
    k.Require(output_rank == rank + outer.rank(),
              "output_ragged_rank must be equal to input_ragged_rank + "
              "encoded_ragged.dims(); output_ragged_rank: ",
              output_rank, ", input_ragged_rank: ", rank, ", encoded_ragged.dims(): ", outer.rank());
    const auto all = Encoded(k, dtype);
    for (const auto* ragged : all) {
      k.Require(static_cast<int64_t>(ragged->splits.size()) == rank,
                "Encoded input RaggedTensorVariant has ragged_rank=", ragged->splits.size(),
                ".  Expected ragged_rank=", rank, ".");
      for (const Tensor& s : ragged->splits) {
        k.Require(s.dtype() == splits_type, "Expected row_splits Tensor dtype: ", splits_type, ", found: ", s.dtype());
      }
    }
    if (outer.rank() == 0) {
      for (int64_t i = 0; i < rank; ++i) k.SetOutput(static_cast<int>(i), all[0]->splits[i]);
      return k.SetOutput(static_cast<int>(rank), all[0]->values);
    }
    int output = 0;
    int64_t rows = outer.dim(0);
    for (int i = 1; i < outer.rank(); ++i) {  // dimensions of the batch below the first are uniform
      Tensor& splits = k.Output(output++, splits_type, Shape({rows + 1}));
      for (int64_t r = 0; r <= rows; ++r) SetInt(splits, r, r * outer.dim(i));
      rows *= outer.dim(i);
    }
    Tensor values = Joined(k, all, dtype);
    // Each element is a row of the dimension below the batch's.
    Tensor& lengths = k.Output(output++, splits_type, Shape({rows + 1}));
    int64_t end = 0;
    SetInt(lengths, 0, 0);
    for (int64_t r = 0; r < rows; ++r) {
      end += rank > 0 ? all[r]->splits[0].num_elements() - 1 : all[r]->values.dim(0);
      SetInt(lengths, r + 1, end);
    }
    for (int64_t level = 0; level < rank; ++level) PutJoinedSplits(k, output++, all, level);
    k.SetOutput(output, std::move(values));
  }

 private:
  void PutJoinedSplits(KernelContext& k, int output, const std::vector<const RaggedTensorVariant*>& all,
                       int64_t level) const {
    int64_t size = 1;
    for (const auto* ragged : all) size += ragged->splits[level].num_elements() - 1;
    Tensor& joined = k.Output(output, splits_type, Shape({size}));
    SetInt(joined, 0, 0);
    int64_t at = 0, offset = 0;
    for (const auto* ragged : all) {
      const Tensor& splits = ragged->splits[level];
      for (int64_t i = 1; i < splits.num_elements(); ++i) SetInt(joined, ++at, offset + splits.IntAt(i));
      offset += splits.IntAt(splits.num_elements() - 1);
    }
  }
};

struct RaggedTensorToVariantGradient {
  DataType dtype;
  explicit RaggedTensorToVariantGradient(const NodeView& node) : dtype(node.attr<DataType>("Tvalues")) {}
  void operator()(KernelContext& k) const {
    const Shape shape = k.ShapeInput(2);
    const auto all = Encoded(k, dtype);
    if (all.size() == 1 && all[0]->values.num_elements() == shape.num_elements()) {
      return k.SetOutput(0, all[0]->values.Reshaped(shape));
    }
    int64_t total = 0;
    for (const auto* ragged : all) total += ragged->values.num_elements();
    k.Require(total == shape.num_elements(), "The gradient has ", total, " values, but the ragged tensor is of shape ",
              shape);
    Tensor& out = k.Output(0, dtype, shape);
    int64_t at = 0;
    for (const auto* ragged : all) {
      CopyElements(k, dtype, At(out, at), ragged->values.raw(), ragged->values.num_elements());
      at += ragged->values.num_elements();
    }
  }
};

}  // namespace

void RegisterRaggedVariantKernels(KernelRegistry& kernels) {
  SetVariantDecoder("RaggedTensorVariant", &RaggedTensorVariant::Decode);
  kernels.Add<RaggedTensorToVariant>("RaggedTensorToVariant");
  kernels.Add<RaggedTensorFromVariant>("RaggedTensorFromVariant");
  kernels.Add<RaggedTensorToVariantGradient>("RaggedTensorToVariantGradient");
}

}  // namespace penstock
