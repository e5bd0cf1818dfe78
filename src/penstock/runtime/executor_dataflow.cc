// The general case: instructions run as their inputs arrive. Cheap ones run inline, expensive ones go to the pool,
// asynchronous ones hold no thread. Loops run in frames: each iteration has its own input entries; a value that does
// not exist on the untaken side of a Switch travels as "dead".
//
// The token rules (what makes a Merge ready, when an iteration is over) are those of TensorFlow's executor, see
// tensorflow/core/common_runtime/executor.cc; the data structures are our own.
#include <deque>
#include <map>

#include "penstock/kernel/py_function.h"
#include "penstock/runtime/executor.h"
#include "penstock/runtime/kept_inputs.h"
#include "penstock/runtime/step_executor.h"

namespace penstock {
namespace {

enum class Token : uint8_t { kNone, kLive, kDead };

struct Entry {
  Value value;
  Token token = Token::kNone;
};

struct Count {
  int pending = 0;       // inputs and control inputs still to come
  int dead = 0;          // how many came dead
  bool merged = false;   // a Merge took its live input
  bool started = false;  // a Merge runs once: what comes later is not looked at
};

struct Iteration {
  std::vector<Entry> entries;
  std::vector<Count> counts;
  int outstanding = 0;         // instructions ready or running
  int outstanding_frames = 0;  // child frames entered from here
};

struct Frame {
  int id = 0;  // of the static frame
  Frame* parent = nullptr;
  int64_t parent_iteration = 0;
  uint64_t key = 0;  // tells the frame from all others, the same in every partition; 0 for the outermost
  int pending_enters = 0;
  int64_t newest = 0;  // number of the latest iteration
  int live_iterations = 1;
  std::map<int64_t, std::unique_ptr<Iteration>> iterations;
  std::vector<std::pair<const Instruction*, Entry>> invariants;  // constant Enters, repeated in each iteration
  std::vector<std::pair<const Instruction*, Entry>> deferred;    // NextIterations beyond parallel_iterations
  std::vector<const Instruction*> dead_exits;
  std::map<std::pair<int64_t, int>, std::unique_ptr<Frame>> children;  // (iteration, static frame)
};

struct Task {
  const Instruction* instruction;
  Frame* frame;
  int64_t iteration;
  Iteration* state;  // of that iteration, which lives until the task is over
  bool dead;
};

class DataflowRun : public std::enable_shared_from_this<DataflowRun> {
 public:
  DataflowRun(const Program& program, const RunArgs& run, std::function<void(Status)> done)
      : program_(program), run_(run), done_(std::move(done)) {}

  void Start() {
    std::vector<Task> ready;
    {
      std::lock_guard lock(mutex_);
      root_.iterations[0] = NewIteration(root_);
      for (const int index : program_.frames[0].instructions) {
        const Instruction& instruction = program_.instructions[index];
        if (instruction.num_inputs == 0 && instruction.num_control_inputs == 0) {
          ready.push_back({&instruction, &root_, 0, root_.iterations[0].get(), false});
        }
      }
      root_.iterations[0]->outstanding += static_cast<int>(ready.size());
      outstanding_ = static_cast<int64_t>(ready.size());
    }
    if (ready.empty()) {
      done_(Status());
      return;
    }
    Process(ready);
  }

 private:
  const StaticFrame& Static(const Frame& frame) const { return program_.frames[frame.id]; }

  std::unique_ptr<Iteration> NewIteration(const Frame& frame) const {
    const StaticFrame& info = Static(frame);
    auto iteration = std::make_unique<Iteration>();
    iteration->entries.resize(info.num_entries);
    iteration->counts.resize(info.num_instructions);
    for (const int index : info.instructions) {
      const Instruction& instruction = program_.instructions[index];
      // A Merge waits for its control inputs and one live (or all dead) data input, which is counted apart.
      iteration->counts[instruction.local].pending =
          instruction.num_control_inputs + (instruction.flow == Flow::kMerge ? 0 : instruction.num_inputs);
    }
    return iteration;
  }

