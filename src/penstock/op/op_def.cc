#include "penstock/op/op_def.h"

namespace penstock {
namespace {

// Reads an attribute's or argument's text form from left to right.
class Scanner {
 public:
  Scanner(std::string_view spec) : all_(spec), rest_(spec) {}  // NOLINT
  bool Eat(std::string_view token) {
    Skip();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void Expect(std::string_view token) {
    if (!Eat(token)) Fail(StrCat("'", token, "' expected"));
  }
  std::string Word() {
    Skip();
    size_t n = 0;
    while (n < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_' || rest_[n] == '/'))
      ++n;
    if (n == 0) Fail("name expected");
    std::string word(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return word;
  }
  std::string Quoted() {
    Skip();
    const char quote = rest_.empty() ? 0 : rest_.front();
    if (quote != '\'' && quote != '"') Fail("quoted string expected");
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) Fail("string does not end");
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  // Up to one of `stops` outside brackets.
  std::string_view Until(std::string_view stops) {
    Skip();
    size_t n = 0;
    while (n < rest_.size() && stops.find(rest_[n]) == std::string_view::npos) ++n;
    std::string_view text = StripSpaces(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return text;
  }
  bool AtQuote() {
    Skip();
    return !rest_.empty() && (rest_.front() == '\'' || rest_.front() == '"');
  }
  bool Done() {
    Skip();
    return rest_.empty();
  }
  [[noreturn]] void Fail(std::string_view why) { throw Internal("op definition '", all_, "': ", why); }

 private:
  void Skip() { rest_ = rest_.substr(std::min(rest_.find_first_not_of(" \t\n"), rest_.size())); }
  std::string_view all_, rest_;
};

const std::vector<DataType> kRealNumbers = {DT_FLOAT, DT_DOUBLE,   DT_INT32,  DT_UINT8, DT_INT16,  DT_INT8,
                                            DT_INT64, DT_BFLOAT16, DT_UINT16, DT_HALF,  DT_UINT32, DT_UINT64};
const std::vector<DataType> kNumbers = {DT_FLOAT,      DT_DOUBLE,    DT_INT32,  DT_UINT8,   DT_INT16,
                                        DT_INT8,       DT_COMPLEX64, DT_INT64,  DT_QINT8,   DT_QUINT8,
                                        DT_QINT32,     DT_BFLOAT16,  DT_QINT16, DT_QUINT16, DT_UINT16,
                                        DT_COMPLEX128, DT_HALF,      DT_UINT32, DT_UINT64};
const std::vector<DataType> kQuantized = {DT_QINT8, DT_QUINT8, DT_QINT32, DT_QINT16, DT_QUINT16};

DataType TypeNamed(Scanner& s, std::string_view name) {
  const DataType t = DataTypeFromName(name);
  if (t == DT_INVALID) s.Fail(StrCat("unknown type ", name));
  return t;
}

// "int32 1", "uint8 [255, 0]": integers only, which is all that TensorFlow's ops need.
AttrValue ScanTensor(Scanner& s) {
  const DataType type = TypeNamed(s, s.Word());
  std::vector<int64_t> values;
  const bool is_list = s.Eat("[");
  for (bool more = true; more && !(is_list && s.Eat("]"));) {
    int64_t value;
    if (!ParseInt64(s.Until(",]"), &value)) s.Fail("integer expected");
    values.push_back(value);
    more = s.Eat(",") || is_list;
  }
  Tensor t(type, is_list ? Shape({static_cast<int64_t>(values.size())}) : Shape());
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DT_UINT8) {
      t.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(values[i]);
    } else if (type == DT_INT32) {
      t.mutable_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    } else {
      s.Fail("no text form for tensors of this type");
    }
  }
  return t;
}

// One value of a scalar kind in text form, ended by one of `stops`.
AttrValue ScanValue(Scanner& s, std::string_view kind, std::string_view stops) {
  if (kind == "string") return s.Quoted();
  if (kind == "shape") {
    if (s.Eat("?") || s.Eat("unknown") || s.Eat("{ unknown_rank: true }")) return PartialShape();
    s.Expect("[");
    std::vector<int64_t> dims;
    while (!s.Eat("]")) {
      int64_t d = -1;
      if (const auto text = s.Until(",]"); text != "?" && !ParseInt64(text, &d)) s.Fail("bad dimension");
      dims.push_back(d);
      s.Eat(",");
    }
    return PartialShape(std::move(dims));
  }
  if (kind == "tensor") return ScanTensor(s);
  const std::string text(s.Until(stops));
  if (kind == "type") return TypeNamed(s, text);
  if (kind == "bool") {
    if (text != "true" && text != "false") s.Fail("bool expected");
    return text == "true";
  }
  if (kind == "int") {
    int64_t i;
    if (!ParseInt64(text, &i)) s.Fail("int expected");
    return i;
  }
  if (kind == "float") {
    double f;
    if (!ParseDouble(text, &f)) s.Fail("float expected");
    return f;
  }
  s.Fail(StrCat("no text form for values of kind ", kind));
}

template <class E>
AttrValue ScanList(Scanner& s, std::string_view kind) {
  std::vector<E> list;
  while (!s.Eat("]")) {
    const AttrValue value = ScanValue(s, kind, ",]");
    list.push_back(*value.If<E>());
    s.Eat(",");
  }
  return list;
}

AttrValue ScanDefault(Scanner& s, const std::string& kind) {
  if (!kind.starts_with("list(")) {
    if (kind == "func") return FuncRef{s.Word(), {}};
    return ScanValue(s, kind, "");
  }
  const std::string element = kind.substr(5, kind.size() - 6);
  s.Expect("[");
  if (element == "int") return ScanList<int64_t>(s, element);
  if (element == "float") return ScanList<float>(s, element);
  if (element == "bool") return ScanList<bool>(s, element);
  if (element == "string") return ScanList<std::string>(s, element);
  if (element == "type") return ScanList<DataType>(s, element);
  if (element == "shape") return ScanList<PartialShape>(s, element);
  s.Expect("]");
  return element == "func" ? AttrValue(std::vector<FuncRef>()) : AttrValue(std::vector<Tensor>());
}

// "x: T" and the like.
ArgDef ScanArg(std::string_view spec, const OpDef& def) {
  Scanner s(spec);
  ArgDef arg;
  arg.name = s.Word();
  s.Expect(":");
  if (s.Eat("Ref(")) arg.is_ref = true;
  std::string word = s.Word();
  if (s.Eat("*")) {
    arg.number_attr = word;
    word = s.Word();
  }
  if (arg.is_ref) s.Expect(")");
  if (!s.Done()) s.Fail("unexpected text at the end");
  const DataType type = DataTypeFromName(word);
  if (type != DT_INVALID) {
    arg.type = type;
  } else {
    arg.type_attr = word;  // or a list of types; told apart when all attributes are known
  }
  (void)def;
  return arg;
}

// Attributes may be declared after the arguments that use them.
void ResolveLists(OpDef* def) {
  for (auto* args : {&def->inputs, &def->outputs}) {
    for (ArgDef& arg : *args) {
      const AttrDef* attr = arg.type_attr.empty() ? nullptr : def->FindAttr(arg.type_attr);
      if (attr && attr->kind == "list(type)") arg.type_list_attr = std::exchange(arg.type_attr, "");
    }
  }
}

std::string ArgText(const ArgDef& arg) {
  std::string type = !arg.type_list_attr.empty() ? arg.type_list_attr
                     : !arg.type_attr.empty()    ? arg.type_attr
                                                 : ToString(arg.type);
  if (!arg.number_attr.empty()) type = StrCat(arg.number_attr, "*", type);
  return StrCat(arg.name, ":", arg.is_ref ? "Ref(" : "", type, arg.is_ref ? ")" : "");
}

}  // namespace

const AttrDef* OpDef::FindAttr(std::string_view attr) const {
  for (const AttrDef& a : attrs) {
    if (a.name == attr) return &a;
  }
  return nullptr;
}

int OpDef::InputIndex(std::string_view arg) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == arg) return static_cast<int>(i);
  }
  return -1;
}

