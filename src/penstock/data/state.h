// The state of iterators, by name: written by one, read by another that was just made.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/random.h"
#include "penstock/base/status.h"
#include "penstock/tensor/tensor.h"
#include "penstock/tensor/variant.h"

namespace penstock::data {

using Element = std::vector<Tensor>;
class Iterator;

// All that is known of an iterator, as a value.
class SavedState final : public VariantValue {
 public:
  std::string_view TypeName() const override { return "tensorflow::Iterator"; }
  void Encode(std::string* metadata, std::vector<Tensor>* tensors) const override;
  static Ref<VariantValue> Decode(std::string_view metadata, std::vector<Tensor> tensors);
  std::map<std::string, Tensor, std::less<>> values;
};

// One function, `Visit`, both saves and restores: each value is written, or read into its place. What is restored may
// come from a damaged file: an iterator uses no number of it as an index, and no pointer, that it has not checked.
class State {
 public:
  explicit State(SavedState* saves) : saved_(saves), written_(saves) {}
  explicit State(const SavedState& restores) : saved_(&restores), restores_(true) {}
  State(const State&) = delete;
  ~State() {
    for (auto it = resumes_.rbegin(); it != resumes_.rend(); ++it) (*it)();
  }
  bool restores() const { return restores_; }

  void Value(std::string_view key, int64_t* value);
  void Value(std::string_view key, bool* value);
  void Value(std::string_view key, std::string* value);
  void Value(std::string_view key, Tensor* value);
  void Value(std::string_view key, Element* element);
  void Value(std::string_view key, Status* status);
  // A number from 0 to `most`. InvalidArgument if it was another.
  void Position(std::string_view key, int64_t* value, int64_t most = INT64_MAX);
  // The length of a list of which each item is visited: `n`, or what it was.
  int64_t Size(std::string_view key, size_t n);
  // Each item in its turn; when restoring, the list is made as long as it was.
  template <class List>
  void Values(std::string_view key, List* list) {
    const int64_t n = Size(StrCat(key, "/size"), list->size());
    if (restores_) {
      list->clear();
      list->resize(static_cast<size_t>(n));
    }
    int64_t i = 0;
    for (auto& item : *list) Value(StrCat(key, "/", i++), &item);
  }
  // What an iterator's threads do goes on by `resume`, which is called when all is visited: also what several iterators
  // share, which its threads might change.
  void PausedUntilDone(std::function<void()> resume) { resumes_.push_back(std::move(resume)); }
  void Nested(std::string_view key, Iterator& iterator);
  // An iterator that may have ended or not begun; `make` begins it when it is restored.
  template <class Make>
  void Nested(std::string_view key, std::unique_ptr<Iterator>* iterator, Make make) {
    bool there = *iterator != nullptr;
    Value(StrCat(key, "/there"), &there);
    if (!there) {
      iterator->reset();
      return;
    }
    if (restores_) *iterator = make();
    Require(*iterator != nullptr);
    Nested(key, **iterator);
  }
  // InvalidArgument unless `holds`: of what was restored together.
  static void Require(bool holds) {
    if (!holds) throw InvalidArgument("The saved state of the iterator is damaged");
  }
  // Calls `visit` with all keys inside of `key`.
  template <class Visit>
  void Inside(std::string_view key, Visit visit) {
    const size_t size = prefix_.size();
    prefix_ += StrCat(key, "/");
    visit();
    prefix_.resize(size);
  }

 private:
  const Tensor& Find(std::string_view key,
                     DataType type) const;  // InvalidArgument if it is not there or of another type
  void Put(std::string_view key, Tensor value);
  const SavedState* const saved_;
  SavedState* const written_ = nullptr;
  const bool restores_ = false;
  std::string prefix_;
  std::vector<std::function<void()>> resumes_;
};

}  // namespace penstock::data
