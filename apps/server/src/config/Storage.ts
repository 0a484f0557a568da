/**
 * Reads where the storage and the files are, and the storage's keys.
 */
import type { Composition } from "@wac/effect"
import * as SchemaName from "@wac/postgres/SchemaName"
import * as ServerUrl from "@wac/postgres/ServerUrl"
import { S3Location, type S3MediaBytes } from "@wac/s3"
import { Effect, Redacted, Schema } from "effect"
import type * as Variable from "../Variable.ts"
import { BadVariable } from "../VariableText.ts"
import { limits } from "./Limits.ts"
import { optional, read, secret, VisibleAscii, WebAddress } from "./Reading.ts"

/** The configuration of the storage, its files and its keys, which operator's commands also need. */
export interface StorageConfig extends Composition.StorageConfig {
  readonly storage: Composition.BuiltInStorage
}

const serverExpected = "postgres://USER:PASSWORD@HOST:PORT/DATABASE, several hosts separated by commas"

/** The URL of a PostgreSQL server; the error explains why a URL cannot be used. */
const serverUrl = (variable: Variable.Name, text: string) =>
  Effect.as(
    Effect.mapError(
      Effect.fromResult(ServerUrl.parse(text)),
      (why) => new BadVariable({ variable, expected: `${serverExpected}; ${why}` })
    ),
    Redacted.make(text)
  )

/** The schema that holds everything in PostgreSQL, if one is configured (contract §16 `DATABASE_SCHEMA`). */
const schemaName = Effect.gen(function*() {
  const variable = "DATABASE_SCHEMA"
  const expected = "the name of a schema in the database"
  const schema = yield* optional(variable, Schema.String, expected)
  if (schema === undefined) return {}
  const wrong = SchemaName.wrongName(schema)
  return wrong === undefined
    ? { schema }
    : yield* new BadVariable({ variable, expected: `${expected}, which ${wrong}` })
})

/** The storage of everything, files excepted if `MEDIA_STORE` names an object store (contract §8 `DATABASE_URL`). */
export const storage = Effect.gen(function*() {
  const variable = "DATABASE_URL"
  const expected = "postgres://…, pglite:DIRECTORY or memory:"
  const text = yield* read(variable, Schema.String, expected, "pglite:.data")
  if (text === "memory:") return { _tag: "Memory" as const }
  const directory = /^pglite:(.+)$/.exec(text)?.[1]
  const schema = yield* schemaName
  if (directory !== undefined) return { _tag: "Embedded" as const, directory, ...schema }
  if (!/^postgres(ql)?:\/\//.test(text)) return yield* new BadVariable({ variable, expected })
  const url = yield* serverUrl(variable, text)
  const listen = "DATABASE_LISTEN_URL"
  const listenText = yield* optional(listen, Schema.String, serverExpected)
  return {
    _tag: "Server" as const,
    url,
    ...(listenText === undefined ? {} : { listenUrl: yield* serverUrl(listen, listenText) }),
    ...schema
  }
})

/** The values of `MEDIA_STORE`. */
const mediaStoreExpected = "storage or s3://BUCKET/PREFIX"

/** The error if the object store refuses access, or the package for it is not installed. */
export const refusedMediaStore = ({ message }: S3MediaBytes.S3Refused | S3MediaBytes.S3ClientMissing): BadVariable =>
  new BadVariable({ variable: "MEDIA_STORE", expected: `${mediaStoreExpected}; ${message}` })

/** The error if the storage's secrets were sealed with a key that is not configured. */
export const wrongMasterKey = new BadVariable({
  variable: "WAC_MASTER_KEY",
  expected: "the key that encrypts this storage's secrets, or that key in WAC_MASTER_KEY_PREVIOUS"
})

const Key = Schema.Uint8ArrayFromBase64.check(
  Schema.makeFilter((bytes: Uint8Array) => bytes.length === 32 || "must be 32 bytes")
)
const keyExpected = "32 random bytes in base64, as `openssl rand -base64 32` makes them"

/** The master key. It is required with a database server: several processes share that, so none can generate a key. */
const masterKey = Effect.fnUntraced(function*(storage: Composition.BuiltInStorage["_tag"]) {
  const variable = "WAC_MASTER_KEY"
  const key = yield* secret(variable, Key, keyExpected)
  return key === undefined && storage === "Server"
    ? yield* new BadVariable({ variable, expected: `${keyExpected}; required with a PostgreSQL server` })
    : key
})

/** Where the bytes of files are (contract §10 `MEDIA_STORE`). Without keys, the AWS SDK finds them as usual. */
const mediaStore = Effect.gen(function*() {
  const variable = "MEDIA_STORE"
  const text = yield* read(variable, Schema.String, mediaStoreExpected, "storage")
  if (text === "storage") return undefined
  const location = S3Location.parse(text)
  if (location === undefined) return yield* new BadVariable({ variable, expected: mediaStoreExpected })
  const endpoint = yield* optional("AWS_ENDPOINT_URL", WebAddress, "an http or https URL")
  const region = yield* optional("AWS_REGION", Schema.NonEmptyString, "the name of a region")
  const accessKeyId = yield* optional("AWS_ACCESS_KEY_ID", VisibleAscii, "the id of an access key")
  const secretAccessKey = yield* secret("AWS_SECRET_ACCESS_KEY", VisibleAscii, "the secret of the access key")
  const sessionToken = yield* secret("AWS_SESSION_TOKEN", VisibleAscii, "a session token")
  if (accessKeyId !== undefined && secretAccessKey === undefined) {
    return yield* new BadVariable({
      variable: "AWS_SECRET_ACCESS_KEY",
      expected: "the secret of the key in AWS_ACCESS_KEY_ID"
    })
  }
  return {
    ...location,
    ...(endpoint === undefined ? {} : { endpoint: endpoint.href }),
    ...(region === undefined ? {} : { region }),
    ...(accessKeyId === undefined || secretAccessKey === undefined ? {} : {
      credentials: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) }
    })
  } satisfies S3MediaBytes.Options
})

/** Reads the configuration of the storage, its files and its keys. */
export const storageConfig = Effect.gen(function*() {
  const chosen = yield* storage
  const files = yield* mediaStore
  return {
    storage: chosen,
    ...(files === undefined ? {} : { mediaStore: files }),
    masterKey: yield* masterKey(chosen._tag),
    previousMasterKey: yield* secret("WAC_MASTER_KEY_PREVIOUS", Key, keyExpected),
    limits: yield* limits
  } satisfies StorageConfig
})
