// What an op is: its signature, its shape function, its gradient, its traits. Definitions are written with OpBuilder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/op/attr_value.h"

namespace penstock {

class ShapeContext;  // op/shape_inference.h
class GradContext;   // graph/gradient.h

// One declared input or output: a fixed type, a type attribute, a list of types, or a number of equal ones.
struct ArgDef {
  std::string name;
  DataType type = DT_INVALID;
  std::string type_attr, number_attr, type_list_attr;
  bool is_ref = false;
  bool is_list() const { return !number_attr.empty() || !type_list_attr.empty(); }
};

struct AttrDef {
  std::string name;
  std::string kind;         // "int", "float", "bool", "string", "type", "shape", "tensor", "func", "list(...)"
  AttrValue default_value;  // empty: must be given
  AttrValue allowed;        // vector<DataType> or vector<string>; empty: anything
  bool has_minimum = false;
  int64_t minimum = 0;
  bool has_default() const { return !default_value.empty(); }
};

// How long one node takes, roughly: decides inlining, placement and which executor runs a step.
enum class Cost : uint8_t {
  kNothing,  // no-ops, identities, reshapes, shapes, constants: metadata only
  kLinear,   // a few operations an element
  kHeavy,    // products, convolutions, sorts; `flops` says more
};

// What an op is to the machinery of frames (TensorFlow's control flow) and of steps.
enum class Flow : uint8_t {
  kNone,
  kSwitch,
  kMerge,
  kEnter,
  kExit,
  kNextIteration,
  kLoopCond,
  kArg,
  kRetval,
  kSend,
  kRecv,
  kPlaceholder
};

// Facts that passes, cost model, executor and eager read; no other place compares op names.
struct OpTraits {
  bool stateful = false;  // has state, randomness or side effects: never folded, merged, moved or dropped
  bool commutative = false;
  bool aggregate = false;            // adds N inputs
  bool elementwise = false;          // output element i depends on input elements i only (after broadcasting)
  bool may_alias_input0 = false;     // the output may be input 0 itself (Identity, Reshape)
  bool uninitialized_input = false;  // accepts a reference that holds no value yet
  bool reads_variable = false;       // depends on when it runs relative to assignments
  bool order_dependent = false;      // result may depend on the schedule (documented exceptions)
  bool differentiable = true;        // false: gradient is known to be none (NotDifferentiable)
  bool distributed_communication = false;
  bool control_trigger = false;  // runs even when its control inputs are dead
  Cost cost = Cost::kLinear;
  Flow flow = Flow::kNone;
};

using ShapeFn = void (*)(ShapeContext&);
using GradientFn = void (*)(GradContext&);
using ShapeValueFn = PartialShape (*)(ShapeContext&);
using FlopsFn = double (*)(ShapeContext&);  // from input and output shapes; used when they are known

struct OpDef {
  std::string name;
  std::vector<ArgDef> inputs, outputs;
  std::vector<AttrDef> attrs;
  std::vector<std::string> control_outputs;
  std::string doc;
  int deprecated_since = 0;  // GraphDef version; 0: not deprecated
  std::string deprecated_why;
  OpTraits traits;
  ShapeFn shape = nullptr;        // null: outputs of unknown shape
  GradientFn gradient = nullptr;  // null with traits.differentiable: looking for it is a LookupError
  FlopsFn flops = nullptr;
  // What output 0 says when it is read as a shape, as far as known: lets shapes be seen through Shape, Pack, Concat...
  ShapeValueFn shape_value = nullptr;
  bool known_by_name_only = false;  // an op of TensorFlow that nobody implements here; nodes import, running fails

  const AttrDef* FindAttr(std::string_view name) const;
  int InputIndex(std::string_view name) const;  // of the declared argument; -1 if none
  int OutputIndex(std::string_view name) const;
  std::string ToString() const;  // "Op<name=Add; signature=x:T, y:T -> z:T; attr=...>"
};

// Fluent definition: ops.Add("Cumsum").Input("x: T")...; the text forms are TensorFlow's:
//   Input/Output: "x: T", "x: float", "xs: N * T", "xs: list_attr", "ref: Ref(T)"
//   Attr: "T: type", "T: {float, int32} = DT_FLOAT", "T: numbertype", "N: int >= 1", "mode: {'a', 'b'} = 'a'",
//         "axes: list(int) = []", "shape: shape", "value: tensor", "f: func"
// Malformed text is a programmer's mistake and throws Internal when registered.
class OpBuilder {
 public:
  explicit OpBuilder(OpDef* def) : def_(def) {}
  OpBuilder& Input(std::string_view spec);
  OpBuilder& Output(std::string_view spec);
  OpBuilder& Attr(std::string_view spec);
  OpBuilder& ControlOutput(std::string_view name);
  OpBuilder& Doc(std::string_view text);
  OpBuilder& Deprecated(int version, std::string_view why);
  // clang-format off
  OpBuilder& Shape(ShapeFn fn) { def_->shape = fn; return *this; }
  OpBuilder& Gradient(GradientFn fn) { def_->gradient = fn; return *this; }
  OpBuilder& ShapeValue(ShapeValueFn fn) { def_->shape_value = fn; return *this; }
  OpBuilder& NotDifferentiable() { def_->traits.differentiable = false; return *this; }
  OpBuilder& Flops(FlopsFn fn) { def_->flops = fn; def_->traits.cost = Cost::kHeavy; return *this; }
  // Traits
  OpBuilder& Stateful() { def_->traits.stateful = true; return *this; }
  OpBuilder& Commutative() { def_->traits.commutative = true; return *this; }
  OpBuilder& Aggregate() { def_->traits.aggregate = true; return *this; }
  OpBuilder& Elementwise() { def_->traits.elementwise = true; return *this; }
  OpBuilder& MayAliasInput0() { def_->traits.may_alias_input0 = true; return *this; }
  OpBuilder& AllowsUninitializedInput() { def_->traits.uninitialized_input = true; return *this; }
  OpBuilder& ReadsVariable() { def_->traits.reads_variable = true; return *this; }
  OpBuilder& OrderDependent() { def_->traits.order_dependent = true; return *this; }
  OpBuilder& DistributedCommunication() { def_->traits.distributed_communication = true; return *this; }
  OpBuilder& Free() { def_->traits.cost = Cost::kNothing; return *this; }
  OpBuilder& ControlTrigger() { def_->traits.control_trigger = true; return *this; }
  OpBuilder& Is(Flow flow) { def_->traits.flow = flow; return *this; }
  OpBuilder& Heavy() { def_->traits.cost = Cost::kHeavy; return *this; }
  // clang-format on

 private:
  OpDef* def_;
};

}  // namespace penstock
