#include "penstock/kernels/cpu/data_flow/tensor_list.h"

#include <algorithm>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/ops/integers.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

Tensor Zeros(DataType dtype, const Shape& shape) {
  Tensor zeros(dtype, shape);
  ZeroElements(dtype, zeros.mutable_raw(), zeros.num_elements());
  return zeros;
}

}  // namespace

Tensor AddElements(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) {
    throw InvalidArgument("Trying to add two tensors with incompatible element shapes. One is ", a.shape(),
                          " and the other is ", b.shape());
  }
  Tensor sum(a.dtype(), a.shape());
  const int64_t n = a.num_elements();
  if (a.dtype() == DT_VARIANT) {
    const VariantLevel level;
    for (int64_t i = 0; i < n; ++i) {
      const VariantValue *x = a.data<Variant>()[i].get(), *y = b.data<Variant>()[i].get();
      if (!x || !y) throw InvalidArgument("a variant without a value cannot be added");
      sum.mutable_data<Variant>()[i] = Variant(x->Add(*y));
    }
    return sum;
  }
  const Loops& loops = CpuLoops();
  const bool narrow = elementwise::IsFloat16(a.dtype());
  const BinaryLoop add = loops(BinaryOp::kAdd, narrow ? DT_FLOAT : a.dtype());
  if (!add) throw InvalidArgument("tensors of ", a.dtype(), " cannot be added");
  if (narrow) {
    std::vector<float> x(n), y(n);
    loops.cast[a.dtype()][DT_FLOAT](a.raw(), x.data(), n);
    loops.cast[a.dtype()][DT_FLOAT](b.raw(), y.data(), n);
    add(x.data(), 1, y.data(), 1, x.data(), n);
    loops.cast[DT_FLOAT][a.dtype()](x.data(), sum.mutable_raw(), n);
  } else {
    add(a.raw(), 1, b.raw(), 1, sum.mutable_raw(), n);
  }
  return sum;
}

Tensor ZeroElementsLike(const Tensor& t) {
  if (t.dtype() != DT_VARIANT) return Zeros(t.dtype(), t.shape());
  const VariantLevel level;
  Tensor zeros(DT_VARIANT, t.shape());
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (const VariantValue* value = t.data<Variant>()[i].get()) {
      zeros.mutable_data<Variant>()[i] = Variant(value->ZerosLike());
    }
  }
  return zeros;
}

Ref<VariantValue> TensorList::ZerosLike() const {
  Ref<TensorList> zeros = MakeRef<TensorList>(dtype, shape, limit);
  for (const Tensor& item : items) {
    zeros->items.push_back(item.initialized() ? ZeroElementsLike(item) : Tensor());
  }
  return zeros;
}

Ref<VariantValue> TensorList::Add(const VariantValue& other) const {
  const auto* list = dynamic_cast<const TensorList*>(&other);
  if (!list || list->dtype != dtype) throw InvalidArgument("Trying to add two lists of tensors of different dtypes.");
  if (list->items.size() != items.size()) {
    throw InvalidArgument("Trying to add two lists of tensors with different lengths. One is ", items.size(),
                          " and other is ", list->items.size());
  }
  if (!shape.IsCompatibleWith(list->shape)) {
    throw InvalidArgument("Trying to add two lists of tensors with incompatible element shapes. One is ", shape,
                          " and other is ", list->shape);
  }
  Ref<TensorList> sum = MakeRef<TensorList>(dtype, shape.MergeWith(list->shape), limit);
  for (size_t i = 0; i < items.size(); ++i) {
    const Tensor &a = items[i], &b = list->items[i];
    sum->items.push_back(!a.initialized() ? b : !b.initialized() ? a : AddElements(a, b));
  }
  return sum;
}

Ref<TensorList> TensorList::Copy() const {
  Ref<TensorList> copy = MakeRef<TensorList>(dtype, shape, limit);
  copy->items = items;
  return copy;
}

