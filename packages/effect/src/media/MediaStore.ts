/**
 * Where the bytes of files are, as an option.
 */
import { S3Location, type S3MediaBytes } from "@wac/s3"
import { Redacted } from "effect"
import * as KnownOptions from "../KnownOptions.ts"
import * as OptionValue from "../OptionValue.ts"
import { badOption } from "../WacError.ts"

/**
 * An S3-compatible object store. The SDK of AWS looks up what is omitted: in `AWS_…` variables, profiles, and roles of
 * the machine. Create it with {@link s3}.
 */
export interface S3MediaStore {
  readonly type: "s3"
  /** `s3://bucket` or `s3://bucket/prefix`. */
  readonly url: string
  /** The URL of a store that is not AWS. */
  readonly endpoint?: string
  readonly region?: string
  readonly credentials?: {
    readonly accessKeyId: string
    readonly secretAccessKey: string
    readonly sessionToken?: string
  }
}

/** {@link s3}. */
export type MediaStore = S3MediaStore

/**
 * Stores the bytes of files in an S3-compatible object store. Requires the package `@aws-sdk/client-s3`, which is not
 * installed with this one. Files in a store that was configured before can no longer be read.
 */
export const s3 = (options: string | Omit<S3MediaStore, "type">): S3MediaStore => ({
  type: "s3",
  ...(typeof options === "string" ? { url: options } : options)
})

const credentialsOf = (credentials: S3MediaStore["credentials"]): S3MediaBytes.Options["credentials"] => {
  if (credentials === undefined) return undefined
  KnownOptions.check(
    credentials,
    { accessKeyId: true, secretAccessKey: true, sessionToken: true } satisfies Record<keyof typeof credentials, true>,
    "mediaStore.credentials."
  )
  const { accessKeyId, secretAccessKey, sessionToken } = credentials
  if (![accessKeyId, secretAccessKey, sessionToken ?? "x"].every((text) => typeof text === "string" && text !== "")) {
    throw badOption("mediaStore.credentials", "mediaStore.credentials must have accessKeyId and secretAccessKey")
  }
  return {
    accessKeyId,
    secretAccessKey: Redacted.make(secretAccessKey),
    ...(sessionToken === undefined ? {} : { sessionToken: Redacted.make(sessionToken) })
  }
}

/** Builds the composition's object store. Throws on an invalid option. */
export const composed = (store: MediaStore): S3MediaBytes.Options => {
  if (store?.type !== "s3") throw badOption("mediaStore", "mediaStore must be s3(url)")
  KnownOptions.check(
    store,
    { type: true, url: true, endpoint: true, region: true, credentials: true } satisfies Record<
      keyof S3MediaStore,
      true
    >,
    "mediaStore."
  )
  const location = typeof store.url === "string" ? S3Location.parse(store.url) : undefined
  if (location === undefined) {
    throw badOption("mediaStore.url", "mediaStore.url must have the form s3://bucket/prefix")
  }
  const { endpoint, region } = store
  OptionValue.checkText("mediaStore.region", region)
  if (endpoint !== undefined && !(URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol))) {
    throw badOption("mediaStore.endpoint", "mediaStore.endpoint must be an http or https URL")
  }
  const credentials = credentialsOf(store.credentials)
  return {
    ...location,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(credentials === undefined ? {} : { credentials })
  }
}
