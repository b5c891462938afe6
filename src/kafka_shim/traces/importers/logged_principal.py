"""The principal in a log: `User:alice`, or what the class of a KafkaPrincipalBuilder prints.

    OAuthKafkaPrincipal(User:app, groups: [a, b], session: 1, token: eyJh**w8Ig)
    OAuthKafkaPrincipal(User:app, session:1, token:eyJh**w8Ig)
    CustomPrincipal{oauthBearerTokenJwt=...} User:app
    AnyPrincipal(User:app, groups=[a, b])

The first two are of Strimzi's OAuth library, also with Keycloak, the third of BlackRock's. Brokers
compare type and name with those of ACLs, whatever the class prints.
"""

import re

_PRINCIPAL = r"(?P<principal>[A-Za-z][\w-]*:{})"
_FORMS = tuple(
    re.compile(form)
    for form in (
        _PRINCIPAL.format(".+"),
        r"OAuthKafkaPrincipal\("
        + _PRINCIPAL.format(".+?")
        + r"(?:, groups: (?:null|\[.*\]))?, session: ?[^\s,]*, token: ?\S*\)",
        r"CustomPrincipal\{oauthBearerTokenJwt=.*\} " + _PRINCIPAL.format(r"[^{}]+"),
        # a comma, an equals sign or a space in the name could be the class's own
        r"[A-Za-z_][\w.$]*[({\[]"
        + _PRINCIPAL.format(r"[^\s,;=(){}\[\]]+")
        + r"(?:(?:[,;] ?| )(?:[\w -]+ ?[:=]|\[).*)?[)}\]]",
    )
)


def principal_or_none(text: str) -> str | None:
    """Return the principal as in ACLs; None if the text has an unknown form."""
    matches = (form.fullmatch(text) for form in _FORMS)
    return next((match["principal"] for match in matches if match is not None), None)
