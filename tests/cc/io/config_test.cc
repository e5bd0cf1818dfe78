#include "penstock/io/config.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// Written by TensorFlow: intra 2, inter 3, CPU: 4, soft placement, 77 ms, opt_level L0, constant_folding OFF,
// arithmetic_optimization AGGRESSIVE, min_graph_nodes -1, session_metadata {m, 5}.
TEST(Config, OfTensorFlowIsRead) {
  const SessionOptions options =
      ParseConfig(FromHex("0a070a034350551004100228033801521f1a0b18ffffffffffffffffff015210180238038801ffffffffffffffff"
                          "ff01584d8201075a050a016d"
                          "1005"));
  EXPECT_EQ(options.intra_op_threads, 2);
  EXPECT_EQ(options.inter_op_threads, 3);
  EXPECT_EQ(options.device_count, (std::map<std::string, int>{{"CPU", 4}}));
  EXPECT_TRUE(options.allow_soft_placement);
  EXPECT_FALSE(options.log_device_placement);
  EXPECT_EQ(options.operation_timeout_ms, 77);
  EXPECT_EQ(options.graph.opt_level, -1);
  EXPECT_EQ(options.graph.rewrite.constant_folding, Toggle::kOff);
  EXPECT_EQ(options.graph.rewrite.arithmetic, Toggle::kAggressive);
  EXPECT_EQ(options.graph.rewrite.remapping, Toggle::kDefault);
  EXPECT_EQ(options.graph.rewrite.min_graph_nodes, -1);
  EXPECT_TRUE(options.has_session_metadata);
  EXPECT_EQ(options.session_name, "m");
  EXPECT_EQ(options.session_version, 5);
  EXPECT_EQ(ParseConfig("").intra_op_threads, 0);
}

TEST(Config, NonsenseIsRefused) {
  EXPECT_THROW(ParseConfig("\xff\xff"), Error);
  // device_count { CPU: -1 }
  EXPECT_THROW(ParseConfig(FromHex("0a100a0343505510ffffffffffffffffff01")), Error);
}

// trace_level FULL_TRACE, 9 ms, output_partition_graphs.
TEST(RunOptions, OfTensorFlowAreRead) {
  const RunOptions options = ParseRunOptions(FromHex("080310092801"));
  EXPECT_EQ(options.trace_level, RunOptions::kFullTrace);
  EXPECT_EQ(options.timeout_ms, 9);
  EXPECT_TRUE(options.output_partition_graphs);
  EXPECT_EQ(ParseRunOptions("").trace_level, RunOptions::kNoTrace);
}

TEST(RunMetadata, TimesAreRelativeToTheStart) {
  RunMetadata metadata;
  NodeStats& node = metadata.devices.emplace_back().nodes.emplace_back();
  node.name = "y";
  node.op = "MatMul";
  node.inputs = {"a", "b:1"};
  node.start_ns = 5000;
  node.op_start_ns = 6000;
  node.op_end_ns = 8000;
  node.end_ns = 9000;
  const std::string bytes = SerializeRunMetadata(metadata);
  EXPECT_NE(bytes.find("y = MatMul(a, b:1)"), std::string::npos);
  // all_start_micros 5, op_start_rel 1, op_end_rel 3, all_end_rel 4
  EXPECT_NE(bytes.find(std::string("\x10\x05\x18\x01\x20\x03\x28\x04")), std::string::npos);
}

}  // namespace
}  // namespace penstock
