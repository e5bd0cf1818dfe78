// Scope: where ops are called. One implementation appends nodes to a graph, another runs them at once; a gradient
// function written against it serves both.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/op/attr_value.h"
#include "penstock/op/op_def.h"

namespace penstock {

class Scope;

// A tensor in some scope: a graph's output or an eager value. An empty Out (no scope) is "no value", e.g. no gradient.
struct Out {
  Scope* scope = nullptr;
  int64_t id = 0;  // of the scope's own numbering (a graph's node id)
  int index = 0;
  explicit operator bool() const { return scope != nullptr; }
  DataType type() const;
  const PartialShape& shape() const;  // as far as known
};
using Outs = std::vector<Out>;

class Scope {
 public:
  virtual ~Scope() = default;
  // Adds or runs `op` and returns its outputs. Errors as Graph::AddNode or the kernel's.
  virtual Outs Call(std::string_view op, std::span<const Out> inputs, AttrMap attrs = {},
                    std::span<const Out> controls = {}) = 0;
  virtual DataType Type(Out value) const = 0;
  virtual const PartialShape& Shape(Out value) const = 0;
  // The value, if it is known now: always when running at once, for constants in a graph.
  virtual const Tensor* Constant(Out value) = 0;
  // The type of the variable that a resource handle names; DT_INVALID if it is not known.
  virtual DataType TypeBehind(Out value) const { return DT_INVALID; }
  // Tells what is built in one go from the rest: arrays of gradients are found by it.
  virtual std::string name() const { return "gradients"; }

  Out Const(Tensor value);  // a Const node, or the value itself
  template <class T>
  Out Scalar(T value) {
    return Const(Tensor(value));
  }
  Out ScalarOf(DataType type, double value);  // a scalar of that type
};

// One output of a called op; the scope is that of the first input that has one.
Outs CallOp(std::string_view op, std::span<const Out> inputs, AttrMap attrs = {});
Out Call(std::string_view op, std::initializer_list<Out> inputs, AttrMap attrs = {});

// Arithmetic on Outs reads like the formula. Numbers become scalars of the other side's type.
Out operator+(Out a, Out b);
Out operator-(Out a, Out b);
Out operator*(Out a, Out b);
Out operator/(Out a, Out b);  // RealDiv
Out operator-(Out a);
Out operator+(Out a, double b);
Out operator-(Out a, double b);
Out operator*(Out a, double b);
Out operator/(Out a, double b);
Out operator+(double a, Out b);
Out operator-(double a, Out b);
Out operator*(double a, Out b);
Out operator/(double a, Out b);
Out Square(Out x);
Out Sqrt(Out x);
Out Exp(Out x);
Out Log(Out x);
Out Conj(Out x);                               // x itself unless complex
Out Cast(Out x, DataType type);                // x itself if it has that type
Out ShapeOf(Out x, DataType type = DT_INT32);  // a constant when the shape is known
Out Reshape(Out x, Out shape);
Out ReshapeLike(Out x, Out like);
Out ZerosLike(Out x);
Out OnesLike(Out x);
Out Identity(Out x);
Out Sum(Out x, Out axes, bool keep_dims = false);
Out Sum(Out x, std::vector<int32_t> axes, bool keep_dims = false);
Out Transpose(Out x, Out permutation);
Out Where(Out condition, Out x, Out y);  // SelectV2
Out ConstVector(Scope& scope, std::vector<int32_t> values);

}  // namespace penstock
