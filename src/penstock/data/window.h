#pragma once

#include "penstock/data/dataset.h"

namespace penstock::data {

// A dataset of elements that are there.
Ref<Dataset> Kept(ElementSpec spec, std::vector<Element> elements);
// The same of what its variant was encoded as. DataLoss if it is none.
Ref<VariantValue> DecodeKept(std::string_view metadata, std::vector<Tensor> tensors);

// Types and shapes as two tensors, and back. DataLoss if they are none.
std::vector<Tensor> EncodeSpec(const ElementSpec& spec);
ElementSpec DecodeSpec(const std::vector<Tensor>& tensors);

// The first `count` elements; all if it is negative.
Ref<Dataset> MakeTake(Ref<const Dataset> input, int64_t count);

// All but the first `count` elements.
Ref<Dataset> MakeSkip(Ref<const Dataset> input, int64_t count);

}  // namespace penstock::data
