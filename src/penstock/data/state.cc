#include "penstock/data/state.h"

#include "penstock/data/dataset.h"

namespace penstock::data {

// The keys, one a line, beside the values in the same order.
void SavedState::Encode(std::string* metadata, std::vector<Tensor>* tensors) const {
  for (const auto& [key, value] : values) {
    *metadata += key + "\n";
    tensors->push_back(value);
  }
}

Ref<VariantValue> SavedState::Decode(std::string_view metadata, std::vector<Tensor> tensors) {
  std::vector<std::string_view> keys = StrSplit(metadata, '\n');
  if (keys.size() != tensors.size() + 1) throw InvalidArgument("The saved state of an iterator is damaged");
  auto state = MakeRef<SavedState>();
  for (size_t i = 0; i < tensors.size(); ++i) state->values[std::string(keys[i])] = std::move(tensors[i]);
  return state;
}

const Tensor& State::Find(std::string_view key, DataType type) const {
  const auto it = saved_->values.find(StrCat(prefix_, key));
  if (it == saved_->values.end()) {
    throw NotFound("The saved state of the iterator has no ", prefix_, key,
                   ". Make sure the dataset definition has not changed between the process that saved the checkpoint ",
                   "and the process that is restoring it.");
  }
  if (type != DT_INVALID && (it->second.dtype() != type || it->second.num_elements() != 1)) {
    throw InvalidArgument("The saved state of the iterator has something else as ", prefix_, key);
  }
  return it->second;
}

void State::Put(std::string_view key, Tensor value) { written_->values[StrCat(prefix_, key)] = std::move(value); }

void State::Value(std::string_view key, int64_t* value) {
  if (restores_) {
    *value = *Find(key, DT_INT64).data<int64_t>();
  } else {
    Put(key, Tensor(*value));
  }
}

void State::Position(std::string_view key, int64_t* value, int64_t most) {
  Value(key, value);
  if (restores_ && (*value < 0 || *value > most)) {
    throw InvalidArgument("The saved state of the iterator has ", *value, " as ", prefix_, key,
                          ", which is not in [0, ", most, "]");
  }
}

int64_t State::Size(std::string_view key, size_t n) {
  auto size = static_cast<int64_t>(n);
  Position(key, &size, static_cast<int64_t>(restores_ ? saved_->values.size() : n));  // each item has a value at least
  return size;
}

void State::Value(std::string_view key, bool* value) {
  if (restores_) {
    *value = *Find(key, DT_BOOL).data<bool>();
  } else {
    Put(key, Tensor(*value));
  }
}

void State::Value(std::string_view key, std::string* value) {
  if (restores_) {
    *value = Find(key, DT_STRING).data<TString>()->view();
  } else {
    Put(key, Tensor(TString(*value)));
  }
}

void State::Value(std::string_view key, Tensor* value) {
  if (restores_) {
    *value = Find(key, DT_INVALID);
  } else {
    Put(key, *value);
  }
}

void State::Value(std::string_view key, Element* element) { Values(key, element); }

void State::Value(std::string_view key, Status* status) {
  int64_t code = static_cast<int64_t>(status->code());
  std::string message = status->ok() ? "" : status->message();
  Inside(key, [&] {
    Position("code", &code, static_cast<int64_t>(Code::kUnauthenticated));
    Value("message", &message);
  });
  if (restores_) *status = code == 0 ? Status() : Status(static_cast<Code>(code), message);
}

void State::Nested(std::string_view key, Iterator& iterator) {
  // Its name is part of the key: what an iterator of another kind saved is not there.
  const std::string& name = iterator.prefix();
  const size_t last = name.rfind("::");
  Inside(StrCat(key, "/", last == std::string::npos ? name : name.substr(last + 2)), [&] { iterator.Visit(*this); });
}

}  // namespace penstock::data
