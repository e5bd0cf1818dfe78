// Tensor bundles: TensorFlow's checkpoint files of version 2. PREFIX.index is a table from names to what is known of
// each tensor, PREFIX.data-SSSSS-of-NNNNN hold the elements.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/io/files.h"
#include "penstock/io/tensor_slice.h"

namespace penstock {

struct BundleEntry {
  DataType dtype = DT_INVALID;
  Shape shape;
  int shard = 0;
  uint64_t offset = 0, size = 0;
  uint32_t crc32c = 0;              // masked
  std::vector<TensorSlice> slices;  // not empty: the elements are stored as these parts, under names of their own
};

std::string BundleIndexPath(std::string_view prefix);
std::string BundleDataPath(std::string_view prefix, int shard, int num_shards);

// Writes one bundle of one file of elements. It appears when Finish returns, in the place of one that was there;
// without Finish, nothing remains. Of several that are written under one name, the last to finish stays.
class BundleWriter {
 public:
  explicit BundleWriter(std::string prefix);  // makes its directory
  ~BundleWriter();
  BundleWriter(const BundleWriter&) = delete;
  void Add(std::string_view name, const Tensor& tensor);
  // A part of a tensor of shape `full`.
  void AddSlice(std::string_view name, const Shape& full, const TensorSlice& slice, const Tensor& tensor);
  void Finish();

 private:
  BundleEntry Write(const Tensor& tensor);
  const std::string prefix_;
  int shards_ = 0;  // the number in the names of its files
  std::unique_ptr<OutputFile> data_;
  std::map<std::string, BundleEntry> entries_;
};

// Thread-safe. NotFound: no such file or name; DataLoss: damaged contents.
class BundleReader {
 public:
  explicit BundleReader(std::string prefix);
  // Names of tensors (not of their parts), in order.
  std::vector<std::string> Names() const;
  const BundleEntry* Find(std::string_view name) const;  // null if absent
  const BundleEntry& Get(std::string_view name) const;
  Tensor Read(std::string_view name) const;
  Tensor ReadSlice(std::string_view name, const TensorSlice& slice) const;
  int num_shards() const { return num_shards_; }

 private:
  friend void MergeBundles(const std::vector<std::string>&, const std::string&, bool);
  void Open(const std::string& path);
  // The file that holds the elements, once it is sure that it does: memory is asked for afterwards.
  const InputFile& FileOf(std::string_view name, const BundleEntry& entry) const;
  Tensor ReadEntry(std::string_view name, const BundleEntry& entry) const;
  const std::string prefix_;
  int num_shards_ = 0;
  std::map<std::string, BundleEntry, std::less<>> entries_;
  std::vector<std::unique_ptr<InputFile>> shards_;
};

// Makes one bundle of several: renames their data files and writes one index. With `allow_missing`, prefixes without
// files are passed over.
void MergeBundles(const std::vector<std::string>& prefixes, const std::string& merged, bool allow_missing);

}  // namespace penstock
