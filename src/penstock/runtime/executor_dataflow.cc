// The general case: instructions run as their inputs arrive. Cheap ones run inline, expensive ones go to the pool,
// asynchronous ones hold no thread. Loops run in frames: each iteration has its own input entries; a value that does
// not exist on the untaken side of a Switch travels as "dead".
//
// The token rules (what makes a Merge ready, when an iteration is over) are those of TensorFlow's executor, see
// tensorflow/core/common_runtime/executor.cc; the data structures are our own.
//
// Threads work in the outermost frame without a lock: its only iteration lives as long as the run, and a Count decides
// which thread found an instruction ready. Iterations of loops begin and end, so their changes are under the run's
// mutex.
#include <map>

#include "penstock/base/closure.h"
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

// The inputs that arrived for one instruction in one iteration. Threads may deliver at the same time: exactly one of
// them finds the instruction ready, and sees what the others wrote into its entries before.
class Count {
 public:
  struct Found {
    bool ready, dead;
  };

  // `pending`: inputs and control inputs to come; of a Merge the control inputs only.
  void Start(int pending) { word_.store(static_cast<uint64_t>(pending), std::memory_order_relaxed); }

  // One more came, for anything but a Merge.
  Found Come(bool live) {
    const uint64_t added = (live ? 0 : kOneDead) - 1;
    const uint64_t now = word_.fetch_add(added, std::memory_order_acq_rel) + added;
    return {Pending(now) == 0, Dead(now) > 0};
  }

  // A live input of a Merge: true for the first, whose entry is to be written before MergeLive.
  bool Claim() { return (word_.fetch_or(kClaimed, std::memory_order_acq_rel) & (kClaimed | kStarted)) == 0; }
  Found MergeLive(int num_inputs) {
    return Merge(num_inputs, [](uint64_t word) { return word | kLive; });
  }
  Found MergeDead(int num_inputs, int dead) {
    return Merge(num_inputs, [&](uint64_t word) { return word + static_cast<uint64_t>(dead) * kOneDead; });
  }
  Found MergeControl(int num_inputs) {
    return Merge(num_inputs, [](uint64_t word) { return word - 1; });
  }

 private:
  // From the lowest bit: pending, a Merge's marks, how many came dead.
  static constexpr uint64_t kClaimed = uint64_t{1} << 29, kLive = uint64_t{1} << 30, kStarted = uint64_t{1} << 31,
                            kOneDead = uint64_t{1} << 32;
  static int64_t Pending(uint64_t word) { return static_cast<int64_t>(word & (kClaimed - 1)); }
  static int64_t Dead(uint64_t word) { return static_cast<int64_t>(word / kOneDead); }

  // A Merge is ready once: when its control inputs came, and a live input or no hope for one.
  template <class Change>
  Found Merge(int num_inputs, Change change) {
    uint64_t before = word_.load(std::memory_order_relaxed), now;
    bool ready;
    do {
      now = change(before);
      const bool decided = (now & kLive) || (!(now & kClaimed) && Dead(now) >= num_inputs);
      ready = decided && Pending(now) == 0 && !(now & kStarted);
      if (ready) now |= kStarted;
    } while (!word_.compare_exchange_weak(before, now, std::memory_order_acq_rel, std::memory_order_relaxed));
    return {ready, !(now & kLive)};
  }

  std::atomic<uint64_t> word_{0};
};