namespace {

TensorList* ListIn(const Variant& variant) {
  auto* list = variant.as<TensorList>();
  if (!list)
    throw InvalidArgument("Input handle is not a list. Saw: '", variant.empty() ? "" : variant.get()->DebugString(),
                          "'");
  return list;
}

const TensorList& List(const KernelContext& k, int i = 0) {
  k.Require(k.input(i).rank() == 0, "Input list must be a scalar saw: ", k.shape(i));
  return *ListIn(*k.input(i).data<Variant>());
}

void SetList(KernelContext& k, Ref<TensorList> list) {
  Tensor out(DT_VARIANT, Shape());
  *out.mutable_data<Variant>() = Variant(std::move(list));
  k.SetOutput(0, std::move(out));
}

// Input 0 as output 0, to be changed: the list itself if nobody else holds it, else a copy.
TensorList& Changed(KernelContext& k) {
  List(k);
  Tensor handle = k.Take(0);
  if (!handle.unique() || !handle.data<Variant>()->get()->unique()) {
    Ref<TensorList> copy = ListIn(*handle.data<Variant>())->Copy();
    handle = Tensor(DT_VARIANT, Shape());
    *handle.mutable_data<Variant>() = Variant(std::move(copy));
  }
  TensorList* list = ListIn(*handle.data<Variant>());
  k.SetOutput(0, std::move(handle));
  return *list;
}

PartialShape ShapeInput(const KernelContext& k, int i) {
  const Tensor& t = k.input(i);
  if (t.rank() == 0) {
    k.Require(t.IntAt(0) == -1, "The only valid scalar shape tensor is the fully unknown shape specified as -1.");
    return {};
  }
  k.Require(t.rank() == 1, "Shape must be at most rank 1 but is rank ", t.rank());
  std::vector<int64_t> dims = shapes::Integers(t);
  for (const int64_t dim : dims) k.Require(dim >= -1, "Dimension ", dim, " must be >= -1");
  return PartialShape(std::move(dims));
}

void CheckType(const KernelContext& k, const TensorList& list) {
  const DataType type = k.node().attr<DataType>("element_dtype");
  k.Require(list.dtype == type, "Invalid data types; op elements ", type, " but list elements ", list.dtype);
}

// What both shapes say together.
PartialShape Merged(const PartialShape& a, const PartialShape& b) {
  if (a.known_rank() && b.known_rank() && a.rank() != b.rank()) {
    throw InvalidArgument("Incompatible ranks during merge: ", a.rank(), " vs. ", b.rank());
  }
  if (!a.IsCompatibleWith(b)) throw InvalidArgument("Incompatible shapes during merge: ", a, " vs. ", b);
  return a.MergeWith(b);
}

// What an element that is not set reads as.
Tensor Unset(const TensorList& list, const PartialShape& shape) {
  if (!shape.fully_known()) {
    throw InvalidArgument("Trying to read an uninitialized tensor but element_shape is not fully defined: ", shape);
  }
  return Zeros(list.dtype, shape.AsShape());
}

using Items = std::vector<const Tensor*>;

Items AllItems(const TensorList& list) {
  Items items;
  for (const Tensor& item : list.items) items.push_back(&item);
  return items;
}

// The shape of these elements: what is asked for, what the list says, and what those that are set have.
PartialShape CommonShape(const TensorList& list, const Items& items, PartialShape shape) {
  shape = Merged(shape, list.shape);
  if (shape.fully_known()) return shape;
  for (const Tensor* item : items) {
    if (item->initialized()) shape = Merged(shape, PartialShape(item->shape()));
  }
  return shape;
}

void CheckItem(const TensorList& list, const Tensor& item, std::string_view verb) {
  if (list.shape.IsCompatibleWith(item.shape())) return;
  throw InvalidArgument("Tried to ", verb,
                        " a tensor with incompatible shape to a list. Op element shape: ", item.shape(),
                        " list shape: ", list.shape);
}

void Resize(const KernelContext& k, TensorList* list, int64_t size) {
  k.Require(size >= 0, "TensorListSlice expects size to be non-negative. Got: ", size);
  k.Require(size <= (int64_t{1} << 31), "a list of ", size, " elements is too long");
  list->items.resize(size);
}

struct MakeEmpty {
  void operator()(KernelContext& k) const {
    const int64_t limit = k.Int(1);
    SetList(k, MakeRef<TensorList>(k.node().attr<DataType>("element_dtype"), ShapeInput(k, 0), limit < 0 ? -1 : limit));
  }
};

struct Reserve {
  void operator()(KernelContext& k) const {
    const int64_t size = k.Int(1);
    k.Require(size >= 0, "The num_elements to reserve must be a non negative number, but got ", size);
    Ref<TensorList> list = MakeRef<TensorList>(k.node().attr<DataType>("element_dtype"), ShapeInput(k, 0), -1);
    Resize(k, list.get(), size);
    SetList(k, std::move(list));
  }
};

void Append(const KernelContext& k, TensorList* list, Tensor item) {
  CheckItem(*list, item, "append");
  k.Require(list->limit < 0 || static_cast<int64_t>(list->items.size()) < list->limit,
            "Tried to push item into a full list list size: ", list->items.size(), " max_num_elements: ", list->limit);
  list->items.push_back(std::move(item));
}

struct PushBack {
  void operator()(KernelContext& k) const {
    CheckType(k, List(k));
    Tensor item = k.Take(1);
    Append(k, &Changed(k), std::move(item));
  }
};

struct PopBack {
  void operator()(KernelContext& k) const {
    const TensorList& before = List(k);
    CheckType(k, before);
    const PartialShape shape = ShapeInput(k, 1);
    k.Require(!before.items.empty(), "Trying to pop from an empty list.");
    TensorList& list = Changed(k);
    Tensor item = std::move(list.items.back());
    list.items.pop_back();
    k.SetOutput(1, item.initialized() ? std::move(item) : Unset(list, Merged(shape, list.shape)));
  }
};

struct Length {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(static_cast<int32_t>(List(k).items.size()))); }
};

