// Arrays of tensors that live within a step.
#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <optional>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/data_flow/tensor_list.h"
#include "penstock/kernels/cpu/state/named_resource.h"
#include "penstock/ops/integers.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

// What an array's gradients need to know of it: the shapes of its elements, which their zeros have, and how many
// elements it had when a whole tensor was cut into them. Outlives the array.
class ElementShapes : public RefCounted {
 public:
  std::atomic<int64_t> pieces{-1};
  void Set(int64_t index, const Shape& shape) {
    std::lock_guard lock(mutex_);
    if (index >= static_cast<int64_t>(shapes_.size())) shapes_.resize(index + 1);
    shapes_[index] = shape;
  }
  std::optional<Shape> Get(int64_t index) const {
    std::lock_guard lock(mutex_);
    return index < static_cast<int64_t>(shapes_.size()) ? shapes_[index] : std::nullopt;
  }
  int64_t size() const {
    std::lock_guard lock(mutex_);
    return static_cast<int64_t>(shapes_.size());
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::optional<Shape>> shapes_;
};

class TensorArray : public Resource {
 public:
  struct Options {
    std::string name;
    DataType dtype;
    PartialShape element_shape;
    bool dynamic_size, clear_after_read, identical_shapes;
  };
  TensorArray(Options options, int64_t size) : options_(std::move(options)), elements_(size) {}
  // The gradients of an array: they add up, and where there is none it is zero.
  TensorArray(Options options, int64_t size, Ref<ElementShapes> forward, Shape more_dimensions)
      : options_(std::move(options)),
        elements_(size),
        forward_(std::move(forward)),
        more_dimensions_(more_dimensions) {}

  void Write(int64_t index, Tensor value) {
    std::lock_guard lock(mutex_);
    CheckOpen();
    const auto size = static_cast<int64_t>(elements_.size());
    if (index < 0 || (index >= size && !options_.dynamic_size)) {
      throw InvalidArgument("TensorArray ", options_.name, ": Tried to write to index ", index,
                            " but array is not resizeable and size is: ", size);
    }
    const auto refuse = [&](const auto&... why) {
      return InvalidArgument("TensorArray ", options_.name, ": Could not write to TensorArray index ", index,
                             " because ", why...);
    };
    if (!options_.element_shape.IsCompatibleWith(value.shape())) {
      throw refuse("the value shape is ", value.shape(),
                   " which is incompatible with the TensorArray's inferred element shape: ", options_.element_shape,
                   " (consider setting infer_shape=False).");
    }
    if (index >= kMost) throw refuse("there cannot be so many elements.");
    if (index >= size) elements_.resize(index + 1);
    Element& element = elements_[index];
    if (forward_ && element.written) {
      if (element.value.shape() != value.shape()) {
        throw InvalidArgument("TensorArray ", options_.name, ": Could not aggregate to TensorArray index ", index,
                              " because the existing shape is ", element.value.shape(), " but the new input shape is ",
                              value.shape(), ".");
      }
      element.value = AddElements(element.value, value);
      return;
    }
    if (element.read && !forward_) throw refuse("it has already been read.");
    if (element.written) throw refuse("it has already been written to.");
    if (options_.identical_shapes) options_.element_shape = value.shape();
    shapes_->Set(index, value.shape());
    element.value = std::move(value);
    element.written = true;
  }

  Tensor Read(int64_t index) {
    std::lock_guard lock(mutex_);
    CheckOpen();
    if (forward_ && index >= 0 && index < forward_->size() && index >= static_cast<int64_t>(elements_.size())) {
      elements_.resize(index + 1);
    }
    if (index < 0 || index >= static_cast<int64_t>(elements_.size())) {
      throw InvalidArgument("Tried to read from index ", index, " but array size is: ", elements_.size());
    }
    Element& element = elements_[index];
    if (element.read && options_.clear_after_read) {
      throw InvalidArgument(
          "TensorArray ", options_.name, ": Could not read index ", index,
          " twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?).");
    }
    if (!element.written) return Unwritten(index);
    element.read = true;
    return options_.clear_after_read ? std::exchange(element.value, Tensor()) : element.value;
  }

  // The array of its gradients for `source`; the same each time.
  Ref<TensorArray> Gradients(const std::string& source, const Shape& more_dimensions) {
    std::lock_guard lock(mutex_);
    CheckOpen();
    Ref<TensorArray>& gradients = gradients_[source];
    if (!gradients) {
      Options options = options_;
      options.name = StrCat(options_.name, "@", source);
      options.clear_after_read = false;
      if (more_dimensions.rank() > 0) {
        PartialShape shape(more_dimensions);
        for (int i = 0; options.element_shape.known_rank() && i < options.element_shape.rank(); ++i) {
          shape.AddDim(options.element_shape[i]);
        }
        options.element_shape = options.element_shape.known_rank() ? shape : PartialShape();
      }
      gradients = MakeRef<TensorArray>(options, static_cast<int64_t>(elements_.size()), shapes_, more_dimensions);
    }
    return gradients;
  }

