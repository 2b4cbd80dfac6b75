"""What claims are about: properties of an engine, by the names that the resolver gives them."""

from __future__ import annotations

ANY = "any"
"""The value of a drafter that is said to be on, and not which."""

DRAFTER = "spec_decode.method"
DEPTH = "spec_decode.num_speculative_tokens"
CONTEXT = "max_model_len"
CACHE = "kv_cache_dtype"
SEQUENCES = "max_num_seqs"
PARALLEL = "tensor_parallel_size"
PREFIX = "prefix_caching"
GRAPHS = "cudagraph_mode"
EAGER = "enforce_eager"
MEMORY = "gpu_memory_utilization"
BATCHED = "max_num_batched_tokens"
