#include "penstock/kernels/cpu/data_flow/lookup_table.h"

#include <algorithm>
#include <mutex>

#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/strings/string_hash.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

template <class... Parts>
void Require(bool ok, const Parts&... parts) {
  if (!ok) throw InvalidArgument(parts...);
}

Shape Joined(const Shape& a, const Shape& b) {
  std::vector<int64_t> dims(a.begin(), a.end());
  dims.insert(dims.end(), b.begin(), b.end());
  return Shape(dims);
}

// `rows` elements of this shape, where scalars become vectors of one.
Shape RowsOf(int64_t rows, const Shape& shape, bool at_least_matrix) {
  Shape all = Joined(Shape({rows}), shape);
  if (at_least_matrix && shape.rank() == 0) all.AddDim(1);
  return all;
}

// The hash of a key of `size` parts, of which TensorFlow finds its bucket in what was exported.
uint64_t BucketHash(const Tensor& keys, int64_t i, int64_t size) {
  const auto part = [&](int64_t at) -> uint64_t {
    if (keys.dtype() == DT_STRING) return MurmurHash64(keys.data<TString>()[at].view(), 0xDECAFCAFFE);
    return static_cast<uint64_t>(keys.IntAt(at));
  };
  if (size == 1) return part(i);
  uint64_t hash = 0;
  for (int64_t at = i * size; at < (i + 1) * size; ++at) {
    hash ^= part(at) + 0x9e3779b97f4a7800 + (hash << 10) + (hash >> 4);
  }
  return hash;
}

}  // namespace

LookupTable::LookupTable(Spec spec) : spec_(std::move(spec)), buckets_(spec_.buckets) {
  Clear();
  if (spec_.kind != Kind::kDense) return;
  std::string scratch;
  empty_ = KeyAt(spec_.empty_key, 0, &scratch);
  if (spec_.deleted_key.initialized()) {
    deleted_ = KeyAt(spec_.deleted_key, 0, &scratch);
    Require(deleted_ != empty_, "Empty and deleted keys cannot be equal");
  }
}

void LookupTable::Clear() {
  rows_.clear();
  keys_ = Tensor(spec_.key_type, Shape({0}));
  values_ = Tensor(spec_.value_type, Shape({0}));
  removed_.clear();
  buckets_ = spec_.buckets;
}

std::string_view LookupTable::KeyAt(const Tensor& keys, int64_t i, std::string* scratch) const {
  const int64_t size = spec_.key_shape.num_elements();
  if (spec_.key_type != DT_STRING) {
    const size_t bytes = size * DataTypeSize(spec_.key_type);
    return {static_cast<const char*>(keys.raw()) + i * bytes, bytes};
  }
  if (size == 1) return keys.data<TString>()[i].view();
  scratch->clear();
  for (int64_t part = 0; part < size; ++part) {
    const std::string_view text = keys.data<TString>()[i * size + part].view();
    *scratch += StrCat(text.size(), ":", text);
  }
  return *scratch;
}

int64_t LookupTable::CheckKeys(const Tensor& keys, Shape* prefix) const {
  Require(keys.dtype() == spec_.key_type, "Key must be type ", spec_.key_type, " but got ", keys.dtype());
  if (spec_.kind == Kind::kDense) {
    // A vector of keys; scalars may come as vectors of one, as an export gives them.
    const int64_t n = keys.rank() == 0 ? 1 : keys.dim(0);
    const bool fits = keys.rank() <= 1 + std::max(1, spec_.key_shape.rank()) &&
                      keys.num_elements() == n * spec_.key_shape.num_elements();
    Require(fits, "Expected key shape ", Joined(Shape({n}), spec_.key_shape), " got ", keys.shape());
  }
  const int before = keys.rank() - spec_.key_shape.rank();
  bool fits = before >= 0;
  for (int d = 0; fits && d < spec_.key_shape.rank(); ++d) fits = keys.dim(before + d) == spec_.key_shape[d];
  Require(fits, "Input key shape ", keys.shape(), " must end with the table's key shape ", spec_.key_shape);
  *prefix = Shape(keys.shape().dims().first(before));
  return prefix->num_elements();
}

