"""The defaults that vLLM computes in code, written once by hand: one module for each family of properties.

Each derivation models upstream functions that `rules/vllm/derivations.yml` names, and is applied only where those
functions are what was read (`basis`). A derivation never guesses: what it cannot know makes its answer unknown.
"""
