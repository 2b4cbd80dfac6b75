"""The edits by the names that the rules give them (`edit:` of a remedy)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from bot.remedies.arguments import binding_spelling, moved_flag, near_flag, no_prefix_caching, pin_of_profile
from bot.remedies.case import Case
from bot.remedies.dropping import drop_overridden
from bot.remedies.model import Candidate
from bot.remedies.mounts import mount_it
from bot.remedies.patches import end_the_boot, name_in_list
from bot.remedies.statements import state_value
from bot.remedies.values import accepted_value
from bot.remedies.variables import double_dollar, drop_variable, forward_variable

EDITS: Mapping[str, Callable[[Case], Iterator[Candidate]]] = {
    "accepted-value": accepted_value,
    "binding-spelling": binding_spelling,
    "double-dollar": double_dollar,
    "drop-overridden": drop_overridden,
    "drop-variable": drop_variable,
    "end-the-boot": end_the_boot,
    "forward-variable": forward_variable,
    "mount-it": mount_it,
    "moved-flag": moved_flag,
    "name-in-list": name_in_list,
    "near-flag": near_flag,
    "no-prefix-caching": no_prefix_caching,
    "pin-of-profile": pin_of_profile,
    "state-value": state_value,
}
"""What turns a finding into ways to edit its files, the best first. Each raises `NoEdit` when there is none."""
