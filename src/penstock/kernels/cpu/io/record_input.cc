// RecordInput: batches of records out of files, in random order, for ever.
#include <algorithm>
#include <mutex>
#include <random>

#include "penstock/io/record_stream.h"
#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

// A round gives each record once. Some files are read in turns; a record that is read takes the place of a random one
// among those that wait, which goes to their end, where the next one is taken from.
class RecordInput {
 public:
  explicit RecordInput(const NodeView& node)
      : pattern_(node.attr<std::string>("file_pattern")),
        shift_(node.attr<float>("file_shuffle_shift_ratio")),
        capacity_(std::max<int64_t>(1, node.attr<int64_t>("file_buffer_size"))),
        readers_(static_cast<size_t>(std::max<int64_t>(1, node.attr<int64_t>("file_parallelism")))),
        batch_size_(node.attr<int64_t>("batch_size")),
        compression_(CompressionFromName(node.attr<std::string>("compression_type"))),
        random_(static_cast<uint64_t>(node.attr<int64_t>("file_random_seed"))) {
    if (batch_size_ < 0) throw InvalidArgument("batch_size must not be negative: ", batch_size_);
  }

  void operator()(KernelContext& k) {
    const std::lock_guard lock(mutex_);
    for (TString& record : k.out<TString>(0, Shape({batch_size_}))) record = std::string_view(Take());
  }

 private:
  std::string Take() {
    Fill();
    if (waiting_.empty()) {
      BeginRound();
      Fill();
      if (waiting_.empty()) throw OutOfRange("The files at ", pattern_, " hold no record");
    }
    std::string record = std::move(waiting_.back());
    waiting_.pop_back();
    return record;
  }

  void BeginRound() {
    names_.clear();
    for (size_t begin = 0; begin <= pattern_.size();) {
      const size_t end = std::min(pattern_.find(',', begin), pattern_.size());
      for (std::string& name : MatchingPaths(pattern_.substr(begin, end - begin))) names_.push_back(std::move(name));
      begin = end + 1;
    }
    if (names_.empty()) throw NotFound("Found no files at ", pattern_);
    std::shuffle(names_.begin(), names_.end(), random_);
    if (shift_ >= 0 && shift_ < 1) {
      std::rotate(names_.begin(), names_.begin() + static_cast<ptrdiff_t>(shift_ * static_cast<float>(names_.size())),
                  names_.end());
    }
    std::reverse(names_.begin(), names_.end());  // the next one is the last
  }

  // Reads until as many records wait as may, or all files of the round have ended.
  void Fill() {
    while (waiting_.size() < static_cast<size_t>(capacity_)) {
      while (open_.size() < readers_ && !names_.empty()) {
        std::string name = std::move(names_.back());
        names_.pop_back();
        open_.push_back(std::make_unique<RecordStream>(name, compression_));
      }
      if (open_.empty()) return;
      turn_ %= open_.size();
      std::string record;
      uint64_t offset = 0;
      if (!open_[turn_]->Next(&record, &offset)) {
        open_.erase(open_.begin() + static_cast<ptrdiff_t>(turn_));
        continue;
      }
      ++turn_;
      const size_t place = random_() % (waiting_.size() + 1);
      waiting_.push_back(std::move(record));
      std::swap(waiting_[place], waiting_.back());
    }
  }

  const std::string pattern_;
  const float shift_;
  const int64_t capacity_;
  const size_t readers_;
  const int64_t batch_size_;
  const Compression compression_;
  std::mutex mutex_;
  std::mt19937_64 random_;
  std::vector<std::string> names_;  // of the files that the round has still to read
  std::vector<std::unique_ptr<RecordStream>> open_;
  size_t turn_ = 0;  // whose record is next
  std::vector<std::string> waiting_;
};

}  // namespace

void RegisterRecordInputKernels(KernelRegistry& kernels) { kernels.Add<RecordInput>("RecordInput"); }

}  // namespace penstock
