"""What was judged by hand on the last commit of the corpus: variables that are offered in vain, and misread values."""

from __future__ import annotations

from bot.audit import audit
from bot.catalog import read_catalog
from bot.compose import Documents
from bot.hazards import load_rules
from bot.repositories import BlobCache, RevisionTree
from bot.resolution import Repository
from tests.corpus import needs_corpus
from tests.history.conftest import History, history  # noqa: F401

RIGHT = {
    ("phantom-seam", "SPEC", "dual/autoround-int4/fp8-mtp.yml"),
    ("phantom-seam", "SPEC", "dual/fp8/mtp.yml"),
    ("phantom-seam", "SPEC", "multi4/autoround-int4/mtp.yml"),
    ("phantom-seam", "SPEC", "multi4/fp8/mtp.yml"),
    ("phantom-seam", "SPEC_N_MAX", "dual/autoround-int4/tq3-nomtp.yml"),
    ("phantom-seam", "SPEC_MODEL", "dual/bf16/mtp.yml"),
    ("seam-value-trap", "SPEC", "dual/nvfp4/mtp.yml"),
    ("seam-value-trap", "SPEC", "single/nvfp4/mtp.yml"),
    ("seam-value-trap", "SPEC_N", "dual/w4a16/w4a8.yml"),
}
"""(rule, variable, the end of the compose's path), each read in the compose and its entrypoint."""


@needs_corpus
def test_what_a_careful_person_found(history: History) -> None:  # noqa: F811
    rules = load_rules().only({"phantom-seam", "seam-value-trap"})
    with RevisionTree(history.root, "HEAD", BlobCache()) as tree:
        report = audit(Repository(tree, read_catalog(tree), Documents(tree)), rules)
    found = {(one.rule, one.cause, "/".join(one.path.split("/")[-3:])) for one in report.findings}
    assert {one for one in found if one[1] != "VLLM_ENFORCE_EAGER"} == RIGHT
    presence = [one.message for one in report.findings if one.cause == "VLLM_ENFORCE_EAGER"]
    assert all(
        text.startswith("`VLLM_ENFORCE_EAGER=0` switches on what `VLLM_ENFORCE_EAGER=1` does") for text in presence
    )
