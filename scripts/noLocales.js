// Stands in for the translations of zod in the bundles: faults are told in English.
module.exports = {};