struct ElementShape {
  void operator()(KernelContext& k) const {
    const PartialShape& shape = List(k).shape;
    Tensor& out = k.Output(0, shape.known_rank() ? Shape({shape.rank()}) : Shape());
    for (int64_t i = 0; i < out.num_elements(); ++i) {
      const int64_t size = shape.known_rank() ? shape[static_cast<int>(i)] : -1;
      if (out.dtype() == DT_INT32) {
        out.mutable_data<int32_t>()[i] = static_cast<int32_t>(size);
      } else {
        out.mutable_data<int64_t>()[i] = size;
      }
    }
  }
};

struct ResizeList {
  void operator()(KernelContext& k) const {
    const int64_t size = k.Int(1);
    k.Require(size >= 0, "TensorListSlice expects size to be non-negative. Got: ", size);
    Resize(k, &Changed(k), size);
  }
};

struct GetItem {
  void operator()(KernelContext& k) const {
    const TensorList& list = List(k);
    CheckType(k, list);
    const int64_t index = k.Int(1), size = static_cast<int64_t>(list.items.size());
    k.Require(index >= 0 && index < size, "Trying to access element ", index, " in a list with ", size, " elements.");
    const Tensor& item = list.items[index];
    if (item.initialized()) return k.SetOutput(0, item);
    k.SetOutput(0, Unset(list, CommonShape(list, AllItems(list), ShapeInput(k, 2))));
  }
};

struct SetItem {
  bool resize;
  explicit SetItem(const NodeView& node) : resize(node.attr_or<bool>("resize_if_index_out_of_bounds", false)) {}
  void operator()(KernelContext& k) const {
    const TensorList& before = List(k);
    CheckType(k, before);
    const int64_t index = k.Int(1), size = static_cast<int64_t>(before.items.size());
    k.Require(index >= 0 && (index < size || resize), "Trying to modify element ", index, " in a list with ", size,
              " elements.");
    CheckItem(before, k.input(2), "set");
    Tensor item = k.Take(2);
    TensorList& list = Changed(k);
    if (index >= size) Resize(k, &list, index + 1);
    list.items[index] = std::move(item);
  }
};

// Elements as rows of output 0.
void Stack(KernelContext& k, const TensorList& list, const Items& items, const PartialShape& asked,
           std::string_view of_none, std::string_view of_unset) {
  const PartialShape shape = CommonShape(list, items, asked);
  k.Require(shape.fully_known(), items.empty() ? of_none : of_unset, " non-fully-defined element_shape: ", shape);
  const Shape element = shape.AsShape();
  Shape rows = element;
  rows.InsertDim(0, static_cast<int64_t>(items.size()));
  Tensor& out = k.Output(0, rows);
  const int64_t width = element.num_elements();
  for (size_t i = 0; i < items.size(); ++i) {
    const Tensor item = items[i]->initialized() ? *items[i] : Zeros(list.dtype, element);
    k.Require(item.shape() == element, "Tried to stack list elements of unequal shapes: ", element, " vs. ",
              item.shape());
    CopyElements(item, 0, width, &out, static_cast<int64_t>(i) * width);
  }
}

