"""What can be set of a pipeline as a whole: tf.data.Options and its parts."""
import enum

from penstock._src.data.util import options as options_lib
from penstock._src.base import tf2

_option = options_lib.create_option


class AutotuneAlgorithm(enum.Enum):
    """How parallelism and buffer sizes are found."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutoShardPolicy(enum.IntEnum):
    """How a pipeline is divided among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What happens when a pipeline is serialized whose functions have state of their own."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneOptions(options_lib.OptionsBase):
    """Of finding parallelism and buffer sizes while a pipeline runs."""

    enabled = _option("enabled", bool, "Whether they are found at all; None means yes.")
    cpu_budget = _option("cpu_budget", int, "How many cores may be used; None means all.")
    ram_budget = _option("ram_budget", int, "How many bytes buffers may use; None means half of what is free.")
    autotune_algorithm = _option("autotune_algorithm", AutotuneAlgorithm, "How they are found.")
    initial_parallelism = _option("initial_parallelism", int, "The parallelism to begin with.")
    min_parallelism = _option("min_parallelism", int, "The least parallelism of map and batch.")


class DistributeOptions(options_lib.OptionsBase):
    """Of pipelines on several workers or devices."""

    auto_shard = _option("auto_shard", bool, "Whether a pipeline is divided among workers.", lambda: True)
    auto_shard_policy = _option("auto_shard_policy", AutoShardPolicy, "How it is divided.",
                                lambda: AutoShardPolicy.AUTO)
    num_devices = _option("num_devices", int, "How many devices the pipeline feeds; MultiDeviceIterator sets it.")
    _make_stateless = _option("_make_stateless", bool, "Whether its graph must be without state, to be moved.")


class MapVectorizationOptions(options_lib.OptionsBase):
    """Of making maps work on whole batches."""

    enabled = _option("enabled", bool, "Whether they are; None means no.")
    use_choose_fastest = _option("use_choose_fastest", bool, "Whether the faster form is found by trying both.")

    def _static_optimizations(self):
        return ["map_vectorization"] if self.enabled else []

    def _static_optimization_configs(self):
        return [f"map_vectorization:use_choose_fastest:{'true' if self.use_choose_fastest else 'false'}"]


class OptimizationOptions(options_lib.OptionsBase):
    """Of rewriting the pipeline before it runs."""

    apply_default_optimizations = _option("apply_default_optimizations", bool,
                                          "Whether what is on by default is done; None means yes.")
    autotune = _option("autotune", bool, "Whether parallelism is found while it runs; None means yes.")
    autotune_algorithm = _option("autotune_algorithm", (int, AutotuneAlgorithm), "How it is found.")
    autotune_buffers = _option("autotune_buffers", bool, "Whether buffer sizes are found too; None means no.")
    autotune_cpu_budget = _option("autotune_cpu_budget", int, "How many cores may be used; None means all.")
    filter_fusion = _option("filter_fusion", bool, "Whether filters are joined; None means no.")
    filter_parallelization = _option("filter_parallelization", bool,
                                     "Whether filters without state run in parallel; None means no.")
    filter_with_random_uniform_fusion = _option(
        "filter_with_random_uniform_fusion", bool,
        "Whether a filter by a random number becomes a sampling dataset; None means no.")
    hoist_random_uniform = _option("hoist_random_uniform", bool,
                                   "Whether random numbers are taken out of maps; None means no.")
    inject_prefetch = _option("inject_prefetch", bool,
                              "Whether there is a buffer behind each stage that runs ahead; None means no.")
    map_and_batch_fusion = _option("map_and_batch_fusion", bool,
                                   "Whether map and batch are joined; None means yes.")
    map_and_filter_fusion = _option("map_and_filter_fusion", bool,
                                    "Whether map and filter are joined; None means no.")
    map_fusion = _option("map_fusion", bool, "Whether maps are joined; None means no.")
    map_parallelization = _option("map_parallelization", bool,
                                  "Whether maps without state run in parallel; None means no.")
    map_vectorization = _option("map_vectorization", MapVectorizationOptions, "Of making maps work on whole batches.",
                                MapVectorizationOptions)
    noop_elimination = _option("noop_elimination", bool,
                               "Whether transformations that do nothing are left out; None means yes.")
    parallel_batch = _option("parallel_batch", bool, "Whether batches are copied in parallel; None means no.")
    seq_interleave_prefetch = _option("seq_interleave_prefetch", bool,
                                      "Whether parallel interleaves become sequential ones that prefetch.")
    shuffle_and_repeat_fusion = _option("shuffle_and_repeat_fusion", bool,
                                        "Whether shuffle and repeat are joined; None means yes.")

    _ON_DEMAND = ("filter_fusion", "filter_with_random_uniform_fusion", "hoist_random_uniform", "map_and_batch_fusion",
                  "map_and_filter_fusion", "map_parallelization", "map_fusion", "noop_elimination", "parallel_batch",
                  "shuffle_and_repeat_fusion", "filter_parallelization", "inject_prefetch", "seq_interleave_prefetch")
    _BY_DEFAULT = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")

    def _static_optimizations(self):
        wanted = {name for name in self._ON_DEMAND if getattr(self, name)}
        if self.apply_default_optimizations is not False:
            wanted.update(name for name in self._BY_DEFAULT if getattr(self, name) is not False)
        if self.map_vectorization is not None:
            wanted.update(self.map_vectorization._static_optimizations())
        if self.autotune is not False and self.autotune_buffers:
            wanted.add("inject_prefetch")
        return sorted(wanted)

    def _static_optimization_configs(self):
        return [] if self.map_vectorization is None else self.map_vectorization._static_optimization_configs()


