"""What the shim does with each setting of Kafka: obey it, refuse it, or note that it has no effect.

docs/reference/settings.md has this table; a test compares it with the code that acts on settings.
"""

import enum
import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from kafka_shim.shim.errors import ConfigError

_OBEYED_NAMES: Final = """
    advertised.host.name advertised.listeners advertised.port allow.everyone.if.no.acl.found
    authorizer.class.name auto.create.topics.enable broker.id broker.rack cleanup.policy
    cluster.id compression.type connection.failed.authentication.delay.ms
    connections.max.idle.ms connections.max.reauth.ms consumer.assignment.interval.ms
    consumer.heartbeat.interval.ms consumer.session.timeout.ms controller.listener.names
    default.replication.factor delegation.token.expiry.check.interval.ms
    delegation.token.expiry.time.ms delegation.token.master.key
    delegation.token.max.lifetime.ms delegation.token.secret.key delete.retention.ms
    delete.topic.enable errors.deadletterqueue.auto.create.topics.enable
    errors.deadletterqueue.copy.record.enable errors.deadletterqueue.group.enable
    errors.deadletterqueue.topic.name errors.deadletterqueue.topic.name.prefix
    fetch.max.bytes group.consumer.assignment.interval.ms group.consumer.assignors
    group.consumer.heartbeat.interval.ms group.consumer.max.size
    group.consumer.migration.policy group.consumer.regex.refresh.interval.ms
    group.consumer.session.timeout.ms group.coordinator.rebalance.protocols
    group.initial.rebalance.delay.ms group.max.session.timeout.ms group.max.size
    group.min.session.timeout.ms group.share.assignment.interval.ms
    group.share.delivery.count.limit group.share.heartbeat.interval.ms
    group.share.max.share.sessions group.share.max.size
    group.share.partition.max.record.locks group.share.record.lock.duration.ms
    group.share.session.timeout.ms group.streams.acceptable.recovery.lag
    group.streams.assignment.interval.ms group.streams.assignors
    group.streams.heartbeat.interval.ms group.streams.initial.rebalance.delay.ms
    group.streams.max.size group.streams.num.standby.replicas
    group.streams.rack.aware.assignment.tags group.streams.session.timeout.ms
    group.streams.task.offset.interval.ms group.streams.topology.description.plugin.class
    host.name index.interval.bytes inter.broker.listener.name interval.ms
    listener.security.protocol.map listeners log.cleaner.backoff.ms
    log.cleaner.delete.retention.ms log.cleaner.enable log.cleaner.max.compaction.lag.ms
    log.cleaner.min.cleanable.ratio log.cleaner.min.compaction.lag.ms log.cleanup.policy
    log.dir log.dirs log.index.interval.bytes log.message.timestamp.after.max.ms
    log.message.timestamp.before.max.ms log.message.timestamp.difference.max.ms
    log.message.timestamp.type log.retention.bytes log.retention.check.interval.ms
    log.retention.hours log.retention.minutes log.retention.ms log.roll.hours log.roll.ms
    log.segment.bytes match max.compaction.lag.ms max.connection.creation.rate
    max.connections max.connections.per.ip max.decompressed.message.bytes
    max.incremental.fetch.session.cache.slots max.message.bytes
    max.request.partition.size.limit message.max.bytes message.timestamp.after.max.ms
    message.timestamp.before.max.ms message.timestamp.difference.max.ms
    message.timestamp.type metrics min.cleanable.dirty.ratio min.compaction.lag.ms
    min.insync.replicas node.id num.partitions offset.metadata.max.bytes
    offsets.retention.check.interval.ms offsets.retention.minutes port process.roles
    producer.id.expiration.check.interval.ms producer.id.expiration.ms
    queued.max.request.bytes quota.window.num quota.window.size.seconds
    remote.storage.enable reserved.broker.max.id retention.bytes retention.ms
    sasl.enabled.mechanisms sasl.jaas.config sasl.oauthbearer.allow.unverified.audience
    sasl.oauthbearer.allow.unverified.issuer sasl.oauthbearer.clock.skew.seconds
    sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer
    sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.scope.claim.name
    sasl.oauthbearer.sub.claim.name sasl.server.max.receive.size
    security.inter.broker.protocol segment.bytes segment.ms share.assignment.interval.ms
    share.auto.offset.reset share.delivery.count.limit share.heartbeat.interval.ms
    share.isolation.level share.partition.max.record.locks share.record.lock.duration.ms
    share.renew.acknowledge.enable share.session.timeout.ms socket.request.max.bytes
    ssl.allow.dn.changes ssl.allow.san.changes ssl.cipher.suites ssl.client.auth
    ssl.enabled.protocols ssl.key.password
    ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.location
    ssl.keystore.password ssl.keystore.type ssl.principal.mapping.rules
    ssl.truststore.certificates ssl.truststore.location ssl.truststore.password
    ssl.truststore.type streams.acceptable.recovery.lag streams.assignment.interval.ms
    streams.assignor.name streams.heartbeat.interval.ms streams.initial.rebalance.delay.ms
    streams.num.standby.replicas streams.rack.aware.assignment.tags
    streams.session.timeout.ms streams.task.offset.interval.ms super.users
    telemetry.max.bytes transaction.max.timeout.ms transactional.id.expiration.ms
    unclean.leader.election.enable zookeeper.connect
"""
_OBEYED: Final = frozenset(_OBEYED_NAMES.split())
"""Settings of brokers, topics, groups and client metrics on which the shim acts."""

