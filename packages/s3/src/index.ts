/**
 * wac's files in an S3-compatible object store.
 */
export * as S3Location from "./media/S3Location.ts"
export * as S3MediaBytes from "./media/S3MediaBytes.ts"