class ServiceOptions(options_lib.OptionsBase):
    """Of a service that computes pipelines."""

    pinned = _option("pinned", bool, "Whether its memory is pinned.")


class StatsOptions(options_lib.OptionsBase):
    """Of counting what a pipeline does."""

    aggregator = _option("aggregator", object, "The StatsAggregator that counts.")
    prefix = _option("prefix", str, "What the names of all statistics begin with.", lambda: "")
    counter_prefix = _option("counter_prefix", str, "What the names of counters begin with.", lambda: "")
    latency_all_edges = _option("latency_all_edges", bool, "Whether each transformation's latency is measured.")


class ThreadingOptions(options_lib.OptionsBase):
    """Of the threads that a pipeline uses."""

    max_intra_op_parallelism = _option("max_intra_op_parallelism", int, "How many threads one operation may use.")
    private_threadpool_size = _option("private_threadpool_size", int, "The size of a pool of the pipeline's own.")


class Options(options_lib.OptionsBase):
    """What `Dataset.with_options` sets."""

    _fields = {"autotune_options": "autotune", "distribute_options": "experimental_distribute",
               "optimization_options": "experimental_optimization", "service_options": "experimental_service",
               "threading_options": "threading", "slack": "experimental_slack",
               "external_state_policy": "experimental_external_state_policy",
               "symbolic_checkpoint": "experimental_symbolic_checkpoint", "warm_start": "experimental_warm_start"}

    autotune = _option("autotune", AutotuneOptions, "Of finding parallelism while the pipeline runs.", AutotuneOptions)
    dataset_name = _option("dataset_name", str, "A name for the dataset.")
    deterministic = experimental_deterministic = _option(
        "deterministic", bool, "Whether elements come in a fixed order; None means yes.")
    experimental_distribute = _option("experimental_distribute", DistributeOptions,
                                      "Of pipelines on several workers or devices.", DistributeOptions)
    experimental_external_state_policy = _option(
        "experimental_external_state_policy", ExternalStatePolicy,
        "What happens when a pipeline with state of its own is serialized; None means a warning.")
    experimental_optimization = _option("experimental_optimization", OptimizationOptions,
                                        "Of rewriting the pipeline before it runs.", OptimizationOptions)
    experimental_service = _option("experimental_service", ServiceOptions, "Of a service that computes pipelines.",
                                   ServiceOptions)
    experimental_slack = _option("experimental_slack", bool,
                                 "Whether the last prefetch waits a little, for an accelerator's sake.")
    experimental_stateful_whitelist = _option("experimental_stateful_whitelist", list,
                                              "Stateful ops that do not keep a pipeline from being serialized.")
    experimental_stats = _option("experimental_stats", StatsOptions, "Of counting what the pipeline does.",
                                 StatsOptions)
    experimental_symbolic_checkpoint = _option("experimental_symbolic_checkpoint", bool,
                                               "Whether checkpoints hold how to make elements anew, not elements.")
    experimental_warm_start = _option("experimental_warm_start", bool,
                                      "Whether the pipeline begins to work before its first element is asked for.")
    framework_type = _option("framework_type", list, "Names of what the pipeline is used by.")
    threading = experimental_threading = _option("threading", ThreadingOptions,
                                                 "Of the threads that the pipeline uses.", ThreadingOptions)

    def merge(self, options):
        """These options and others in one."""
        return options_lib.merge_options(self, options)

    def _static_optimizations(self):
        wanted = list(self.experimental_optimization._static_optimizations())
        if tf2.enabled() and self.autotune.enabled is False:  # parallelism and buffers that it would have to choose
            wanted = [name for name in wanted
                      if name not in ("map_parallelization", "filter_parallelization", "inject_prefetch")]
        if self.deterministic is False:
            wanted.append("make_sloppy")
        if self.experimental_stats.latency_all_edges:
            wanted.append("latency_all_edges")
        if self.experimental_slack:
            wanted.append("slack")
        if self.experimental_distribute._make_stateless:
            wanted.append("make_stateless")
        return wanted

    def _static_optimization_configs(self):
        configs = list(self.experimental_optimization._static_optimization_configs())
        if self.experimental_slack:
            configs.append(f"slack:slack_period:{self.experimental_distribute.num_devices or 1}")
        return configs
