// Lookup tables: handles are resources, or in the first version references to a pair of strings.
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

void OldHandleShape(ShapeContext& c) { c.out(0, PartialShape({2})); }

void TableShape(ShapeContext& c, const PartialShape& key, const PartialShape& value) {
  c.out(0, PartialShape({}));
  c.out_handle(0, {{c.attr<DataType>("key_dtype"), key}, {c.attr<DataType>("value_dtype"), value}});
}
void ScalarTableShape(ShapeContext& c) { TableShape(c, PartialShape({}), PartialShape({})); }
void VectorTableShape(ShapeContext& c) { TableShape(c, PartialShape({}), c.attr<PartialShape>("value_shape")); }
void DenseTableShape(ShapeContext& c) {
  TableShape(c, c.WithRankAtMost(0, 1), c.attr<PartialShape>("value_shape"));
}

void CheckHandle(ShapeContext& c) {
  if (BaseType(c.in_type(0)) == DT_RESOURCE) {
    c.WithRank(0, 0);
  } else {
    const PartialShape handle = c.WithRank(0, 1);
    if (handle.known_rank()) shapes::RequireDim(handle[0], 2);
  }
}

// What the handle says of keys (0) or values (1); null if it says nothing.
const PartialShape* Known(ShapeContext& c, int which, const char* type_attr) {
  if (c.in_handle(0).size() != 2) return nullptr;
  const DtypeAndShape& known = c.in_handle(0)[which];
  if (known.dtype != c.attr<DataType>(type_attr)) {
    throw InvalidArgument("Trying to read value with wrong dtype. Expected ", known.dtype, " got ",
                          c.attr<DataType>(type_attr));
  }
  return &known.shape;
}

void FindShape(ShapeContext& c) {
  CheckHandle(c);
  c.WithRankAtMost(2, 1 + std::max(0, c.in(1).rank()));
  const PartialShape *key = Known(c, 0, "Tin"), *value = Known(c, 1, "Tout"), &keys = c.in(1);
  if (!key || !key->known_rank() || !keys.known_rank()) return;
  if (keys.rank() < key->rank()) throw InvalidArgument("Expected keys to have suffix ", *key, " but saw shape: ", keys);
  c.out(0, shapes::Concatenate(shapes::Subshape(keys, 0, keys.rank() - key->rank()), *value));
}

void ExportShape(ShapeContext& c) {
  CheckHandle(c);
  const PartialShape *key = Known(c, 0, "Tkeys"), *value = Known(c, 1, "Tvalues");
  // Whether scalars come as vectors of one is up to the kind of table.
  if (key && key->rank() > 0) c.out(0, shapes::Concatenate(PartialShape({-1}), *key));
  if (value && value->rank() > 0) c.out(1, shapes::Concatenate(PartialShape({-1}), *value));
}

void FillShape(ShapeContext& c) {
  CheckHandle(c);
  const PartialShape keys = c.WithRankAtLeast(1, 1), values = c.WithRankAtLeast(2, 1);
  if (keys.known_rank() && values.known_rank()) ShapeContext::MergeDim(keys[0], values[0]);
}

void InitializeShape(ShapeContext& c) {
  FillShape(c);
  shapes::Merge(c.WithRank(1, 1), c.in(2));
}

void FileShape(ShapeContext& c) {
  CheckHandle(c);
  c.WithRank(1, 0);
}

void SizeShape(ShapeContext& c) {
  CheckHandle(c);
  c.out(0, PartialShape({}));
}

}  // namespace