int64_t LookupTable::CheckEntries(const Tensor& keys, const Tensor& values, bool exported) const {
  Shape prefix;
  const int64_t n = CheckKeys(keys, &prefix);
  Require(values.dtype() == spec_.value_type, "Value must be type ", spec_.value_type, " but got ", values.dtype());
  const Shape expected = Joined(prefix, spec_.value_shape);
  Require(values.shape() == expected || (exported && values.num_elements() == expected.num_elements()),
          "Expected shape ", expected, " for value, got ", values.shape());
  return n;
}

void LookupTable::RequireUsable(std::string_view key) const {
  if (spec_.kind != Kind::kDense) return;
  Require(key != empty_, "Using the empty_key as a table key is not allowed");
  Require(!spec_.deleted_key.initialized() || key != deleted_, "Using the deleted_key as a table key is not allowed");
}

int64_t LookupTable::Size() const {
  std::shared_lock lock(mutex_);
  return static_cast<int64_t>(rows_.size());
}

bool LookupTable::initialized() const {
  std::shared_lock lock(mutex_);
  return initialized_ || spec_.kind != Kind::kFixed;
}

Tensor LookupTable::Find(const Tensor& keys, const Tensor& otherwise) const {
  if (!initialized()) throw FailedPrecondition("Table not initialized.");
  Shape prefix;
  const int64_t n = CheckKeys(keys, &prefix);
  Require(otherwise.dtype() == spec_.value_type, "Default value must be type ", spec_.value_type, " but got ",
          otherwise.dtype());
  const Shape shape = Joined(prefix, spec_.value_shape);
  const bool each = otherwise.shape() == shape;
  Require(each || otherwise.shape() == spec_.value_shape, "Expected shape ", spec_.value_shape, " or ", shape,
          " for default value, got ", otherwise.shape());
  Tensor found(spec_.value_type, shape);
  const int64_t size = spec_.value_shape.num_elements();
  const bool shared_default = otherwise.shape() == spec_.value_shape;
  std::string scratch;
  std::shared_lock lock(mutex_);
  for (int64_t i = 0; i < n; ++i) {
    const std::string_view key = KeyAt(keys, i, &scratch);
    RequireUsable(key);
    const auto row = rows_.find(key);
    if (row != rows_.end()) {
      CopyElements(values_, row->second * size, size, &found, i * size);
    } else {
      CopyElements(otherwise, shared_default ? 0 : i * size, size, &found, i * size);
    }
  }
  return found;
}

void LookupTable::Grow(int64_t more) {
  const auto grown = [](const Tensor& from, int64_t used, int64_t room) {
    Tensor to(from.dtype(), Shape({room}));
    CopyElements(from, 0, used, &to, 0);
    return to;
  };
  const auto used = static_cast<int64_t>(rows_.size()), wanted = used + more;
  const int64_t key_size = spec_.key_shape.num_elements(), value_size = spec_.value_shape.num_elements();
  if (wanted * key_size > keys_.num_elements() || wanted * value_size > values_.num_elements()) {
    const int64_t room = std::max(wanted, 2 * used);
    keys_ = grown(keys_, used * key_size, room * key_size);
    values_ = grown(values_, used * value_size, room * value_size);
  }
}

void LookupTable::Put(const Tensor& keys, int64_t i, const Tensor& values) {
  std::string scratch;
  const int64_t key_size = spec_.key_shape.num_elements(), value_size = spec_.value_shape.num_elements();
  const auto [row, added] =
      rows_.try_emplace(std::string(KeyAt(keys, i, &scratch)), static_cast<int64_t>(rows_.size()));
  if (added) CopyElements(keys, i * key_size, key_size, &keys_, row->second * key_size);
  CopyElements(values, i * value_size, value_size, &values_, row->second * value_size);
}

