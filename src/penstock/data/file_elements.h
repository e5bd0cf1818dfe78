// Datasets whose elements stand in files, one file after the other.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/data/dataset.h"
#include "penstock/io/byte_stream.h"

namespace penstock::data {

// The elements of one open file.
class FileElements {
 public:
  virtual ~FileElements() = default;
  virtual bool Next(Element* element) = 0;  // false at the end
  virtual uint64_t offset() const = 0;      // how many bytes lie behind, for Skip in a file just opened
  virtual void Skip(uint64_t bytes) = 0;
  // Whether elements can be told apart behind one that could not be read.
  virtual bool goes_on() const { return false; }

  static void Set(Element* element, std::string_view text) {
    element->resize(1);
    (*element)[0] = Tensor(TString(text));
  }
};

inline ElementSpec StringSpec() { return {{DT_STRING}, {PartialShape({})}}; }

class FilesDataset final : public Dataset {
 public:
  using Open = std::function<std::unique_ptr<FileElements>(const std::string& path, size_t index)>;
  FilesDataset(std::string name, ElementSpec spec, std::vector<std::string> paths, Open open)
      : Dataset(std::move(name), std::move(spec)), paths_(std::move(paths)), open_(std::move(open)) {}

 private:
  class Reader;
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override;
  const std::vector<std::string> paths_;
  const Open open_;
};

}  // namespace penstock::data
