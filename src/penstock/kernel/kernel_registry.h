// Kernels by op, device type and type constraints. Filled once from explicit lists (kernels/cpu/all.cc).
//
//   kernels.Add<Cumsum>("Cumsum", Numbers{}).HostInput(1);   // template <class T> struct Cumsum, one for each type
//   kernels.Add<Concat>("ConcatV2");                         // one kernel for all types
//
// A kernel is a class that derives from Kernel, or simply has `void operator()(KernelContext&) const`; its constructor
// takes `const NodeView&` (and reads attributes once) or nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/kernel/kernel.h"
#include "penstock/kernel/kernel_context.h"

namespace penstock {

struct KernelDef {
  std::string op, device_type;
  std::vector<std::pair<std::string, std::vector<DataType>>> constraints;  // attribute -> allowed types
  std::vector<int> host_inputs, host_outputs;  // flat or declared argument indices that live in host memory
  int priority = 0;
  std::unique_ptr<Kernel> (*make)(const NodeView&) = nullptr;
};

template <class F>
class FunctorKernel final : public Kernel {
 public:
  explicit FunctorKernel(const NodeView& node) : f_(Make(node)) {}
  void Run(KernelContext& k) override { f_(k); }
  const ElementwiseLoop* elementwise() const override {
    if constexpr (requires(const F& f) { f.elementwise(); }) {
      return f_.elementwise();
    } else {
      return nullptr;
    }
  }

 private:
  static F Make(const NodeView& node) {
    if constexpr (std::is_constructible_v<F, const NodeView&>) {
      return F(node);
    } else {
      return F();
    }
  }
  F f_;
};

// Refines the kernels that one Add made.
class KernelBuilder {
 public:
  KernelBuilder(std::vector<KernelDef*> defs) : defs_(std::move(defs)) {}  // NOLINT
  KernelBuilder& HostInput(int arg);
  KernelBuilder& HostOutput(int arg);
  KernelBuilder& Priority(int priority);
  // A further constraint on a type attribute.
  KernelBuilder& Only(std::string_view type_attr, std::vector<DataType> types);

 private:
  std::vector<KernelDef*> defs_;
};

class KernelRegistry {
 public:
  // The device type that following Adds are for.
  void ForDevice(std::string_view type) { device_type_ = type; }

  template <class K>
  KernelBuilder Add(std::string_view op) {
    return KernelBuilder({AddDef(op, {}, &MakeKernel<K>)});
  }
  template <template <class> class K, class... Ts>
  KernelBuilder Add(std::string_view op, Types<Ts...>, std::string_view type_attr = "T") {
    return KernelBuilder({AddDef(op, {{std::string(type_attr), {kTypeOf<Ts>}}}, &MakeKernel<K<Ts>>)...});
  }
  // One kernel class K for all the types in the list.
  template <class K, class... Ts>
  KernelBuilder Add(std::string_view op, Types<Ts...>, std::string_view type_attr = "T") {
    return KernelBuilder({AddDef(op, {{std::string(type_attr), {kTypeOf<Ts>...}}}, &MakeKernel<K>)});
  }

  // The kernel of highest priority that fits; null if none.
  const KernelDef* Find(std::string_view device_type, const OpDef& op, const AttrMap& attrs) const;
  // Makes it. InvalidArgument "No OpKernel was registered to support Op 'X' ..." with the list of those that exist.
  std::unique_ptr<Kernel> Make(std::string_view device_type, const NodeView& node) const;
  bool HasKernel(std::string_view op) const { return by_op_.contains(op); }
  // Device types that have a kernel for this op with these attributes.
  std::vector<std::string> DevicesFor(const OpDef& op, const AttrMap& attrs) const;
  std::string DescribeKernels(std::string_view op) const;
  static std::string DescribeAttrs(const AttrMap& attrs);
  std::vector<const KernelDef*> All() const;

  static KernelRegistry& Global();

 private:
  template <class K>
  static std::unique_ptr<Kernel> MakeKernel(const NodeView& node) {
    if constexpr (std::is_base_of_v<Kernel, K>) {
      if constexpr (std::is_constructible_v<K, const NodeView&>) {
        return std::make_unique<K>(node);
      } else {
        return std::make_unique<K>();
      }
    } else {
      return std::make_unique<FunctorKernel<K>>(node);
    }
  }
  KernelDef* AddDef(std::string_view op, std::vector<std::pair<std::string, std::vector<DataType>>> constraints,
                    std::unique_ptr<Kernel> (*make)(const NodeView&));

  std::string device_type_ = "CPU";
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  std::unordered_map<std::string, std::vector<std::unique_ptr<KernelDef>>, Hash, std::equal_to<>> by_op_;
};

}  // namespace penstock
