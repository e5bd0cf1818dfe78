// Reads checkpoints of either version.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/io/slice_table.h"
#include "penstock/io/tensor_bundle.h"

namespace penstock {

// Thread-safe. NotFound: no such file or name; DataLoss: damaged contents.
class CheckpointReader {
 public:
  // The prefix of a checkpoint of version 2, or a pattern for files of version 1.
  explicit CheckpointReader(const std::string& prefix);

  struct Info {
    DataType dtype;
    Shape shape;
  };
  int version() const { return bundle_ ? 2 : 1; }
  std::vector<std::string> Names() const;
  std::optional<Info> Find(std::string_view name) const;
  Info Get(std::string_view name) const;
  Tensor Read(std::string_view name) const;
  Tensor ReadSlice(std::string_view name, const TensorSlice& slice) const;

 private:
  std::unique_ptr<BundleReader> bundle_;
  std::unique_ptr<SliceTableReader> tables_;
};

}  // namespace penstock