int OpDef::OutputIndex(std::string_view arg) const {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].name == arg) return static_cast<int>(i);
  }
  return -1;
}

std::string OpDef::ToString() const {
  std::vector<std::string> ins, outs;
  for (const ArgDef& arg : inputs) ins.push_back(ArgText(arg));
  for (const ArgDef& arg : outputs) outs.push_back(ArgText(arg));
  std::string text = StrCat("Op<name=", name, "; signature=", StrJoin(ins, ", "), " -> ", StrJoin(outs, ", "));
  for (const AttrDef& a : attrs) {
    text += StrCat("; attr=", a.name, ":", a.kind);
    if (a.has_default()) text += StrCat(",default=", a.default_value);
    if (a.has_minimum) text += StrCat(",min=", a.minimum);
    if (!a.allowed.empty()) text += StrCat(",allowed=", a.allowed);
  }
  if (traits.stateful) text += "; is_stateful=true";
  return text + ">";
}

OpBuilder& OpBuilder::Input(std::string_view spec) {
  def_->inputs.push_back(ScanArg(spec, *def_));
  ResolveLists(def_);
  return *this;
}

OpBuilder& OpBuilder::Output(std::string_view spec) {
  def_->outputs.push_back(ScanArg(spec, *def_));
  ResolveLists(def_);
  return *this;
}

