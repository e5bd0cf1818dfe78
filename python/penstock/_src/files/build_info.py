"""For which devices this was built."""
is_cuda_build = False
is_rocm_build = False
is_tensorrt_build = False
build_info = {"is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False}
