// What a shape function sees, and the shape functions that many ops share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/op/op_def.h"
#include "penstock/tensor/resource_handle.h"

namespace penstock {

// What is known of a tensor before it has a value. Kept by the graph for every output.
struct TensorInfo {
  PartialShape shape;
  std::vector<DtypeAndShape> handle_data;  // behind a resource or variant
};

// One node's inputs and attributes, and the outputs to fill in. Errors are thrown as InvalidArgument; the graph adds
// the node's name.
class ShapeContext {
 public:
  virtual ~ShapeContext() = default;

  const OpDef& op() const { return *op_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const PartialShape& in(int i) const { return inputs_[i]->shape; }
  DataType in_type(int i) const { return input_types_[i]; }
  DataType out_type(int i) const { return output_types_[i]; }
  const std::vector<DtypeAndShape>& in_handle(int i) const { return inputs_[i]->handle_data; }
  // Flat index of the first input of the declared argument `name`, and how many there are.
  std::pair<int, int> InputRange(std::string_view name) const;

  // The value of input i if it is known while building the graph (constants, and arithmetic on shapes seen through).
  virtual const Tensor* in_value(int i) { return nullptr; }
  // Input i, a vector that holds a shape, as far as its elements are known: [-1 elements unknown]. Unknown rank if
  // nothing is.
  virtual PartialShape in_as_shape(int i);
  // Input i as a scalar int or the i-th int: nullopt if not known. InvalidArgument unless a scalar.
  std::optional<int64_t> in_int(int i);

  const AttrValue* FindAttr(std::string_view name) const { return attrs_->Find(name); }
  template <class T>
  const T& attr(std::string_view name) const {
    const AttrValue* value = attrs_->Find(name);
    const T* typed = value ? value->If<T>() : nullptr;
    if (!typed) throw InvalidArgument("attribute '", name, "' of op ", op_->name, " is missing or of another kind");
    return *typed;
  }

  void out(int i, PartialShape shape) { outputs_[i].shape = std::move(shape); }
  const PartialShape& out_shape(int i) const { return outputs_[i].shape; }
  void out_handle(int i, std::vector<DtypeAndShape> data) { outputs_[i].handle_data = std::move(data); }
  std::vector<TensorInfo>& outputs() { return outputs_; }

  // Input i, found to have this rank; InvalidArgument "Shape must be rank 2 but is rank 3" if it cannot.
  PartialShape WithRank(int i, int rank);
  PartialShape WithRankAtLeast(int i, int rank);
  PartialShape WithRankAtMost(int i, int rank);
  static PartialShape WithRank(const PartialShape& shape, int rank);
  static PartialShape WithRankAtLeast(const PartialShape& shape, int rank);
  static PartialShape WithRankAtMost(const PartialShape& shape, int rank);
  // Two dimensions that must be equal: the known one. InvalidArgument "Dimensions must be equal, but are 3 and 4".
  static int64_t MergeDim(int64_t a, int64_t b);

 protected:
  const OpDef* op_ = nullptr;
  const AttrMap* attrs_ = nullptr;
  std::vector<const TensorInfo*> inputs_;
  std::vector<DataType> input_types_, output_types_;
  std::vector<TensorInfo> outputs_;
};

namespace shapes {

void Unknown(ShapeContext& c);       // all outputs of unknown shape
void Scalar(ShapeContext& c);        // all outputs scalars
void None(ShapeContext& c);          // an op without outputs
void SameAsInput0(ShapeContext& c);  // output 0 (with handle data) like input 0
void Broadcast(ShapeContext& c);     // inputs 0 and 1, NumPy's rules
void MergeAll(ShapeContext& c);      // all inputs of one shape (AddN)
// NumPy's broadcast of two shapes. InvalidArgument "Dimensions must be equal, but are 3 and 4".
PartialShape BroadcastShapes(const PartialShape& a, const PartialShape& b);
// a's dimensions then b's; unknown if either is.
PartialShape Concatenate(const PartialShape& a, const PartialShape& b);
// Dimensions [begin, end) of a shape; negative counts from the end.
PartialShape Subshape(const PartialShape& s, int begin, int end);

// Sizes of windowed ops. `padding` is "SAME", "VALID" or "EXPLICIT". Returns {output size, pad before, pad after};
// -1 as output size if the input is unknown. The formulas are those of TensorFlow's convolution guide. InvalidArgument
// if the output would be negative or a stride or dilation is not positive.
struct Window {
  int64_t out, pad_before, pad_after;
};
Window WindowedOutput(int64_t in, int64_t filter, int64_t dilation, int64_t stride, std::string_view padding,
                      int64_t explicit_before = 0, int64_t explicit_after = 0);

}  // namespace shapes
}  // namespace penstock
