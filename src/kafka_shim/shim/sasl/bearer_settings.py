"""The validator of a listener's tokens, by Kafka's settings `sasl.oauthbearer.*`.

DEVIATION: keys are enough; Kafka also requires the class of its validator.
"""

from collections.abc import Mapping

from kafka_shim.protocol.releases.access import AccessFacts
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.sasl.bearer_token import TokenValidator, UnsecuredTokenValidator
from kafka_shim.text.whole_number import parse_whole_number

_PREFIX = "sasl.oauthbearer."
_KEYS = "jwks.endpoint.url"


def build_token_validator(
    properties: Mapping[str, str], listener: str, facts: AccessFacts
) -> TokenValidator:
    """Return a validator of signed tokens if keys are set, else of unsecured ones.

    Raise ConfigError if the settings are invalid.
    """
    listener_settings = _listener_settings_without_prefix(properties, listener)
    url = listener_settings.get(_KEYS, "")
    if not url:
        return UnsecuredTokenValidator()
    from kafka_shim.shim.sasl.signed_token import ExpectedClaims, SignedTokenValidator  # noqa: PLC0415 - an extra

    skew = listener_settings.get("clock.skew.seconds", "30")
    if parse_whole_number(skew) is None:
        raise ConfigError(
            f"{_PREFIX}clock.skew.seconds is `{skew}`; expected a number of 0 or more"
        )
    audiences = listener_settings.get("expected.audience", "").split(",")
    expected = ExpectedClaims(
        issuer=listener_settings.get("expected.issuer", ""),
        audiences=tuple(audience.strip() for audience in audiences if audience.strip()),
        takes_any_audience=facts.signed_tokens_require_issuer_and_audience,
        subject_claim=listener_settings.get("sub.claim.name", "sub"),
        scope_claim=listener_settings.get("scope.claim.name", "scope"),
        skew_s=int(skew),
    )
    if facts.signed_tokens_require_issuer_and_audience:
        for kind, is_known in (("audience", expected.audiences), ("issuer", expected.issuer)):
            if (
                not is_known
                and listener_settings.get(f"allow.unverified.{kind}", "false").lower() != "true"
            ):
                text = f"set {_PREFIX}expected.{kind}, or {_PREFIX}allow.unverified.{kind}=true"
                raise ConfigError(f"signed tokens could be of any {kind}: {text}")
    return SignedTokenValidator(url, expected)


def _listener_settings_without_prefix(
    properties: Mapping[str, str], listener: str
) -> dict[str, str]:
    """Return the settings without their prefix; those of the listener take precedence."""
    settings: dict[str, str] = {}
    for prefix in (_PREFIX, f"listener.name.{listener.lower()}.{_PREFIX}"):
        for key, value in properties.items():
            if key.startswith(prefix):
                settings[key.removeprefix(prefix)] = value
    return settings
