/**
 * How far a long promise is tested: a short form in every `npm test`, the full one under `npm run long -- NAME`, where
 * NAME is part of the test file's path.
 */

/** Returns `full` under `npm run long`, and `short` otherwise. */
export const of = <A>(short: A, full: A): A => process.env["EXTENT"] === "full" ? full : short
