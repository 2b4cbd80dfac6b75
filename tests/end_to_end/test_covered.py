"""What the App must bear, and the tests that show that it does: a table to read, which can not outlive its tests."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.jobs.kinds import REVIEWED_ACTIONS
from bot.web.manifest import read_manifest

TESTS = Path(__file__).parents[1]

EVENTS: Mapping[str, tuple[str, ...]] = {
    "pull_request opened": (
        "end_to_end/test_events::test_an_opened_pull_request_is_reviewed_and_its_fix_noticed",
        "end_to_end/test_events::test_a_change_that_touches_nothing_costs_one_check",
        "end_to_end/test_events::test_a_clean_change_has_the_check_alone",
    ),
    "pull_request synchronize": (
        "end_to_end/test_events::test_an_opened_pull_request_is_reviewed_and_its_fix_noticed",
        "end_to_end/test_deliveries::test_two_pushes_in_quick_succession_make_one_review_of_the_newest",
        "end_to_end/test_deliveries::test_a_force_push_repoints_the_comment",
    ),
    "pull_request reopened": ("end_to_end/test_lifecycle::test_two_events_in_either_order_end_alike",),
    "pull_request ready_for_review": ("end_to_end/test_events::test_a_draft_has_the_check_alone_until_it_is_ready",),
    "pull_request edited": (
        "end_to_end/test_events::test_a_change_of_the_base_is_a_new_review",
        "end_to_end/test_lifecycle::test_a_base_that_has_the_change_already_ends_the_finding",
    ),
    "pull_request closed": (
        "end_to_end/test_events::test_other_events_are_answered",
        "end_to_end/test_deliveries::test_a_closed_pull_request_is_left_alone",
    ),
    "issue_comment created": (
        "end_to_end/test_events::test_recheck",
        "end_to_end/test_events::test_help_and_explain",
        "end_to_end/test_events::test_a_person_without_write_access_is_refused_once",
        "end_to_end/test_lifecycle::test_the_author_of_a_fork_may_ask_again",
    ),
    "issue_comment edited": ("end_to_end/test_events::test_bots_and_edits_command_nothing",),
    "issue_comment deleted": ("end_to_end/test_lifecycle::test_pushes_elsewhere_and_deleted_comments_ask_for_nothing",),
    "check_run rerequested": ("end_to_end/test_events::test_a_check_that_is_asked_for_again",),
    "check_suite rerequested": ("end_to_end/test_events::test_a_check_that_is_asked_for_again",),
    "merge_group checks_requested": (
        "end_to_end/test_events::test_the_merge_queue_is_not_kept_waiting",
        "end_to_end/test_refusals::test_a_merge_queue_is_not_kept_waiting_by_a_commit_that_is_not_found_yet",
    ),
    "push to the default branch": (
        "end_to_end/test_events::test_a_push_to_the_default_branch_warms_the_cache",
        "end_to_end/test_watching::test_what_becomes_of_a_fix_is_told_and_nothing_costs_nothing",
    ),
    "push elsewhere": ("end_to_end/test_lifecycle::test_pushes_elsewhere_and_deleted_comments_ask_for_nothing",),
    "installation": ("end_to_end/test_events::test_an_installation_is_noted",),
    "installation_repositories": (
        "end_to_end/test_lifecycle::test_everything_that_is_delivered_again_changes_nothing",
    ),
    "ping, anything else": ("web/test_webhook::test_a_delivery_that_needs_nothing_is_answered",),
}
"""Each event, and what shows what becomes of it."""

DONE: Mapping[str, tuple[str, ...]] = {
    "the sandbox, /recheck and the fix, in a browser": (
        "end_to_end/test_sandbox::test_the_sandbox_shows_a_review_a_recheck_and_a_fix",
        "sandbox/test_scenario::test_in_a_browser",
    ),
    "redelivery of the same id": (
        "end_to_end/test_deliveries::test_a_delivery_that_comes_again_changes_nothing",
        "end_to_end/test_lifecycle::test_everything_that_is_delivered_again_changes_nothing",
    ),
    "two pushes in quick succession": (
        "end_to_end/test_deliveries::test_two_pushes_in_quick_succession_make_one_review_of_the_newest",
    ),
    "deliveries out of order": (
        "end_to_end/test_deliveries::test_deliveries_in_the_wrong_order_end_in_the_same_state",
        "end_to_end/test_lifecycle::test_two_events_in_either_order_end_alike",
    ),
    "a fork, and one that was deleted": ("end_to_end/test_events::test_a_pull_request_from_a_fork",),
    "a deleted pull request": (
        "end_to_end/test_deliveries::test_a_pull_request_that_is_gone_ends_the_job",
        "end_to_end/test_lifecycle::test_what_goes_away_in_the_middle_of_a_review_ends_it",
    ),
    "a revoked or suspended installation": (
        "end_to_end/test_deliveries::test_an_installation_without_access_ends_the_job",
        "end_to_end/test_lifecycle::test_what_goes_away_in_the_middle_of_a_review_ends_it",
        "end_to_end/test_lifecycle::test_where_access_comes_back_the_sweep_reviews",
    ),
    "a renamed or transferred repository": (
        "end_to_end/test_deliveries::test_a_renamed_repository_is_still_served",
        "end_to_end/test_lifecycle::test_a_renamed_repository_keeps_what_was_said",
        "end_to_end/test_lifecycle::test_where_access_comes_back_the_sweep_reviews",
    ),
    "a missing permission": (
        "end_to_end/test_deliveries::test_missing_permission_for_checks_is_said_in_the_summary",
        "end_to_end/test_deliveries::test_missing_permission_for_checks_is_said_once_where_there_is_no_summary",
        "end_to_end/test_deliveries::test_missing_permission_for_comments_is_said_in_the_check",
    ),
    "5xx, 429, timeouts at every call": (
        "end_to_end/test_faults::test_a_fault_at_a_call_is_survived",
        "end_to_end/test_faults::test_any_fault_at_a_call_is_survived",
        "end_to_end/test_faults::test_ten_thousand_faulty_answers_are_survived",
    ),
    "403, 404, 410, 422, 451 at every call": (
        "end_to_end/test_refusals::test_a_refusal_ends_the_job_and_spoils_nothing",
        "end_to_end/test_refusals::test_what_is_not_found_for_a_moment_is_asked_for_again",
        "end_to_end/test_faults::test_a_line_that_github_refuses_goes_on_the_file_and_then_into_the_summary",
    ),
    "kill -9 between any two steps": (
        "end_to_end/test_kill::test_a_job_outlives_the_process",
        "end_to_end/test_kill::test_a_job_outlives_the_process_at_any_point",
    ),
    "a database that goes away": ("end_to_end/test_outage::test_a_database_that_goes_away_is_told_and_costs_nothing",),
    "a lost delivery": (
        "end_to_end/test_deliveries::test_a_failed_delivery_is_asked_for_again",
        "end_to_end/test_deliveries::test_a_pull_request_that_nobody_told_of_is_reviewed",
        "end_to_end/test_lifecycle::test_a_check_that_could_not_be_told_is_made_up_for_by_the_sweep",
    ),
    "the budget of requests": ("end_to_end/test_budget::test_requests_do_not_grow_with_the_repository",),
    "two workers on one PostgreSQL": ("end_to_end/test_workers::test_two_workers_share_the_jobs",),
}
"""The other things that can happen, and what shows that they are borne."""


@pytest.mark.parametrize(
    "told", sorted({name for table in (EVENTS, DONE) for names in table.values() for name in names})
)
def test_what_the_table_names_is_there(told: str) -> None:
    file, _, name = told.partition("::")
    tree = ast.parse((TESTS / f"{file}.py").read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_every_event_and_action_has_its_row() -> None:
    assert {row.split()[0].rstrip(",") for row in EVENTS} >= {*read_manifest().events, "installation", "ping"}
    assert {f"pull_request {action}" for action in (*REVIEWED_ACTIONS, "edited")} <= set(EVENTS)
