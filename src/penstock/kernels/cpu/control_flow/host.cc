// Python functions, printing, assertions, the clock.
#include <atomic>
#include <chrono>
#include <cstdio>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernel/py_function.h"

namespace penstock {
namespace {

// Waits for Python on a thread of its own pool. A cancelled step does not wait for it: what comes late is dropped.
class PyFunc : public AsyncKernel {
 public:
  explicit PyFunc(const NodeView& node) : token_(node.attr<std::string>("token")) {}

  void RunAsync(KernelContext& k, Done done) override {
    auto call = std::make_shared<PendingCall>();
    call->done = std::move(done);
    const Ref<CancellationManager> cancellation = k.step().cancellation;
    CancellationManager::Token cancel_token = 0;
    if (cancellation && !cancellation->Register(
                            [call] {
                              if (!call->finished.exchange(true))
                                call->done(Status(Code::kCancelled, "PyFunc was cancelled"));
                            },
                            &cancel_token)) {
      throw Cancelled("PyFunc was cancelled");
    }
    std::vector<Tensor> inputs;
    for (int i = 0; i < k.num_inputs(); ++i) inputs.push_back(k.input(i));
    const std::function<void()> run = [this_token = token_, device = k.device().name(), call, cancellation,
                                       cancel_token, &k, inputs = std::move(inputs)]() mutable {
      Status status;
      std::vector<Tensor> results;
      try {
        const PyFunctionHook hook = GetPyFunctionHook();
        if (!hook) throw Unimplemented("no Python runs in this process");
        results = hook(this_token, device, std::move(inputs));
      } catch (...) {
        status = CurrentStatus();
      }
      if (call->finished.exchange(true)) return;
      if (cancellation) cancellation->Deregister(cancel_token);
      if (status.ok()) status = SetOutputs(k, this_token, std::move(results));
      call->done(std::move(status));
    };
    if (!RunOnGrowingPool(run)) run();  // no thread can be had: it blocks this one
  }

 private:
  struct PendingCall {
    std::atomic<bool> finished{false};
    Done done;
  };

  static Status SetOutputs(KernelContext& k, const std::string& token, std::vector<Tensor> results) {
    if (static_cast<int>(results.size()) != k.num_outputs()) {
      return Status(Code::kInvalidArgument, StrCat(token, " returns ", results.size(), " values, but expects to see ",
                                                   k.num_outputs(), " values."));
    }
    for (int i = 0; i < k.num_outputs(); ++i) {
      if (results[i].dtype() != k.node().output_type(i)) {
        return Status(Code::kInvalidArgument, StrCat(i, "-th value returned by ", token, " is ", results[i].dtype(),
                                                     ", but expects ", k.node().output_type(i)));
      }
      k.SetOutput(i, std::move(results[i]));
    }
    return {};
  }

  const std::string token_;
};

// The first `limit` elements (all if negative), rows in brackets.
class Summary {
 public:
  Summary(const Tensor& t, int64_t limit) : t_(t), limit_(limit < 0 ? t.num_elements() : limit) {}
  std::string Text() {
    if (t_.rank() == 0) {
      if (limit_ > 0) text_ = Element(0);
    } else {
      Dimension(0);
    }
    if (t_.num_elements() > limit_) text_.append("...");
    return text_;
  }

 private:
  std::string Element(int64_t i) const {
    return t_.dtype() == DT_STRING ? Escaped(t_.data<TString>()[i].view()) : t_.ElementToString(i);
  }
  // Quotes, backslashes and what cannot be printed as C writes them; what lies beyond ASCII stays.
  static std::string Escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (const size_t at = std::string_view("\n\r\t\"'\\").find(c); at != std::string_view::npos) {
        out += {'\\', "nrt\"'\\"[at]};
      } else if (byte < 0x20 || byte == 0x7f) {
        out += {'\\', static_cast<char>('0' + byte / 64), static_cast<char>('0' + byte / 8 % 8),
                static_cast<char>('0' + byte % 8)};
      } else {
        out += c;
      }
    }
    return out;
  }
  void Dimension(int d) {
    if (next_ >= limit_) return;
    const bool last = d == t_.rank() - 1;
    for (int64_t i = 0; i < t_.dim(d) && next_ < limit_; ++i) {
      if (last) {
        if (i > 0) text_.push_back(' ');
        text_.append(Element(next_++));
      } else {
        text_.push_back('[');
        Dimension(d + 1);
        text_.push_back(']');
        if (t_.num_elements() == 0) break;
      }
    }
  }
  const Tensor& t_;
  const int64_t limit_;
  int64_t next_ = 0;
  std::string text_;
};

