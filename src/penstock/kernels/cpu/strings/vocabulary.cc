// Vocabularies that changed: which rows and columns of a saved matrix stand for the same words.
#include "penstock/kernels/cpu/strings/vocabulary.h"

#include <algorithm>
#include <unordered_map>

#include "penstock/io/checkpoint_reader.h"
#include "penstock/io/files.h"
#include "penstock/kernel/kernel_registry.h"

namespace penstock {

std::vector<std::string> VocabularyLines(const std::string& path, int64_t most) {
  const std::string text = ReadWholeFile(path);
  std::vector<std::string> lines;
  const auto number = [&] { return static_cast<int64_t>(lines.size()); };
  size_t at = 0;
  while (at < text.size() && (most < 0 || number() < most)) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line(text, at, end - at);
    std::erase(line, '\r');
    at = std::min(end + 1, text.size());
    if (line.empty()) throw InvalidArgument("Invalid content in ", path, ": empty line found at position ", at, ".");
    lines.push_back(std::move(line));
  }
  if (most >= 0 && number() != most) {
    throw InvalidArgument("Invalid vocab_size in ", path, ": expected ", most, " but got ", number());
  }
  return lines;
}

namespace {

constexpr int64_t kAbsent = -1;

std::string Path(KernelContext& k, int input, std::string_view what) {
  k.Require(k.shape(input).num_elements() == 1, what, " should be a single string, but got ", k.shape(input));
  std::string path = k.in<TString>(input)[0].str();
  k.Require(!path.empty(), what, " cannot be empty.");
  return path;
}

class GenerateVocabRemapping {
 public:
  explicit GenerateVocabRemapping(const NodeView& node)
      : offset_(node.attr<int64_t>("new_vocab_offset")),
        count_(node.attr<int64_t>("num_new_vocab")),
        old_size_(node.attr<int64_t>("old_vocab_size")) {
    if (offset_ < 0 || count_ < 0) throw InvalidArgument("new_vocab_offset and num_new_vocab must not be negative");
  }

  void operator()(KernelContext& k) const {
    const std::vector<std::string> words = VocabularyLines(Path(k, 0, "new_vocab_file"), -1);
    const auto n = static_cast<int64_t>(words.size());
    k.Require(offset_ <= n && count_ <= n - offset_,
              "lookup table size must be larger than last new vocab entry's line");
    const std::vector<std::string> old = VocabularyLines(Path(k, 1, "old_vocab_file"), old_size_);
    std::unordered_map<std::string_view, int64_t> place;
    for (size_t i = 0; i < old.size(); ++i) {
      k.Require(place.emplace(old[i], i).second, "Duplicate key ", old[i], " in the old vocabulary");
    }
    const auto out = k.out<int64_t>(0, Shape({count_}));
    int32_t present = 0;
    for (int64_t i = 0; i < count_; ++i) {
      const auto found = place.find(words[offset_ + i]);
      out[i] = found == place.end() ? kAbsent : found->second;
      present += found != place.end();
    }
    k.out<int32_t>(1, Shape({}))[0] = present;
  }

 private:
  const int64_t offset_, count_, old_size_;
};

class LoadAndRemapMatrix {
 public:
  explicit LoadAndRemapMatrix(const NodeView& node)
      : rows_(node.attr<int64_t>("num_rows")),
        columns_(node.attr<int64_t>("num_cols")),
        most_rows_(node.attr<int64_t>("max_rows_in_memory")) {
    if (rows_ < 0 || columns_ < 1) throw InvalidArgument("num_rows and num_cols must be positive");
  }

