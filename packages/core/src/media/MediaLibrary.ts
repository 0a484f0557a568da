/**
 * The service for files (contract §10): uploads, downloads, customers' files, and files at the provider. Streams bytes
 * through `MediaBytes` and keeps the rest in `MediaStore`.
 */
import { Clock, Context, Deferred, Duration, Effect, FiberSet, Layer, Option, Stream } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { type DomainError, NotFound, ServerError } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Idempotency from "../Idempotency.ts"
import { CurrentLimits, mediaQuota } from "../limits/Limits.ts"
import * as Lookup from "../Lookup.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import { Provider, toServerError } from "../provider/Provider.ts"
import * as Retention from "../Retention.ts"
import { orUnavailable, type StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import * as Media from "./Media.ts"
import { MediaBytes, type Range } from "./MediaBytes.ts"
import * as MediaInspector from "./MediaInspector.ts"
import { type Claimed, MediaStore } from "./MediaStore.ts"
import { SendableMedia } from "./SendableMedia.ts"

/** A file to upload. */
export interface Upload {
  readonly workspaceId: Id.WorkspaceId
  readonly key: Idempotency.IdempotencyKey
  /** The name that the caller gave. It is read once all bytes have arrived. */
  readonly filename: () => string | undefined
  /** The minimum number of bytes to expect, from what the caller announced. */
  readonly size: number
  readonly bytes: Stream.Stream<Uint8Array, DomainError>
  /** Runs once all bytes have arrived. If it fails, nothing is kept. */
  readonly confirm?: Effect.Effect<void, DomainError>
}

/** The result of an upload. */
export interface Uploaded {
  readonly media: Media.Media
  /** Whether it was uploaded before, under the same key. */
  readonly isReplayed: boolean
}

/** A file that can be read. */
export interface Opened {
  readonly media: Media.Media
  /** The bytes of a range that lies within the file. */
  readonly read: (range: Range) => Stream.Stream<Uint8Array, StoreError>
}

/** When customers' files are downloaded: as soon as they arrive, or at the first request for them. */
export type Inbound = "keep" | "on_demand"

/** When this process downloads customers' files (contract §8 `MEDIA_INBOUND`). */
export const InboundFiles = Context.Reference<Inbound>("@wac/core/media/MediaLibrary/InboundFiles", {
  defaultValue: () => "keep"
})

/** Called after each piece of a file that passes through this process, with the number of its bytes. */
export const PassageObserver = Context.Reference<(bytes: number) => void>(
  "@wac/core/media/MediaLibrary/PassageObserver",
  { defaultValue: () => () => {} }
)

/** How long a download from the provider may take, from its claim on. */
export const downloadTimeout = Duration.minutes(4)

/**
 * How long a process keeps its claim of a download. After this, another process tries a download whose process died. It
 * is the longest download and the longest write to an object store that cannot be broken off, with its retries.
 */
export const downloadLease = Duration.minutes(6)

/** How long a request waits for the download of its file. The download continues afterwards. */
const downloadPatience = Duration.seconds(20)

/**
 * How long a send waits for the upload of its file to the provider: less than the lease of its claim. The upload
 * continues afterwards.
 */
export const uploadPatience = Duration.seconds(15)

/** How long an upload to the provider may take. After this, the next send of the file begins another one. */
export const providerUploadTimeout = Duration.minutes(4)

/** How long before the provider deletes a file it is uploaded again. */
const uploadMargin = Duration.hours(1)

/** How long before its expiry the last send of a file may begin, in milliseconds. */
const keptMargin = Duration.toMillis(Duration.hours(1))

/** How often a request checks whether another process's download has ended. */
const pollEvery = Duration.millis(200)

const notFound = () => new NotFound({ message: "the workspace has no such file" })

const damaged = () =>
  new ServerError({
    reason: "provider_error",
    message: "the file that the provider returned is not the one that the customer sent"
  })

const otherProvider = () =>
  new ServerError({
    reason: "provider_unavailable",
    message: "the file is held by a provider that this service does not run with at present"
  })

export class MediaLibrary extends Context.Service<MediaLibrary, {
  /**
   * Uploads a file, once per idempotency key. Reads the stream only as fast as the storage writes. If anything fails,
   * nothing is left of the file.
   */
  readonly upload: (upload: Upload) => Effect.Effect<Uploaded, DomainError>
  /**
   * Opens a file of the workspace by an id that the caller gave, and records the use. A customer's file is downloaded
   * from the provider first if necessary; `not_found` with `media_expired` if the provider no longer has it.
   */
  readonly open: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<Opened, DomainError>
  /** Removes a file of the workspace. */
  readonly remove: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<void, DomainError>
  /**
   * Downloads an awaited file that this process has claimed. Fails if the file is not available now, or no longer. It
   * then gives the claim back, so that the file can be downloaded again.
   */
  readonly fetch: (claimed: Claimed) => Effect.Effect<Media.Media, DomainError>
  /** The files, as sends need them. */
  readonly sendable: SendableMedia
}>()("@wac/core/media/MediaLibrary") {
  static readonly layerService = Layer.effect(
    MediaLibrary,
    Effect.gen(function*() {
      const store = yield* MediaStore
      const storage = yield* MediaBytes
      const inspector = yield* MediaInspector.MediaInspector
      const numbers = yield* PhoneNumberStore
      const provider = yield* Provider
      const limits = yield* CurrentLimits
      const random = yield* SecureRandom.SecureRandom
      const digest = yield* Digest.Digest
      const observe = yield* PassageObserver
      const quota = mediaQuota(limits)
      const keptFor = Retention.keptFor(yield* Retention.CurrentRetention, "media")

      type Named = Pick<Media.Media, "workspaceId" | "id">
      type Reservation = Named & Pick<Upload, "key"> & { readonly announced: number; readonly until: Instant }

      const erase = (file: Named) => Effect.repeat(storage.remove(file), { while: (isMore) => isMore })

      /** Deletes everything of an upload. If this fails or the process dies, `MediaTidier` deletes it later. */
      const discard = (file: Named) =>
        Effect.gen(function*() {
          const now = yield* Clock.currentTimeMillis
          // a file that was kept stays, even if the storage's response was lost
          if (!(yield* store.remove({ ...file, now, only: "upload" }))) return
          yield* erase(file)
          yield* store.forget(file, now)
        }).pipe(Effect.ignoreCause)

      /**
       * Reserves more of the quota as the bytes of an upload arrive, so that uploads of which nobody knows the size
       * cannot fill the storage together. Close to the quota it reserves no more than what has arrived.
       */
      const reserving = <E>({ announced, until, ...file }: Reservation, bytes: Stream.Stream<Uint8Array, E>) => {
        let [size, reserved] = [0, announced]
        const reserve = Effect.fnUntraced(function*(wanted: number) {
          const refusal = yield* store.begin({
            ...file,
            now: yield* Clock.currentTimeMillis,
            until,
            size: wanted,
            quota
          })
          if (refusal === undefined) reserved = wanted
          return refusal
        })
        return Stream.mapEffect(bytes, (piece) => {
          size += piece.length
          if (size <= reserved + Media.unreserved || size > Media.maxSize) return Effect.succeed(piece)
          return Effect.gen(function*() {
            if ((yield* reserve(Math.min(size + Media.reservedAhead, Media.maxSize))) === undefined) return piece
            const refusal = yield* reserve(size)
            return refusal === undefined ? piece : yield* refusal
          })
        })
      }

      /** Writes bytes as they arrive, and returns the file's properties, digest and size. */
      const written = Effect.fnUntraced(function*<E>(file: Named, bytes: Stream.Stream<Uint8Array, E>) {
        const inspection = inspector.begin()
        const text = new MediaInspector.TextCheck()
        const office = new MediaInspector.OfficeCheck()
        const head: Array<Uint8Array> = []
        let headSize = 0
        let size = 0
        const take = (piece: Uint8Array): boolean => {
          size += piece.length
          observe(piece.length)
          if (size > Media.maxSize) return false
          inspection.take(piece)
          text.take(piece)
          office.take(piece)
          const wanted = MediaInspector.headSize - headSize
          if (wanted > 0) {
            head.push(piece.slice(0, wanted))
            headSize += Math.min(wanted, piece.length)
          }
          return true
        }
        yield* storage.write(
          file,
          Stream.mapEffect(bytes, (piece) => take(piece) ? Effect.succeed(piece) : Effect.fail(Media.tooLarge()))
        )
        const first = joined(head, headSize)
        const properties = MediaInspector.propertiesOf({
          signature: yield* inspector.typeOf(first),
          office: office.end(),
          head: first,
          isText: text.end(),
          size
        })
        return { properties, sha256: inspection.digest(), size }
      })

      const upload = Effect.fn("MediaLibrary.upload")(
        function*({ bytes, confirm = Effect.void, filename: given, key, size, workspaceId }: Upload) {
          if (size > Media.maxSize) return yield* Media.tooLarge()
          const file = { workspaceId, id: yield* Id.generate(random, "med") }
          const now = yield* Clock.currentTimeMillis
          const until = now + Duration.toMillis(Media.uploadTimeout)
          const refusal = yield* store.begin({ ...file, key, now, until, size, quota })
          if (refusal !== undefined) return yield* refusal
          const keep = Effect.gen(function*() {
            const { properties, sha256 } = yield* written(
              file,
              reserving({ ...file, key, announced: size, until }, bytes)
            )
            yield* confirm
            if ("_tag" in properties) return yield* properties
            const filename = Media.nameOf(given())
            const endedAt = yield* Clock.currentTimeMillis
            return yield* store.keep({
              now: endedAt,
              media: { ...file, ...properties, sha256, filename, createdAt: endedAt, lastUsedAt: endedAt },
              keptFor,
              quota,
              idempotency: {
                key,
                fingerprint: yield* Idempotency.fingerprint(digest, { sha256, filename }),
                expiresAt: endedAt + Duration.toMillis(Idempotency.retention)
              }
            })
          })
          const kept = yield* Effect.onExit(keep, (exit) => {
            if (exit._tag === "Failure") return discard(file)
            // the tidier has deleted the upload as broken off, but bytes were written since
            if (exit.value._tag === "Lost") return Effect.ignoreCause(erase(file))
            return exit.value._tag === "Kept" ? Effect.void : discard(file)
          })
          switch (kept._tag) {
            case "Kept":
            case "Replayed":
              return { media: kept.media, isReplayed: kept._tag === "Replayed" }
            case "Refused":
              return yield* kept.error
            case "Lost":
              return yield* new ServerError({ reason: "storage_unavailable", message: "the upload took too long" })
          }
        },
        orUnavailable
      )

      /** Gives the claim of a download that failed back. If this fails, the claim ends with its lease. */
      const giveBack = (claimed: Claimed) =>
        Clock.currentTimeMillis.pipe(
          Effect.flatMap((now) => store.postpone(claimed, now, Media.fetchAgainAfter(claimed.awaited, claimed.at))),
          Effect.ignoreCause
        )

      /**
       * Deletes the bytes of a claimed file, and returns true. Stops and returns false once they may be another process's,
       * which has claimed the file since: a process that was suspended does not know how late it is.
       */
      const eraseClaimed = Effect.fnUntraced(function*(claimed: Claimed) {
        while (yield* store.mayErase(claimed, yield* Clock.currentTimeMillis)) {
          if (!(yield* storage.remove(claimed))) return true
        }
        return false
      })

      /**
       * Downloads an awaited file's bytes, and returns the file to keep. If it fails, none of its bytes are left, except
       * if its claim has ended: then the next download deletes them, or `MediaTidier`.
       */
      const downloaded = Effect.fnUntraced(
        function*(claimed: Claimed) {
          const { at, awaited } = claimed
          const { filename, id, providerMediaId, workspaceId } = awaited
          const file = { workspaceId, id }
          const now = yield* Clock.currentTimeMillis
          const lose = Effect.andThen(store.lose(claimed), Effect.fail(Media.expired()))
          if (at - awaited.createdAt > Duration.toMillis(Media.providerRetention)) return yield* lose
          const sender = (yield* numbers.list(workspaceId)).find(({ id }) => id === awaited.phoneNumberId)
          if (sender === undefined) return yield* lose
          const download = provider.downloadFile
          // the service may run with the number's own provider later
          if (sender.provider !== provider.name || download === undefined) return yield* otherProvider()
          // delete what an earlier try left behind
          if (!(yield* eraseClaimed(claimed))) return yield* Media.notReady()
          return yield* Effect.gen(function*() {
            const { properties, sha256, size } = yield* written(file, download({ sender, providerMediaId }))
            if (awaited.sha256 !== null && awaited.sha256 !== sha256) return yield* damaged()
            // the customer chose the file's type, so an unknown type is no reason to refuse the file
            const known = "_tag" in properties
              ? { mimeType: "application/octet-stream", size, isAnimated: false, isOpus: false }
              : properties
            const name = Media.nameOf(filename ?? undefined)
            return { ...file, ...known, sha256, filename: name, createdAt: now, lastUsedAt: now }
          }).pipe(
            Effect.onError(() => Effect.ignoreCause(eraseClaimed(claimed))),
            Effect.catchTags({
              FileGone: ({ mayReturn = false }) => mayReturn ? Effect.fail(Media.expired()) : lose,
              ProviderError: (error) => Effect.fail(toServerError(error))
            })
          )
        },
        // all of it, since the lease counts from the claim
        Effect.timeoutOrElse({ duration: downloadTimeout, orElse: () => Effect.fail(Media.notReady()) })
      )

      const fetch = Effect.fn("MediaLibrary.fetch")(
        function*(claimed: Claimed) {
          const media = yield* Effect.onError(downloaded(claimed), () => giveBack(claimed))
          // if this fails, the file may have been kept all the same: its bytes stay, and the claim until its lease ends
          const { leaseUntil } = claimed
          const kept = yield* store.keep({
            now: yield* Clock.currentTimeMillis,
            media,
            keptFor,
            quota,
            leaseUntil,
            idempotency: null
          })
          if ("media" in kept) return kept.media
          yield* Effect.andThen(Effect.ignoreCause(eraseClaimed(claimed)), giveBack(claimed))
          if (kept._tag === "Refused") return yield* kept.error
          // the file was removed, or the claim has ended, since when another process may have claimed and stored it
          const found = Option.getOrUndefined(yield* store.find(claimed))
          if (found === undefined) return yield* notFound()
          if (found._tag === "Stored") return found.media
          return yield* found._tag === "Gone" ? Media.expired() : Media.notReady()
        },
        orUnavailable
      )

      /** The downloads in progress in this process that requests began. Requests for the same file share a download. */
      const downloading = new Map<Id.MediaId, Deferred.Deferred<Media.Media, DomainError>>()
      const runDownload = yield* FiberSet.runtime(yield* FiberSet.make())()

      /** Begins the download of a file, unless another process has claimed it or it is no longer awaited. */
      const begun = Effect.fnUntraced(function*(file: Named) {
        const now = yield* Clock.currentTimeMillis
        const until = now + Duration.toMillis(downloadLease)
        const [claimed] = yield* store.claimAwaited({ now, until, limit: 1, only: file })
        if (claimed === undefined) return
        const end = Deferred.makeUnsafe<Media.Media, DomainError>()
        downloading.set(file.id, end)
        runDownload(
          fetch(claimed).pipe(
            Effect.onExit((exit) =>
              Effect.andThen(Effect.sync(() => downloading.delete(file.id)), Deferred.done(end, exit))
            ),
            Effect.ignoreCause
          )
        )
        return end
        // a claim without its download would keep other requests from the file
      }, Effect.uninterruptible)

      /** A customer's file, once this request or another one has downloaded it. */
      const arrived = Effect.fnUntraced(function*(file: Named) {
        while (true) {
          const running = downloading.get(file.id) ?? (yield* begun(file))
          if (running !== undefined) return yield* Deferred.await(running)
          const found = yield* store.find(file)
          if (Option.isNone(found)) return yield* notFound()
          if (found.value._tag === "Stored") return found.value.media
          if (found.value._tag === "Gone") return yield* Media.expired()
          yield* Effect.sleep(pollEvery)
        }
      }, Effect.timeoutOrElse({ duration: downloadPatience, orElse: () => Effect.fail(Media.notReady()) }))

      const find = Effect.fnUntraced(function*(file: Named) {
        const found = yield* store.find(file)
        if (Option.isNone(found)) return yield* notFound()
        if (found.value._tag === "Gone") return yield* Media.expired()
        const media = found.value._tag === "Stored" ? found.value.media : yield* arrived(file)
        const now = yield* Clock.currentTimeMillis
        if (Media.isUseRecorded(media, now)) yield* store.use(file, now, keptFor)
        return media
      })

      const read = (file: Named) => (range: Range) =>
        Stream.map(storage.read(file, range), (piece) => {
          observe(piece.length)
          return piece
        })

      const idOf = (text: string) => Lookup.find("file", Id.parse(Id.MediaId, text), Effect.succeedSome)

      /** The uploads to the provider in progress in this process. Sends of the same file share an upload. */
      const uploading = new Map<string, Deferred.Deferred<string, DomainError | StoreError>>()
      const runUpload = yield* FiberSet.runtime(yield* FiberSet.make())()

      /**
       * Gives the provider the bytes of a file. If they cannot be read, that is the failure, whatever the provider makes of
       * bytes that end too soon.
       */
      const given = <A, E, R>(
        media: Media.Media,
        use: (bytes: Stream.Stream<Uint8Array, StoreError>) => Effect.Effect<A, E, R>
      ): Effect.Effect<A, E | StoreError, R> =>
        Effect.suspend(() => {
          let unread: StoreError | undefined
          const bytes = Stream.tapError(read(media)({ start: 0, end: media.size }), (error) =>
            Effect.sync(() => {
              unread = error
            }))
          return Effect.catch(use(bytes), (error) => Effect.fail<E | StoreError>(unread ?? error))
        })

      const uploadToProvider = Effect.fnUntraced(function*(sender: PhoneNumber, id: Id.MediaId) {
        const media = yield* find({ workspaceId: sender.workspaceId, id })
        if (provider.uploadFile === undefined) {
          return yield* new ServerError({ reason: "provider_error", message: "this provider does not support files" })
        }
        const uploaded = yield* given(media, (bytes) => provider.uploadFile!({ sender, media, bytes })).pipe(
          Effect.timeoutOrElse({ duration: providerUploadTimeout, orElse: () => Effect.fail(Media.notReady()) })
        )
        yield* store.keepUploaded(media.id, sender.id, uploaded)
        return uploaded.providerMediaId
      })

      const providerIdOf = Effect.fnUntraced(function*(sender: PhoneNumber, { id }: Pick<Media.Media, "id">) {
        const now = yield* Clock.currentTimeMillis
        const known = yield* store.uploaded(id, sender.id, now, Duration.toMillis(uploadMargin))
        if (Option.isSome(known)) return known.value.providerMediaId
        const name = `${sender.id} ${id}`
        const running = uploading.get(name)
        const end = running ?? Deferred.makeUnsafe<string, DomainError | StoreError>()
        if (running === undefined) {
          // nothing may fail or stop between these two lines, because only the end of the upload removes the entry
          uploading.set(name, end)
          runUpload(
            uploadToProvider(sender, id).pipe(
              Effect.onExit((exit) =>
                Effect.andThen(Effect.sync(() => uploading.delete(name)), Deferred.done(end, exit))
              ),
              Effect.ignoreCause
            )
          )
        }
        return yield* Deferred.await(end).pipe(
          Effect.timeoutOrElse({ duration: uploadPatience, orElse: () => Effect.fail(Media.notReady()) })
        )
      })

      const sampleHandleOf = Effect.fnUntraced(function*(sender: PhoneNumber, { id }: Pick<Media.Media, "id">) {
        const editor = provider.templateEditor
        if (editor === undefined) {
          return yield* new ServerError({
            reason: "provider_error",
            message: "this provider does not support samples"
          })
        }
        const media = yield* find({ workspaceId: sender.workspaceId, id })
        return yield* given(media, (bytes) => editor.uploadSample({ sender, media, bytes }))
      })

      const keepUntil = Effect.fnUntraced(function*(
        workspaceId: Id.WorkspaceId,
        ids: ReadonlyArray<Id.MediaId>,
        until: Instant
      ) {
        const files = new Map<Id.MediaId, Media.Media | null>()
        for (const id of new Set(ids)) {
          const file = { workspaceId, id }
          const found = Option.getOrUndefined(yield* store.find(file))
          if (found === undefined || found._tag === "Gone") continue
          const now = yield* Clock.currentTimeMillis
          // one that is still to be downloaded can be kept for longer than others only once it is here
          const isLong = until > now + Duration.toMillis(Duration.min(keptFor, Media.providerRetention))
          const media = found._tag === "Stored"
            ? found.media
            : isLong
            ? yield* Effect.orElseSucceed(arrived(file), () => null)
            : null
          files.set(id, media)
          // usually the file is kept for much longer anyway, and queueing a message writes nothing
          if (media === null || Media.expiresAt(media, keptFor) >= until + keptMargin) continue
          yield* store.use(file, yield* Clock.currentTimeMillis, keptFor, until)
        }
        return files
      })

      return MediaLibrary.of({
        upload,
        open: Effect.fn("MediaLibrary.open")(function*(workspaceId, text) {
          const file = { workspaceId, id: yield* idOf(text) }
          return { media: yield* find(file), read: read(file) }
        }, orUnavailable),
        remove: Effect.fn("MediaLibrary.remove")(function*(workspaceId, text) {
          const file = { workspaceId, id: yield* idOf(text) }
          const now = yield* Clock.currentTimeMillis
          if (!(yield* store.remove({ ...file, now, only: "file" }))) return yield* notFound()
          yield* Effect.ignoreCause(Effect.andThen(erase(file), store.forget(file, now)))
        }, orUnavailable),
        fetch,
        sendable: {
          find: (workspaceId, id) => Effect.catchTag(find({ workspaceId, id }), "NotFound", () => Effect.undefined),
          providerIdOf,
          forgetProviderId: (sender, { id }, providerId) => store.forgetUploaded(id, sender.id, providerId),
          sampleHandleOf,
          keepUntil
        }
      })
    })
  )

  /** The service, and {@link SendableMedia} for sends. */
  static readonly layer = Layer.effect(SendableMedia, Effect.map(MediaLibrary, ({ sendable }) => sendable)).pipe(
    Layer.provideMerge(MediaLibrary.layerService)
  )
}

const joined = (pieces: ReadonlyArray<Uint8Array>, length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const piece of pieces) {
    bytes.set(piece, offset)
    offset += piece.length
  }
  return bytes
}