  bool Stopped() {
    if (failed_.load(std::memory_order_acquire)) return true;
    if (!MustStop(*run_.step)) return false;
    Fail(Status(Code::kCancelled, "Step was cancelled."));
    return true;
  }

  void Fail(const Status& status) {
    {
      std::lock_guard lock(mutex_);
      if (!status_.ok()) return;
      status_ = status;
      failed_ = true;
    }
    if (run_.step->rendezvous) run_.step->rendezvous->Abort(status);
    if (run_.step->cancellation) run_.step->cancellation->Cancel();
  }

  static bool IsHeavy(const Task& task) { return task.instruction->expensive || task.instruction->blocks; }

  // Tasks that one thread is to run: in the order in which they came, and those that take long again apart.
  class Queue {
   public:
    void Add(const std::vector<Task>& tasks) {
      for (const Task& task : tasks) (IsHeavy(task) ? heavy_ : cheap_).items.push_back({next_++, task});
    }
    size_t size() const { return cheap_.size() + heavy_.size(); }
    Task Pop() {
      const bool cheap = heavy_.size() == 0 || (cheap_.size() > 0 && cheap_.front().number < heavy_.front().number);
      return (cheap ? cheap_ : heavy_).Pop();
    }
    // Calls `give` with each of the heavy tasks, which are the caller's then.
    template <class Give>
    void GiveHeavy(Give give) {
      while (heavy_.size() > 0) give(heavy_.Pop());
    }

   private:
    struct Numbered {
      uint64_t number;
      Task task;
    };
    struct Fifo {
      std::vector<Numbered> items;
      size_t first = 0;
      size_t size() const { return items.size() - first; }
      const Numbered& front() const { return items[first]; }
      Task Pop() {
        const Task task = items[first++].task;
        if (first == items.size()) items.clear(), first = 0;
        return task;
      }
    };
    Fifo cheap_, heavy_;
    uint64_t next_ = 0;
  };

  // Runs ready tasks until none is left for this thread. While it does something that takes long, other threads take
  // over whatever else does.
  void Process(const std::vector<Task>& ready) {
    const auto self = shared_from_this();
    Queue queue;
    queue.Add(ready);
    std::vector<Task> fresh;
    Scratch scratch;
    while (queue.size() > 0) {
      const Task task = queue.Pop();
      StepExecutor& executor = *StepExecutor::Current();
      if (IsHeavy(task)) {
        queue.GiveHeavy([&](const Task& other) { executor.Post([self, other] { self->Process({other}); }); });
        executor.Offer();
      }
      const int aside = static_cast<int>(queue.size());
      fresh.clear();
      if (aside > 0) executor.SetAside(aside);
      const bool over = RunTask(task, &scratch, &fresh);
      if (aside > 0) executor.SetAside(-aside);
      if (over) queue.Add(fresh);  // else it goes on elsewhere
    }
  }

  // Memory of one thread for the tasks that it runs one after the other.
  struct Scratch {
    std::vector<Entry> outputs;
    std::vector<KernelContext::Input> inputs;
    std::vector<Value> values;
  };

