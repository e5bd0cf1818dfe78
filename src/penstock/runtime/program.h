// Program: one device's part of a step in the form that runs: flat arrays of instructions, input slots and edges.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "penstock/device/device.h"
#include "penstock/graph/graph.h"
#include "penstock/kernel/kernel_context.h"

namespace penstock {

struct Loop;

// A node, or a whole loop, ready to run. Indices point into the program's arrays.
struct Instruction {
  const Node* node = nullptr;        // of a loop: its first Enter
  std::shared_ptr<Kernel> kernel;    // shared with the session when it has state
  std::shared_ptr<const Loop> loop;  // instead of a kernel
  NodeView view;
  Flow flow = Flow::kNone;
  bool async = false;
  bool blocks = false;           // may wait for other threads, though it is not asynchronous; a loop: its body may
  bool expensive = false;        // worth a thread of its own when others are ready too
  bool keeps_inputs = false;     // may hold them after the step: it must not get borrowed memory
  bool control_trigger = false;  // runs even when its control inputs are dead
  int64_t cost_ns = 0;           // estimate

  int first_input = 0, num_inputs = 0;    // Program::inputs
  int first_output = 0, num_outputs = 0;  // slots
  // Straight line: what to do around the kernel.
  int first_deref = 0, num_derefs = 0;  // Program::derefs: before it
  int first_clear = 0, num_clears = 0;  // Program::clears: slots that nobody reads after it
  bool maybe_dead = false;              // on one side of a Switch: the next two say when it does not run
  int first_check = 0, num_checks = 0;  // Program::checks: slots that are empty if an input is dead
  int first_guard = 0, num_guards = 0;  // Program::guards: instructions that it waits for and that may be dead
  // Dataflow: who waits for it.
  int first_edge = 0, num_edges = 0;  // Program::edges
  int frame = 0;                      // static frame
  int first_entry = 0;                // of its inputs, within the frame's entries
  int local = 0;                      // its number within the frame
  int num_control_inputs = 0;
  bool constant_enter = false;
  int child_frame = -1;  // static frame that an Enter leads into
  int parallel_iterations = 10;
};

struct Edge {
  int to = 0;         // instruction
  int output = -1;    // of the producer; -1: control edge
  int input = -1;     // of the consumer
  bool last = false;  // no later edge reads this output: the value is moved
};

// A loop's body (or the outermost level): the instructions between its Enters and Exits.
struct StaticFrame {
  std::string name;
  int parent = -1;
  int num_entries = 0, num_instructions = 0;
  int num_enters = 0;
  int parallel_iterations = 10;
  std::vector<int> instructions;
};

class Program {
 public:
  std::shared_ptr<const Graph> graph;  // keeps nodes, names and attributes alive
  Device* device = nullptr;
  std::vector<Instruction> instructions;  // in an order in which a straight line can run them
  struct InputSlot {
    int slot;
    bool last_use;
  };
  std::vector<InputSlot> inputs;
  struct Deref {
    int from, to;
    bool allow_uninitialized;
  };
  std::vector<Deref> derefs;
  std::vector<int> clears;
  std::vector<int> checks, guards;
  std::vector<Edge> edges;
  std::vector<StaticFrame> frames;
  int num_slots = 0;
  struct Binding {
    int index;  // of the step's arguments or results
    int slot;   // straight line
    int instruction;
  };
  std::vector<Binding> args, rets;
  bool has_frames_or_async = false;
  bool parallel = false;  // independent instructions that are expensive or may block, which should overlap
  bool may_block = false;
  bool straight_line() const { return !has_frames_or_async && !parallel; }

  // Scratch of one straight-line run; kept between runs so that a repeated step allocates nothing for itself.
  struct Workspace {
    std::vector<Value> slots;
    std::vector<KernelContext::Input> inputs;
    std::vector<char> dead;  // by instruction, of those that may be
  };
  std::unique_ptr<Workspace> BorrowWorkspace() const;
  void ReturnWorkspace(std::unique_ptr<Workspace> workspace) const;
  ~Program();

 private:
  mutable std::atomic<Workspace*> spare_{nullptr};
};

// A well-formed loop (loop_shape.h) inside one program, its own straight line that is run again and again.
struct Loop {
  std::string name;  // of its frame
  Program program;
  // Instructions before `first_round` are constants and run once; those before `first_body` run in each round before
  // the condition is looked at, in the last one too.
  int first_round = 0, first_body = 0;
  int condition = 0;  // slot
  struct Variable {
    int input;               // of the loop
    int merge;               // slot: its value at the beginning of a round
    int taken;               // slot: the same for the body
    int next;                // slot: its value for the next round
    bool merge_is_read;      // by the body, beside `taken`
    bool next_is_kept;       // the slot's value is needed again
    std::vector<int> exits;  // outputs of the loop
  };
  std::vector<Variable> variables;
  struct Constant {
    int input, slot;
  };
  std::vector<Constant> constants;
  std::vector<DataType> input_types, output_types;
};

// Makes the kernel of a node, or finds the one that a session keeps for it.
using KernelMaker = std::function<std::shared_ptr<Kernel>(const Node& node, const NodeView& view)>;

// `graph` holds exactly the nodes of one device, placed; _Arg and _Retval nodes bind the step's arguments and results.
// `nest_loops`: well-formed loops become straight lines of their own; else the dataflow executor's frames run them.
// InvalidArgument: no kernel, a cycle outside loops, inputs from different frames.
std::unique_ptr<Program> CompileProgram(std::shared_ptr<const Graph> graph, Device* device,
                                        const KernelMaker& make_kernel, int inter_op_threads, bool nest_loops = true);

}  // namespace penstock
