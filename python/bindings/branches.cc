// _core.count_branches and its kin: which implementations kernels and passes chose, for tests.
#include "penstock/base/branches.h"
#include "bindings.h"

namespace penstock::python {

void BindBranches(nb::module_& m) {
  m.def("count_branches", &Branches::Count, nb::arg("on"));
  m.def("reset_branches", &Branches::Reset);
  m.def("branch_counts", [] {
    nb::dict tables;
    for (const Branches::Row& row : Branches::Rows()) {
      const nb::str table(row.table.c_str());
      if (!tables.contains(table)) tables[table] = nb::dict();
      nb::cast<nb::dict>(tables[table])[nb::str(row.branch.c_str())] = nb::int_(row.entered);
    }
    return tables;
  });
}

}  // namespace penstock::python
