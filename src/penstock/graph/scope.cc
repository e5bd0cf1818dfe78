#include "penstock/graph/scope.h"

#include "penstock/graph/graph_scope.h"

namespace penstock {
namespace {

Scope& ScopeOf(std::span<const Out> inputs, std::string_view op) {
  for (const Out& input : inputs) {
    if (input) return *input.scope;
  }
  throw Internal("op ", op, " is called without any tensor");
}

template <class T>
Tensor Filled(double value) {
  return Tensor(static_cast<T>(value));
}

}  // namespace

Outs GraphScope::Call(std::string_view op, std::span<const Out> inputs, AttrMap attrs, std::span<const Out> controls) {
  NodeSpec spec;
  spec.op = op;
  spec.name = graph_->UniqueName(prefix_ + std::string(op));
  for (const Out& input : inputs) {
    if (!input) throw Internal("op ", op, " is called with a missing tensor");
    spec.inputs.push_back(At(input));
  }
  for (const Out& control : controls) spec.control_inputs.push_back(At(control).node);
  if (colocate_) {
    const AttrValue* groups = colocate_->attrs().Find("_class");
    attrs.Set("_class", groups ? *groups : AttrValue(std::vector<std::string>{"loc:@" + colocate_->name()}));
    spec.device = colocate_->device();
  }
  spec.attrs = std::move(attrs);
  Node* node = graph_->AddNode(std::move(spec));
  Outs outs;
  for (int i = 0; i < node->num_outputs(); ++i) outs.push_back(From({node, i}));
  return outs;
}

DataType Out::type() const { return BaseType(scope->Type(*this)); }
const PartialShape& Out::shape() const { return scope->Shape(*this); }

Out Scope::Const(Tensor value) {
  const DataType dtype = value.dtype();
  return Call("Const", {}, {{"value", std::move(value)}, {"dtype", dtype}})[0];
}

Out Scope::ScalarOf(DataType type, double value) {
  switch (type) {
    case DT_FLOAT: return Const(Filled<float>(value));
    case DT_DOUBLE: return Const(Filled<double>(value));
    case DT_HALF: return Const(Filled<Half>(value));
    case DT_BFLOAT16: return Const(Filled<BFloat16>(value));
    case DT_COMPLEX64: return Const(Tensor(Complex64(static_cast<float>(value), 0)));
    case DT_COMPLEX128: return Const(Tensor(Complex128(value, 0)));
    case DT_INT32: return Const(Filled<int32_t>(value));
    case DT_INT64: return Const(Filled<int64_t>(value));
    case DT_INT16: return Const(Filled<int16_t>(value));
    case DT_INT8: return Const(Filled<int8_t>(value));
    case DT_UINT8: return Const(Filled<uint8_t>(value));
    case DT_UINT16: return Const(Filled<uint16_t>(value));
    case DT_UINT32: return Const(Filled<uint32_t>(value));
    case DT_UINT64: return Const(Filled<uint64_t>(value));
    case DT_BOOL: return Const(Tensor(value != 0));
    default: throw InvalidArgument("no number of type ", ToString(type));
  }
}

Outs CallOp(std::string_view op, std::span<const Out> inputs, AttrMap attrs) {
  return ScopeOf(inputs, op).Call(op, inputs, std::move(attrs));
}

Out Call(std::string_view op, std::initializer_list<Out> inputs, AttrMap attrs) {
  const std::span<const Out> span(inputs.begin(), inputs.size());
  return ScopeOf(span, op).Call(op, span, std::move(attrs))[0];
}

Out operator+(Out a, Out b) { return Call("AddV2", {a, b}); }
Out operator-(Out a, Out b) { return Call("Sub", {a, b}); }
Out operator*(Out a, Out b) { return Call("Mul", {a, b}); }
Out operator/(Out a, Out b) { return Call("RealDiv", {a, b}); }
Out operator-(Out a) { return Call("Neg", {a}); }
Out operator+(Out a, double b) { return a + a.scope->ScalarOf(a.type(), b); }
Out operator-(Out a, double b) { return a - a.scope->ScalarOf(a.type(), b); }
Out operator*(Out a, double b) { return a * a.scope->ScalarOf(a.type(), b); }
Out operator/(Out a, double b) { return a / a.scope->ScalarOf(a.type(), b); }
Out operator+(double a, Out b) { return b.scope->ScalarOf(b.type(), a) + b; }
Out operator-(double a, Out b) { return b.scope->ScalarOf(b.type(), a) - b; }
Out operator*(double a, Out b) { return b.scope->ScalarOf(b.type(), a) * b; }
Out operator/(double a, Out b) { return b.scope->ScalarOf(b.type(), a) / b; }
Out Square(Out x) { return Call("Square", {x}); }
Out Sqrt(Out x) { return Call("Sqrt", {x}); }
Out Exp(Out x) { return Call("Exp", {x}); }
Out Log(Out x) { return Call("Log", {x}); }
Out Conj(Out x) { return IsComplex(x.type()) ? Call("Conj", {x}) : x; }
Out Cast(Out x, DataType type) { return x.type() == type ? x : Call("Cast", {x}, {{"DstT", type}}); }

Out ShapeOf(Out x, DataType type) {
  const PartialShape& shape = x.shape();
  if (shape.fully_known()) {
    Tensor value(type, Shape({shape.rank()}));
    for (int i = 0; i < shape.rank(); ++i) {
      if (type == DT_INT32) {
        value.mutable_data<int32_t>()[i] = static_cast<int32_t>(shape[i]);
      } else {
        value.mutable_data<int64_t>()[i] = shape[i];
      }
    }
    return x.scope->Const(std::move(value));
  }
  return Call("Shape", {x}, {{"out_type", type}});
}

Out Reshape(Out x, Out shape) { return Call("Reshape", {x, shape}); }
Out ReshapeLike(Out x, Out like) { return Reshape(x, ShapeOf(like)); }
Out ZerosLike(Out x) { return Call("ZerosLike", {x}); }
Out OnesLike(Out x) { return Call("OnesLike", {x}); }
Out Identity(Out x) { return Call("Identity", {x}); }
Out Sum(Out x, Out axes, bool keep_dims) { return Call("Sum", {x, axes}, {{"keep_dims", keep_dims}}); }
Out Sum(Out x, std::vector<int32_t> axes, bool keep_dims) {
  return Sum(x, ConstVector(*x.scope, std::move(axes)), keep_dims);
}
Out Transpose(Out x, Out permutation) { return Call("Transpose", {x, permutation}); }
Out Where(Out condition, Out x, Out y) { return Call("SelectV2", {condition, x, y}); }
Out ConstVector(Scope& scope, std::vector<int32_t> values) { return scope.Const(Tensor::Vector(values)); }

}  // namespace penstock