  int64_t size() const {
    std::lock_guard lock(mutex_);
    const auto size = static_cast<int64_t>(elements_.size());
    return forward_ ? std::max(size, forward_->size()) : size;
  }
  // How many elements a whole is put together of: of gradients, those that the forward whole was cut into.
  int64_t pieces() const {
    const int64_t cut = forward_ ? forward_->pieces.load() : -1;
    return cut >= 0 ? cut : size();
  }
  void set_pieces(int64_t pieces) { shapes_->pieces = pieces; }
  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    elements_.clear();
    gradients_.clear();
  }
  const Options& options() const { return options_; }  // but for the shape, which writing may say
  PartialShape element_shape() const {
    std::lock_guard lock(mutex_);
    return options_.element_shape;
  }
  std::string DebugString() const override { return StrCat("TensorArray[", options_.name, "]"); }

 private:
  static constexpr int64_t kMost = int64_t{1} << 30;
  struct Element {
    Tensor value;
    bool written = false, read = false;
  };
  void CheckOpen() const {
    if (closed_) throw InvalidArgument("TensorArray ", options_.name, " has already been closed.");
  }
  // What stands where nothing was written: zeros, if their shape is known.
  Tensor Unwritten(int64_t index) const {
    std::optional<Shape> shape;
    if (forward_) {
      shape = forward_->Get(index);
      for (int i = more_dimensions_.rank(); shape && i-- > 0;) shape->InsertDim(0, more_dimensions_.dim(i));
    }
    if (!shape && options_.element_shape.fully_known()) shape = options_.element_shape.AsShape();
    if (!shape) {
      throw InvalidArgument(
          "TensorArray ", options_.name, ": Could not read from TensorArray index ", index,
          ".  Furthermore, the element shape is not fully defined: ", options_.element_shape,
          ".  It is possible you are working with a resizeable TensorArray and stop_gradients is not ",
          "allowing the gradients to be written.");
    }
    Tensor zeros(options_.dtype, *shape);
    ZeroElements(options_.dtype, zeros.mutable_raw(), zeros.num_elements());
    return zeros;
  }
  Options options_;
  mutable std::mutex mutex_;
  std::vector<Element> elements_;
  bool closed_ = false;
  Ref<ElementShapes> shapes_ = MakeRef<ElementShapes>();
  Ref<ElementShapes> forward_;  // of gradients: the shapes of what they are gradients of
  Shape more_dimensions_;
  std::map<std::string, Ref<TensorArray>> gradients_;
};

void SetFlow(KernelContext& k, int output) { k.SetOutput(output, Tensor(0.0f)); }

Ref<TensorArray> ArrayOf(KernelContext& k) { return NamedResource<TensorArray>(k, 0, *k.step().step_resources); }

// The handle of an array and, since version 3, its first flow.
void SetArray(KernelContext& k, const char* container, const Ref<TensorArray>& array) {
  const TensorArray::Options& options = array->options();
  SetStepResource(k, {k.device().name(),
                      container,
                      options.name,
                      "tensorflow::TensorArray",
                      {{options.dtype, array->element_shape()}},
                      array});
  if (k.num_outputs() > 1) SetFlow(k, 1);
}

struct Make {
  TensorArray::Options options;
  explicit Make(const NodeView& node)
      : options{node.attr<std::string>("tensor_array_name"), node.attr<DataType>("dtype"),
                node.attr<PartialShape>("element_shape"),    node.attr<bool>("dynamic_size"),
                node.attr<bool>("clear_after_read"),         node.attr_or<bool>("identical_element_shapes", false)} {
    if (options.name.empty()) options.name = node.name();
  }
  void operator()(KernelContext& k) const {
    static std::atomic<int64_t> number{0};
    const int64_t size = k.Int(0);
    k.Require(size >= 0, "Size should be >= 0.");
    TensorArray::Options unique = options;
    unique.name = StrCat(options.name, "_", number.fetch_add(1));
    SetArray(k, "_tensor_arrays", MakeRef<TensorArray>(unique, size));
  }
};

void CheckWrite(const KernelContext& k, const TensorArray& array, const Tensor& value) {
  k.Require(array.options().dtype == value.dtype(), "TensorArray dtype is ", array.options().dtype,
            " but Op is trying to write dtype ", value.dtype(), ".");
}

struct Write {
  void operator()(KernelContext& k) const {
    Ref<TensorArray> array = ArrayOf(k);
    CheckWrite(k, *array, k.input(2));
    array->Write(k.Int(1), k.input(2));
    SetFlow(k, 0);
  }
};