OpBuilder& OpBuilder::Attr(std::string_view spec) {
  Scanner s(spec);
  AttrDef attr;
  attr.name = s.Word();
  s.Expect(":");
  const bool list = s.Eat("list(");
  std::string kind;
  if (s.Eat("{")) {  // allowed values
    std::vector<DataType> types;
    std::vector<std::string> strings;
    while (!s.Eat("}")) {
      if (s.AtQuote()) {
        strings.push_back(s.Quoted());
      } else {
        types.push_back(TypeNamed(s, s.Word()));
      }
      s.Eat(",");
    }
    kind = types.empty() ? "string" : "type";
    attr.allowed = types.empty() ? AttrValue(std::move(strings)) : AttrValue(std::move(types));
  } else {
    kind = s.Word();
    if (kind == "numbertype" || kind == "numerictype") attr.allowed = kNumbers;
    if (kind == "realnumbertype" || kind == "realnumerictype") attr.allowed = kRealNumbers;
    if (kind == "quantizedtype") attr.allowed = kQuantized;
    if (!attr.allowed.empty()) kind = "type";
  }
  if (list) {
    s.Expect(")");
    kind = StrCat("list(", kind, ")");
  }
  attr.kind = kind;
  if (s.Eat(">=")) {
    attr.has_minimum = true;
    if (!ParseInt64(s.Until("="), &attr.minimum)) s.Fail("minimum expected");
  }
  if (s.Eat("=")) attr.default_value = ScanDefault(s, kind);
  if (!s.Done()) s.Fail("unexpected text at the end");
  def_->attrs.push_back(std::move(attr));
  ResolveLists(def_);
  return *this;
}

OpBuilder& OpBuilder::ControlOutput(std::string_view name) {
  def_->control_outputs.emplace_back(name);
  return *this;
}

OpBuilder& OpBuilder::Doc(std::string_view text) {
  def_->doc = text;
  return *this;
}

OpBuilder& OpBuilder::Deprecated(int version, std::string_view why) {
  def_->deprecated_since = version;
  def_->deprecated_why = why;
  return *this;
}

}  // namespace penstock
