"use strict";
// Names of fields: camelCase in JavaScript, snake_case in the control API. Values are not changed.

const renamed = (rename) => (object) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [rename(name), value]));

exports.snakeCased = renamed((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
exports.camelCased = renamed((name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()));

/** Return a fault for the control API: its parts are renamed, the ACLs and fields in them are not. */
exports.faultBody = ({ action: { deny, ...action }, match = {}, trigger = {}, mustFire = false }) => ({
  action: { ...exports.snakeCased(action), ...(deny && { deny: exports.snakeCased(deny) }) },
  match: exports.snakeCased(match),
  trigger: exports.snakeCased(trigger),
  must_fire: mustFire,
});
