// Attribute values, op definitions and functions' references, from and to Python.
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "penstock/io/convert.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"
#include "penstock/ops/known_ops.h"

namespace penstock::python {
namespace {

struct PyFunc {
  FuncRef func;
};
struct PyAttrProto {
  AttrValue value;
};

std::string Bytes(nb::handle value) {
  if (PyBytes_Check(value.ptr())) return {PyBytes_AS_STRING(value.ptr()), size_t(PyBytes_GET_SIZE(value.ptr()))};
  if (PyUnicode_Check(value.ptr()))
    return nb::cast<std::string>(nb::steal<nb::object>(PyUnicode_AsUTF8String(value.ptr())));
  throw nb::type_error("bytes or str expected");
}

template <class E, class Convert>
AttrValue List(nb::handle value, Convert convert) {
  std::vector<E> list;
  for (nb::handle item : value) list.push_back(convert(item));
  return list;
}

AttrValue Guess(nb::handle value) {
  if (nb::isinstance<PyAttrProto>(value)) return nb::cast<PyAttrProto&>(value).value;
  if (nb::isinstance<PyFunc>(value)) return nb::cast<PyFunc&>(value).func;
  if (PyBool_Check(value.ptr())) return nb::cast<bool>(value);
  if (PyLong_Check(value.ptr())) return nb::cast<int64_t>(value);
  if (PyFloat_Check(value.ptr())) return static_cast<float>(nb::cast<double>(value));
  if (PyBytes_Check(value.ptr()) || PyUnicode_Check(value.ptr())) return Bytes(value);
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr())) {
    if (nb::len(value) == 0) return EmptyList();
    nb::handle first = value[0];
    if (PyLong_Check(first.ptr())) return List<int64_t>(value, [](nb::handle h) { return nb::cast<int64_t>(h); });
    return List<std::string>(value, Bytes);
  }
  throw nb::type_error("no attribute value");
}

}  // namespace

nb::object ShapeToPython(const PartialShape& shape) {
  if (!shape.known_rank()) return nb::none();
  nb::list dims;
  for (int64_t d : shape.dims()) dims.append(d < 0 ? int64_t{-1} : d);
  return dims;
}

PartialShape ShapeFromPython(nb::handle value) {
  if (value.is_none()) return PartialShape();
  std::vector<int64_t> dims;
  for (nb::handle d : value) dims.push_back(d.is_none() ? -1 : nb::cast<int64_t>(d));
  return PartialShape(std::move(dims));
}

AttrValue AttrFromPython(nb::handle value, const std::string& kind) {
  if (nb::isinstance<PyAttrProto>(value)) return nb::cast<PyAttrProto&>(value).value;
  if (kind == "int") return nb::cast<int64_t>(value);
  if (kind == "float") return static_cast<float>(nb::cast<double>(value));
  if (kind == "bool") return nb::cast<bool>(value);
  if (kind == "string") return Bytes(value);
  if (kind == "type") return DataType(nb::cast<int>(value));
  if (kind == "shape") return ShapeFromPython(value);
  if (kind == "tensor") return TensorFromHandle(value);
  if (kind == "func") return nb::cast<PyFunc&>(value).func;
  if (kind == "list(int)") return List<int64_t>(value, [](nb::handle h) { return nb::cast<int64_t>(h); });
  if (kind == "list(float)")
    return List<float>(value, [](nb::handle h) { return static_cast<float>(nb::cast<double>(h)); });
  if (kind == "list(bool)") return List<bool>(value, [](nb::handle h) { return nb::cast<bool>(h); });
  if (kind == "list(string)") return List<std::string>(value, Bytes);
  if (kind == "list(type)") return List<DataType>(value, [](nb::handle h) { return DataType(nb::cast<int>(h)); });
  if (kind == "list(shape)") return List<PartialShape>(value, ShapeFromPython);
  if (kind == "list(tensor)") return List<Tensor>(value, TensorFromHandle);
  if (kind == "list(func)") return List<FuncRef>(value, [](nb::handle h) { return nb::cast<PyFunc&>(h).func; });
  return Guess(value);
}

namespace {

struct ToPython {
  nb::object operator()(std::monostate) const { return nb::none(); }
  nb::object operator()(const std::string& s) const { return ToBytes(s); }
  nb::object operator()(int64_t i) const { return nb::int_(i); }
  nb::object operator()(float f) const { return nb::float_(f); }
  nb::object operator()(bool b) const { return nb::bool_(b); }
  nb::object operator()(DataType t) const { return nb::int_(static_cast<int>(t)); }
  nb::object operator()(const PartialShape& s) const { return ShapeToPython(s); }
  nb::object operator()(const std::shared_ptr<const Tensor>& t) const { return TensorToHandle(*t); }
  nb::object operator()(const Tensor& t) const { return TensorToHandle(t); }
  nb::object operator()(const FuncRef& f) const { return nb::cast(PyFunc{f}); }
  nb::object operator()(const AttrPlaceholder& p) const { return nb::str(("$" + p.name).c_str()); }
  nb::object operator()(const EmptyList&) const { return nb::list(); }
  template <class E>
  nb::object operator()(const std::vector<E>& list) const {
    nb::list out;
    for (const auto& item : list) out.append((*this)(E(item)));
    return out;
  }
};

}  // namespace

nb::object AttrToPython(const AttrValue& value) { return std::visit(ToPython(), value.v); }