struct StackList {
  int64_t expected;
  explicit StackList(const NodeView& node) : expected(node.attr<int64_t>("num_elements")) {}
  void operator()(KernelContext& k) const {
    const TensorList& list = List(k);
    CheckType(k, list);
    k.Require(expected < 0 || expected == static_cast<int64_t>(list.items.size()), "Operation expected a list with ",
              expected, " elements but got a list with ", list.items.size(), " elements.");
    Stack(k, list, AllItems(list), ShapeInput(k, 1), "Tried to stack elements of an empty list with",
          "Tried to stack list which only contains uninitialized tensors and has a");
  }
};

struct GatherItems {
  void operator()(KernelContext& k) const {
    const TensorList& list = List(k);
    CheckType(k, list);
    Items items;
    for (const int64_t i : shapes::Integers(k.input(1))) {
      k.Require(i >= 0 && i < static_cast<int64_t>(list.items.size()), "Trying to gather element ", i,
                " in a list with ", list.items.size(), " elements.");
      items.push_back(&list.items[i]);
    }
    Stack(k, list, items, ShapeInput(k, 2), "Tried to gather 0-elements from a list with",
          "Tried to gather uninitialized tensors from a list with");
  }
};

Tensor Row(const Tensor& rows, int64_t i, const Shape& element) {
  Tensor row(rows.dtype(), element);
  CopyElements(rows, i * element.num_elements(), element.num_elements(), &row, 0);
  return row;
}

Shape ElementOf(const KernelContext& k, int i) {
  k.Require(k.input(i).rank() >= 1, "Tensor must be at least a vector, but saw shape: ", k.shape(i));
  Shape element = k.shape(i);
  element.RemoveDim(0);
  return element;
}

void CheckElementShape(const KernelContext& k, const PartialShape& wanted, const Shape& element) {
  k.Require(wanted.IsCompatibleWith(element), "Specified a list with shape ", wanted, " from a tensor with shape ",
            element);
}

struct FromTensor {
  void operator()(KernelContext& k) const {
    const Shape element = ElementOf(k, 0);
    const PartialShape wanted = ShapeInput(k, 1);
    CheckElementShape(k, wanted, element);
    Ref<TensorList> list = MakeRef<TensorList>(k.input(0).dtype(), wanted.MergeWith(PartialShape(element)), -1);
    for (int64_t i = 0; i < k.shape(0).dim(0); ++i) list->items.push_back(Row(k.input(0), i, element));
    SetList(k, std::move(list));
  }
};

void Spread(const KernelContext& k, TensorList* list, int tensor, int positions) {
  const Shape element = ElementOf(k, tensor);
  const std::vector<int64_t> indices = shapes::Integers(k.input(positions));
  k.Require(k.shape(positions).rank() == 1,
            "Expected indices to be a vector, but received shape: ", k.shape(positions));
  k.Require(static_cast<int64_t>(indices.size()) == k.shape(tensor).dim(0),
            "Invalid number of rows in input tensor. Expected: ", indices.size(), " Actual: ", k.shape(tensor).dim(0));
  CheckElementShape(k, list->shape, element);
  for (size_t i = 0; i < indices.size(); ++i) {
    k.Require(indices[i] >= 0, "Indices in TensorListScatter must all be non-negative.");
    if (indices[i] >= static_cast<int64_t>(list->items.size())) Resize(k, list, indices[i] + 1);
    list->items[indices[i]] = Row(k.input(tensor), static_cast<int64_t>(i), element);
  }
}

struct Scatter {
  void operator()(KernelContext& k) const {
    Ref<TensorList> list = MakeRef<TensorList>(k.input(0).dtype(), ShapeInput(k, 2), -1);
    int64_t size = 0;
    if (k.num_inputs() > 3) {
      size = k.Int(3);
      k.Require(size >= -1, "TensorListScatter expects num_elements >= -1, found: ", size);
      size = std::max<int64_t>(size, 0);
      for (const int64_t i : shapes::Integers(k.input(1))) {
        k.Require(k.Int(3) < 0 || i < size, "TensorListScatter: Trying to scatter at index ", i, " in list with size ",
                  size);
      }
    }
    Resize(k, list.get(), size);
    Spread(k, list.get(), 0, 1);
    SetList(k, std::move(list));
  }
};

struct ScatterInto {
  void operator()(KernelContext& k) const {
    CheckType(k, List(k));
    Spread(k, &Changed(k), 1, 2);
  }
};

