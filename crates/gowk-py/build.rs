//! Tells the code which Python it is for: whether it has a lock of its own (`Py_GIL_DISABLED`).

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
