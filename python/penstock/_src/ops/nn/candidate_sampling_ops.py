"""Sampling of classes: (sampled classes, expected count of the true ones, of the sampled ones)."""
from penstock._src.graph import gen
from penstock._src.ops.random.random_ops import as_seeds

__all__ = ["all_candidate_sampler", "compute_accidental_hits", "fixed_unigram_candidate_sampler",
           "learned_unigram_candidate_sampler", "log_uniform_candidate_sampler", "uniform_candidate_sampler"]


def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """All classes with the same probability."""
    return gen.uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, name=name,
                                         **as_seeds(seed))


def log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Class k with probability log((k + 2) / (k + 1)) / log(range_max + 1), as words sorted by frequency have."""
    return gen.log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, name=name,
                                             **as_seeds(seed))


def learned_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """Classes with the frequency with which they were seen as true ones."""
    return gen.learned_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, name=name,
                                                 **as_seeds(seed))


def fixed_unigram_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, vocab_file="",
                                    distortion=1.0, num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None,
                                    name=None):
    """Classes with frequencies from a file or a list, to the power of `distortion`."""
    return gen.fixed_unigram_candidate_sampler(
        true_classes, num_true, num_sampled, unique, range_max, vocab_file=vocab_file, distortion=distortion,
        num_reserved_ids=num_reserved_ids, num_shards=num_shards, shard=shard, unigrams=list(unigrams), name=name,
        **as_seeds(seed))


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """All classes, in order."""
    return gen.all_candidate_sampler(true_classes, num_true, num_sampled, unique, name=name, **as_seeds(seed))


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """(example, place in the sample, penalty) wherever a sampled class is a true one."""
    return gen.compute_accidental_hits(true_classes, sampled_candidates, num_true, name=name, **as_seeds(seed))
