// The formula of each optimizer's update, for one element.
#include <cmath>
#include <complex>

#include "penstock/kernels/cpu/state/training.h"

namespace penstock {
namespace training {

template <class C>
C Sign(C x) {
  return static_cast<C>((x > C(0)) - (x < C(0)));
}

// The proximal step of l1 and l2 at `x` with this learning rate.
template <class C>
C Proximal(C x, C rate, C l1, C l2) {
  const C shrunk = l1 > C(0) ? Sign(x) * std::max(std::abs(x) - rate * l1, C(0)) : x;
  return shrunk / (C(1) + l2 * rate);
}

template <class C>
struct GradientDescent {
  static constexpr int kVariables = 1;
  static constexpr std::array kScalars{"alpha"};
  C alpha;
  GradientDescent(const C* s, const RuleAttrs&) : alpha(s[0]) {}
  void operator()(C* v, C g) const { v[0] -= alpha * g; }
};

template <class C>
struct ProximalGradientDescent {
  static constexpr int kVariables = 1;
  static constexpr std::array kScalars{"alpha", "l1", "l2"};
  C alpha, l1, l2;
  ProximalGradientDescent(const C* s, const RuleAttrs&) : alpha(s[0]), l1(s[1]), l2(s[2]) {}
  void operator()(C* v, C g) const { v[0] = Proximal(v[0] - alpha * g, alpha, l1, l2); }
};

template <class C>
struct Adadelta {
  static constexpr int kVariables = 3;
  static constexpr std::array kScalars{"lr", "rho", "epsilon"};
  C lr, rho, epsilon;
  Adadelta(const C* s, const RuleAttrs&) : lr(s[0]), rho(s[1]), epsilon(s[2]) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &accum = v[1], &accum_update = v[2];
    accum = accum * rho + g * g * (C(1) - rho);
    const C update = std::sqrt(accum_update + epsilon) / std::sqrt(accum + epsilon) * g;
    var -= update * lr;
    accum_update = accum_update * rho + update * update * (C(1) - rho);
  }
};

template <class C>
struct Adagrad {
  static constexpr int kVariables = 2;
  static constexpr std::array kScalars{"lr"};
  C lr;
  bool update;
  Adagrad(const C* s, const RuleAttrs& a) : lr(s[0]), update(a.update_slots) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &accum = v[1];
    accum += update ? g * g : C(0);
    var -= g * lr / std::sqrt(accum);
  }
};

template <class C>
struct AdagradV2 {
  static constexpr int kVariables = 2;
  static constexpr std::array kScalars{"lr", "epsilon"};
  C lr, epsilon;
  bool update;
  AdagradV2(const C* s, const RuleAttrs& a) : lr(s[0]), epsilon(s[1]), update(a.update_slots) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &accum = v[1];
    accum += update ? g * g : C(0);
    var -= g * lr / (std::sqrt(accum) + epsilon);
  }
};

template <class C>
struct ProximalAdagrad {
  static constexpr int kVariables = 2;
  static constexpr std::array kScalars{"lr", "l1", "l2"};
  C lr, l1, l2;
  ProximalAdagrad(const C* s, const RuleAttrs&) : lr(s[0]), l1(s[1]), l2(s[2]) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &accum = v[1];
    accum += g * g;
    const C rate = lr / std::sqrt(accum);
    var = Proximal(var - g * rate, rate, l1, l2);
  }
};

template <class C>
struct AdagradDA {
  static constexpr int kVariables = 3;
  static constexpr std::array kScalars{"lr", "l1", "l2"};
  C lr, l1, l2, step;
  AdagradDA(const C* s, const RuleAttrs& a) : lr(s[0]), l1(s[1]), l2(s[2]), step(static_cast<C>(a.global_step)) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &sum = v[1], &squares = v[2];
    sum += g;
    squares += g * g;
    const C shrunk = l1 > C(0) ? Sign(sum) * std::max(std::abs(sum) - l1 * step, C(0)) : sum;
    var = -lr * shrunk / (l2 * step * lr + std::sqrt(squares));
  }
};

// Both versions; the first has no shrinkage.
template <class C>
struct FtrlRule {
  static constexpr int kVariables = 3;
  C lr, l1, l2, shrinkage, power;
  bool scaled;  // `linear` holds its value times lr
  void operator()(C* v, C g) const {
    C &var = v[0], &accum = v[1], &linear = v[2];
    const C raised = accum + g * g;
    const C shrunk_g = g + C(2) * shrinkage * var;
    const C sigma = Power(raised) - Power(accum);
    linear += scaled ? shrunk_g * lr - sigma * var : shrunk_g - sigma / lr * var;
    const C bound = scaled ? l1 * lr : l1;
    const C quadratic = scaled ? Power(raised) + C(2) * l2 * lr : Power(raised) / lr + C(2) * l2;
    var = std::abs(linear) > bound ? (bound * Sign(linear) - linear) / quadratic : C(0);
    accum = raised;
  }