struct ConcatItems {
  void operator()(KernelContext& k) const {
    const TensorList& list = List(k);
    CheckType(k, list);
    const bool second = k.num_inputs() > 1;
    const PartialShape whole =
        Merged(second ? ShapeInput(k, 1) : k.node().attr<PartialShape>("element_shape"), list.shape);
    PartialShape rest = Rest(k, whole);
    k.Require(
        !list.items.empty() || rest.fully_known(),
        "All except the first dimension must be fully defined when concating an empty tensor list. element_shape: ",
        whole);
    int64_t first = whole.known_rank() ? whole[0] : -1;
    bool one_length = first < 0;
    for (size_t i = 0; i < list.items.size(); ++i) {
      const Tensor& item = list.items[i];
      if (!item.initialized()) continue;
      k.Require(item.rank() >= 1, "Concat saw a scalar shape at index ", i, " but requires at least vectors.");
      rest = Merged(rest, Rest(k, PartialShape(item.shape())));
      if (one_length && first >= 0 && item.dim(0) != first) one_length = false;
      if (one_length) first = item.dim(0);
    }
    if (!one_length && !(whole.known_rank() && whole[0] >= 0)) first = -1;
    k.Require(rest.fully_known(),
              "Trying to concat list with only uninitialized tensors but element_shape_except_first_dim_ ",
              "is not fully defined: ", rest);
    const std::vector<int64_t> leading = second ? shapes::Integers(k.input(2)) : std::vector<int64_t>();
    const auto lengths = k.out<int64_t>(1, Shape({static_cast<int64_t>(list.items.size())}));
    int64_t total = 0;
    for (size_t i = 0; i < list.items.size(); ++i) {
      const bool set = list.items[i].initialized();
      k.Require(set || first >= 0 || i < leading.size(), "List contains uninitialized tensor at index ", i,
                " but leading_dims has only ", leading.size(), " elements.");
      lengths[i] = set ? list.items[i].dim(0) : i < leading.size() ? leading[i] : first;
      k.Require(lengths[i] >= 0, "leading_dims must not be negative, but element ", i, " is ", lengths[i]);
      total += lengths[i];
    }
    Shape shape = rest.AsShape();
    const int64_t width = shape.num_elements();
    shape.InsertDim(0, total);
    Tensor& out = k.Output(0, shape);
    ZeroElements(list.dtype, out.mutable_raw(), out.num_elements());
    int64_t at = 0;
    for (size_t i = 0; i < list.items.size(); ++i) {
      if (list.items[i].initialized()) CopyElements(list.items[i], 0, lengths[i] * width, &out, at);
      at += lengths[i] * width;
    }
  }

 private:
  // All but the first dimension.
  static PartialShape Rest(const KernelContext& k, const PartialShape& shape) {
    if (!shape.known_rank()) return {};
    k.Require(shape.rank() >= 1, "Concat requires elements to be at least vectors, found scalars instead.");
    return PartialShape(std::vector<int64_t>(shape.dims().begin() + 1, shape.dims().end()));
  }
};

struct Split {
  void operator()(KernelContext& k) const {
    Shape element = ElementOf(k, 0);
    const PartialShape wanted = ShapeInput(k, 1);
    k.Require(k.shape(2).rank() == 1, "Expected lengths to be a vector, received shape: ", k.shape(2));
    const std::vector<int64_t> lengths = shapes::Integers(k.input(2));
    const int64_t width = element.num_elements(), rows = k.shape(0).dim(0);
    element.InsertDim(0, 0);
    k.Require(!wanted.known_rank() || wanted.rank() >= 1,
              "TensorListSplit requires element_shape to be at least of rank 1, but saw: ", wanted);
    PartialShape rest = wanted;
    if (rest.known_rank()) rest.set_dim(0, -1);
    k.Require(rest.IsCompatibleWith(k.shape(0)), "tensor shape ", k.shape(0), " is not compatible with element_shape ",
              wanted);
    Ref<TensorList> list = MakeRef<TensorList>(k.input(0).dtype(), wanted, -1);
    int64_t at = 0;
    for (const int64_t length : lengths) {
      k.Require(length >= 0, "Invalid value in lengths: ", length);
      k.Require(length <= rows - at, "Attempting to slice [", at, ", ", at + length, "] from tensor with length ",
                rows);
      element.set_dim(0, length);
      k.Require(wanted.IsCompatibleWith(element), "tensor shape ", element, " is not compatible with element_shape ",
                wanted);
      Tensor piece(k.input(0).dtype(), element);
      CopyElements(k.input(0), at * width, length * width, &piece, 0);
      list->items.push_back(std::move(piece));
      at += length;
    }
    k.Require(at == rows, "Unused values in tensor. Length of tensor: ", rows, " Values used: ", at);
    SetList(k, std::move(list));
  }
};

