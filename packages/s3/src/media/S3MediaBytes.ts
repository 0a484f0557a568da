/**
 * `MediaBytes` in an S3-compatible object store. A file is several objects of bounded size under one prefix: why, and
 * not one object by a multipart upload, is in docs/decisions/0030.
 */
import { MediaBytes, MediaPieces, OptionalPackage, RepeatedFailure, StoreError } from "@wac/core"
import { Duration, Effect, Layer, Redacted, Schema, Stream } from "effect"
import type { Readable } from "node:stream"
import type { S3Location } from "./S3Location.ts"

/** Where the files are. The SDK of AWS looks up what is omitted: variables, profiles, and roles of the machine. */
export interface Options extends S3Location {
  /** The URL of a compatible store. If neither this nor a variable names one, the store is AWS. */
  readonly endpoint?: string
  readonly region?: string
  readonly credentials?: {
    readonly accessKeyId: string
    readonly secretAccessKey: Redacted.Redacted
    readonly sessionToken?: Redacted.Redacted
  }
}

/** The optional package that speaks to the store is not installed. */
export class S3ClientMissing extends Schema.TaggedError<S3ClientMissing>()("S3ClientMissing", {}) {
  override get message() {
    return "files in S3 need a package that is not installed: npm install @aws-sdk/client-s3"
  }
}

/** The store refuses these options: there is no such bucket, or the credentials lack a right to it. */
export class S3Refused extends Schema.TaggedError<S3Refused>()("S3Refused", {
  /** The store's code and status, such as `NoSuchBucket (404)`. */
  why: Schema.String
}) {
  override get message() {
    return `the object store refuses access to the bucket: ${this.why}`
  }
}

/** The store does not respond, or responds that it is overloaded or failing (429, 5xx). */
export class S3Unreachable extends Schema.TaggedError<S3Unreachable>()("S3Unreachable", { why: Schema.String }) {
  override get message() {
    return `the object store cannot be reached: ${this.why}`
  }
}

/**
 * The maximum size of an object in bytes. More would cost memory in concurrent uploads; less, more requests for a file.
 */
const pieceSize = 2 * 1024 * 1024

/** The objects deleted in one step: 32 MiB. */
const goneAtOnce = 16

/** The maximum number of concurrent deletions. */
const concurrency = 4

/** The time to connect, and the time to the first byte of a response, which begins after the last byte of a piece. */
const connectionTimeout = Duration.toMillis(Duration.seconds(3))
const requestTimeout = Duration.toMillis(Duration.seconds(20))

/** A download holds a connection for as long as its reader takes, so the number of readers must not be bounded here. */
const agent = { keepAlive: true, maxSockets: Infinity }

/** The region that compatible stores expect if they have none. */
const anyRegion = "us-east-1"

/** The fields of the SDK's errors that are used here. */
interface Failure {
  readonly name?: string
  readonly code?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
}

const failureOf = (cause: unknown): Failure => typeof cause === "object" && cause !== null ? cause : {}

/** The store's code and status, or the system's code. Messages are left out, since they may quote a request. */
const describe = ({ $metadata, code, name }: Failure): string => {
  const status = $metadata?.httpStatusCode
  return status === undefined ? code ?? name ?? "unknown" : `${name} (${status})`
}

/** Whether waiting could help: the network, an overloaded store, or too many requests. */
const isPassing = ({ $metadata, code, name }: Failure): boolean => {
  const status = $metadata?.httpStatusCode
  return status === undefined ? code !== undefined || name === "TimeoutError" : status >= 500 || status === 429
}

/** Loaded on demand, because it is optional. */
const load = async () => {
  try {
    return await import("@aws-sdk/client-s3")
  } catch (error) {
    if (OptionalPackage.isMissing(error)) return undefined
    throw error
  }
}

const sdk = Effect.flatMap(
  Effect.promise(load),
  (found) => found === undefined ? Effect.fail(new S3ClientMissing()) : Effect.succeed(found)
)

/** The environment variables in which the SDK, too, looks for the store's URL. */
const endpointVariables = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"]

const endpointOf = ({ endpoint }: Options): string | undefined =>
  endpoint ?? endpointVariables.map((name) => process.env[name]).find((url) => url !== undefined && url !== "")

/** Opens a client until the scope ends. Returns it with the SDK's commands. */
const opened = Effect.fnUntraced(function*(options: Options) {
  const commands = yield* sdk
  const { credentials } = options
  const endpoint = endpointOf(options)
  const region = options.region ?? (endpoint === undefined ? undefined : process.env["AWS_REGION"] ?? anyRegion)
  const client = yield* Effect.acquireRelease(
    Effect.sync(() =>
      new commands.S3Client({
        ...(region === undefined ? {} : { region }),
        // compatible stores rarely have a host name per bucket
        ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
        ...(credentials === undefined ? {} : {
          credentials: {
            accessKeyId: credentials.accessKeyId,
            secretAccessKey: Redacted.value(credentials.secretAccessKey),
            ...(credentials.sessionToken === undefined
              ? {}
              : { sessionToken: Redacted.value(credentials.sessionToken) })
          }
        }),
        // the signature covers a piece's SHA-256; not every compatible store knows further checksums
        requestChecksumCalculation: "WHEN_REQUIRED",
        responseChecksumValidation: "WHEN_REQUIRED",
        requestHandler: {
          connectionTimeout,
          requestTimeout,
          throwOnRequestTimeout: true,
          httpAgent: agent,
          httpsAgent: agent
        }
      })
    ),
    (client) => Effect.sync(() => client.destroy())
  )
  return { client, commands }
})

