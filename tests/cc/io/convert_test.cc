#include "penstock/io/convert.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "penstock/tensor/resource_handle.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Code CodeOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.code();
  }
  return Code::kOk;
}

// Each constant was written, and its elements recorded, by TensorFlow.
TEST(Tensors, EveryEncodingOfTensorFlowIsRead) {
  const GraphDef graph = ParseGraphDef(ReadFile("tests/oracle/tensor_encodings.pb"));
  ASSERT_GT(graph.nodes.size(), 90u);
  for (const NodeDef& node : graph.nodes) {
    SCOPED_TRACE(node.name);
    const Tensor* t = node.attrs.Find("value")->If<Tensor>();
    ASSERT_NE(t, nullptr);
    EXPECT_EQ(t->dtype(), *node.attrs.Find("dtype")->If<DataType>());
    if (t->dtype() == DT_STRING) {
      const auto& strings = *node.attrs.Find("_strings")->If<std::vector<std::string>>();
      ASSERT_EQ(t->num_elements(), static_cast<int64_t>(strings.size()));
      for (size_t i = 0; i < strings.size(); ++i) EXPECT_EQ(t->data<TString>()[i].view(), strings[i]);
    } else {
      const auto& bytes = *node.attrs.Find("_bytes")->If<std::string>();
      EXPECT_EQ(std::string(static_cast<const char*>(t->raw()), t->bytes()), bytes);
    }
    const Tensor again = ParseTensor(SerializeTensor(*t));
    EXPECT_EQ(AttrValue(again), AttrValue(*t));
  }
  EXPECT_EQ(SerializeGraphDef(graph), SerializeGraphDef(ParseGraphDef(SerializeGraphDef(graph))));
}

TEST(Tensors, SmallOnesAreListedAndLargerOnesPacked) {
  // dtype: 1 (DT_FLOAT), tensor_shape {}, float_val: 1
  EXPECT_EQ(SerializeTensor(Tensor(1.0f)), std::string("\x08\x01\x12\x00\x2a\x04\x00\x00\x80\x3f", 10));
  // dtype: 4 (DT_UINT8), tensor_shape { dim { size: 2 } }, tensor_content: "\001\002"
  EXPECT_EQ(SerializeTensor(Tensor::Vector<uint8_t>({1, 2})), "\x08\x04\x12\x04\x12\x02\x08\x02\x22\x02\x01\x02");
}

TEST(Tensors, HandlesAndVariantsGoThrough) {
  Tensor handles(DT_RESOURCE, Shape({2}));
  handles.mutable_data<ResourceHandle>()[1].name = "v";
  handles.mutable_data<ResourceHandle>()[1].dtypes_and_shapes = {{DT_INT32, PartialShape({-1, 3})}};
  const Tensor read = ParseTensor(SerializeTensor(handles));
  EXPECT_EQ(read.data<ResourceHandle>()[1].name, "v");
  EXPECT_EQ(read.data<ResourceHandle>()[1].dtypes_and_shapes, handles.data<ResourceHandle>()[1].dtypes_and_shapes);

  Tensor variants(DT_VARIANT, Shape({2}));
  variants.mutable_data<Variant>()[0] = Variant(DecodeVariant("unheard of", "meta", {Tensor(int64_t{7})}));
  const Tensor copy = ParseTensor(SerializeTensor(variants));
  std::string metadata;
  std::vector<Tensor> tensors;
  copy.data<Variant>()[0].get()->Encode(&metadata, &tensors);
  EXPECT_EQ(copy.data<Variant>()[0].get()->TypeName(), "unheard of");
  EXPECT_EQ(metadata, "meta");
  ASSERT_EQ(tensors.size(), 1u);
  EXPECT_EQ(tensors[0].scalar<int64_t>(), 7);
  EXPECT_TRUE(copy.data<Variant>()[1].empty());
}

