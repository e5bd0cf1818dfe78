// Maps from tensors to tensors.
#include <string>
#include <utility>
#include <vector>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/data_flow/tensor_list.h"

namespace penstock {
namespace {

class TensorMap final : public VariantValue {
 public:
  std::string_view TypeName() const override { return "tensorflow::TensorMap"; }
  std::string DebugString() const override { return "TensorMap"; }
  Ref<VariantValue> ZerosLike() const override { return MakeRef<TensorMap>(); }
  // The keys of both; values of a key that both have are added.
  Ref<VariantValue> Add(const VariantValue& other) const override {
    const auto* map = dynamic_cast<const TensorMap*>(&other);
    if (!map) throw InvalidArgument("Trying to add a map to something else: ", other.DebugString());
    Ref<TensorMap> sum = MakeRef<TensorMap>();
    sum->items = items;
    for (const auto& [key, value] : map->items) {
      const size_t at = sum->Find(key);
      if (at == sum->items.size()) {
        sum->items.emplace_back(key, value);
      } else {
        sum->items[at].second = AddElements(sum->items[at].second, value);
      }
    }
    return sum;
  }

  // The place of a key, or the number of places. Maps are small: as with TensorFlow's, nobody keeps millions in one.
  size_t Find(const Tensor& key) const {
    size_t at = 0;
    while (at < items.size() && !Same(items[at].first, key)) ++at;
    return at;
  }

  std::vector<std::pair<Tensor, Tensor>> items;

 private:
  static bool Same(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
    if (a.dtype() == DT_STRING) {
      return std::ranges::equal(a.flat<TString>(), b.flat<TString>(), {}, &TString::view, &TString::view);
    }
    return std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
  }
};

const TensorMap& Map(const KernelContext& k) {
  k.Require(k.shape(0).rank() == 0, "Input map must be a scalar. Saw: ", k.shape(0));
  const Variant& variant = *k.input(0).data<Variant>();
  const auto* map = variant.as<TensorMap>();
  k.Require(map != nullptr, "Input handle is not a map. Saw: '",
            variant.empty() ? "<unset>" : variant.get()->DebugString(), "'");
  return *map;
}

// Input 1, which may be a key.
const Tensor& Key(const KernelContext& k) {
  const DataType type = k.input(1).dtype();
  k.Require(type != DT_VARIANT && type != DT_RESOURCE, "a ", type, " tensor cannot be a key");
  return k.input(1);
}

void SetMap(KernelContext& k, Ref<TensorMap> map) {
  Tensor out(DT_VARIANT, Shape());
  *out.mutable_data<Variant>() = Variant(std::move(map));
  k.SetOutput(0, std::move(out));
}

Ref<TensorMap> Copied(const TensorMap& map) {
  Ref<TensorMap> copy = MakeRef<TensorMap>();
  copy->items = map.items;
  return copy;
}

struct MakeEmpty {
  void operator()(KernelContext& k) const { SetMap(k, MakeRef<TensorMap>()); }
};

struct Size {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(static_cast<int32_t>(Map(k).items.size()))); }
};

struct Lookup {
  void operator()(KernelContext& k) const {
    const TensorMap& map = Map(k);
    const size_t at = map.Find(Key(k));
    k.Require(at < map.items.size(), "Trying to lookup non-existent key. Could not find key \"",
              k.input(1).num_elements() > 0 ? k.input(1).ElementToString(0) : "", "\".");
    const Tensor& value = map.items[at].second;
    k.Require(value.dtype() == k.node().output_type(0), "Type mismatch: actual ", value.dtype(), " vs. expect ",
              k.node().output_type(0));
    k.SetOutput(0, value);
  }
};

struct Insert {
  void operator()(KernelContext& k) const {
    Ref<TensorMap> map = Copied(Map(k));
    const size_t at = map->Find(Key(k));
    if (at < map->items.size()) {
      map->items[at].second = k.input(2);
    } else {
      map->items.emplace_back(k.input(1), k.input(2));
    }
    SetMap(k, std::move(map));
  }
};

struct Erase {
  void operator()(KernelContext& k) const {
    Ref<TensorMap> map = Copied(Map(k));
    const size_t at = map->Find(Key(k));
    k.Require(at < map->items.size(), "Trying to erase non-existent item. Could not find key \"",
              k.input(1).num_elements() > 0 ? k.input(1).ElementToString(0) : "", "\".");
    map->items.erase(map->items.begin() + static_cast<int64_t>(at));
    SetMap(k, std::move(map));
  }
};

struct HasKey {
  void operator()(KernelContext& k) const {
    const TensorMap& map = Map(k);
    k.SetOutput(0, Tensor(map.Find(Key(k)) < map.items.size()));
  }
};

struct StackKeys {
  void operator()(KernelContext& k) const {
    const TensorMap& map = Map(k);
    k.Require(!map.items.empty(), "TensorMapStackKeys cannot be called on empty map.");
    const DataType type = k.node().output_type(0);
    const Shape& shape = map.items[0].first.shape();
    std::vector<int64_t> dims = {static_cast<int64_t>(map.items.size())};
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
    Tensor& keys = k.Output(0, Shape(dims));
    int64_t at = 0;
    for (const auto& item : map.items) {
      const Tensor& key = item.first;
      k.Require(key.dtype() == type, "Key does not match requested dtype.");
      k.Require(key.shape() == shape, "Keys must all have the same shape.");
      CopyElements(type, At(keys, at), key.raw(), key.num_elements());
      at += key.num_elements();
    }
  }
};

}  // namespace

void RegisterTensorMapKernels(KernelRegistry& kernels) {
  kernels.Add<MakeEmpty>("EmptyTensorMap");
  kernels.Add<Size>("TensorMapSize").HostOutput(0);
  kernels.Add<Lookup>("TensorMapLookup");
  kernels.Add<Insert>("TensorMapInsert");
  kernels.Add<Erase>("TensorMapErase");
  kernels.Add<HasKey>("TensorMapHasKey").HostOutput(0);
  kernels.Add<StackKeys>("TensorMapStackKeys");
}

}  // namespace penstock