struct ConcatLists {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(0) == k.shape(1), "input_a and input_b must have the same shape, found ", k.shape(0), " and ",
              k.shape(1));
    const DataType type = k.node().attr<DataType>("element_dtype");
    Tensor out(DT_VARIANT, k.shape(0));
    for (int64_t i = 0; i < out.num_elements(); ++i) {
      Ref<TensorList> list = ListIn(k.input(0).data<Variant>()[i])->Copy();
      const TensorList& more = *ListIn(k.input(1).data<Variant>()[i]);
      k.Require(list->dtype == type, "input_a[", i, "].dtype != element_dtype.");
      k.Require(more.dtype == type, "input_b[", i, "].dtype != element_dtype.");
      k.Require(list->shape == more.shape, "input_a and input_b TensorList element shapes are not identical at index ",
                i, ". Got ", list->shape, " vs. ", more.shape);
      list->items.insert(list->items.end(), more.items.begin(), more.items.end());
      out.mutable_data<Variant>()[i] = Variant(std::move(list));
    }
    k.SetOutput(0, std::move(out));
  }
};

struct PushBackBatch {
  void operator()(KernelContext& k) const {
    const Shape element = ElementOf(k, 1);
    k.Require(k.input(0).rank() == 1 && k.shape(0).dim(0) == k.shape(1).dim(0),
              "Expected tensor.shape[0] == input_handles.size, but saw ", k.shape(1), " and ", k.shape(0));
    Tensor out(DT_VARIANT, k.shape(0));
    for (int64_t i = 0; i < out.num_elements(); ++i) {
      Ref<TensorList> list = ListIn(k.input(0).data<Variant>()[i])->Copy();
      CheckType(k, *list);
      k.Require(list->shape.IsCompatibleWith(element),
                "Tried to append a tensor with incompatible shape to a list at index ", i,
                ". Op element shape: ", element, " list shape: ", list->shape);
      Append(k, list.get(), Row(k.input(1), i, element));
      out.mutable_data<Variant>()[i] = Variant(std::move(list));
    }
    k.SetOutput(0, std::move(out));
  }
};

}  // namespace

void RegisterTensorListKernels(KernelRegistry& kernels) {
  kernels.Add<MakeEmpty>("EmptyTensorList").HostInput(0).HostInput(1);
  kernels.Add<Reserve>("TensorListReserve").HostInput(0).HostInput(1);
  kernels.Add<PushBack>("TensorListPushBack");
  kernels.Add<PopBack>("TensorListPopBack").HostInput(1);
  kernels.Add<PushBackBatch>("TensorListPushBackBatch");
  kernels.Add<Length>("TensorListLength").HostOutput(0);
  kernels.Add<ElementShape>("TensorListElementShape").HostOutput(0);
  kernels.Add<ResizeList>("TensorListResize").HostInput(1);
  kernels.Add<GetItem>("TensorListGetItem").HostInput(1).HostInput(2);
  kernels.Add<SetItem>("TensorListSetItem").HostInput(1);
  kernels.Add<StackList>("TensorListStack").HostInput(1);
  kernels.Add<FromTensor>("TensorListFromTensor").HostInput(1);
  kernels.Add<GatherItems>("TensorListGather").HostInput(1).HostInput(2);
  kernels.Add<Scatter>("TensorListScatter").HostInput(1).HostInput(2);
  kernels.Add<Scatter>("TensorListScatterV2").HostInput(1).HostInput(2).HostInput(3);
  kernels.Add<ScatterInto>("TensorListScatterIntoExistingList").HostInput(2);
  kernels.Add<ConcatItems>("TensorListConcat").HostOutput(1);
  kernels.Add<ConcatItems>("TensorListConcatV2").HostInput(1).HostInput(2).HostOutput(1);
  kernels.Add<Split>("TensorListSplit").HostInput(1).HostInput(2);
  kernels.Add<ConcatLists>("TensorListConcatLists");
}

}  // namespace penstock