_OBEYED_BY_LISTENER: Final = re.compile(
    r"ssl\..*|sasl\.enabled\.mechanisms|max\.connections|max\.connection\.creation\.rate"
    r"|sasl\.oauthbearer\..*|(plain|scram-sha-256|scram-sha-512)\.sasl\.jaas\.config"
)
"""Settings that the shim also obeys behind `listener.name.NAME.`."""

_REFUSED: Final[Mapping[str, str]] = {
    "alter.config.policy.class.name": "which settings clients can change",
    "client.quota.callback.class": "which quotas clients have",
    "config.providers": "the values of other settings",
    "create.topic.policy.class.name": "which topics clients can create",
    "principal.builder.class": "which principal a client has",
    "sasl.login.callback.handler.class": "with which credentials brokers authenticate",
    "sasl.login.class": "with which credentials brokers authenticate",
    "sasl.oauthbearer.jwt.validator.class": "which tokens are valid",
    "sasl.server.callback.handler.class": "which clients can authenticate",
    "security.providers": "how clients authenticate",
    "ssl.engine.factory.class": "which certificates are trusted",
}
"""Settings that name Java code, and what this code decides about clients."""

_SECURITY: Final = "org.apache.kafka.common.security."
_KAFKA_CLASSES: Final = frozenset(
    _SECURITY + name
    for name in (
        *("auth.DefaultPrincipalBuilder", "authenticator.DefaultKafkaPrincipalBuilder"),
        *("authenticator.DefaultLogin", "ssl.DefaultSslEngineFactory"),
        "plain.internals.PlainServerCallbackHandler",
        "scram.internals.ScramServerCallbackHandler",
        *("oauthbearer.DefaultJwtValidator", "oauthbearer.BrokerJwtValidator"),
        "oauthbearer.OAuthBearerValidatorCallbackHandler",
        "oauthbearer.secured.OAuthBearerValidatorCallbackHandler",
        "oauthbearer.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler",
        "oauthbearer.OAuthBearerLoginCallbackHandler",
        "oauthbearer.secured.OAuthBearerLoginCallbackHandler",
        "oauthbearer.internals.unsecured.OAuthBearerUnsecuredLoginCallbackHandler",
    )
)
"""Kafka's own classes, whose decisions the shim makes too."""


class SettingEffect(enum.Enum):
    """What the shim does with a setting."""

    OBEYED = "obeyed"
    REFUSED = "refused"
    NOTED = "no effect"


def setting_effect(name: str) -> SettingEffect:
    """Return what the shim does with a setting, with or without the prefix of a listener."""
    if name_without_listener(name) in _REFUSED:
        return SettingEffect.REFUSED
    rest = _strip_listener_prefix(name)
    is_obeyed = (
        name in _OBEYED if rest is None else name.islower() and _is_supported_per_listener(rest)
    )
    return SettingEffect.OBEYED if is_obeyed else SettingEffect.NOTED


def name_without_listener(name: str) -> str:
    """Return the setting of `listener.name.NAME.SETTING` or `listener.name.NAME.MECHANISM.SETTING`;
    other names as they are.
    """
    rest = _strip_listener_prefix(name)
    if rest is None:
        return name
    return re.sub(r"^(plain|scram-sha-256|scram-sha-512|oauthbearer|gssapi)\.", "", rest)


def _strip_listener_prefix(name: str) -> str | None:
    match = re.fullmatch(r"listener\.name\.[^.]+\.(.+)", name)
    return match and match[1]


def _is_supported_per_listener(name: str) -> bool:
    return (
        _OBEYED_BY_LISTENER.fullmatch(name) is not None
        and name_without_listener(f"listener.name.x.{name}") in _OBEYED
    )


def reject_java_classes(settings: Mapping[str, str]) -> None:
    """Raise ConfigError for a setting with Java code that decides about clients; an empty value
    means none.
    """
    for name, value in settings.items():
        decides = _REFUSED.get(name_without_listener(name))
        if decides is not None and value.strip() and value.strip() not in _KAFKA_CLASSES:
            raise ConfigError(
                f"{name}: `{value}` decides {decides}, and the shim runs no Java code; to start"
                f" without it, set -c {name}="
            )


def settings_without_effect(settings: Iterable[str], known: Collection[str]) -> list[str]:
    """Return those that Kafka knows and the shim does not need, with their listeners' prefixes."""
    return sorted(
        name
        for name in settings
        if name_without_listener(name) in known and setting_effect(name) is SettingEffect.NOTED
    )


def without_empty_java_classes(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings without those which mean that there is no Java code."""
    return {
        name: value
        for name, value in settings.items()
        if value.strip() or name_without_listener(name) not in _REFUSED
    }
