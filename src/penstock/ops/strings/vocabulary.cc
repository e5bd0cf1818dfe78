// Vocabularies that changed: which rows and columns of a saved matrix stand for the same words.
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

void RegisterVocabularyOps(OpRegistry& ops) {
  ops.Add("GenerateVocabRemapping").Input("new_vocab_file: string").Input("old_vocab_file: string")
      .Output("remapping: int64").Output("num_present: int32").Attr("new_vocab_offset: int >= 0")
      .Attr("num_new_vocab: int >= 0").Attr("old_vocab_size: int >= -1 = -1").NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 0);
        c.WithRank(1, 0);
        c.out(0, {c.attr<int64_t>("num_new_vocab")});
        c.out(1, PartialShape({}));
      })
      .Doc("For each word of a part of the new vocabulary its line in the old one, or -1.");
  ops.Add("LoadAndRemapMatrix").Input("ckpt_path: string").Input("old_tensor_name: string")
      .Input("row_remapping: int64").Input("col_remapping: int64").Input("initializing_values: float")
      .Output("output_matrix: float").Attr("num_rows: int >= 0").Attr("num_cols: int >= 1")
      .Attr("max_rows_in_memory: int = -1").Stateful().NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.WithRank(1, 0);
        c.out(0, {c.attr<int64_t>("num_rows"), c.attr<int64_t>("num_cols")});
      })
      .Doc("Rows and columns of a saved matrix in a new order; -1 in a remapping takes the next initializing value.");
}

}  // namespace penstock
