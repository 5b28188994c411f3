// Stands in for iconv-lite in the bundles: every connection to a database is made in UTF-8, which Node.js reads itself.
function refuse() {
  throw new TypeError('Only encodings that Node.js knows are read.');
}
module.exports = {
  decode: refuse,
  encode: refuse,
  getDecoder: refuse,
  getEncoder: refuse,
  encodingExists: () => false,
};