void CheckType(const KernelContext& k, const TensorArray& array) {
  k.Require(array.options().dtype == k.node().output_type(0), "TensorArray dtype is ", array.options().dtype,
            " but Op requested dtype ", k.node().output_type(0), ".");
}

struct Read {
  void operator()(KernelContext& k) const {
    Ref<TensorArray> array = ArrayOf(k);
    CheckType(k, *array);
    k.SetOutput(0, array->Read(k.Int(1)));
  }
};

// Without elements, the shape must be known from elsewhere.
Shape EmptyShape(const PartialShape& element, const char* what, const char* doing) {
  if (!element.fully_known()) {
    throw Unimplemented("TensorArray has size zero, but ", what, " ", element,
                        " is not fully defined. Currently only static shapes are supported when ", doing,
                        " zero-size TensorArrays.");
  }
  return element.AsShape();
}

// All there are, for the ops that name none.
std::vector<int64_t> AllIndices(int64_t size) {
  std::vector<int64_t> indices(size);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

std::vector<int64_t> GivenIndices(KernelContext& k) {
  k.Require(k.shape(1).rank() == 1, "Expected indices to be a vector, but received shape: ", k.shape(1));
  return shapes::Integers(k.input(1));
}

// Gather and, without indices, Pack.
struct Gather {
  bool all;
  PartialShape element_shape;
  explicit Gather(const NodeView& node)
      : all(node.op().inputs.size() == 2), element_shape(node.attr<PartialShape>("element_shape")) {}
  void operator()(KernelContext& k) const {
    Ref<TensorArray> array = ArrayOf(k);
    CheckType(k, *array);
    const std::vector<int64_t> indices = all ? AllIndices(array->pieces()) : GivenIndices(k);
    if (indices.empty()) {
      Shape shape = EmptyShape(element_shape.MergeWith(array->element_shape()), "element shape", "packing");
      shape.InsertDim(0, 0);
      k.Output(0, shape);
      return;
    }
    Tensor* out = nullptr;
    Shape first;
    for (size_t i = 0; i < indices.size(); ++i) {
      const Tensor element = array->Read(indices[i]);
      if (!out) {
        first = element.shape();
        Shape shape = first;
        shape.InsertDim(0, static_cast<int64_t>(indices.size()));
        out = &k.Output(0, shape);
      }
      k.Require(element.shape() == first, "TensorArray has inconsistent shapes.  Index 0 has shape: ", first,
                " but index ", i, " has shape: ", element.shape());
      CopyElements(element, 0, element.num_elements(), out, static_cast<int64_t>(i) * element.num_elements());
    }
  }
};

// Elements of `count` rows of `value` from `row` on, under `shape`.
Tensor Rows(const Tensor& value, int64_t row, const Shape& shape) {
  const int64_t width = value.dim(0) > 0 ? value.num_elements() / value.dim(0) : 0;
  Tensor rows(value.dtype(), shape);
  CopyElements(value, row * width, shape.num_elements(), &rows, 0);
  return rows;
}

void WriteRows(KernelContext& k, const std::vector<int64_t>& indices, const Tensor& value) {
  Ref<TensorArray> array = ArrayOf(k);
  CheckWrite(k, *array, value);
  Shape element = value.shape();
  element.RemoveDim(0);
  for (size_t i = 0; i < indices.size(); ++i) array->Write(indices[i], Rows(value, static_cast<int64_t>(i), element));
  SetFlow(k, 0);
}

void CheckRows(KernelContext& k, const Tensor& value) {
  k.Require(value.rank() >= 1, "Expected value to be at least a vector, but received shape: ", value.shape());
}

struct Scatter {
  void operator()(KernelContext& k) const {
    const Tensor& value = k.input(2);
    const std::vector<int64_t> indices = GivenIndices(k);
    CheckRows(k, value);
    k.Require(value.dim(0) == static_cast<int64_t>(indices.size()),
              "Expected len(indices) == values.shape[0], but saw: ", indices.size(), " vs. ", value.dim(0));
    WriteRows(k, indices, value);
  }
};

struct Unpack {
  void operator()(KernelContext& k) const {
    Ref<TensorArray> array = ArrayOf(k);
    const Tensor& value = k.input(1);
    CheckRows(k, value);
    const int64_t rows = value.dim(0), size = array->size();
    k.Require(rows == size || (rows > size && array->options().dynamic_size),
              "Input value must have first dimension equal to the array size (", rows, " vs. ", size, ")");
    array->set_pieces(std::max(rows, size));
    WriteRows(k, AllIndices(rows), value);
  }
};

struct Join {
  PartialShape rest_shape;
  explicit Join(const NodeView& node) : rest_shape(node.attr<PartialShape>("element_shape_except0")) {}
  void operator()(KernelContext& k) const {
    Ref<TensorArray> array = ArrayOf(k);
    CheckType(k, *array);
    std::vector<Tensor> elements;
    for (int64_t i = 0; i < array->pieces(); ++i) elements.push_back(array->Read(i));
    const auto lengths = k.out<int64_t>(1, Shape({static_cast<int64_t>(elements.size())}));
    Shape rest;
    int64_t rows = 0;
    for (size_t i = 0; i < elements.size(); ++i) {
      k.Require(elements[i].rank() >= 1, "Concat saw a scalar shape at index ", i,
                " but requires at least vectors.  Did you mean to call pack?");
      Shape this_rest = elements[i].shape();
      this_rest.RemoveDim(0);
      if (i == 0) rest = this_rest;
      k.Require(this_rest == rest,
                "TensorArray has inconsistent shapes.  Index 0 has (excepting dimension 0) shape: ", rest,
                " but index ", i, " has (excepting dimension 0) shape: ", this_rest);
      lengths[i] = elements[i].dim(0);
      rows += elements[i].dim(0);
    }
    if (elements.empty()) rest = EmptyShape(rest_shape, "element_shape_except0", "concatenating");
    rest.InsertDim(0, rows);
    Tensor& out = k.Output(0, rest);
    int64_t at = 0;
    for (const Tensor& element : elements) {
      CopyElements(element, 0, element.num_elements(), &out, at);
      at += element.num_elements();
    }
  }
};

struct Split {
  void operator()(KernelContext& k) const {
    Ref<TensorArray> array = ArrayOf(k);
    const Tensor& value = k.input(1);
    k.Require(k.shape(2).rank() == 1, "Expected lengths to be a vector, received shape: ", k.shape(2));
    k.Require(value.rank() >= 1, "Expected value to be at least a vector, but received shape: ", value.shape());
    const std::vector<int64_t> lengths = shapes::Integers(k.input(2));
    int64_t sum = 0;
    for (const int64_t length : lengths) {
      k.Require(length >= 0, "Expected lengths that are not negative, but got ", length);
      k.Require(!__builtin_add_overflow(sum, length, &sum), "the sum of lengths is too large");
    }
    k.Require(sum == value.dim(0), "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is ",
              sum, " and value's shape is: ", value.shape());
    k.Require(array->options().dynamic_size || array->size() == static_cast<int64_t>(lengths.size()),
              "TensorArray's size is not equal to the size of lengths (", array->size(), " vs. ", lengths.size(),
              "), and the TensorArray is not marked as dynamically resizeable");
    CheckWrite(k, *array, value);
    array->set_pieces(std::max<int64_t>(static_cast<int64_t>(lengths.size()), array->size()));
    Shape element = value.shape();
    int64_t row = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      element.set_dim(0, lengths[i]);
      array->Write(static_cast<int64_t>(i), Rows(value, row, element));
      row += lengths[i];
    }
    SetFlow(k, 0);
  }
};

