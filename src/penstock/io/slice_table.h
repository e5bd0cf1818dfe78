// TensorFlow's checkpoint files of version 1: a table with what there is under the key "", and a record for each part
// of a tensor.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/io/tensor_slice.h"

namespace penstock {

// Writes one file, which appears when Finish returns.
class SliceTableWriter {
 public:
  explicit SliceTableWriter(std::string path) : path_(std::move(path)) {}
  // A part of a tensor of shape `full`.
  void Add(std::string_view name, const Shape& full, const TensorSlice& slice, const Tensor& tensor);
  void Finish();

 private:
  struct Whole {
    DataType dtype;
    Shape shape;
    std::vector<TensorSlice> slices;
  };
  const std::string path_;
  std::map<std::string, Whole> wholes_;
  std::map<std::string, std::string> records_;
};

// All files that match a pattern as one checkpoint. NotFound: no such file or name; DataLoss: damaged contents.
class SliceTableReader {
 public:
  explicit SliceTableReader(const std::string& pattern);

  struct Entry {
    DataType dtype = DT_INVALID;
    Shape shape;
    std::vector<std::pair<TensorSlice, std::string>> parts;  // each with its record
  };
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }
  const Entry* Find(std::string_view name) const;
  Tensor Read(std::string_view name) const;
  Tensor ReadSlice(std::string_view name, const TensorSlice& slice) const;

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace penstock
