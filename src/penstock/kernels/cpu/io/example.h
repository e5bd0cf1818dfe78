// Example and SequenceExample messages, read straight from their bytes.
#pragma once

#include <functional>
#include <string_view>

#include "penstock/tensor/tensor.h"

namespace penstock {

// The values of one Feature: of one of three types, or none at all. They stay in the message until they are copied.
struct FeatureValues {
  DataType type = DT_INVALID;
  int64_t size = 0;
  std::string_view lists;  // the part of the message that holds them

  // All of them to element `at` of a tensor of that type on.
  void CopyTo(Tensor* to, int64_t at) const;
};

// These are false for bytes that are no such message. `visit` is called for each entry; of several entries with one
// name the last counts.
using EntryVisitor = std::function<void(std::string_view name, std::string_view message)>;
bool ReadFeature(std::string_view message, FeatureValues* values);
bool VisitFeatures(std::string_view example, int field,
                   const EntryVisitor& visit);  // Features or FeatureLists in a field
bool VisitList(std::string_view feature_list, const std::function<void(std::string_view)>& visit);

}  // namespace penstock