struct MakeGradient {
  std::string source;
  explicit MakeGradient(const NodeView& node) : source(node.attr<std::string>("source")) {}
  void operator()(KernelContext& k) const {
    const Shape more_dimensions = k.num_inputs() > 2 ? k.ShapeInput(2) : Shape();
    SetArray(k, "_tensor_array_grads", ArrayOf(k)->Gradients(source, more_dimensions));
  }
};

struct Size {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(static_cast<int32_t>(ArrayOf(k)->size()))); }
};

struct Close {
  void operator()(KernelContext& k) const { ArrayOf(k)->Close(); }
};

}  // namespace

void RegisterTensorArrayKernels(KernelRegistry& kernels) {
  for (const std::string version : {"", "V2", "V3"}) {
    kernels.Add<Make>("TensorArray" + version).HostInput(0);
    kernels.Add<Write>("TensorArrayWrite" + version).HostInput(1);
    kernels.Add<Read>("TensorArrayRead" + version).HostInput(1);
    kernels.Add<Gather>("TensorArrayGather" + version).HostInput(1);
    kernels.Add<Scatter>("TensorArrayScatter" + version).HostInput(1);
    kernels.Add<Join>("TensorArrayConcat" + version);
    kernels.Add<Split>("TensorArraySplit" + version).HostInput(2);
    kernels.Add<MakeGradient>("TensorArrayGrad" + version);
    kernels.Add<Size>("TensorArraySize" + version).HostOutput(0);
    kernels.Add<Close>("TensorArrayClose" + version);
  }
  kernels.Add<MakeGradient>("TensorArrayGradWithShape").HostInput(2);
  kernels.Add<Gather>("TensorArrayPack");
  kernels.Add<Unpack>("TensorArrayUnpack");
}

}  // namespace penstock
