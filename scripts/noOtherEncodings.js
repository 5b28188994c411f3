const { StringDecoder } = require('node:string_decoder');

// Stands in for iconv-lite in the bundles: every connection to a database is made in UTF-8, which Node.js reads itself.
// cesu8 is what the driver calls MariaDB's utf8mb3, in which the server describes its tables: UTF-8 without the
// characters in which the two differ.
function known(encoding) {
  if (encoding !== 'cesu8') throw new TypeError('Only encodings that Node.js knows are read.');
}

module.exports = {
  getDecoder(encoding) {
    known(encoding);
    return new StringDecoder('utf8');
  },
  getEncoder(encoding) {
    known(encoding);
    return { write: (text) => Buffer.from(text, 'utf8'), end: () => undefined };
  },
};