 private:
  C Power(C x) const { return power == C(-0.5) ? std::sqrt(x) : std::pow(x, -power); }
};
template <class C>
struct Ftrl : FtrlRule<C> {
  static constexpr std::array kScalars{"lr", "l1", "l2", "lr_power"};
  Ftrl(const C* s, const RuleAttrs& a) : FtrlRule<C>{s[0], s[1], s[2], C(0), s[3], a.multiply_linear_by_lr} {}
};
template <class C>
struct FtrlV2 : FtrlRule<C> {
  static constexpr std::array kScalars{"lr", "l1", "l2", "l2_shrinkage", "lr_power"};
  FtrlV2(const C* s, const RuleAttrs& a) : FtrlRule<C>{s[0], s[1], s[2], s[3], s[4], a.multiply_linear_by_lr} {}
};

template <class C>
struct Momentum {
  static constexpr int kVariables = 2;
  static constexpr std::array kScalars{"lr", "momentum"};
  C lr, momentum;
  bool nesterov;
  Momentum(const C* s, const RuleAttrs& a) : lr(s[0]), momentum(s[1]), nesterov(a.use_nesterov) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &accum = v[1];
    accum = accum * momentum + g;
    var -= nesterov ? g * lr + accum * momentum * lr : accum * lr;
  }
};

template <class C>
struct KerasMomentum {
  static constexpr int kVariables = 2;
  static constexpr std::array kScalars{"lr", "momentum"};
  C lr, momentum;
  bool nesterov;
  KerasMomentum(const C* s, const RuleAttrs& a) : lr(s[0]), momentum(s[1]), nesterov(a.use_nesterov) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &accum = v[1];
    accum = accum * momentum - g * lr;
    var += nesterov ? accum * momentum - g * lr : accum;
  }
};

template <class C>
struct Adam {
  static constexpr int kVariables = 3;
  static constexpr std::array kScalars{"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"};
  C alpha, beta1, beta2, epsilon;
  bool nesterov;
  Adam(const C* s, const RuleAttrs& a)
      : alpha(s[2] * std::sqrt(C(1) - s[1]) / (C(1) - s[0])),
        beta1(s[3]),
        beta2(s[4]),
        epsilon(s[5]),
        nesterov(a.use_nesterov) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &m = v[1], &second = v[2];
    m += (g - m) * (C(1) - beta1);
    second += (g * g - second) * (C(1) - beta2);
    const C direction = nesterov ? g * (C(1) - beta1) + beta1 * m : m;
    var -= direction * alpha / (std::sqrt(second) + epsilon);
  }
};

template <class C>
struct AdamWithAmsgrad {
  static constexpr int kVariables = 4;
  static constexpr std::array kScalars{"beta1_power", "beta2_power", "lr", "beta1", "beta2", "epsilon"};
  C alpha, beta1, beta2, epsilon;
  AdamWithAmsgrad(const C* s, const RuleAttrs&)
      : alpha(s[2] * std::sqrt(C(1) - s[1]) / (C(1) - s[0])), beta1(s[3]), beta2(s[4]), epsilon(s[5]) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &m = v[1], &second = v[2], &largest = v[3];
    m += (g - m) * (C(1) - beta1);
    second += (g * g - second) * (C(1) - beta2);
    largest = std::max(largest, second);
    var -= m * alpha / (std::sqrt(largest) + epsilon);
  }
};

template <class C>
struct AdaMax {
  static constexpr int kVariables = 3;
  static constexpr std::array kScalars{"beta1_power", "lr", "beta1", "beta2", "epsilon"};
  C rate, beta1, beta2, epsilon;
  AdaMax(const C* s, const RuleAttrs&) : rate(s[1] / (C(1) - s[0])), beta1(s[2]), beta2(s[3]), epsilon(s[4]) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &m = v[1], &largest = v[2];
    m += (g - m) * (C(1) - beta1);
    largest = std::max(beta2 * largest, std::abs(g));
    var -= rate * (m / (largest + epsilon));
  }
};

template <class C>
struct RMSProp {
  static constexpr int kVariables = 3;
  static constexpr std::array kScalars{"lr", "rho", "momentum", "epsilon"};
  C lr, rho, momentum, epsilon;
  RMSProp(const C* s, const RuleAttrs&) : lr(s[0]), rho(s[1]), momentum(s[2]), epsilon(s[3]) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &ms = v[1], &mom = v[2];
    ms += (g * g - ms) * (C(1) - rho);
    mom = mom * momentum + g * lr / std::sqrt(ms + epsilon);
    var -= mom;
  }
};