type Opened = Effect.Success<ReturnType<typeof opened>>

/** Sends one request to the store. Fails with what an operator must correct, or what may pass. */
const checking = (
  options: Options,
  send: (opened: Opened, abortSignal: AbortSignal) => Promise<unknown>,
  describeFailure: (failure: Failure) => string = describe
): Effect.Effect<void, S3ClientMissing | S3Refused | S3Unreachable> =>
  Effect.scoped(Effect.flatMap(opened(options), (store) =>
    Effect.asVoid(Effect.tryPromise({
      try: (abortSignal) => send(store, abortSignal),
      catch: (cause) => {
        const failure = failureOf(cause)
        const why = describeFailure(failure)
        return isPassing(failure) ? new S3Unreachable({ why }) : new S3Refused({ why })
      }
    }))))

/** Checks that the bucket can be listed. Fails with what an operator must correct, or what may pass. */
export const check = (options: Options): Effect.Effect<void, S3ClientMissing | S3Refused | S3Unreachable> =>
  checking(options, ({ client, commands }, abortSignal) => {
    const { bucket: Bucket, prefix: Prefix } = options
    return client.send(new commands.ListObjectsV2Command({ Bucket, Prefix, MaxKeys: 1 }), { abortSignal })
  })

/**
 * Checks that objects can be deleted, by deleting a name that no object has: without the right to delete, the bytes of
 * deleted files would stay. With object versioning, this leaves a delete marker of that name. Fails like {@link check}.
 */
export const checkDeletion = (options: Options): Effect.Effect<void, S3ClientMissing | S3Refused | S3Unreachable> =>
  checking(
    options,
    async ({ client, commands }, abortSignal) => {
      const command = new commands.DeleteObjectCommand({ Bucket: options.bucket, Key: `${options.prefix}no-object` })
      try {
        await client.send(command, { abortSignal })
      } catch (error) {
        // some stores respond so to the deletion of what does not exist
        if (failureOf(error).name !== "NoSuchKey") throw error
      }
    },
    (failure) => `DeleteObject: ${describe(failure)}`
  )

/**
 * Files in the store. Building the layer sends no request, so run {@link check} first to find out whether the store can
 * be used.
 */
export const layer = (options: Options): Layer.Layer<MediaBytes.MediaBytes, S3ClientMissing> =>
  Layer.effect(
    MediaBytes.MediaBytes,
    Effect.map(opened(options), ({ client, commands }) => {
      const { bucket: Bucket, prefix } = options
      const log = RepeatedFailure.make()

      /** Logs a failure of the store, and fails with `StoreError`. */
      const failing = (operation: string) => (failure: Failure) => {
        const line = `${operation} failed: ${describe(failure)}`
        return Effect.andThen(log(line, line), Effect.fail(new StoreError.StoreError({ operation })))
      }

      /** Sends a request to the store. */
      const request = <A>(operation: string, send: (abortSignal: AbortSignal) => Promise<A>) =>
        Effect.catch(Effect.tryPromise({ try: send, catch: failureOf }), failing(operation))

      const folderOf = ({ id, workspaceId }: MediaBytes.Named) => `${prefix}${workspaceId}/${id}/`

      const put = (file: MediaBytes.Named, piece: Uint8Array, n: number) => {
        const command = new commands.PutObjectCommand({ Bucket, Key: `${folderOf(file)}${n}`, Body: piece })
        // not interrupted, since the store could keep the piece after a removal that follows the interruption
        return Effect.uninterruptible(request("MediaBytes.write", () => client.send(command)))
      }

      const part = Effect.fnUntraced(function*(file: MediaBytes.Named, n: number, { end, start }: MediaBytes.Range) {
        const operation = "MediaBytes.read"
        const command = new commands.GetObjectCommand({
          Bucket,
          Key: `${folderOf(file)}${n}`,
          Range: `bytes=${start}-${end - 1}`
        })
        const { Body, ContentLength } = yield* request(
          operation,
          (abortSignal) => client.send(command, { abortSignal })
        )
        const body = Body as Readable
        if (ContentLength !== end - start) {
          body.destroy()
          return yield* new StoreError.StoreError({ operation })
        }
        return Stream.fromAsyncIterable<Uint8Array, Failure>(body, failureOf).pipe(
          Stream.catch((failure) => Stream.fromEffect(failing(operation)(failure)))
        )
      })

      const remove = Effect.fnUntraced(function*(file: MediaBytes.Named) {
        const operation = "MediaBytes.remove"
        const list = new commands.ListObjectsV2Command({ Bucket, Prefix: folderOf(file), MaxKeys: goneAtOnce })
        const { Contents = [], IsTruncated } = yield* request(
          operation,
          (abortSignal) => client.send(list, { abortSignal })
        )
        yield* Effect.forEach(
          Contents,
          ({ Key }) => {
            const command = new commands.DeleteObjectCommand({ Bucket, Key })
            return request(operation, (abortSignal) => client.send(command, { abortSignal }))
          },
          { concurrency, discard: true }
        )
        return IsTruncated === true
      })

      return MediaBytes.MediaBytes.of({
        write: (file, bytes) => MediaPieces.write(bytes, pieceSize, (piece, n) => put(file, piece, n)),
        read: (file, range) => MediaPieces.read(range, pieceSize, (n, within) => Stream.unwrap(part(file, n, within))),
        remove
      })
    })
  )
