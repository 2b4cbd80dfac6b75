"""What keeps a mention of a value from being a claim about what runs by default."""

from __future__ import annotations

import re

from bot.claims.mentions import Mention

_HISTORY = (
    r"was|were|been|had|did|used to|previous(?:ly)?|former(?:ly)?|earlier|originally|initially|before|until|till|old|"
    r"prior|pre-|since|ago|bump(?:ed|s)?|dropped|lowered|raised|moved|migrated|removed|archived|superseded|"
    r"retired|legacy|histor\w+|revert\w*|restored?|anymore|no longer|so far|once|became|went|came|started|replaced|"
    r"changed|earned|on the way|at the time|back then|became"
)
_CONDITION = (
    r"if|when(?:ever)?|while|unless|without|could|may|might|would|should|must|ought|needs?|needed|requires?|"
    r"in case|either|or|optional(?:ly)?|opt[- ](?:in|out)|sett?(?:ing)?|overrid\w+|pass(?:ing)?|add(?:ing)?|"
    r"enabl(?:e|es|ing)|disabl(?:e|es|ing)|switch(?:es|ing)?|turn(?:s|ing)?|drop|raise|lower|bump|use|using|try|re-?enable|"
    r"delete|comment out|"
    r"to (?:get|run|test|have|keep)|for|want|prefer|consider|do not|don'?t|never|not|cannot|can'?t|isn'?t|avoid|"
    r"available|possible|allows?|lets?|users?|you|your|unlocks?|up to|at most|at least|supports?|reach(?:es|able)?|even"
)
_COMPARISON = (
    r"than|vs\.?|versus|unlike|instead|rather|compared|same as|like|mirror\w*|match(?:es|ing)?|identical|≡|against|"
    r"sibling\w*|other\w*|variants?|upstream|reference|proxy|elsewhere|their|his|her|card's|community|everyone|"
    r"alternative\w*|fallback"
)
_MEASURED = (
    r"measur\w+|bench\w*|tok/s|tps|a/b|mean|median|accept\w*|sweep\w*|n-sweep|probe\w*|validat\w+|verif\w+|tested|reproduc\w+|"
    r"report\w*|hit on|crash\w*|oom\w*|fail\w*|broken|seen|observed|stress\w*|soak\w*|gate[ds]?|estimat\w+|"
    r"proven|confirmed unnecessary|natively?|boots?|booted|costs?|trades?|wastes?|hits?|dies|died|breaks?|regress\w*|"
    r"fixes|fixed|merged?|ceiling|headroom|fits?|rung|ladder|arm|draw|trial"
)
_PLAN = (
    r"todo|fixme|will|plan\w*|pending|follow-up|future|eventually|wip|later|next|soon|intend\w*|goal|aim\w*|"
    r"(?<!ctx )(?<!context )target\w*|"
    r"propos\w+|candidate|ideal\w*|hope\w*|expected|once"
)
_NO_CLAIM = re.compile(rf"(?<![\w-])(?:{_HISTORY}|{_CONDITION}|{_COMPARISON}|{_MEASURED}|{_PLAN})(?![\w])")
_BEGINS = re.compile(r"[\W_]*(?:with|at|on|in|under|by|from|as|because|so|and|but|that|which|a|an|e\.g|i\.e)\b")
_AFTER = re.compile(
    r"\s*(?:[,(—–-]\s*)*(?:theoretical|potential|planned|ideal|recommended|suggested|was|were|until|before|previously|formerly|dropped|deprecated|if|when|unless|only|once|"
    r"n't|is not|isn'?t|never|would|could|can|may|might|will|should|must|costs?|dies|crash\w*|oom\w*|fail\w*|"
    r"needs?|requires?|works?|breaks?|regress\w*|wastes?|vs\.?|versus|than|or\b|pool|optional|pending|later)\b",
    re.IGNORECASE,
)
_OTHER_LIST = re.compile(
    r"\b(?:not|n't|no|without|dropped|n?-?sweep|tests?|probes?|removed|instead|alternatives?|options?|others?|variants?|famil(?:y|ies)|siblings?|"
    r"history|measured|benchmarks?|results?|changelog|deprecated|if|try|todo|known|unknowns?|candidates?|before|"
    r"previous(?:ly)?|companions?|knobs?|overrides?|environment|needs?|caveats?|why|when|reference|upstream|tradeoffs?)\b",
    re.IGNORECASE,
)
"""In the heading of a list: what stands below is not what this compose does."""

_QUOTES = re.compile(r"[\"“”«»]")
_NAME = re.compile(
    r"(?<![\w.-])(?:(?:[\w.-]+/)*[\w.-]+\.ya?ml|(?:vllm|sglang|llama[-.]?cpp|ik-llama|beellama|ollama|trtllm|tgi)/[\w.-]*\w)"
    r"(?![\w/])",
    re.IGNORECASE,
)
_IMAGE = re.compile(r"vllm/vllm-", re.IGNORECASE)
_THIS = re.compile(r"\(?\bthis(?: (?:file|one|slug|compose))?\b\)?", re.IGNORECASE)


_SEVERAL = re.compile(r"[^/|.;]{0,40}?\s(?:/|\||or)\s*~?\d[\d.,]*\s?[km]?\b")
_BECOMES = re.compile(r"[\s)]*(?:→|->|⇒|to\b)\s*[~v]?\d")


def is_no_claim(text: str, mention: Mention, segment: tuple[int, int], note: bool = False) -> bool:
    """Whether a mention is history, a condition, a comparison, a measurement, a plan or a quotation.

    What stands before it in the statement decides, with the words of its own that follow up to the next comma. In a
    `note`, only what stands before: what follows is about the composes that it names.
    """
    before = text[: mention.start]
    rest = text[mention.end : segment[1]].partition(",")[0]
    if len(_QUOTES.findall(before)) % 2 and _QUOTES.search(text, mention.end):
        return True
    if not mention.key and _NO_CLAIM.search(before):
        return True
    if _BECOMES.match(text, mention.end) or (mention.key and _SEVERAL.match(text, mention.end)):
        return True
    if note:
        return False
    if not mention.explicit and not mention.key and _BEGINS.match(text[segment[0] : mention.start]):
        return True
    return bool(_AFTER.match(text, mention.end) or (not mention.key and _NO_CLAIM.search(rest)))


def lists_others(heading: str) -> bool:
    """Whether what stands below a heading, or behind a key, is not about what runs here."""
    return bool(heading) and _OTHER_LIST.search(heading) is not None


def names_in(text: str, segment: tuple[int, int]) -> tuple[str, ...]:
    """The composes that a statement names before a mention or beside it: it may be theirs. `(this)` is no name."""
    names = [match[0] for match in _NAME.finditer(text, 0, segment[1]) if not _IMAGE.match(match[0])]
    return () if _THIS.search(text, 0, segment[1]) else tuple(dict.fromkeys(names))
