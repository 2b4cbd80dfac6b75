"""What may run a file of a mount without being followed."""

from __future__ import annotations

import pytest

from bot.catalog.runners import may_run


@pytest.mark.parametrize(
    ("line", "may"),
    [
        ('find /patches -name "*.py" -exec python3 {} \\;', True),
        ("ls /patches/*.py | xargs -n1 python3", True),
        ("ls /patches/*.py | parallel python3", True),
        ("run-parts /patches", True),
        ("make -C /patches", True),
        ("cd /patches && make", True),
        ("python3 -m patches.fix", True),
        ("python3 -c \"exec(open('/patches/fix.py').read())\"", True),
        ("mypatcher --dir /patches", True),
        ("env X=1 tool /patches/fix.py", True),
        ("# mypatcher --dir /patches", False),
        ("ls /patches", False),
        ("if [ -d /patches ]; then echo yes; fi", False),
        ("mypatcher --dir /patches-of-others", False),
        ("python3 -c 'import torch'", False),
        ("python3 /opt/other.py", False),
    ],
)
def test_a_command_that_may_run_a_file_is_known_from_one_that_does_not(line: str, may: bool) -> None:
    assert (may_run("/patches/fix.py", [line]) != "") is may