class Print : public Kernel {
 public:
  explicit Print(const NodeView& node)
      : message_(node.attr<std::string>("message")),
        first_n_(node.attr<int64_t>("first_n")),
        summarize_(node.attr<int64_t>("summarize")) {}
  void Run(KernelContext& k) override {
    if (first_n_ < 0 || printed_.fetch_add(1) < first_n_) {
      std::string text = message_;
      for (int i = 1; i < k.num_inputs(); ++i) {
        text += "[";
        text += Summary(k.input(i), summarize_).Text();
        text += "]";
      }
      text += "\n";
      std::fwrite(text.data(), 1, text.size(), stderr);
    }
    k.Forward(0, 0);
  }

 private:
  const std::string message_;
  const int64_t first_n_, summarize_;
  std::atomic<int64_t> printed_{0};
};

class PrintV2 : public Kernel {
 public:
  explicit PrintV2(const NodeView& node)
      : stream_(node.attr<std::string>("output_stream")), end_(node.attr<std::string>("end")) {
    const bool known = stream_ == "stdout" || stream_ == "stderr" || stream_ == "log(info)" ||
                       stream_ == "log(warning)" || stream_ == "log(error)" || IsFile();
    if (!known) {
      throw InvalidArgument("Unknown output stream: ", stream_,
                            ", Valid streams are: stdout, stderr, log(info), log(warning), log(error), file://PATH");
    }
  }
  void Run(KernelContext& k) override {
    k.Require(k.shape(0).rank() == 0, "Input is expected to be scalar, but got ", k.shape(0));
    std::string text = StrCat(k.input(0).data<TString>()->view(), end_);
    std::FILE* file = stream_ == "stdout" ? stdout : stderr;
    if (stream_ == "log(info)") text = StrCat("I ", text);
    if (stream_ == "log(warning)") text = StrCat("W ", text);
    if (stream_ == "log(error)") text = StrCat("E ", text);
    if (IsFile()) {
      const std::string path = stream_.substr(7);
      file = std::fopen(path.c_str(), "ab");
      if (!file) throw NotFound(path, "; cannot be opened for writing");
    }
    std::fwrite(text.data(), 1, text.size(), file);
    std::fflush(file);
    if (IsFile()) std::fclose(file);
  }

 private:
  bool IsFile() const { return stream_.starts_with("file://"); }
  const std::string stream_, end_;
};

struct Assert {
  int64_t summarize;
  explicit Assert(const NodeView& node) : summarize(node.attr<int64_t>("summarize")) {}
  void operator()(KernelContext& k) const {
    const Tensor& condition = k.input(0);
    k.Require(condition.num_elements() == 1 && condition.rank() <= 1, "In[0] should be a scalar: ", condition.shape());
    if (*condition.data<bool>()) return;
    std::string message = "assertion failed:";
    for (int i = 1; i < k.num_inputs(); ++i) {
      message += " [";
      message += Summary(k.input(i), summarize).Text();
      message += "]";
    }
    throw InvalidArgument(message);
  }
};

struct Timestamp {
  void operator()(KernelContext& k) const {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    k.SetOutput(0, Tensor(std::chrono::duration<double>(now).count()));
  }
};

}  // namespace

void RegisterHostKernels(KernelRegistry& kernels) {
  kernels.Add<PyFunc>("PyFunc");
  kernels.Add<PyFunc>("PyFuncStateless");
  kernels.Add<PyFunc>("EagerPyFunc");
  kernels.Add<Print>("Print");
  kernels.Add<PrintV2>("PrintV2").HostInput(0);
  kernels.Add<Assert>("Assert").HostInput(0).HostInput(1);
  kernels.Add<Timestamp>("Timestamp").HostOutput(0);
}

}  // namespace penstock
