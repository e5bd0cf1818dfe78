// Tables from keys to values, both of any type and of a fixed shape.
#pragma once

#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/data/written_resource.h"
#include "penstock/kernel/kernel_context.h"

namespace penstock {

// Thread-safe. Errors are InvalidArgument where types or shapes do not fit.
class LookupTable : public Resource, public data::WritableResource {
 public:
  enum class Kind {
    kFixed,    // filled once
    kMutable,  // keys are scalars
    kDense,    // has two keys that stand for nothing, and buckets that an export shows
  };
  struct Spec {
    Kind kind = Kind::kFixed;
    std::string name;
    DataType key_type = DT_INVALID, value_type = DT_INVALID;
    Shape key_shape, value_shape;
    Tensor empty_key, deleted_key;  // dense only; the second one may be absent
    int64_t buckets = 0;
    double max_load = 1;
  };
  explicit LookupTable(Spec spec);

  const Spec& spec() const { return spec_; }
  int64_t Size() const;
  Tensor Find(const Tensor& keys, const Tensor& otherwise) const;
  void Insert(const Tensor& keys, const Tensor& values);
  void Remove(const Tensor& keys);
  void Import(const Tensor& keys, const Tensor& values);  // in place of all there is
  // Fills a fixed table. FailedPrecondition if it holds something else already.
  void Initialize(const Tensor& keys, const Tensor& values);
  bool initialized() const;
  std::pair<Tensor, Tensor> Export() const;
  data::WrittenResource Write() const override;
  std::string DebugString() const override { return StrCat("table '", spec_.name, "'"); }

 private:
  // A key as bytes; `scratch` holds them if the tensor does not.
  std::string_view KeyAt(const Tensor& keys, int64_t i, std::string* scratch) const;
  // How many keys there are; checks type and shape.
  int64_t CheckKeys(const Tensor& keys, Shape* prefix) const;
  int64_t CheckEntries(const Tensor& keys, const Tensor& values, bool exported = false) const;
  void RequireUsable(std::string_view key) const;
  // All buckets of a dense table, each key where TensorFlow looks for it.
  std::pair<Tensor, Tensor> ExportBuckets(int64_t used) const;
  void Put(const Tensor& keys, int64_t i, const Tensor& values);
  void Grow(int64_t more);
  void Clear();

  const Spec spec_;
  mutable std::shared_mutex mutex_;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return Hash64(s); }
  };
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> rows_;
  Tensor keys_, values_;  // row by row, with room for more
  std::string empty_, deleted_;
  int64_t buckets_ = 0;
  std::vector<Tensor> removed_;  // values that removed entries left in their buckets
  bool initialized_ = false;
};

}  // namespace penstock