template <class C>
struct CenteredRMSProp {
  static constexpr int kVariables = 4;
  static constexpr std::array kScalars{"lr", "rho", "momentum", "epsilon"};
  C lr, rho, momentum, epsilon;
  CenteredRMSProp(const C* s, const RuleAttrs&) : lr(s[0]), rho(s[1]), momentum(s[2]), epsilon(s[3]) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &mg = v[1], &ms = v[2], &mom = v[3];
    ms += (g * g - ms) * (C(1) - rho);
    mg += (g - mg) * (C(1) - rho);
    mom = mom * momentum + g * lr / std::sqrt(ms - mg * mg + epsilon);
    var -= mom;
  }
};

template <class C>
struct AddSign {
  static constexpr int kVariables = 2;
  static constexpr std::array kScalars{"lr", "alpha", "sign_decay", "beta"};
  C lr, alpha, decay, beta;
  AddSign(const C* s, const RuleAttrs&) : lr(s[0]), alpha(s[1]), decay(s[2]), beta(s[3]) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &m = v[1];
    m = m * beta + g * (C(1) - beta);
    var -= lr * (alpha + decay * Sign(g) * Sign(m)) * g;
  }
};

template <class C>
struct PowerSign {
  static constexpr int kVariables = 2;
  static constexpr std::array kScalars{"lr", "logbase", "sign_decay", "beta"};
  C lr, logbase, decay, beta;
  PowerSign(const C* s, const RuleAttrs&) : lr(s[0]), logbase(s[1]), decay(s[2]), beta(s[3]) {}
  void operator()(C* v, C g) const {
    C &var = v[0], &m = v[1];
    m = m * beta + g * (C(1) - beta);
    var -= lr * std::exp(logbase * decay * Sign(g) * Sign(m)) * g;
  }
};

// A template that takes the element type only, as the registry wants it.
template <template <class> class Rule>
struct For {
  template <class T>
  using Kernel = Apply<Rule, T>;
};

template <template <class> class Rule, class Types>
void AddAll(KernelRegistry& kernels, std::string_view name, std::initializer_list<const char*> prefixes, Types types) {
  for (const char* prefix : prefixes) kernels.Add<For<Rule>::template Kernel>(StrCat(prefix, "Apply", name), types);
}

}  // namespace training

void RegisterTrainingKernels(KernelRegistry& kernels) {
  using namespace training;
  const std::initializer_list<const char*> all = {"", "Resource", "Sparse", "ResourceSparse"};
  const std::initializer_list<const char*> dense = {"", "Resource"};
  using FloatsAndComplexes = Concat<Floats, Complexes>;
  AddAll<GradientDescent>(kernels, "GradientDescent", dense, FloatsAndComplexes{});
  AddAll<ProximalGradientDescent>(kernels, "ProximalGradientDescent", all, Floats{});
  AddAll<Adadelta>(kernels, "Adadelta", all, FloatsAndComplexes{});
  AddAll<Adagrad>(kernels, "Adagrad", all, FloatsAndComplexes{});
  AddAll<AdagradV2>(kernels, "AdagradV2", all, FloatsAndComplexes{});
  AddAll<ProximalAdagrad>(kernels, "ProximalAdagrad", all, Floats{});
  AddAll<AdagradDA>(kernels, "AdagradDA", all, Floats{});
  AddAll<Ftrl>(kernels, "Ftrl", all, Floats{});
  AddAll<FtrlV2>(kernels, "FtrlV2", all, Floats{});
  AddAll<Momentum>(kernels, "Momentum", all, FloatsAndComplexes{});
  AddAll<KerasMomentum>(kernels, "KerasMomentum", {"Resource", "ResourceSparse"}, FloatsAndComplexes{});
  AddAll<Adam>(kernels, "Adam", dense, FloatsAndComplexes{});
  AddAll<AdamWithAmsgrad>(kernels, "AdamWithAmsgrad", {"Resource"}, Floats{});
  AddAll<AdaMax>(kernels, "AdaMax", dense, Floats{});
  AddAll<RMSProp>(kernels, "RMSProp", all, FloatsAndComplexes{});
  AddAll<CenteredRMSProp>(kernels, "CenteredRMSProp", all, FloatsAndComplexes{});
  AddAll<AddSign>(kernels, "AddSign", dense, Floats{});
  AddAll<PowerSign>(kernels, "PowerSign", dense, Floats{});
}

}  // namespace penstock
