"""The fault table: 34 kinds of faults and hostile inputs, each with its tests, and the reason for what they leave out.

What a row names must exist; docs/faults.md shows the table.

python -m tests.faults.test_fault_rows    prints it
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "faults.md"


class Row(NamedTuple):
    what: str
    tests: tuple[str, ...] = ()
    """`file::function`, below tests."""
    without: str = ""
    """What no test covers, and why."""


NO_GATEWAY = "no gateway yet"
NO_CONSOLE = "no console yet"

ROWS = {
    1: Row(
        "kill -9 at each step of an append",
        (
            "faults/test_killed.py::test_killed_at_any_moment",
            "faults/test_killed.py::test_killed_a_thousand_times",
            "faults/test_killed_everywhere.py::test_a_thousand_kills_over_all_points",
        ),
    ),
    2: Row(
        "power loss",
        ("faults/test_power_loss.py::test_row_2_what_was_acknowledged_survives",),
        "a disk that only claims to have flushed: no program can tell, but an anchor shows what is missing",
    ),
    3: Row(
        "a disk that is full, fails or can't be written",
        (
            "faults/test_disk.py::test_a_full_database",
            "faults/test_disk.py::test_faults_that_come_and_go_under_load",
            "faults/test_disk.py::test_a_read_only_folder",
            "adapters/hooks/test_broken.py::test_the_disk_is_full",
        ),
    ),
    4: Row(
        "a corrupted page, an edited row, a swapped database, an old backup",
        (
            "faults/test_harmed.py::test_a_flipped_byte_in_the_file",
            "faults/test_every_way_in.py::test_nobody_writes_to_it",
            "faults/tampering/test_tampering.py::test_who_notices",
            "faults/tampering/test_processes.py::test_a_real_process_notices",
        ),
        "a body edited long ago does not prevent a start: reading everything takes too long (see tampering.md)",
    ),
    5: Row(
        "a tail cut off, a forked log, a signer set back",
        (
            "faults/test_every_way_in.py::test_nobody_writes_to_it",
            "faults/test_every_way_in.py::test_a_daemon_that_runs_notices",
            "faults/test_every_way_in.py::test_a_guard_that_runs_notices",
        ),
    ),
    6: Row(
        "a clock set back, forward, or with a leap",
        (
            "grant/test_fault_rows.py::test_row_6_a_clock_that_is_set_back_extends_nothing",
            "grant/test_fault_rows.py::test_row_6_a_clock_far_ahead_ends_and_revives_nothing",
            "faults/test_harmed.py::test_a_clock_that_goes_backwards",
        ),
    ),
    7: Row(
        "concurrent answers: approve, refuse, expire, cancel",
        (
            "grant/test_fault_rows.py::test_row_7_one_end_state",
            "faults/test_authority_races.py::test_one_end_and_one_execution",
        ),
    ),
    8: Row(
        "a replayed approval or ticket",
        (
            "grant/test_fault_rows.py::test_row_8_an_approval_is_used_once",
            "grant/test_fault_rows.py::test_row_8_an_approval_is_for_one_call",
            "grant/test_fault_rows.py::test_row_8_a_ticket_lets_one_in_once",
            "faults/tampering/test_authority_rows.py::test_the_next_call_does_not_run",
            "attacks/store/test_state_put_back.py::test_so_does_a_guard_that_is_started_afterwards",
        ),
    ),
    9: Row(
        "arguments, tool, policy or paths that change after an approval",
        (
            "grant/test_fault_rows.py::test_row_9_and_22_the_policy_or_the_tool_changed",
            "grant/test_fault_rows.py::test_row_9_a_path_leads_elsewhere",
        ),
    ),
    10: Row(
        "a crash between approval and execution",
        ("faults/test_guard_killed.py::test_row_10_killed_between_answer_and_tool",),
    ),
    11: Row(
        "an MCP server that changes its tools",
        ("adapters/hooks/test_foreign_tools.py::test_row_11_what_a_server_changes_is_denied_until_the_policy_says_it",),
        f"a description that changes, or a tool that does something else under the same name: {NO_GATEWAY}",
    ),
    12: Row(
        "the same tool name on two servers, look-alike names",
        (
            "model/test_wire.py::test_names_that_look_alike",
            "adapters/hooks/test_foreign_tools.py::test_row_12_the_same_name_elsewhere_and_names_that_look_alike",
        ),
    ),
    13: Row(
        "poisoned descriptions, escape sequences, invisible characters",
        (
            "enforce/test_webhook.py::test_nothing_in_it_is_invisible",
            "model/test_text.py::test_it_is_one_line_within_its_bound_and_cuts_no_escape",
            "declare/test_messages.py::test_text_from_the_file_is_escaped_and_bounded",
            "adapters/hooks/test_foreign_tools.py::test_row_13_and_29_names_steer_no_terminal_and_forge_no_line",
        ),
        f"tool descriptions, which Remit neither shows nor reads: {NO_GATEWAY}",
    ),
    14: Row(
        "oversized or deep JSON, endless numbers, NaN, lone surrogates",
        (
            "model/test_wire.py::test_deep_nesting",
            "model/test_wire.py::test_numbers_without_end",
            "model/test_wire.py::test_lone_surrogates_escaped",
            "model/test_wire.py::test_a_line_that_is_too_long",
        ),
    ),
    15: Row(
        "duplicate keys",
        (
            "model/test_wire.py::test_a_key_that_stands_twice",
            "adapters/hooks/test_broken.py::test_junk",
        ),
        "a hook forwards nothing: the host runs what it sent, and a duplicate key in it is denied",
    ),
    16: Row(
        "YAML that does not mean what it says",
        ("fuzz/test_loader.py::test_any_text_is_yaml_or_an_error", "fuzz/test_loader.py::test_policies_of_any_shape"),
    ),
    17: Row(
        "regular expressions and globs that run forever",
        ("decide/test_rules.py::test_a_regex_matches_the_whole_value_in_linear_time",),
    ),
    18: Row(
        "paths: `..`, swapped links, encodings, NUL",
        ("attacks/test_symlinks.py::test_links", "scopes/test_url.py::test_paths_out_of_scope"),
    ),
    19: Row("shell tricks", ("attacks/test_corpus.py::test_no_row_is_falsely_allowed",)),
    20: Row(
        "SQL tricks",
        ("attacks/test_corpus.py::test_no_row_is_falsely_allowed", "languages/sql/test_fuzz.py::test_sqlite"),
    ),
    21: Row(
        "URLs: userinfo, IDN, forms of addresses, redirects, rebinding",
        ("scopes/test_url.py::test_refuses", "scopes/test_url.py::test_any_text_parses_to_itself_or_is_refused"),
        "redirects and DNS: Remit judges the URL of a call and fetches nothing itself",
    ),
    22: Row(
        "a policy that is half-written, broken, or changes meanwhile",
        (
            "cli/test_activate.py::test_pending",
            "cli/test_activate.py::test_what_does_not_hold_is_not_activated",
            "grant/test_fault_rows.py::test_row_9_and_22_the_policy_or_the_tool_changed",
        ),
    ),
    23: Row(
        "revoked on one node, called on another",
        (
            "faults/test_authority_races.py::test_nothing_begins_after_the_end",
            "faults/test_under_strain.py::test_row_23_a_node_that_is_cut_off_denies",
        ),
    ),
    24: Row(
        "a decision point or a ledger that is down, slow or answers garbage",
        (
            "adapters/hooks/test_daemon.py::test_a_daemon_that_hangs",
            "adapters/hooks/test_daemon.py::test_a_daemon_that_answers_wrongly",
            "adapters/hooks/test_broken.py::test_the_store_is_locked",
        ),
    ),
    25: Row(
        "delegation: cycles, depth, amplification, forged chains",
        (
            "grant/test_fault_rows.py::test_row_25_no_cycle_and_no_depth_without_end",
            "grant/test_fault_rows.py::test_row_25_a_forged_chain_does_not_begin",
            "grant/test_fault_rows.py::test_row_25_nobody_outlives_the_one_it_works_for",
        ),
    ),
    26: Row(
        "clients that are slow, huge or many",
        (
            "adapters/hooks/test_broken.py::test_stdin_that_never_ends",
            "adapters/hooks/test_broken.py::test_too_much",
            "faults/test_under_strain.py::test_row_26_clients_that_say_nothing_keep_nobody_from_an_answer",
            "record/test_witness.py::test_slow_clients_are_ended_and_others_served",
            "record/test_witness.py::test_what_is_too_long_is_not_read",
            "faults/test_under_strain.py::test_row_26_headers_without_end_and_many_requests_at_once",
        ),
        f"unread event streams: {NO_CONSOLE}",
    ),
    27: Row(
        "conformance of an API, fuzzed bodies",
        (
            "faults/test_under_strain.py::test_row_27_rubbish_gets_no_answer_and_breaks_nothing",
            "faults/test_under_strain.py::test_row_27_rubbish_to_a_witness_is_refused",
            "record/test_witness.py::test_what_is_no_request_is_refused",
        ),
        f"other interfaces than the daemon's socket and the witness: {NO_CONSOLE}",
    ),
    28: Row(
        "guessing, timing, default credentials",
        (
            "cli/test_activate.py::test_guessing_gets_slow",
            "grant/test_credential.py::test_waits_double",
            "grant/test_credential.py::test_many_at_once_get_no_more_attempts",
        ),
        f"session fixation and theft: {NO_CONSOLE}",
    ),
    29: Row(
        "agents' text shown to people: terminals, pages, CSV",
        (
            "cli/test_activate.py::test_terminals_are_not_steered_by_names",
            "model/test_wire.py::test_unknown_names_are_escaped",
            "adapters/hooks/test_foreign_tools.py::test_row_13_and_29_names_steer_no_terminal_and_forge_no_line",
        ),
        f"web pages: {NO_CONSOLE}",
    ),
    30: Row(
        "floods of questions, and questions that hide something",
        (
            "grant/test_limits.py::test_so_many_open_questions_and_no_more",
            "cli/test_approvals.py::test_what_is_hidden_is_marked",
        ),
        f"how they look on a web page: {NO_CONSOLE}",
    ),
    31: Row(
        "a day under load",
        ("faults/test_under_strain.py::test_row_31_memory_stays_flat",),
        "24 hours: no test takes that long; after 60,000 calls memory use is the same as after 12,000",
    ),
    32: Row(
        "privileges of a service",
        (
            "faults/test_under_strain.py::test_row_32_it_needs_no_privilege_and_no_network",
            "faults/test_under_strain.py::test_row_32_a_role_of_the_database_that_can_not_change_entries",
            "faults/test_under_strain.py::test_row_32_everything_but_the_state_is_read_only",
        ),
    ),
    33: Row(
        "a key that is missing, rotated or readable by others; schemas that are newer or older",
        (
            "faults/tampering/test_tampering.py::test_who_notices",
            "record/test_keeper.py::test_a_key_that_can_not_be_used_stops_the_ledger_until_it_can",
            "store/test_migrate.py::test_a_store_of_a_newer_version_is_refused",
        ),
    ),
    34: Row(
        "a way around the decision point",
        (
            "service/test_hosts.py::test_without_an_installation_nothing_is_claimed",
            "service/test_hosts.py::test_what_the_host_lets_through_is_told",
        ),
        f"a server that an agent reaches by itself: {NO_GATEWAY}. `remit status` says how strictly each agent is bound",
    ),
}


def test_all_rows_are_here():
    assert list(ROWS) == list(range(1, 35))


@pytest.mark.parametrize("number", ROWS)
def test_a_row_has_tests_or_a_reason(number: int):
    row = ROWS[number]
    assert row.tests or row.without, row.what
    for name in row.tests:
        file, _, function = name.partition("::")
        text = (TESTS / file).read_text("utf-8")
        assert re.search(rf"^(async )?def {function}\(", text, re.MULTILINE), name


def table() -> str:
    """As the page shows it."""
    lines = ["| # | fault | tests | not covered, and why |", "| --- | --- | --- | --- |"]
    for number, row in ROWS.items():
        files = ", ".join(dict.fromkeys(f"`{name.partition('::')[0]}`" for name in row.tests))
        lines.append(f"| {number} | {row.what} | {files} | {row.without or '–'} |")
    return "\n".join(lines)


def test_the_page_shows_them():
    assert table() in PAGE.read_text("utf-8")


if __name__ == "__main__":
    print(table())
