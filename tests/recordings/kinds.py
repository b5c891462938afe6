"""The kinds of scenarios that are recorded on real brokers."""

from typing import Final

from tests.recordings.audit import recording as audit
from tests.recordings.conformance import recording as conformance
from tests.recordings.connections import recording as connections
from tests.recordings.frame_limits import recording as frame_limits
from tests.recordings.groups import recording as groups
from tests.recordings.keystores import recording as keystores
from tests.recordings.limits import recording as limits
from tests.recordings.log_ins import recording as log_ins
from tests.recordings.quotas import recording as quotas
from tests.recordings.records import recording as records
from tests.recordings.settings import recording as settings
from tests.recordings.telemetry import recording as telemetry
from tests.recordings.tokens import recording as tokens
from tests.recordings.traffic import recording as traffic

KINDS: Final = {
    **conformance.KINDS,
    "records": records.KIND,
    "groups": groups.KIND,
    "groups-preview": groups.PREVIEW_KIND,
    "log-ins": log_ins.KIND,
    "quotas": quotas.KIND,
    "settings": settings.KIND,
    "telemetry": telemetry.KIND,
    "tokens": tokens.KIND,
    "audit": audit.KIND,
    "connections": connections.KIND,
    "frame-limits": frame_limits.KIND,
    "keystores": keystores.KIND,
    "limits": limits.KIND,
    "traffic": traffic.KIND,
}
