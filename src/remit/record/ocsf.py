"""Entries as OCSF events: class API Activity (6003), with the profile of security controls. docs/formats/ocsf.md.

What OCSF has no field for is in `unmapped`, so that nothing of an entry is lost.
"""

from __future__ import annotations

from typing import Any

from remit.model.moments import seconds_of

VERSION = "1.3.0"
CATEGORY, CLASS = 6, 6003
_SEVERITIES = ((1, "Informational"), (2, "Low"), (3, "Medium"), (4, "High"), (5, "Critical"))
_ACTIVITIES = ((4, "Delete", {"delete"}), (3, "Update", {"write", "migrate", "install"}), (2, "Read", {"read"}))
_OTHER = (99, "Other")
_STATUSES = {"done": (1, "Success"), "failed": (2, "Failure"), "not-run": (2, "Failure"), "unknown": (0, "Unknown")}
_MAPPED = frozenset(
    {"v", "at", "agent", "session", "tool", "decision", "code", "rule", "policy", "call", "point", "writer"}
)


def event_of(seq: int, entry: dict[str, Any], origin: str) -> dict[str, Any]:
    """The event of one entry of the log with this name."""
    kind = str(entry.get("type", ""))
    activity, name = _activity(kind, entry)
    event: dict[str, Any] = {
        "activity_id": activity,
        "activity_name": name,
        "category_uid": CATEGORY,
        "category_name": "Application Activity",
        "class_uid": CLASS,
        "class_name": "API Activity",
        "type_uid": CLASS * 100 + activity,
        "time": _milliseconds(str(entry.get("at", ""))),
        "metadata": {
            "version": VERSION,
            "product": {"name": "Remit", "vendor_name": "Remit"},
            "profiles": ["security_control"],
            "sequence": seq,
            "uid": f"{origin}#{seq}",
            "log_name": origin,
            "event_code": kind,
        },
        "src_endpoint": {"name": str(entry.get("point") or "remit"), "instance_uid": str(entry.get("writer") or "")},
        "actor": _actor(entry),
        "api": {"operation": str(entry.get("tool") or f"remit.{kind}"), "service": {"name": "remit"}},
        "unmapped": {key: value for key, value in entry.items() if key not in _MAPPED},
    }
    if entry.get("call") is not None:
        event["api"]["request"] = {"uid": str(entry["call"])}
    event["severity_id"], event["severity"] = _severity(kind, entry)
    if kind == "intent":
        event.update(_decided(entry))
    elif kind == "outcome":
        event.update(_ended(entry))
    return event


def _activity(kind: str, entry: dict[str, Any]) -> tuple[int, str]:
    effects = entry.get("effects")
    if kind != "intent" or not isinstance(effects, list):
        return _OTHER[0], kind or _OTHER[1]
    for number, name, wanted in _ACTIVITIES:
        if wanted & {str(effect) for effect in effects}:
            return number, name
    return _OTHER


def _actor(entry: dict[str, Any]) -> dict[str, Any]:
    actor: dict[str, Any] = {"app_name": str(entry.get("agent") or entry.get("who") or entry.get("by") or "remit")}
    if entry.get("agent"):
        actor["user"] = {"name": str(entry["agent"]), "type_id": 4, "type": "Service"}
    if entry.get("session"):
        actor["session"] = {"uid": str(entry["session"])}
    return actor


def _severity(kind: str, entry: dict[str, Any]) -> tuple[int, str]:
    tier = entry.get("tier")
    if kind != "intent" or type(tier) is not int:
        return _SEVERITIES[0]
    return _SEVERITIES[min(max(tier, 0), 4)]


def _decided(entry: dict[str, Any]) -> dict[str, Any]:
    decision = entry.get("decision")
    found: dict[str, Any] = {
        "status_code": str(entry.get("code") or ""),
        "policy": {"uid": str(entry.get("policy") or "")},
        "firewall_rule": {"uid": str(entry["rule"])} if entry.get("rule") else None,
    }
    if decision == "allow":
        disposition = (16, "No Action") if entry.get("would") is not None else (1, "Allowed")
        found.update(_said((1, "Allowed"), disposition, (0, "Unknown")))
    elif decision == "deny":
        found.update(_said((2, "Denied"), (2, "Blocked"), (2, "Failure")))
    else:
        found.update(_said((0, "Unknown"), (99, "Asked"), (0, "Unknown")))
    return {name: value for name, value in found.items() if value is not None}


def _said(action: tuple[int, str], disposition: tuple[int, str], status: tuple[int, str]) -> dict[str, Any]:
    return {
        "action_id": action[0],
        "action": action[1],
        "disposition_id": disposition[0],
        "disposition": disposition[1],
        "status_id": status[0],
        "status": status[1],
    }


def _ended(entry: dict[str, Any]) -> dict[str, Any]:
    number, name = _STATUSES.get(str(entry.get("result")), (0, "Unknown"))
    found: dict[str, Any] = {"status_id": number, "status": name, "status_code": str(entry.get("result") or "")}
    if entry.get("error") is not None:
        found["status_detail"] = str(entry["error"])
    if type(entry.get("took")) is int:
        found["duration"] = entry["took"]
    return found


def _milliseconds(text: str) -> int:
    try:
        return round(seconds_of(text) * 1000)
    except ValueError:
        return 0