  // True if the task is over and `fresh` holds what became ready.
  bool RunTask(const Task& task, Scratch* scratch, std::vector<Task>* fresh) {
    const Instruction& instruction = *task.instruction;
    Entry* entries = Entries(task);
    std::vector<Entry>& outputs = scratch->outputs;
    outputs.clear();
    outputs.resize(instruction.num_outputs);
    const bool transfer = instruction.flow == Flow::kSend || instruction.flow == Flow::kRecv;
    if (Stopped()) {
      ClearInputs(instruction, entries);
      return Finish(task, outputs, fresh, /*propagate=*/false);
    }
    if (instruction.flow == Flow::kArg) {
      outputs[0].value.tensor = run_.args[instruction.node->attr<int64_t>("index")];
      outputs[0].token = Token::kLive;
      return Finish(task, outputs, fresh, true);
    }
    if (task.dead && !transfer) {
      for (Entry& output : outputs) output.token = Token::kDead;
      if (instruction.flow == Flow::kRetval) {
        Fail(AtNode(Status(Code::kInvalidArgument,
                           StrCat("Retval[", instruction.node->attr<int64_t>("index"), "] does not have value")),
                    *instruction.node->input(0).node));
      }
      ClearInputs(instruction, entries);
      return Finish(task, outputs, fresh, true);
    }
    if (instruction.flow == Flow::kRetval) {
      Status status = Dereference(instruction, entries);
      if (!status.ok()) {
        Fail(AtNode(status, *instruction.node->input(0).node));
      } else {
        run_.rets[instruction.node->attr<int64_t>("index")] = std::move(entries[0].value.tensor);
      }
      ClearInputs(instruction, entries);
      return Finish(task, outputs, fresh, true);
    }
    const Status status = Dereference(instruction, entries);
    if (!status.ok()) {
      Fail(AtNode(status, *instruction.node));
      ClearInputs(instruction, entries);
      return Finish(task, outputs, fresh, false);
    }
    if (instruction.async) {
      return RunAsync(task, entries, fresh, [](AsyncState& state, Kernel::Done done) {
        state.task.instruction->kernel->RunAsync(*state.context, std::move(done));
      });
    }
    if (instruction.blocks && !StepExecutor::Current()->IsIdleHome()) {
      return RunAsync(task, entries, fresh, [self = this](AsyncState& state, Kernel::Done done) {
        self->RunOnOwnThread(state, std::move(done));
      });
    }
    std::vector<KernelContext::Input>& inputs = scratch->inputs;
    inputs.clear();
    for (int i = 0; i < instruction.num_inputs; ++i) inputs.push_back({&entries[i].value, true});
    if (instruction.keeps_inputs) OwnInputs(inputs);
    std::vector<Value>& values = scratch->values;
    values.clear();
    values.resize(instruction.num_outputs);
    KernelContext k(instruction.view, inputs, values, *run_.step, *program_.device);
    k.frame_iter = FrameIter(task);
    k.is_dead = task.dead;
    try {
      const int64_t start = run_.recorder ? NowNanos() : 0;
      RunHere(instruction, k, inputs, values);
      if (run_.recorder && instruction.kernel)
        run_.recorder->Ran(*instruction.node, *program_.device, start, NowNanos(), values);
    } catch (...) {
      Fail(AtNode(CurrentStatus(), *instruction.node));
      ClearInputs(instruction, entries);
      return Finish(task, outputs, fresh, false);
    }
    Collect(instruction, values, &outputs);
    ClearInputs(instruction, entries);
    return Finish(task, outputs, fresh, true);
  }

  void RunHere(const Instruction& instruction, KernelContext& k, std::span<KernelContext::Input> inputs,
               std::span<Value> values) {
    if (instruction.loop) return RunLoop(*instruction.loop, inputs, values, run_, k.frame_iter);
    instruction.kernel->Run(k);
  }

  struct AsyncState : std::enable_shared_from_this<AsyncState> {
    Task task;
    std::vector<Value> input_values;
    std::vector<KernelContext::Input> inputs;
    std::vector<Value> values;
    std::unique_ptr<KernelContext> context;
    int64_t start = 0;
    Status status;
    std::atomic<int> phase{0};  // 1: done was called, 2: RunAsync returned
  };

  // An instruction that may block, while this thread does something else: on a thread of the pool that grows, or here
  // if none can be had.
  void RunOnOwnThread(AsyncState& state, Kernel::Done done) {
    const auto work = [self = shared_from_this(), state = state.shared_from_this(), done] {
      Status status;
      try {
        self->RunHere(*state->task.instruction, *state->context, state->inputs, state->values);
      } catch (...) {
        status = CurrentStatus();
      }
      done(std::move(status));
    };
    if (!RunOnGrowingPool(work)) work();
  }

