// Stands in for node:child_process in the bundles: nothing in this pack starts a process.
module.exports = {};
