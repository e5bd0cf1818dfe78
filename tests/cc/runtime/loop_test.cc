// Loops and conditionals as straight lines and as tokens: random nested programs against an interpreter of their text.
#include <random>

#include "runner.h"

namespace penstock {
namespace {

constexpr int kVariables = 3;
constexpr int64_t kModulus = 1009;

struct Statement {
  enum Kind { kAdd, kSub, kIf, kWhile } kind;
  int to, a, b;  // variable indices; an If compares a with b
  int64_t rounds;
  std::vector<Statement> then, otherwise;  // a While's body is `then`
};
using Block = std::vector<Statement>;

Block RandomBlock(std::mt19937& random, int depth) {
  Block block;
  const int n = 1 + static_cast<int>(random() % 3);
  for (int i = 0; i < n; ++i) {
    Statement s{};
    const int kind = static_cast<int>(random() % (depth > 0 ? 5 : 2));
    s.kind = kind == 0 ? Statement::kAdd : kind == 1 ? Statement::kSub : kind == 2 ? Statement::kIf : Statement::kWhile;
    s.to = static_cast<int>(random() % kVariables);
    s.a = static_cast<int>(random() % kVariables);
    s.b = static_cast<int>(random() % kVariables);
    s.rounds = static_cast<int64_t>(random() % 4);
    if (s.kind >= Statement::kIf) s.then = RandomBlock(random, depth - 1);
    if (s.kind == Statement::kIf) s.otherwise = RandomBlock(random, depth - 1);
    block.push_back(std::move(s));
  }
  return block;
}

int64_t Mod(int64_t x) { return (x % kModulus + kModulus) % kModulus; }

void Interpret(const Block& block, std::vector<int64_t>& v) {
  for (const Statement& s : block) {
    switch (s.kind) {
      case Statement::kAdd: v[s.to] = Mod(v[s.a] + v[s.b]); break;
      case Statement::kSub: v[s.to] = Mod(v[s.a] - v[s.b]); break;
      case Statement::kIf: Interpret(v[s.a] < v[s.b] ? s.then : s.otherwise, v); break;
      case Statement::kWhile:
        for (int64_t i = 0; i < s.rounds; ++i) Interpret(s.then, v);
        break;
    }
  }
}

// `v` holds the variables and, last, the modulus, which nothing assigns.
void Build(Graph& graph, const Block& block, std::vector<Endpoint>& v);

// A constant in the frame and on the branch where `near` is.
Endpoint ConstantNear(Graph& graph, int64_t value, Endpoint near) {
  Node* node = Add(graph, "Const", {}, {{"value", Tensor(value)}, {"dtype", DT_INT64}});
  graph.AddControlEdge(Add(graph, "Identity", {near}), node);
  return {node, 0};
}

void BuildIf(Graph& graph, const Statement& s, std::vector<Endpoint>& v) {
  const Endpoint predicate{Add(graph, "Less", {v[s.a], v[s.b]}), 0};
  std::vector<Endpoint> sides[2];
  for (const Endpoint& x : v) {
    Node* branch = Add(graph, "Switch", {x, predicate});
    for (int side = 0; side < 2; ++side) sides[side].push_back({branch, side});
  }
  Build(graph, s.otherwise, sides[0]);
  Build(graph, s.then, sides[1]);
  for (int i = 0; i < kVariables; ++i) v[i] = {Add(graph, "Merge", {sides[0][i], sides[1][i]}), 0};
}

void BuildWhile(Graph& graph, const Statement& s, std::vector<Endpoint>& v) {
  const std::string frame = graph.UniqueName("frame");
  std::vector<Endpoint> starts(v.begin(), v.begin() + kVariables);
  starts.push_back(ConstantNear(graph, 0, v[0]));
  std::vector<Node*> merges;
  for (const Endpoint& start : starts) {
    Node* enter = Add(graph, "Enter", {start}, {{"frame_name", frame}});
    merges.push_back(Add(graph, "Merge", {{enter, 0}, {enter, 0}}));
  }
  const Endpoint modulus{Add(graph, "Enter", {v.back()}, {{"frame_name", frame}, {"is_constant", true}}), 0};
  Node* more = Add(graph, "Less", {{merges.back(), 0}, ConstantNear(graph, s.rounds, {merges[0], 0})});
  Node* condition = Add(graph, "LoopCond", {{more, 0}});
  std::vector<Endpoint> inside;
  for (size_t i = 0; i < merges.size(); ++i) {
    Node* branch = Add(graph, "Switch", {{merges[i], 0}, {condition, 0}});
    inside.push_back({branch, 1});
    if (i < kVariables) v[i] = {Add(graph, "Exit", {{branch, 0}}), 0};
  }
  const Endpoint counter = inside.back();
  inside.back() = modulus;
  Build(graph, s.then, inside);
  inside.back() = {Add(graph, "AddV2", {counter, ConstantNear(graph, 1, counter)}), 0};
  for (size_t i = 0; i < merges.size(); ++i)
    graph.UpdateInput(merges[i], 1, {Add(graph, "NextIteration", {inside[i]}), 0});
}

void Build(Graph& graph, const Block& block, std::vector<Endpoint>& v) {
  for (const Statement& s : block) {
    if (s.kind == Statement::kIf) {
      BuildIf(graph, s, v);
    } else if (s.kind == Statement::kWhile) {
      BuildWhile(graph, s, v);
    } else {
      Node* sum = Add(graph, s.kind == Statement::kAdd ? "AddV2" : "Sub", {v[s.a], v[s.b]});
      v[s.to] = {Add(graph, "FloorMod", {{sum, 0}, v.back()}), 0};
    }
  }
}

TEST(Loops, NestedOnesGiveWhatTheirTextSays) {
  Runner runner;
  for (int seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const Block block = RandomBlock(random, 3);
    auto graph = std::make_shared<Graph>();
    std::vector<Endpoint> values;
    std::vector<Tensor> args;
    std::vector<int64_t> expected;
    for (int i = 0; i < kVariables; ++i) {
      values.push_back({Arg(*graph, i, DT_INT64), 0});
      expected.push_back(static_cast<int64_t>(random() % 1000));
      args.push_back(Tensor(expected.back()));
    }
    values.push_back({Arg(*graph, kVariables, DT_INT64), 0});
    args.push_back(Tensor(kModulus));
    Build(*graph, block, values);
    for (int i = 0; i < kVariables; ++i) Ret(*graph, values[i], i);
    Interpret(block, expected);
    for (const auto& [dataflow, nest_loops] : {std::pair(false, true), std::pair(true, true), std::pair(true, false)}) {
      const std::vector<Tensor> results = runner.Run(graph, args, kVariables, dataflow, nest_loops);
      for (int i = 0; i < kVariables; ++i) {
        EXPECT_EQ(*results[i].data<int64_t>(), expected[i])
            << "seed " << seed << ", variable " << i << ", dataflow " << dataflow << ", nested " << nest_loops;
      }
    }
  }
}

TEST(Loops, AFailureInsideNamesItsNode) {
  Runner runner;
  auto graph = std::make_shared<Graph>();
  std::vector<Endpoint> values = {{Arg(*graph, 0, DT_INT64), 0},
                                  {Arg(*graph, 1, DT_INT64), 0},
                                  {Arg(*graph, 2, DT_INT64), 0},
                                  {Arg(*graph, 3, DT_INT64), 0}};
  Statement loop{Statement::kWhile, 0, 0, 0, 2, {{Statement::kAdd, 0, 1, 2, 0, {}, {}}}, {}};
  Build(*graph, {loop}, values);
  Ret(*graph, values[0], 0);
  const std::vector<Tensor> args = {Tensor(int64_t{1}), Tensor(int64_t{2}), Tensor(int64_t{3}), Tensor(int64_t{0})};
  for (const bool dataflow : {false, true}) {
    try {
      runner.Run(graph, args, 1, dataflow);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument);
      EXPECT_EQ(e.status().node(), "FloorMod");
    }
  }
}

TEST(Loops, AResultOnTheUntakenSideIsAnError) {
  Runner runner;
  auto graph = std::make_shared<Graph>();
  Node* predicate = Arg(*graph, 0, DT_BOOL);
  Node* branch = Add(*graph, "Switch", {{Arg(*graph, 1, DT_INT64), 0}, {predicate, 0}});
  Ret(*graph, {Add(*graph, "Neg", {{branch, 1}}), 0}, 0);
  EXPECT_EQ(*runner.Run(graph, {Tensor(true), Tensor(int64_t{4})}, 1, false)[0].data<int64_t>(), -4);
  for (const bool dataflow : {false, true}) {
    EXPECT_THROW(runner.Run(graph, {Tensor(false), Tensor(int64_t{4})}, 1, dataflow), Error);
  }
}

}  // namespace
}  // namespace penstock