  // Calls `start(state, done)`. True if it is over already, and `fresh` holds what became ready.
  template <class Start>
  bool RunAsync(const Task& task, Entry* entries, std::vector<Task>* fresh, Start start) {
    const Instruction& instruction = *task.instruction;
    auto state = std::make_shared<AsyncState>();
    state->task = task;
    for (int i = 0; i < instruction.num_inputs; ++i) state->input_values.push_back(std::move(entries[i].value));
    ClearInputs(instruction, entries);
    for (Value& value : state->input_values) state->inputs.push_back({&value, true});
    if (instruction.keeps_inputs) OwnInputs(state->inputs);
    state->values.resize(instruction.num_outputs);
    state->context =
        std::make_unique<KernelContext>(instruction.view, state->inputs, state->values, *run_.step, *program_.device);
    state->context->frame_iter = FrameIter(task);
    state->context->is_dead = task.dead;
    state->start = run_.recorder ? NowNanos() : 0;
    const auto self = shared_from_this();
    const auto done = [self, state](Status status) {
      state->status = std::move(status);
      // Finished before RunAsync returned: this thread carries on there, so that a chain of such kernels is no
      // recursion.
      if (state->phase.exchange(1) == 0) return;
      // The caller goes on with its own work; this step's follows on its executor.
      self->run_.step->schedule([self, state] {
        std::vector<Task> fresh;
        self->FinishAsync(*state, &fresh);
        if (!fresh.empty()) self->Process(fresh);
      });
    };
    try {
      start(*state, done);
    } catch (...) {
      done(CurrentStatus());
    }
    if (state->phase.exchange(2) == 0) return false;
    FinishAsync(*state, fresh);
    return true;
  }

  void FinishAsync(AsyncState& state, std::vector<Task>* fresh) {
    const Instruction& instruction = *state.task.instruction;
    std::vector<Entry> outputs(instruction.num_outputs);
    if (run_.recorder && instruction.kernel && state.status.ok()) {
      try {
        run_.recorder->Ran(*instruction.node, *program_.device, state.start, NowNanos(), state.values);
      } catch (...) {
        state.status = CurrentStatus();
      }
    }
    if (!state.status.ok()) {
      Fail(AtNode(state.status, *instruction.node));
    } else {
      Collect(instruction, state.values, &outputs);
      // A dead value came over: who only waits for it is dead, too.
      if (instruction.flow == Flow::kRecv && outputs[0].token == Token::kDead) state.task.dead = true;
    }
    Finish(state.task, outputs, fresh, state.status.ok());
  }

  Status Dereference(const Instruction& instruction, Entry* entries) {
    for (int i = 0; i < instruction.num_inputs; ++i) {
      Value& value = entries[i].value;
      if (!value.ref || IsRef(instruction.view.input_type(i)) || entries[i].token != Token::kLive) continue;
      VariableSlot& variable = *value.ref;
      std::lock_guard lock(variable.mutex);
      if (!variable.value.initialized() && !instruction.node->traits().uninitialized_input) {
        return Status(Code::kFailedPrecondition, StrCat("Attempting to use uninitialized value ", variable.name));
      }
      value.tensor = variable.value;
    }
    for (int i = 0; i < instruction.num_inputs; ++i) {
      if (!IsRef(instruction.view.input_type(i))) entries[i].value.ref = nullptr;
    }
    return Status();
  }

  // An output without a value is dead, unless the op hands on what holds nothing.
  static void Collect(const Instruction& instruction, std::vector<Value>& values, std::vector<Entry>* outputs) {
    const bool hands_on = instruction.flow == Flow::kNone && instruction.node->traits().uninitialized_input;
    for (size_t i = 0; i < values.size(); ++i) {
      Entry& output = (*outputs)[i];
      output.token = hands_on || values[i].tensor.initialized() || values[i].ref ? Token::kLive : Token::kDead;
      output.value = std::move(values[i]);
    }
  }

  static void ClearInputs(const Instruction& instruction, Entry* entries) {
    for (int i = 0; i < instruction.num_inputs; ++i) {
      entries[i].value = Value();
      entries[i].token = Token::kNone;
    }
  }

  static Entry* Entries(const Task& task) {
    return task.instruction->num_inputs == 0 ? nullptr : &task.state->entries[task.instruction->first_entry];
  }

