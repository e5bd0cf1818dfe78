#pragma once

#include "penstock/data/dataset_kernel.h"
#include "penstock/graph/graph_def.h"

namespace penstock::data {

// What becomes of functions with state of their own when a dataset is written down.
enum class StatePolicy { kAllow, kFail };

// A graph that makes the dataset, with all functions; the last node, "dataset", is its _Retval. Random seeds and caches
// that iterators share are new ones there.
// FailedPrecondition: state that cannot be written. Unimplemented: datasets that no op made.
GraphDef GraphOf(const Dataset& dataset, const FunctionLibraryPtr& session_library, StatePolicy policy);

// The dataset that such a graph makes. InvalidArgument: there is none in it.
Ref<const Dataset> DatasetOf(KernelContext& k, GraphDef graph);

// The state of an iterator with graphs in the place of datasets that ops made, so that it can be written to a file; and
// with the datasets that such graphs make. Datasets that cannot be written as graphs stay.
Ref<SavedState> WithGraphs(KernelContext& k, Ref<SavedState> state);
Ref<const SavedState> WithDatasets(KernelContext& k, Ref<const SavedState> state);

}  // namespace penstock::data