namespace {

// Asks an op's shape function whether it stretches an input of one element to the size of another input.
class StretchProbe : public ShapeContext {
 public:
  explicit StretchProbe(const OpDef& def) : one_{PartialShape({1}), {}}, two_{PartialShape({2}), {}} {
    op_ = &def;
    attrs_ = &defaults_;
    for (const AttrDef& attr : def.attrs) {
      if (attr.has_default()) defaults_.Set(attr.name, attr.default_value);
    }
    inputs_.assign(def.inputs.size(), &one_);
    inputs_.back() = &two_;
    outputs_.resize(def.outputs.size());
  }
  bool Stretches() {
    try {
      op_->shape(*this);
    } catch (const Error&) {
      return false;  // the inputs must have one shape
    }
    return outputs_[0].shape == two_.shape;
  }

 private:
  AttrMap defaults_;
  TensorInfo one_, two_;
};

bool Broadcasts(const OpDef& def) {
  return def.traits.elementwise && def.inputs.size() > 1 && def.shape && StretchProbe(def).Stretches();
}

}  // namespace

void BindAttrs(nb::module_& m) {
  nb::class_<PyFunc>(m, "Func")
      .def(
          "__init__",
          [](PyFunc* self, const std::string& name, nb::dict attrs) {
            new (self) PyFunc();
            self->func.name = name;
            for (auto [key, value] : attrs) {
              self->func.attrs.Set(Bytes(key), Guard([&] { return ParseAttrValue(Bytes(value)); }));
            }
          },
          nb::arg("name"), nb::arg("attrs") = nb::dict())
      .def_prop_ro("name", [](const PyFunc& f) { return f.func.name; })
      .def_prop_ro("attrs", [](const PyFunc& f) {
        nb::dict attrs;
        for (const auto& [name, value] : f.func.attrs) attrs[name.c_str()] = ToBytes(SerializeAttrValue(value));
        return attrs;
      });
  nb::class_<PyAttrProto>(m, "AttrProto").def("__init__", [](PyAttrProto* self, nb::bytes proto) {
    new (self) PyAttrProto{Guard([&] { return ParseAttrValue({proto.c_str(), proto.size()}); })};
  });
  nb::class_<ArgDef>(m, "ArgDef")
      .def_ro("name", &ArgDef::name)
      .def_prop_ro("type", [](const ArgDef& a) { return static_cast<int>(a.type); })
      .def_ro("type_attr", &ArgDef::type_attr)
      .def_ro("number_attr", &ArgDef::number_attr)
      .def_ro("type_list_attr", &ArgDef::type_list_attr)
      .def_ro("is_ref", &ArgDef::is_ref);
  nb::class_<AttrDef>(m, "AttrDef")
      .def_ro("name", &AttrDef::name)
      .def_ro("type", &AttrDef::kind)
      .def_prop_ro("has_default", &AttrDef::has_default)
      .def_prop_ro("default", [](const AttrDef& a) { return AttrToPython(a.default_value); })
      .def_prop_ro("allowed", [](const AttrDef& a) { return AttrToPython(a.allowed); })
      .def_ro("has_minimum", &AttrDef::has_minimum)
      .def_ro("minimum", &AttrDef::minimum);
  const auto list = [](const auto& items) {
    nb::list out;
    for (const auto& item : items) out.append(nb::cast(&item, nb::rv_policy::reference));
    return out;
  };
  nb::class_<OpDef>(m, "OpDef")
      .def_ro("name", &OpDef::name)
      .def_prop_ro("inputs", [list](const OpDef& d) { return list(d.inputs); })
      .def_prop_ro("outputs", [list](const OpDef& d) { return list(d.outputs); })
      .def_prop_ro("attrs", [list](const OpDef& d) { return list(d.attrs); })
      .def_prop_ro("control_outputs",
                   [](const OpDef& d) {
                     nb::list names;
                     for (const auto& name : d.control_outputs) names.append(nb::str(name.c_str()));
                     return names;
                   })
      .def_prop_ro("is_stateful", [](const OpDef& d) { return d.traits.stateful; })
      .def_prop_ro("is_commutative", [](const OpDef& d) { return d.traits.commutative; })
      .def_prop_ro("is_elementwise", [](const OpDef& d) { return d.traits.elementwise; })
      .def_prop_ro("broadcasts", Broadcasts)
      .def_prop_ro("has_kernel", [](const OpDef& d) { return KernelRegistry::Global().HasKernel(d.name); })
      .def_prop_ro("has_gradient", [](const OpDef& d) { return d.gradient != nullptr; })
      .def_ro("doc", &OpDef::doc)
      .def_prop_ro("deprecation",
                   [](const OpDef& d) -> nb::object {
                     if (!d.deprecated_since) return nb::none();
                     return nb::make_tuple(d.deprecated_since, nb::str(d.deprecated_why.c_str()));
                   })
      .def_prop_ro("newer_attrs",
                   [](const OpDef& d) {
                     nb::list names;
                     for (const auto& attr : d.attrs) {
                       if (IsNewerAttr(d.name, attr.name)) names.append(nb::str(attr.name.c_str()));
                     }
                     return names;
                   })
      .def("proto", [](const OpDef& d) { return ToBytes(SerializeOpDef(d)); });
  m.def("op_def", [](const std::string& name) { return OpRegistry::Global().Find(name); }, nb::rv_policy::reference);
  m.def("import_known_ops", [] {
    nb::list names;
    for (const std::string& name : KnownOpNames()) names.append(nb::str(name.c_str()));
    return names;
  });
  m.def("op_names", [] {
    nb::list names;
    for (const OpDef* def : OpRegistry::Global().All()) names.append(nb::str(def->name.c_str()));
    return names;
  });
}

}  // namespace penstock::python
