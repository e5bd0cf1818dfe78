// Handles of iterators as text, which functions on other devices and feeds can be given.
#pragma once

#include <string>

#include "penstock/base/strings.h"
#include "penstock/data/dataset.h"
#include "penstock/kernel/kernel_context.h"

namespace penstock {

// A handle as text: its parts, one a line.
template <class R>
struct ToStringHandle {
  void operator()(KernelContext& k) const {
    (void)k.Lookup<R>(0);
    const ResourceHandle& h = k.handle(0);
    k.SetOutput(0, Tensor(TString(StrCat(h.device, "\n", h.container, "\n", h.name))));
  }
};

// InvalidArgument: the text is no handle, or one of another device, or of an iterator with other elements. NotFound.
template <class R, const char* kTypeName>
class FromStringHandle {
 public:
  explicit FromStringHandle(const NodeView& node)
      : spec_{node.attr<std::vector<DataType>>("output_types"), node.attr<std::vector<PartialShape>>("output_shapes")} {
  }
  void operator()(KernelContext& k) const {
    const auto parts = StrSplit(k.Scalar<TString>(0).view(), '\n');
    k.Require(parts.size() == 3, "Could not parse string_handle as a valid ResourceHandle");
    k.Require(parts[0] == k.device().name(), "Attempted create an iterator on device \"", k.device().name(),
              "\" from handle defined on device \"", parts[0], "\"");
    const Ref<R> iterator = k.resources().template FindAs<R>(parts[1], parts[2]);
    if (!iterator) throw NotFound("Resource ", parts[1], "/", parts[2], "/", kTypeName, " does not exist.");
    if (!spec_.types.empty()) data::ElementSpec{spec_.types, {}}.RequireCompatible(iterator->spec());
    if (!spec_.shapes.empty()) spec_.RequireCompatible(iterator->spec());
    *k.Output(0, Shape()).mutable_data<ResourceHandle>() = {
        std::string(parts[0]), std::string(parts[1]), std::string(parts[2]), kTypeName, {}, iterator};
  }

 private:
  const data::ElementSpec spec_;
};

}  // namespace penstock