void RegisterLookupOps(OpRegistry& ops) {
  ops.Add("HashTable").Output("table_handle: Ref(string)").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Attr("use_node_name_sharing: bool = false").Attr("key_dtype: type")
      .Attr("value_dtype: type").Stateful().NotDifferentiable().Shape(OldHandleShape)
      .Doc("A table that is filled once.");
  ops.Add("HashTableV2").Output("table_handle: resource").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Attr("use_node_name_sharing: bool = false").Attr("key_dtype: type")
      .Attr("value_dtype: type").Stateful().NotDifferentiable().Shape(ScalarTableShape)
      .Doc("A table that is filled once.");
  ops.Add("AnonymousHashTable").Output("table_handle: resource").Attr("key_dtype: type").Attr("value_dtype: type")
      .Stateful().Shape(ScalarTableShape).Doc("A table that is filled once and lives as long as its handles.");
  ops.Add("MutableHashTable").Output("table_handle: Ref(string)").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Attr("use_node_name_sharing: bool = false").Attr("key_dtype: type")
      .Attr("value_dtype: type").Stateful().NotDifferentiable().Shape(OldHandleShape).Doc("A table of scalars.");
  ops.Add("MutableHashTableV2").Output("table_handle: resource").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Attr("use_node_name_sharing: bool = false").Attr("key_dtype: type")
      .Attr("value_dtype: type").Stateful().NotDifferentiable().Shape(ScalarTableShape).Doc("A table of scalars.");
  ops.Add("AnonymousMutableHashTable").Output("table_handle: resource").Attr("key_dtype: type")
      .Attr("value_dtype: type").Stateful().Shape(ScalarTableShape)
      .Doc("A table of scalars that lives as long as its handles.");
  ops.Add("MutableHashTableOfTensors").Output("table_handle: Ref(string)").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Attr("use_node_name_sharing: bool = false").Attr("key_dtype: type")
      .Attr("value_dtype: type").Attr("value_shape: shape = []").Stateful().NotDifferentiable().Shape(OldHandleShape)
      .Doc("A table of vectors.");
  ops.Add("MutableHashTableOfTensorsV2").Output("table_handle: resource").Attr("container: string = ''")
      .Attr("shared_name: string = ''").Attr("use_node_name_sharing: bool = false").Attr("key_dtype: type")
      .Attr("value_dtype: type").Attr("value_shape: shape = []").Stateful().NotDifferentiable()
      .Shape(VectorTableShape).Doc("A table of vectors.");
  ops.Add("AnonymousMutableHashTableOfTensors").Output("table_handle: resource").Attr("key_dtype: type")
      .Attr("value_dtype: type").Attr("value_shape: shape = []").Stateful().Shape(VectorTableShape)
      .Doc("A table of vectors that lives as long as its handles.");
  ops.Add("MutableDenseHashTable").Input("empty_key: key_dtype").Output("table_handle: Ref(string)")
      .Attr("container: string = ''").Attr("shared_name: string = ''").Attr("use_node_name_sharing: bool = false")
      .Attr("key_dtype: type").Attr("value_dtype: type").Attr("value_shape: shape = []")
      .Attr("initial_num_buckets: int = 131072").Attr("max_load_factor: float = 0.800000011920929").Stateful()
      .NotDifferentiable().Shape(OldHandleShape).Doc("A table that uses one key to mark what is empty.");
  ops.Add("MutableDenseHashTableV2").Input("empty_key: key_dtype").Input("deleted_key: key_dtype")
      .Output("table_handle: resource").Attr("container: string = ''").Attr("shared_name: string = ''")
      .Attr("use_node_name_sharing: bool = false").Attr("key_dtype: type").Attr("value_dtype: type")
      .Attr("value_shape: shape = []").Attr("initial_num_buckets: int = 131072")
      .Attr("max_load_factor: float = 0.800000011920929").Stateful().NotDifferentiable().Shape(DenseTableShape)
      .Doc("A table that uses two keys to mark what is empty and what was removed.");
  ops.Add("AnonymousMutableDenseHashTable").Input("empty_key: key_dtype").Input("deleted_key: key_dtype")
      .Output("table_handle: resource").Attr("key_dtype: type").Attr("value_dtype: type")
      .Attr("value_shape: shape = []").Attr("initial_num_buckets: int = 131072")
      .Attr("max_load_factor: float = 0.800000011920929").Stateful().Shape(DenseTableShape)
      .Doc("Such a table that lives as long as its handles.");
  ops.Add("InitializeTable").Input("table_handle: Ref(string)").Input("keys: Tkey").Input("values: Tval")
      .Attr("Tkey: type").Attr("Tval: type").NotDifferentiable().Shape(InitializeShape).Doc("Fills a table.");
  ops.Add("InitializeTableV2").Input("table_handle: resource").Input("keys: Tkey").Input("values: Tval")
      .Attr("Tkey: type").Attr("Tval: type").Stateful().NotDifferentiable().Shape(InitializeShape)
      .Doc("Fills a table.");
  ops.Add("InitializeTableFromTextFile").Input("table_handle: Ref(string)").Input("filename: string")
      .Attr("key_index: int >= -2").Attr("value_index: int >= -2").Attr("vocab_size: int >= -1 = -1")
      .Attr("delimiter: string = '\t'").Attr("offset: int = 0").NotDifferentiable().Shape(FileShape)
      .Doc("Fills a table with columns of a file's lines, whole lines (-2) or their numbers (-1).");
  ops.Add("InitializeTableFromTextFileV2").Input("table_handle: resource").Input("filename: string")
      .Attr("key_index: int >= -2").Attr("value_index: int >= -2").Attr("vocab_size: int >= -1 = -1")
      .Attr("delimiter: string = '\t'").Attr("offset: int = 0").Stateful().NotDifferentiable().Shape(FileShape)
      .Doc("Fills a table with columns of a file's lines, whole lines (-2) or their numbers (-1).");
  ops.Add("LookupTableFind").Input("table_handle: Ref(string)").Input("keys: Tin").Input("default_value: Tout")
      .Output("values: Tout").Attr("Tin: type").Attr("Tout: type").NotDifferentiable().Shape(FindShape)
      .Doc("The keys' values; a default for those that are absent.");
  ops.Add("LookupTableFindV2").Input("table_handle: resource").Input("keys: Tin").Input("default_value: Tout")
      .Output("values: Tout").Attr("Tin: type").Attr("Tout: type").Stateful().NotDifferentiable().Shape(FindShape)
      .Doc("The keys' values; a default for those that are absent.");
  ops.Add("LookupTableInsert").Input("table_handle: Ref(string)").Input("keys: Tin").Input("values: Tout")
      .Attr("Tin: type").Attr("Tout: type").NotDifferentiable().Shape(CheckHandle).Doc("Adds or replaces entries.");
  ops.Add("LookupTableInsertV2").Input("table_handle: resource").Input("keys: Tin").Input("values: Tout")
      .Attr("Tin: type").Attr("Tout: type").Stateful().NotDifferentiable().Shape(CheckHandle)
      .Doc("Adds or replaces entries.");
  ops.Add("LookupTableRemoveV2").Input("table_handle: resource").Input("keys: Tin").Attr("Tin: type").Stateful()
      .Shape(CheckHandle).Doc("Removes entries; keys that are absent do no harm.");
  ops.Add("LookupTableImport").Input("table_handle: Ref(string)").Input("keys: Tin").Input("values: Tout")
      .Attr("Tin: type").Attr("Tout: type").Shape(FillShape).Doc("Puts these entries in place of all there are.");
  ops.Add("LookupTableImportV2").Input("table_handle: resource").Input("keys: Tin").Input("values: Tout")
      .Attr("Tin: type").Attr("Tout: type").Stateful().Shape(FillShape)
      .Doc("Puts these entries in place of all there are.");
  ops.Add("LookupTableExport").Input("table_handle: Ref(string)").Output("keys: Tkeys").Output("values: Tvalues")
      .Attr("Tkeys: type").Attr("Tvalues: type").Shape(ExportShape).Doc("All keys and their values.");
  ops.Add("LookupTableExportV2").Input("table_handle: resource").Output("keys: Tkeys").Output("values: Tvalues")
      .Attr("Tkeys: type").Attr("Tvalues: type").Stateful().Shape(ExportShape).Doc("All keys and their values.");
  ops.Add("LookupTableSize").Input("table_handle: Ref(string)").Output("size: int64").NotDifferentiable()
      .Shape(SizeShape).Doc("The number of entries.");
  ops.Add("LookupTableSizeV2").Input("table_handle: resource").Output("size: int64").Stateful().NotDifferentiable()
      .Shape(SizeShape).Doc("The number of entries.");
}

}  // namespace penstock
