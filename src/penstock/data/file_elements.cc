#include "penstock/data/file_elements.h"

namespace penstock::data {

class FilesDataset::Reader final : public IteratorOf<FilesDataset> {
 public:
  using IteratorOf::IteratorOf;
  bool Next(Element* element) override {
    const auto& paths = dataset().paths_;
    while (static_cast<size_t>(file_) < paths.size()) {
      try {
        if (!open_) open_ = dataset().open_(paths[file_], file_);
        if (open_->Next(element)) return true;
      } catch (const Error&) {
        if (!open_ || !open_->goes_on()) {
          open_.reset();
          ++file_;
        }
        throw;
      }
      open_.reset();
      ++file_;
      context().ThrowIfStopped();
    }
    return false;
  }
  void Visit(State& state) override {
    state.Value("file", &file_);
    int64_t offset = open_ ? static_cast<int64_t>(open_->offset()) : -1;
    state.Value("offset", &offset);
    if (!state.restores()) return;
    open_.reset();
    if (offset < 0 || file_ < 0 || static_cast<size_t>(file_) >= dataset().paths_.size()) return;
    open_ = dataset().open_(dataset().paths_[file_], file_);
    open_->Skip(offset);
  }

 private:
  std::unique_ptr<FileElements> open_;
  int64_t file_ = 0;
};

std::unique_ptr<Iterator> FilesDataset::MakeIterator(const Place& place) const {
  return std::make_unique<Reader>(*this, place);
}

}  // namespace penstock::data