struct Iteration {
  std::vector<Entry> entries;
  std::vector<Count> counts;
  int outstanding = 0;         // instructions ready or running; not counted in the outermost frame
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
    Iteration* const only = (root_.iterations[0] = NewIteration(root_)).get();
    for (const int index : program_.frames[0].instructions) {
      const Instruction& instruction = program_.instructions[index];
      if (instruction.num_inputs == 0 && instruction.num_control_inputs == 0) {
        ready.push_back({&instruction, &root_, 0, only, false});
      }
    }
    Process(ready);
  }

 private:
  const StaticFrame& Static(const Frame& frame) const { return program_.frames[frame.id]; }

  std::unique_ptr<Iteration> NewIteration(const Frame& frame) const {
    const StaticFrame& info = Static(frame);
    auto iteration = std::make_unique<Iteration>();
    iteration->entries.resize(info.num_entries);
    iteration->counts = std::vector<Count>(info.num_instructions);
    for (const int index : info.instructions) {
      const Instruction& instruction = program_.instructions[index];
      // A Merge waits for its control inputs and one live (or all dead) data input, which is counted apart.
      iteration->counts[instruction.local].Start(instruction.num_control_inputs +
                                                 (instruction.flow == Flow::kMerge ? 0 : instruction.num_inputs));
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
    void Add(const Task& task) { (IsHeavy(task) ? heavy_ : cheap_).Push({next_++, task}); }
    size_t size() const { return cheap_.size() + heavy_.size(); }
    Task Pop() {
      const bool cheap = heavy_.empty() || (!cheap_.empty() && cheap_.front().number < heavy_.front().number);
      return (cheap ? cheap_ : heavy_).Pop().task;
    }
    // Calls `give` with each of the heavy tasks, which are the caller's then.
    template <class Give>
    void GiveHeavy(Give give) {
      while (!heavy_.empty()) give(heavy_.Pop().task);
    }

   private:
    struct Numbered {
      uint64_t number;
      Task task;
    };
    Fifo<Numbered> cheap_, heavy_;
    uint64_t next_ = 0;
  };

  // Memory of one thread for the tasks that it runs one after the other; kept for its next run.
  struct Workspace {
    Queue queue;
    std::vector<Task> fresh;
    std::vector<Entry> outputs;
    std::vector<KernelContext::Input> inputs;
    std::vector<Value> values;
  };
  class Borrowed {
   public:
    Borrowed() : workspace_(std::move(t_spare)) {
      if (!workspace_) workspace_ = std::make_unique<Workspace>();
    }
    ~Borrowed() {
      if (workspace_->queue.size() > 0) return;  // left by an exception
      workspace_->outputs.clear();
      workspace_->values.clear();
      t_spare = std::move(workspace_);
    }
    Workspace* operator->() const { return workspace_.get(); }
    Workspace& operator*() const { return *workspace_; }

   private:
    static thread_local std::unique_ptr<Workspace> t_spare;
    std::unique_ptr<Workspace> workspace_;  // a run inside one of this run's kernels has another
  };

  // Runs ready tasks until none is left for this thread, which is one activity of the run. While it does something that
  // takes long, other threads take over whatever else does.
  void Process(std::span<const Task> ready) {
    const auto self = shared_from_this();
    {
      const Borrowed workspace;
      Queue& queue = workspace->queue;
      for (const Task& task : ready) queue.Add(task);
      while (queue.size() > 0) {
        const Task task = queue.Pop();
        StepExecutor& executor = *StepExecutor::Current();
        if (IsHeavy(task)) {
          queue.GiveHeavy([&](const Task& other) {
            Begin();
            executor.Post([self, other] { self->Process({&other, 1}); });
          });
          executor.Offer();
        }
        const int aside = static_cast<int>(queue.size());
        std::vector<Task>& fresh = workspace->fresh;
        fresh.clear();
        if (aside > 0) executor.SetAside(aside);
        RunTask(task, *workspace, &fresh);
        if (aside > 0) executor.SetAside(-aside);
        for (const Task& each : fresh) queue.Add(each);
      }
    }
    End();
  }

  // Activities: threads in Process, or called to it, and asynchronous kernels that go on elsewhere. When the last one
  // ends, the run does.
  void Begin() { activities_.fetch_add(1, std::memory_order_relaxed); }
  void End() {
    if (activities_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    Status status;
    {
      std::lock_guard lock(mutex_);
      status = status_;
    }
    auto done = std::move(done_);
    done(status);
  }

  // Adds to `fresh` the tasks that became ready, if the task is over and does not go on elsewhere.
  void RunTask(const Task& task, Workspace& workspace, std::vector<Task>* fresh) {
    const Instruction& instruction = *task.instruction;
    Entry* entries = Entries(task);
    std::vector<Entry>& outputs = workspace.outputs;
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
    std::vector<KernelContext::Input>& inputs = workspace.inputs;
    inputs.clear();
    for (int i = 0; i < instruction.num_inputs; ++i) inputs.push_back({&entries[i].value, true});
    if (instruction.keeps_inputs) OwnInputs(inputs);
    std::vector<Value>& values = workspace.values;
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

  // Calls `start(state, done)`. Adds to `fresh` what became ready if it is over already; else it continues as a
  // separate activity.
  template <class Start>
  void RunAsync(const Task& task, Entry* entries, std::vector<Task>* fresh, Start start) {
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
        self->Process(fresh);
      });
    };
    Begin();
    try {
      start(*state, done);
    } catch (...) {
      done(CurrentStatus());
    }
    if (state->phase.exchange(2) == 0) return;
    FinishAsync(*state, fresh);
    End();  // not the last one: the caller goes on
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

  bool IsOutermost(const Frame* frame) const { return frame == &root_; }

  // Hands the outputs on, and ends iterations and frames in which nothing is left.
  void Finish(const Task& task, std::vector<Entry>& outputs, std::vector<Task>* fresh, bool propagate) {
    if (failed_.load(std::memory_order_relaxed)) return;
    if (IsOutermost(task.frame) && task.instruction->flow != Flow::kEnter) {
      if (propagate)
        Deliver(task.frame, task.iteration, *task.state, *task.instruction, task.dead, outputs.data(), fresh);
      return;
    }
    std::lock_guard lock(mutex_);
    if (propagate) Propagate(task, outputs, fresh);
    if (IsOutermost(task.frame)) return;
    --task.state->outstanding;
    CleanUp(task.frame, task.iteration, fresh);
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

  // Delivers an instruction's outputs in an iteration, unless that is over: then they are dead.
  void Activate(Frame* frame, int64_t number, const Instruction& from, bool dead, Entry* outputs,
                std::vector<Task>* fresh) {
    const auto found = frame->iterations.find(number);
    if (found != frame->iterations.end()) Deliver(frame, number, *found->second, from, dead, outputs, fresh);
  }

  void Deliver(Frame* frame, int64_t number, Iteration& iteration, const Instruction& from, bool dead, Entry* outputs,
               std::vector<Task>* fresh) {
    for (int e = from.first_edge; e < from.first_edge + from.num_edges; ++e) {
      const Edge& edge = program_.edges[e];
      const Instruction& to = program_.instructions[edge.to];
      const bool control = edge.output < 0;
      const bool live = control ? !dead : outputs[edge.output].token == Token::kLive;
      Count& count = iteration.counts[to.local];
      Entry* entry = control ? nullptr : &iteration.entries[to.first_entry + edge.input];
      const auto hand_over = [&] { *entry = edge.last ? std::move(outputs[edge.output]) : outputs[edge.output]; };
      Count::Found found;
      if (to.flow == Flow::kMerge) {
        if (control) {
          found = count.MergeControl(to.num_inputs);
        } else if (!live) {
          // No iteration of a loop that was not entered brings a live value.
          found = count.MergeDead(to.num_inputs, from.flow == Flow::kEnter ? to.num_inputs : 1);
        } else if (count.Claim()) {
          hand_over();
          found = count.MergeLive(to.num_inputs);
        } else {
          continue;
        }
      } else {
        if (entry && live) {
          hand_over();
        } else if (entry) {
          entry->token = Token::kDead;
        }
        const bool only = to.num_inputs + to.num_control_inputs == 1;
        found = only ? Count::Found{true, !live} : count.Come(live);
        found.dead &= !to.control_trigger;
      }
      if (!found.ready) continue;
      if (!IsOutermost(frame)) ++iteration.outstanding;
      fresh->push_back({&to, frame, number, &iteration, found.dead});
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
  std::atomic<int64_t> activities_{1};
  std::atomic<bool> failed_{false};
  Status status_;
};

thread_local std::unique_ptr<DataflowRun::Workspace> DataflowRun::Borrowed::t_spare;

}  // namespace

void RunDataflow(const Program& program, const RunArgs& run, std::function<void(Status)> done) {
  std::make_shared<DataflowRun>(program, run, std::move(done))->Start();
}

}  // namespace penstock
