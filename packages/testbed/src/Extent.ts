/**
 * How thoroughly a test runs that could take long: in a short form under `npm test`, in the full form under
 * `npm run long -- NAME`, where NAME is part of the test file's path.
 */

/** Returns `full` under `npm run long`, else `short`. */
export const of = <A>(short: A, full: A): A => process.env["EXTENT"] === "full" ? full : short
