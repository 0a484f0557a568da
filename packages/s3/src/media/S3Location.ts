/**
 * Where files are in an object store: `s3://bucket/prefix`. Pure.
 */

/** A bucket, and what every key in it begins with. */
export interface S3Location {
  readonly bucket: string
  /** Empty, or a path that ends in `/`. */
  readonly prefix: string
}

/** Names that AWS and compatible stores allow, and characters of keys that no client has to encode. */
const form = /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9])((?:\/[A-Za-z0-9!_.*'()-]+)*)\/?$/

/** The longest prefix, so that the longest key has less than the 1,024 bytes that stores allow. */
const longestPrefix = 512

/** Reads `s3://bucket` or `s3://bucket/prefix`; `undefined` if it is neither. */
export const parse = (text: string): S3Location | undefined => {
  const [, bucket, path = ""] = form.exec(text) ?? []
  if (bucket === undefined || path.length > longestPrefix) return undefined
  return { bucket, prefix: path === "" ? "" : `${path.slice(1)}/` }
}