void LookupTable::Insert(const Tensor& keys, const Tensor& values) {
  if (spec_.kind == Kind::kFixed)
    throw Unimplemented("Insert not supported by InitializableLookupTable implementations");
  const int64_t n = CheckEntries(keys, values);
  std::string scratch;
  for (int64_t i = 0; i < n; ++i) RequireUsable(KeyAt(keys, i, &scratch));
  std::unique_lock lock(mutex_);
  if (spec_.kind == Kind::kDense) {
    const auto entries = static_cast<double>(rows_.size()) + static_cast<double>(n);
    while (entries > static_cast<double>(buckets_) * spec_.max_load) {
      buckets_ *= 2;
      removed_.clear();
    }
  }
  Grow(n);
  for (int64_t i = 0; i < n; ++i) Put(keys, i, values);
}

void LookupTable::Remove(const Tensor& keys) {
  if (spec_.kind == Kind::kFixed)
    throw Unimplemented("Remove not supported by InitializableLookupTable implementations");
  Shape prefix;
  const int64_t n = CheckKeys(keys, &prefix);
  const int64_t key_size = spec_.key_shape.num_elements(), value_size = spec_.value_shape.num_elements();
  std::string scratch;
  for (int64_t i = 0; i < n; ++i) RequireUsable(KeyAt(keys, i, &scratch));
  std::unique_lock lock(mutex_);
  for (int64_t i = 0; i < n; ++i) {
    const auto found = rows_.find(KeyAt(keys, i, &scratch));
    if (found == rows_.end()) continue;
    // The last row takes the place of the one that goes.
    const int64_t row = found->second, last = static_cast<int64_t>(rows_.size()) - 1;
    Tensor value(spec_.value_type, spec_.value_shape);
    CopyElements(values_, row * value_size, value_size, &value, 0);
    if (row != last) {
      rows_.find(KeyAt(keys_, last, &scratch))->second = row;
      CopyElements(Tensor(keys_), last * key_size, key_size, &keys_, row * key_size);
      CopyElements(Tensor(values_), last * value_size, value_size, &values_, row * value_size);
    }
    if (spec_.kind == Kind::kDense) {
      removed_.push_back(value);
      if (static_cast<int64_t>(removed_.size()) > buckets_) removed_.erase(removed_.begin());
    }
    rows_.erase(found);
  }
}

data::WrittenResource LookupTable::Write() const {
  if (spec_.kind == Kind::kDense) return {};  // its op takes the special keys
  AttrMap attrs = {{"key_dtype", spec_.key_type}, {"value_dtype", spec_.value_type}, {"use_node_name_sharing", true}};
  const char* op = "HashTableV2";
  if (spec_.kind == Kind::kMutable) {
    op = spec_.value_shape.rank() == 0 ? "MutableHashTableV2" : "MutableHashTableOfTensorsV2";
    if (spec_.value_shape.rank() > 0) attrs.Set("value_shape", PartialShape(spec_.value_shape));
  }
  auto [keys, values] = Export();
  const bool filled = spec_.kind == Kind::kMutable || keys.num_elements() > 0;
  const char* fill = filled ? "LookupTableImportV2" : "";
  return {op, std::move(attrs), fill, {{"Tin", spec_.key_type}, {"Tout", spec_.value_type}}, {keys, values}};
}

void LookupTable::Import(const Tensor& keys, const Tensor& values) {
  if (spec_.kind == Kind::kFixed) return Initialize(keys, values);
  const bool dense = spec_.kind == Kind::kDense;
  const int64_t n = CheckEntries(keys, values, dense);
  std::unique_lock lock(mutex_);
  Clear();
  Grow(n);
  if (!dense) {
    for (int64_t i = 0; i < n; ++i) Put(keys, i, values);
    return;
  }
  // These are the buckets that an export gave, with the two special keys where nothing is.
  Require(n >= 4 && (n & (n - 1)) == 0, "Number of buckets must be at least 4 and a power of 2, got: ", n);
  buckets_ = n;
  std::string scratch;
  for (int64_t i = 0; i < n; ++i) {
    const std::string_view key = KeyAt(keys, i, &scratch);
    if (key == empty_) continue;
    if (spec_.deleted_key.initialized() && key == deleted_) {
      const int64_t size = spec_.value_shape.num_elements();
      removed_.emplace_back(spec_.value_type, spec_.value_shape);
      CopyElements(values, i * size, size, &removed_.back(), 0);
    } else {
      Put(keys, i, values);
    }
  }
}