  static int64_t FrameIter(const Task& task) { return FrameIter(*task.frame, task.iteration); }
  static int64_t FrameIter(const Frame& frame, int64_t iteration) {
    return static_cast<int64_t>(frame.key + static_cast<uint64_t>(iteration));
  }

  // Hands the outputs on, and ends iterations, frames and the whole run when nothing is left in them. Always true.
  bool Finish(const Task& task, std::vector<Entry>& outputs, std::vector<Task>* fresh, bool propagate) {
    bool over = false;
    Status status;
    {
      std::lock_guard lock(mutex_);
      if (propagate && !failed_) Propagate(task, outputs, fresh);
      outstanding_ += static_cast<int64_t>(fresh->size());
      --task.state->outstanding;
      if (!failed_) {
        const size_t before = fresh->size();
        CleanUp(task.frame, task.iteration, fresh);
        outstanding_ += static_cast<int64_t>(fresh->size() - before);
      }
      over = --outstanding_ == 0;
      status = status_;
    }
    if (over) {
      auto done = std::move(done_);
      done(status);
    }
    return true;
  }

  void Propagate(const Task& task, std::vector<Entry>& outputs, std::vector<Task>* fresh) {
    const Instruction& instruction = *task.instruction;
    Frame* frame = task.frame;
    switch (instruction.flow) {
      case Flow::kEnter: {
        Frame* child = ChildFrame(frame, task.iteration, instruction);
        if (instruction.constant_enter) {
          child->invariants.emplace_back(&instruction, outputs[0]);
          for (auto& [number, iteration] : child->iterations) {
            Entry copy = outputs[0];
            Activate(child, number, instruction, task.dead, &copy, fresh);
          }
        } else {
          Activate(child, 0, instruction, task.dead, outputs.data(), fresh);
        }
        --child->pending_enters;
        CleanUp(child, 0, fresh);
        return;
      }
      case Flow::kExit:
        if (task.dead) {
          // Whether the loop was never taken, or only this iteration is dead, shows when the frame ends.
          if (task.iteration == frame->newest) frame->dead_exits.push_back(&instruction);
          return;
        }
        Activate(frame->parent, frame->parent_iteration, instruction, false, outputs.data(), fresh);
        return;
      case Flow::kNextIteration:
        if (task.dead) return;
        if (task.iteration == frame->newest) {
          if (frame->live_iterations >= Static(*frame).parallel_iterations) {
            frame->deferred.emplace_back(&instruction, std::move(outputs[0]));
            return;
          }
          StartIteration(frame, fresh);
        }
        Activate(frame, task.iteration + 1, instruction, false, outputs.data(), fresh);
        return;
      default: Activate(frame, task.iteration, instruction, task.dead, outputs.data(), fresh);
    }
  }

  Frame* ChildFrame(Frame* frame, int64_t iteration, const Instruction& enter) {
    const int id = enter.child_frame;
    auto& child = frame->children[{iteration, id}];
    if (!child) {
      child = std::make_unique<Frame>();
      child->id = id;
      child->parent = frame;
      child->parent_iteration = iteration;
      child->key = FrameKey(FrameIter(*frame, iteration), program_.frames[id].name);
      child->pending_enters = program_.frames[id].num_enters;
      child->iterations[0] = NewIteration(*child);
      ++frame->iterations[iteration]->outstanding_frames;
    }
    return child.get();
  }

  void StartIteration(Frame* frame, std::vector<Task>* fresh) {
    const int64_t number = ++frame->newest;
    frame->iterations[number] = NewIteration(*frame);
    ++frame->live_iterations;
    frame->dead_exits.clear();
    for (const auto& [instruction, entry] : frame->invariants) {
      Entry copy = entry;
      Activate(frame, number, *instruction, entry.token == Token::kDead, &copy, fresh);
    }
    auto deferred = std::move(frame->deferred);
    frame->deferred.clear();
    for (auto& [instruction, entry] : deferred) Activate(frame, number, *instruction, false, &entry, fresh);
  }

