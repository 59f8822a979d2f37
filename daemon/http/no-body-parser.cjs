// Stands in for Express's body parser in the bundle: `json-body.ts` reads bodies.
module.exports = {};
