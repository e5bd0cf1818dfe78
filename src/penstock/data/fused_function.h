// Functions made of the functions of datasets.
#pragma once

#include <string>

#include "penstock/data/remake.h"
#include "penstock/graph/function.h"

namespace penstock::data {

// A function that a dataset calls: what it is called with besides the element comes as `captured`.
struct DatasetFunction {
  FuncRef function;
  std::vector<Tensor> captured;
  // The one of dataset `d`, its attribute and the input with what it captures.
  static DatasetFunction Of(const RecipeView& d, std::string_view attr = "f",
                            std::string_view input = "other_arguments");
};

// A function in the making: a graph whose arguments are an element's components and all that is captured.
class FunctionBuilder {
 public:
  explicit FunctionBuilder(FunctionLibraryPtr library);
  std::vector<Endpoint> Arguments(const ElementSpec& element);
  // A call with these arguments and all that it captures, which becomes arguments of the new function too.
  std::vector<Endpoint> Call(const DatasetFunction& function, std::vector<Endpoint> args);
  // Adds the values to `args`, as arguments of the new function that it captures.
  void Capture(const std::vector<Tensor>& values, std::vector<Endpoint>* args);
  // What `yes` or `no` gives, both called with these arguments and all of `captured`: a value of type `type`.
  Endpoint Conditional(Endpoint condition, const FuncRef& yes, const FuncRef& no, std::vector<Endpoint> args,
                       const std::vector<Tensor>& captured, DataType type);
  // All outputs of an op.
  std::vector<Endpoint> Outputs(const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs = {});
  Endpoint Op(const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs = {}) {
    return Outputs(op, std::move(inputs), std::move(attrs))[0];
  }
  Endpoint Constant(Tensor value);
  // The values that the new function captures, in the order of its arguments behind the element.
  const std::vector<Tensor>& captured() const { return captured_; }
  // Adds the function to the library; a reference to it.
  FuncRef Finish(const std::string& name, std::vector<Endpoint> results);
  const FunctionLibraryPtr& library() const { return library_; }

 private:
  Endpoint Argument(const std::string& name, DataType dtype, const PartialShape& shape);
  FunctionLibraryPtr library_;
  Graph graph_;
  std::vector<Endpoint> elements_, captures_;
  std::vector<Tensor> captured_;
};

// The function and all that it leads to, itself or by its attributes, each once: functions may call themselves.
// `all_found`: the library has all of them.
std::vector<std::shared_ptr<const FunctionDef>> ReachedFunctions(const FuncRef& function,
                                                                 const FunctionLibraryPtr& library, bool* all_found);
// Whether the function, or what it calls, has state of its own or side effects other than assertions.
bool IsStateful(const FuncRef& function, const FunctionLibraryPtr& library);
// FailedPrecondition, naming an op, if the function has state that cannot be written down with its dataset or iterator:
// all but that of datasets, assertions, prints, the time and lookups in tables.
void RequireNoState(const FuncRef& function, const FunctionLibraryPtr& library);

}  // namespace penstock::data