TEST(Tensors, NonsenseIsRefused) {
  const auto code = [](std::string_view bytes) { return CodeOf([&] { ParseTensor(bytes); }); };
  using namespace std::literals;
  EXPECT_EQ(code("\x08\x01\x12\x00"sv), Code::kOk);           // a float scalar, zero
  EXPECT_EQ(code("\x08\x01\x12"sv), Code::kInvalidArgument);  // cut short
  EXPECT_EQ(code("\x08\x00"sv), Code::kInvalidArgument);      // no type
  EXPECT_EQ(code("\x08\x65"sv), Code::kInvalidArgument);      // a reference
  EXPECT_EQ(code("\x08\xe7\x07"sv), Code::kInvalidArgument);  // type 999
  EXPECT_EQ(code("\x08\x01\x12\x0d\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv),
            Code::kInvalidArgument);  // [-1]
  EXPECT_EQ(code("\x08\x01\x22\x03"
                 "abc"sv),
            Code::kInvalidArgument);                                      // 3 bytes for a float
  EXPECT_EQ(code("\x08\x01\x12\x02\x18\x01"sv), Code::kInvalidArgument);  // unknown rank
  // 2^40 by 2^40 elements, and 2^60 of them.
  EXPECT_EQ(code("\x08\x01\x12\x12\x12\x07\x08\x80\x80\x80\x80\x80\x20\x12\x07\x08\x80\x80\x80\x80\x80\x20"sv),
            Code::kInvalidArgument);
  // 5 * 2^30 bytes, made of nothing.
  EXPECT_EQ(code("\x08\x06\x12\x08\x12\x06\x08\x80\x80\x80\x80\x14"sv), Code::kResourceExhausted);
  EXPECT_EQ(code("\x08\x01\x12\x0c\x12\x0a\x08\x80\x80\x80\x80\x80\x80\x80\x80\x10"sv), Code::kResourceExhausted);
  EXPECT_EQ(code("\x08\x07\x12\x04\x12\x02\x08\x02\x22\x02\x05\x01"sv),
            Code::kInvalidArgument);  // packed strings too short
}

TEST(Attributes, EveryKindGoesThrough) {
  const std::vector<AttrValue> values = {std::string("s\0", 2),
                                         int64_t{-1},
                                         1.5f,
                                         true,
                                         DT_HALF,
                                         PartialShape(),
                                         PartialShape({2, -1}),
                                         PartialShape({}),
                                         Tensor(3),
                                         FuncRef{"f", {{"T", DT_INT8}, {"g", FuncRef{"h", {}}}}},
                                         AttrPlaceholder{"T"},
                                         EmptyList(),
                                         std::vector<std::string>{"a", ""},
                                         std::vector<int64_t>{1, -2},
                                         std::vector<float>{0.5f},
                                         std::vector<bool>{true, false},
                                         std::vector<DataType>{DT_INT32, DT_FLOAT},
                                         std::vector<PartialShape>{PartialShape(), PartialShape({1})},
                                         std::vector<Tensor>{Tensor(1), Tensor(TString("x"))},
                                         std::vector<FuncRef>{{"f", {}}, {"g", {{"N", int64_t{2}}}}}};
  for (const AttrValue& value : values) {
    const AttrValue read = ParseAttrValue(SerializeAttrValue(value));
    EXPECT_EQ(read, value) << value.ToString() << " " << read.ToString();
    EXPECT_EQ(read.KindName(), value.KindName());
  }
  EXPECT_EQ(ParseAttrValue(SerializeAttrValue(std::vector<int64_t>())).KindName(), "list");
  EXPECT_TRUE(ParseAttrValue("").empty());
}

TEST(Functions, GoThrough) {
  FunctionDef f;
  f.signature.name = "f";
  f.signature.inputs.emplace_back().name = "x";
  f.signature.inputs[0].type_attr = "T";
  f.signature.outputs.emplace_back().name = "y";
  f.signature.outputs[0].type = DT_FLOAT;
  AttrDef& type = f.signature.attrs.emplace_back();
  type.name = "T";
  type.kind = "type";
  type.allowed = std::vector<DataType>{DT_FLOAT};
  f.signature.control_outputs = {"done"};
  f.signature.traits.stateful = true;
  f.attrs = {{"_noinline", true}};
  f.arg_attrs = {{{"_output_shapes", std::vector<PartialShape>{PartialShape({2})}}}};
  f.nodes.push_back({"n", "Cast", "/cpu:0", {"x", "^n2"}, {{"SrcT", AttrPlaceholder{"T"}}}, {"was"}, {}});
  f.ret = {{"y", "n:y:0"}};
  f.control_ret = {{"done", "n"}};
  const auto read = ParseFunctionDef(SerializeFunctionDef(f));
  EXPECT_EQ(read->signature.ToString(), f.signature.ToString());
  EXPECT_EQ(read->signature.control_outputs, f.signature.control_outputs);
  EXPECT_EQ(read->attrs, f.attrs);
  EXPECT_EQ(read->arg_attrs, f.arg_attrs);
  ASSERT_EQ(read->nodes.size(), 1u);
  EXPECT_EQ(read->nodes[0].inputs, f.nodes[0].inputs);
  EXPECT_EQ(read->nodes[0].attrs, f.nodes[0].attrs);
  EXPECT_EQ(read->nodes[0].device, "/cpu:0");
  EXPECT_EQ(read->nodes[0].original_node_names, f.nodes[0].original_node_names);
  EXPECT_EQ(read->ret, f.ret);
  EXPECT_EQ(read->control_ret, f.control_ret);
}

// Whatever the bytes are, the answer is a value or an Error.
TEST(Fuzz, MutatedMessagesNeverCrash) {
  const std::string good = ReadFile("tests/oracle/tensor_encodings.pb").substr(0, 6000);
  std::mt19937 rng(1);
  int parsed = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (int n = 1 + static_cast<int>(rng() % 4); n > 0; --n) {
      const size_t at = rng() % bytes.size();
      switch (rng() % 4) {
        case 0: bytes[at] = static_cast<char>(rng()); break;
        case 1: bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng() % 8)); break;
        case 2: bytes.erase(at, 1 + rng() % 3).append(3, 0); break;
        default: bytes.resize(at + 10);
      }
    }
    try {
      const GraphDef graph = ParseGraphDef(bytes);
      SerializeGraphDef(graph);
      ++parsed;
    } catch (const Error&) {
    }
    try {
      const size_t at = rng() % bytes.size();
      SerializeTensor(ParseTensor(std::string_view(bytes).substr(at, 100)));
    } catch (const Error&) {
    }
  }
  EXPECT_GT(parsed, 0);
}

}  // namespace
}  // namespace penstock