void LookupTable::Initialize(const Tensor& keys, const Tensor& values) {
  Require(spec_.kind == Kind::kFixed, "Table ", spec_.name, " is not initializable");
  Require(keys.dtype() == spec_.key_type && values.dtype() == spec_.value_type,
          "Signature mismatch, have: ", keys.dtype(), ", ", values.dtype(), " expected: ", spec_.key_type, ", ",
          spec_.value_type);
  const int64_t n = CheckEntries(keys, values);
  Require(n > 0, "keys and values cannot be empty tensors.");
  std::unique_lock lock(mutex_);
  std::string scratch;
  const bool again = initialized_;
  if (!again) Grow(n);
  for (int64_t i = 0; i < n; ++i) {
    const auto found = rows_.find(KeyAt(keys, i, &scratch));
    if (found == rows_.end()) {
      if (again) throw FailedPrecondition("Table was already initialized with different data.");
      Put(keys, i, values);
    } else if (values.ElementToString(i) != values_.ElementToString(found->second)) {
      if (again) throw FailedPrecondition("Table was already initialized with different data.");
      const std::string key = keys.dtype() == DT_STRING ? keys.data<TString>()[i].str() : keys.ElementToString(i),
                        old = values_.ElementToString(found->second);
      Clear();
      throw FailedPrecondition("HashTable has different value for same key. Key ", key, " has ", old,
                               " and trying to add value ", values.ElementToString(i));
    }
  }
  if (again && n != static_cast<int64_t>(rows_.size())) {
    throw FailedPrecondition("Table was already initialized with different data.");
  }
  initialized_ = true;
}

std::pair<Tensor, Tensor> LookupTable::Export() const {
  if (!initialized()) throw Aborted("HashTable is not initialized.");
  std::shared_lock lock(mutex_);
  const auto used = static_cast<int64_t>(rows_.size());
  if (spec_.kind == Kind::kDense) return ExportBuckets(used);
  Tensor keys(spec_.key_type, RowsOf(used, spec_.key_shape, false));
  Tensor values(spec_.value_type, RowsOf(used, spec_.value_shape, false));
  CopyElements(keys_, 0, used * spec_.key_shape.num_elements(), &keys, 0);
  CopyElements(values_, 0, used * spec_.value_shape.num_elements(), &values, 0);
  return {keys, values};
}

std::pair<Tensor, Tensor> LookupTable::ExportBuckets(int64_t used) const {
  const int64_t key_size = spec_.key_shape.num_elements(), value_size = spec_.value_shape.num_elements();
  Tensor keys(spec_.key_type, RowsOf(buckets_, spec_.key_shape, true));
  Tensor values(spec_.value_type, RowsOf(buckets_, spec_.value_shape, true));
  std::vector<bool> taken(buckets_, false);
  const auto put = [&](int64_t bucket, const Tensor& key, int64_t key_row, const Tensor& value, int64_t value_row) {
    taken[bucket] = true;
    CopyElements(key, key_row * key_size, key_size, &keys, bucket * key_size);
    CopyElements(value, value_row * value_size, value_size, &values, bucket * value_size);
  };
  for (int64_t row = 0; row < used; ++row) {
    // Quadratic probing reaches every bucket, as their number is a power of 2.
    uint64_t bucket = BucketHash(keys_, row, key_size) & (buckets_ - 1);
    for (uint64_t probe = 1; taken[bucket]; ++probe) bucket = (bucket + probe) & (buckets_ - 1);
    put(static_cast<int64_t>(bucket), keys_, row, values_, row);
  }
  auto removed = removed_.begin();
  for (int64_t bucket = 0; bucket < buckets_; ++bucket) {
    if (taken[bucket]) continue;
    if (removed != removed_.end()) {
      put(bucket, spec_.deleted_key, 0, *removed++, 0);
      continue;
    }
    CopyElements(spec_.empty_key, 0, key_size, &keys, bucket * key_size);
    ZeroElements(spec_.value_type, At(values, bucket * value_size), value_size);
  }
  return {keys, values};
}

}  // namespace penstock
