"""57 UpdateFeatures, versions 0-2. Raises feature levels, or lowers them if allowed (KIP-584).

Up to 3.9 a failed update fails on its own; later it fails the whole request with its error, and
version 2 has no results at all. A level is lowered only if the request says that it may be.
"""

from kafka_shim.authorizer.requirements import UPDATE_FEATURES
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.features import Feature
from kafka_shim.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.duplicates import last_row_per_key
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext

UPGRADE = 1
SAFE_DOWNGRADE = 2
UNSAFE_DOWNGRADE = 3
METADATA_VERSION = "metadata.version"
# DEVIATION: a real broker can start at an older level, and lower it where no metadata would be lost


def handle(request: UpdateFeaturesRequest, context: RequestContext) -> UpdateFeaturesResponse:
    if not context.facts.cluster.update_features_is_supported:
        context.access.declare_no_further_checks()
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    context.access.require(UPDATE_FEATURES, message="cluster authorization failed")
    results = []
    updates = request.feature_updates
    if not context.facts.cluster.one_failed_feature_update_fails_all:
        updates = last_row_per_key(updates, lambda row: row.feature)
    for update in updates:
        problem = _update_error_text(update, context)
        error = context.facts.cluster.unsupported_feature_level_error if problem else ErrorCode.NONE
        if problem and context.facts.cluster.one_failed_feature_update_fails_all:
            raise RequestRejected(error, f"nothing was updated: {problem}")
        text = problem or context.facts.cluster.feature_update_ok_message
        results.append(
            UpdatableFeatureResult(feature=update.feature, error_code=error, error_message=text)
        )
    if not request.validate_only:
        failed = {result.feature for result in results if result.error_code}
        for update in updates:
            if update.feature not in failed:
                context.cluster.set_feature_level(update.feature, update.max_version_level)
    return UpdateFeaturesResponse(
        error_message=context.facts.cluster.update_features_ok_message,
        results=[] if context.version >= 2 else results,
    )


error_response = mirroring_error_builder(UpdateFeaturesResponse)


def _update_error_text(update: FeatureUpdateKey, context: RequestContext) -> str | None:
    if context.version > 0 and not UPGRADE <= update.upgrade_type <= UNSAFE_DOWNGRADE:
        return f"upgrade type {update.upgrade_type} is unknown"
    known = {feature.name: feature for feature in context.cluster.features}
    feature = known.get(update.feature)
    if feature is None:
        is_removed = update.max_version_level == 0
        is_fine = is_removed and context.facts.cluster.unknown_feature_accepts_level_zero
        return None if is_fine else f"feature `{update.feature}` is not supported"
    span = f"{feature.min_version}-{feature.max_version}"
    if not feature.min_version <= update.max_version_level <= feature.max_version:
        return f"level {update.max_version_level} of {feature.name} is not supported, only {span}"
    is_downgrade = context.version > 0 and update.upgrade_type != UPGRADE
    return _downgrade_error_text(feature, update, is_downgrade=is_downgrade)


def _downgrade_error_text(
    feature: Feature, update: FeatureUpdateKey, *, is_downgrade: bool
) -> str | None:
    level = update.max_version_level
    if level > feature.finalized_level and is_downgrade:
        return f"{feature.name} is at level {feature.finalized_level}: {level} is not a downgrade"
    if level < feature.finalized_level and update.upgrade_type == UPGRADE:
        return (
            f"{feature.name} is at level {feature.finalized_level}: "
            "a downgrade must be requested as one"
        )
    if level < feature.finalized_level and feature.name == METADATA_VERSION:
        return (
            f"{feature.name} cannot be downgraded: "
            f"data of level {feature.finalized_level} would be lost"
        )
    return None
