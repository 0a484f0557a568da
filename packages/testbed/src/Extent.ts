/**
 * How far a long promise is tested: a short form in every `npm test`, and the full form under `npm run long -- NAME`,
 * where NAME is part of the test file's path.
 */

/** Returns `full` under `npm run long`, else `short`. */
export const of = <A>(short: A, full: A): A => process.env["EXTENT"] === "full" ? full : short