  // Delivers an instruction's outputs to all that wait for them in one iteration.
  void Activate(Frame* frame, int64_t number, const Instruction& from, bool dead, Entry* outputs,
                std::vector<Task>* fresh) {
    const auto found = frame->iterations.find(number);
    if (found == frame->iterations.end()) return;  // a dead value for an iteration that is over
    Iteration& iteration = *found->second;
    for (int e = from.first_edge; e < from.first_edge + from.num_edges; ++e) {
      const Edge& edge = program_.edges[e];
      const Instruction& to = program_.instructions[edge.to];
      Count& count = iteration.counts[to.local];
      const bool control = edge.output < 0;
      const bool live = control ? !dead : outputs[edge.output].token == Token::kLive;
      bool ready = false, to_dead = false;
      Entry* entry = control ? nullptr : &iteration.entries[to.first_entry + edge.input];
      if (to.flow == Flow::kMerge) {
        if (control) {
          --count.pending;
        } else if (live) {
          if (!count.merged && !count.started) {
            count.merged = true;
            *entry = edge.last ? std::move(outputs[edge.output]) : outputs[edge.output];
            ready = count.pending == 0;
          }
        } else {
          ++count.dead;
        }
        const bool all_dead =
            !count.merged && (count.dead == to.num_inputs || (!control && !live && from.flow == Flow::kEnter));
        if (control) {
          ready = count.pending == 0 && (count.merged || count.dead == to.num_inputs);
          to_dead = !count.merged;
        } else if (!live && all_dead) {
          ready = count.pending == 0;
          to_dead = true;
        }
        ready = ready && !count.started;
        count.started = count.started || ready;
      } else {
        if (!live) ++count.dead;
        if (entry) {
          if (live) {
            *entry = edge.last ? std::move(outputs[edge.output]) : outputs[edge.output];
          } else {
            entry->token = Token::kDead;
          }
        }
        ready = --count.pending == 0;
        to_dead = count.dead > 0 && !to.control_trigger;
      }
      if (ready) {
        ++iteration.outstanding;
        fresh->push_back({&to, frame, number, &iteration, to_dead});
      }
    }
  }

  static bool IterationOver(Frame* frame, int64_t number) {
    const auto it = frame->iterations.find(number);
    if (it == frame->iterations.end()) return false;
    if (it->second->outstanding != 0 || it->second->outstanding_frames != 0) return false;
    return number == 0 ? frame->pending_enters == 0 : !frame->iterations.contains(number - 1);
  }

  // Ends iterations from `number` on, then the frame, then looks at its parent.
  void CleanUp(Frame* frame, int64_t number, std::vector<Task>* fresh) {
    if (frame == &root_) return;
    while (number <= frame->newest && IterationOver(frame, number)) {
      frame->iterations.erase(number);
      --frame->live_iterations;
      ++number;
      if (!frame->deferred.empty()) StartIteration(frame, fresh);
    }
    if (frame->pending_enters > 0 || frame->live_iterations > 0) return;
    Frame* parent = frame->parent;
    const int64_t parent_iteration = frame->parent_iteration;
    for (const Instruction* exit : frame->dead_exits) {
      std::vector<Entry> dead(exit->num_outputs);
      for (Entry& entry : dead) entry.token = Token::kDead;
      Activate(parent, parent_iteration, *exit, true, dead.data(), fresh);
    }
    const auto it = parent->iterations.find(parent_iteration);
    if (it != parent->iterations.end()) --it->second->outstanding_frames;
    parent->children.erase({parent_iteration, frame->id});  // destroys `frame`
    CleanUp(parent, parent_iteration, fresh);
  }

  const Program& program_;
  const RunArgs run_;
  std::function<void(Status)> done_;
  std::mutex mutex_;
  Frame root_;
  int64_t outstanding_ = 0;
  std::atomic<bool> failed_{false};
  Status status_;
};

}  // namespace

void RunDataflow(const Program& program, const RunArgs& run, std::function<void(Status)> done) {
  std::make_shared<DataflowRun>(program, run, std::move(done))->Start();
}

}  // namespace penstock