  void operator()(KernelContext& k) const {
    const auto old_rows = Remapping(k, 2), old_columns = Remapping(k, 3);
    k.Require(static_cast<int64_t>(old_rows.size()) == rows_, "Size of row_remapping is ", old_rows.size(),
              " instead of being equal to num_rows=", rows_);
    const bool by_column = !old_columns.empty();
    k.Require(!by_column || static_cast<int64_t>(old_columns.size()) == columns_,
              "Provided col_remapping, but its size is ", old_columns.size(),
              " instead of being equal to num_cols=", columns_);
    const CheckpointReader reader(Path(k, 0, "ckpt_path"));
    const std::string name = Path(k, 1, "old_tensor_name");
    const CheckpointReader::Info info = reader.Get(name);
    k.Require(info.dtype == DT_FLOAT, "Tensor ", name, " has invalid type ", info.dtype,
              " instead of expected type float");
    k.Require(info.shape.rank() == 2, "Tensor ", name, " has shape ", info.shape, " of invalid rank ",
              info.shape.rank(), " instead of expected shape of rank 2.");
    k.Require(by_column || info.shape[1] == columns_, "Tensor ", name, " has shape ", info.shape,
              ", where the size of its 2nd dimension is ", info.shape[1],
              " instead of being equal to num_cols=", columns_);
    CheckRange(k, old_rows, info.shape[0], "row");
    CheckRange(k, old_columns, info.shape[1], "column");
    const auto out = k.out<float>(0, Shape({rows_, columns_}));
    Fill(k, old_rows, old_columns, out);
    Load(reader, name, old_rows, old_columns, out);
  }

 private:
  static std::span<const int64_t> Remapping(KernelContext& k, int input) {
    k.Require(k.shape(input).rank() == 1, "a remapping must be a vector, but has shape ", k.shape(input));
    return k.in<int64_t>(input);
  }

  static void CheckRange(KernelContext& k, std::span<const int64_t> old_ids, int64_t size, const char* what) {
    std::unordered_map<int64_t, size_t> seen;
    for (size_t i = 0; i < old_ids.size(); ++i) {
      if (old_ids[i] < 0) continue;
      k.Require(old_ids[i] < size, "Old ", what, " ", old_ids[i], " is out of range [0, ", size, ")");
      const auto [first, added] = seen.emplace(old_ids[i], i);
      if (!added) {
        throw Unimplemented("Old ID ", old_ids[i], " is mapped to both new ID ", first->second, " and ", i,
                            ", which is not supported.");
      }
    }
  }

  // What is not in the checkpoint takes the initializing values, in order.
  void Fill(KernelContext& k, std::span<const int64_t> old_rows, std::span<const int64_t> old_columns,
            std::span<float> out) const {
    const auto initial = k.in<float>(4);
    size_t used = 0;
    for (int64_t r = 0; r < rows_; ++r) {
      for (int64_t c = 0; c < columns_; ++c) {
        if (old_rows[r] >= 0 && (old_columns.empty() || old_columns[c] >= 0)) continue;
        k.Require(used < initial.size(), "initializing_values contained ", initial.size(),
                  " elements, but more missing values remain.");
        out[r * columns_ + c] = initial[used++];
      }
    }
    k.Require(used == initial.size(), "initializing_values contained ", initial.size(), " elements, but only ", used,
              " elements were used to fill in missing values.");
  }

  void Load(const CheckpointReader& reader, const std::string& name, std::span<const int64_t> old_rows,
            std::span<const int64_t> old_columns, std::span<float> out) const {
    int64_t begin = -1, end = 0;
    std::unordered_map<int64_t, int64_t> new_row;
    for (int64_t r = 0; r < rows_; ++r) {
      if (old_rows[r] < 0) continue;
      new_row[old_rows[r]] = r;
      begin = begin < 0 ? old_rows[r] : std::min(begin, old_rows[r]);
      end = std::max(end, old_rows[r] + 1);
    }
    while (begin >= 0 && begin < end) {
      const int64_t n = most_rows_ > 0 ? std::min(most_rows_, end - begin) : end - begin;
      const Tensor part = reader.ReadSlice(name, TensorSlice{{begin, 0}, {n, TensorSlice::kFull}});
      const int64_t width = part.dim(1);
      for (int64_t row = 0; row < n; ++row) {
        const auto to = new_row.find(begin + row);
        if (to == new_row.end()) continue;
        const float* from = part.data<float>() + row * width;
        for (int64_t c = 0; c < columns_; ++c) {
          const int64_t old = old_columns.empty() ? c : old_columns[c];
          if (old >= 0) out[to->second * columns_ + c] = from[old];
        }
      }
      begin += n;
    }
  }

  const int64_t rows_, columns_, most_rows_;
};

}  // namespace

void RegisterVocabularyKernels(KernelRegistry& kernels) {
  kernels.Add<GenerateVocabRemapping>("GenerateVocabRemapping");
  kernels.Add<LoadAndRemapMatrix>("LoadAndRemapMatrix");
}

}  // namespace penstock
