// AttrValue and OpDef.
#include "penstock/io/messages.h"

namespace penstock {
namespace {

FuncRef FunctionFrom(const tensorflow::NameAttrList& proto) { return {proto.name(), FromProto(proto.attr())}; }

void ToFunction(const FuncRef& function, tensorflow::NameAttrList* proto) {
  proto->set_name(function.name);
  ToProto(function.attrs, proto->mutable_attr());
}

AttrValue ListFrom(const tensorflow::AttrValue::ListValue& list) {
  if (list.s_size()) return std::vector<std::string>(list.s().begin(), list.s().end());
  if (list.i_size()) return std::vector<int64_t>(list.i().begin(), list.i().end());
  if (list.f_size()) return std::vector<float>(list.f().begin(), list.f().end());
  if (list.b_size()) return std::vector<bool>(list.b().begin(), list.b().end());
  if (list.type_size()) {
    std::vector<DataType> types;
    for (const int t : list.type()) types.push_back(static_cast<DataType>(t));
    return types;
  }
  if (list.shape_size()) {
    std::vector<PartialShape> shapes;
    for (const auto& shape : list.shape()) shapes.push_back(FromProto(shape));
    return shapes;
  }
  if (list.tensor_size()) {
    std::vector<Tensor> tensors;
    for (const auto& tensor : list.tensor()) tensors.push_back(FromProto(tensor));
    return tensors;
  }
  if (list.func_size()) {
    std::vector<FuncRef> functions;
    for (const auto& function : list.func()) functions.push_back(FunctionFrom(function));
    return functions;
  }
  return EmptyList();
}

struct Writer {
  tensorflow::AttrValue* out;

  void operator()(std::monostate) const {}
  void operator()(const std::string& s) const { out->set_s(s); }
  void operator()(int64_t i) const { out->set_i(i); }
  void operator()(float f) const { out->set_f(f); }
  void operator()(bool b) const { out->set_b(b); }
  void operator()(DataType t) const { out->set_type(static_cast<tensorflow::DataType>(t)); }
  void operator()(const PartialShape& s) const { ToProto(s, out->mutable_shape()); }
  void operator()(const std::shared_ptr<const Tensor>& t) const { ToProto(*t, out->mutable_tensor()); }
  void operator()(const FuncRef& f) const { ToFunction(f, out->mutable_func()); }
  void operator()(const AttrPlaceholder& p) const { out->set_placeholder(p.name); }
  void operator()(const EmptyList&) const { out->mutable_list(); }
  template <class E>
  void operator()(const std::vector<E>& items) const {
    auto* list = out->mutable_list();
    for (const auto& item : items) Add(E(item), list);
  }
  using List = tensorflow::AttrValue::ListValue;
  static void Add(const std::string& s, List* list) { list->add_s(s); }
  static void Add(int64_t i, List* list) { list->add_i(i); }
  static void Add(float f, List* list) { list->add_f(f); }
  static void Add(bool b, List* list) { list->add_b(b); }
  static void Add(DataType t, List* list) { list->add_type(static_cast<tensorflow::DataType>(t)); }
  static void Add(const PartialShape& s, List* list) { ToProto(s, list->add_shape()); }
  static void Add(const Tensor& t, List* list) { ToProto(t, list->add_tensor()); }
  static void Add(const FuncRef& f, List* list) { ToFunction(f, list->add_func()); }
};

ArgDef ArgFrom(const tensorflow::OpDef::ArgDef& proto) {
  ArgDef arg;
  arg.name = proto.name();
  arg.type = static_cast<DataType>(proto.type());
  arg.type_attr = proto.type_attr();
  arg.number_attr = proto.number_attr();
  arg.type_list_attr = proto.type_list_attr();
  arg.is_ref = proto.is_ref();
  return arg;
}

void ToArg(const ArgDef& arg, tensorflow::OpDef::ArgDef* proto) {
  proto->set_name(arg.name);
  proto->set_type(static_cast<tensorflow::DataType>(arg.type));
  proto->set_type_attr(arg.type_attr);
  proto->set_number_attr(arg.number_attr);
  proto->set_type_list_attr(arg.type_list_attr);
  proto->set_is_ref(arg.is_ref);
}

}  // namespace

AttrValue FromProto(const tensorflow::AttrValue& proto) {
  switch (proto.value_case()) {
    case tensorflow::AttrValue::kS: return proto.s();
    case tensorflow::AttrValue::kI: return int64_t{proto.i()};
    case tensorflow::AttrValue::kF: return proto.f();
    case tensorflow::AttrValue::kB: return proto.b();
    case tensorflow::AttrValue::kType: return static_cast<DataType>(proto.type());
    case tensorflow::AttrValue::kShape: return FromProto(proto.shape());
    case tensorflow::AttrValue::kTensor: return FromProto(proto.tensor());
    case tensorflow::AttrValue::kList: return ListFrom(proto.list());
    case tensorflow::AttrValue::kFunc: return FunctionFrom(proto.func());
    case tensorflow::AttrValue::kPlaceholder: return AttrPlaceholder{proto.placeholder()};
    case tensorflow::AttrValue::VALUE_NOT_SET: break;
  }
  return AttrValue();
}

void ToProto(const AttrValue& value, tensorflow::AttrValue* proto) { std::visit(Writer{proto}, value.v); }

AttrMap FromProto(const ProtoAttrs& proto) {
  AttrMap attrs;
  for (const auto& [name, value] : proto) {
    try {
      attrs.Set(name, FromProto(value));
    } catch (const Error& e) {
      throw MakeError(e.code(), "attribute '", name, "': ", e.what());
    }
  }
  return attrs;
}

void ToProto(const AttrMap& attrs, ProtoAttrs* proto) {
  for (const auto& [name, value] : attrs) ToProto(value, &(*proto)[name]);
}

OpDef FromProto(const tensorflow::OpDef& proto) {
  OpDef op;
  op.name = proto.name();
  for (const auto& arg : proto.input_arg()) op.inputs.push_back(ArgFrom(arg));
  for (const auto& arg : proto.output_arg()) op.outputs.push_back(ArgFrom(arg));
  for (const auto& attr : proto.attr()) {
    AttrDef& added = op.attrs.emplace_back();
    added.name = attr.name();
    added.kind = attr.type();
    if (attr.has_default_value()) added.default_value = FromProto(attr.default_value());
    if (attr.has_allowed_values()) added.allowed = FromProto(attr.allowed_values());
    added.has_minimum = attr.has_minimum();
    added.minimum = attr.minimum();
  }
  op.control_outputs.assign(proto.control_output().begin(), proto.control_output().end());
  op.doc = proto.description().empty() ? proto.summary() : proto.description();
  op.deprecated_since = proto.deprecation().version();
  op.deprecated_why = proto.deprecation().explanation();
  op.traits.stateful = proto.is_stateful();
  op.traits.commutative = proto.is_commutative();
  op.traits.aggregate = proto.is_aggregate();
  op.traits.uninitialized_input = proto.allows_uninitialized_input();
  op.traits.distributed_communication = proto.is_distributed_communication();
  return op;
}

void ToProto(const OpDef& op, tensorflow::OpDef* proto) {
  proto->set_name(op.name);
  for (const ArgDef& arg : op.inputs) ToArg(arg, proto->add_input_arg());
  for (const ArgDef& arg : op.outputs) ToArg(arg, proto->add_output_arg());
  for (const AttrDef& attr : op.attrs) {
    auto* added = proto->add_attr();
    added->set_name(attr.name);
    added->set_type(attr.kind);
    if (attr.has_default()) ToProto(attr.default_value, added->mutable_default_value());
    if (!attr.allowed.empty()) ToProto(attr.allowed, added->mutable_allowed_values());
    added->set_has_minimum(attr.has_minimum);
    added->set_minimum(attr.minimum);
  }
  for (const std::string& name : op.control_outputs) proto->add_control_output(name);
  proto->set_description(op.doc);
  if (op.deprecated_since > 0) {
    proto->mutable_deprecation()->set_version(op.deprecated_since);
    proto->mutable_deprecation()->set_explanation(op.deprecated_why);
  }
  proto->set_is_stateful(op.traits.stateful);
  proto->set_is_commutative(op.traits.commutative);
  proto->set_is_aggregate(op.traits.aggregate);
  proto->set_allows_uninitialized_input(op.traits.uninitialized_input);
  proto->set_is_distributed_communication(op.traits.distributed_communication);
}

}  // namespace penstock
