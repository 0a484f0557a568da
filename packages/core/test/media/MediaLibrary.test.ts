import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Duration, Effect, Exit, Fiber, Layer, Option, Stream } from "effect"
import { type DomainError, reasonOf, ServerError } from "../../src/Errors.ts"
import type * as Id from "../../src/Id.ts"
import { CurrentLimits, standard } from "../../src/limits/Limits.ts"
import * as Media from "../../src/media/Media.ts"
import { MediaBytes } from "../../src/media/MediaBytes.ts"
import * as MediaInspector from "../../src/media/MediaInspector.ts"
import {
  downloadLease,
  downloadTimeout,
  MediaLibrary,
  providerUploadTimeout,
  uploadPatience
} from "../../src/media/MediaLibrary.ts"
import { MediaStore } from "../../src/media/MediaStore.ts"
import { PhoneNumberStore } from "../../src/numbers/PhoneNumberStore.ts"
import * as Capabilities from "../../src/provider/Capabilities.ts"
import { FileGone, Provider, ProviderError } from "../../src/provider/Provider.ts"
import { StoreError } from "../../src/StoreError.ts"
import { hour } from "../checks.ts"
import { advance, inProcess, settle } from "../clock.ts"
import { foundation, key, newId, providerNumber, templates, world } from "../world.ts"

const inspector = Layer.succeed(
  MediaInspector.MediaInspector,
  MediaInspector.MediaInspector.of({
    begin: () => ({ take: () => {}, digest: () => "0".repeat(64) }),
    typeOf: () => Effect.undefined
  })
)

const words = "hello"

/** A library whose store and provider fail as set. Its provider is the numbers' one, unless it has another name. */
const setUp = ({ hasDownloads = true, name = "stub" } = {}) => {
  const state = {
    looksUp: true,
    /** Whether the bytes of files can be read. */
    reads: true,
    answers: true,
    uploads: 0,
    /** Whether the storage's responses to *keep* are lost, after it has kept the file. */
    losesKept: false,
    downloads: 0,
    /** Whether this process is suspended before it looks up the numbers. */
    isSuspended: false,
    download: Stream.succeed(new TextEncoder().encode(words)) as Stream.Stream<Uint8Array, FileGone | ProviderError>
  }
  const store = Layer.effect(
    MediaStore,
    Effect.map(MediaStore, (real) =>
      MediaStore.of({
        ...real,
        keep: (command) =>
          Effect.flatMap(
            real.keep(command),
            (kept) =>
              state.losesKept ? Effect.fail(new StoreError({ operation: "MediaStore.keep" })) : Effect.succeed(kept)
          ),
        find: (named) =>
          Effect.suspend(() =>
            state.looksUp ? real.find(named) : Effect.fail(new StoreError({ operation: "MediaStore.find" }))
          )
      }))
  )
  const provider = Layer.succeed(
    Provider,
    Provider.of({
      name,
      capabilities: Capabilities.all,
      send: () => Effect.die("no test sends"),
      firstNumber: Effect.succeed(providerNumber),
      templates: () => Effect.succeed(templates),
      uploadFile: ({ bytes }) =>
        state.answers
          ? Effect.matchEffect(Effect.andThen(Stream.runDrain(bytes), Clock.currentTimeMillis), {
            // as a client of HTTP tells it whose request broke off
            onFailure: () => Effect.fail(new ServerError({ reason: "provider_unavailable", message: "not reached" })),
            onSuccess: (now) =>
              Effect.sync(() => ({ providerMediaId: `provider-${state.uploads += 1}`, expiresAt: now + 24 * hour }))
          })
          : Effect.never,
      ...(hasDownloads && {
        downloadFile: () =>
          Stream.suspend(() => {
            state.downloads += 1
            return state.download
          })
      })
    })
  )
  const numbers = Layer.effect(
    PhoneNumberStore,
    Effect.map(PhoneNumberStore, (real) =>
      PhoneNumberStore.of({
        ...real,
        list: (id) => Effect.suspend(() => state.isSuspended ? Effect.never : real.list(id))
      }))
  )
  const contents = Layer.effect(
    MediaBytes,
    Effect.map(MediaBytes, (real) =>
      MediaBytes.of({
        ...real,
        read: (file, range) =>
          state.reads ? real.read(file, range) : Stream.fail(new StoreError({ operation: "MediaBytes.read" }))
      }))
  )
  /** The library over a storage that others may have too. */
  const process = MediaLibrary.layerService.pipe(
    Layer.provide(Layer.mergeAll(store, contents, provider, numbers, inspector))
  )
  return { state, layer: Layer.provideMerge(process, foundation), process }
}

const stored = Effect.gen(function*() {
  const { number, workspace } = yield* world()
  const library = yield* MediaLibrary
  const { media } = yield* library.upload({
    workspaceId: workspace.id,
    key: key("a file"),
    filename: () => "a.txt",
    size: 5,
    bytes: Stream.succeed(new TextEncoder().encode(words))
  })
  return library.sendable.providerIdOf(number, media)
})

/** A customer's file that the provider holds, and how the library opens and reads it. */
const awaited = Effect.gen(function*() {
  const { number, workspace } = yield* world()
  const library = yield* MediaLibrary
  const store = yield* MediaStore
  const file: Media.Awaited = {
    id: yield* newId("med"),
    workspaceId: workspace.id,
    phoneNumberId: number.id,
    providerMediaId: `provider ${workspace.id}`,
    filename: "notes.txt",
    sha256: null,
    createdAt: yield* Clock.currentTimeMillis
  }
  yield* store.expect(file, null)
  const open = library.open(file.workspaceId, file.id)
  const read = Effect.gen(function*() {
    const { media, read } = yield* open
    return yield* Stream.mkString(Stream.decodeText(read({ start: 0, end: media.size })))
  })
  const state = Effect.map(store.find(file), (found) => Option.getOrThrow(found)._tag)
  return { file, number, open, read, state }
})

/** A library like that of another process with the same storage. */
const another = ({ process }: ReturnType<typeof setUp>) => Effect.provide(MediaLibrary, Layer.fresh(process))

/** Claims a file as the tidier of a process does. */
const claimed = (file: Media.Awaited, lease = downloadLease) =>
  Effect.gen(function*() {
    const store = yield* MediaStore
    const now = yield* Clock.currentTimeMillis
    const [claim] = yield* store.claimAwaited({ now, until: now + Duration.toMillis(lease), limit: 1, only: file })
    return claim!
  })

/** Opens a file that is gone. */
const assertExpired = (open: Effect.Effect<unknown, DomainError>) =>
  Effect.map(Effect.flip(open), (error) => assert.strictEqual(reasonOf(error), "media_expired"))

describe("bytes that cannot be read while the provider takes them", () => {
  it.effect("the failure is the storage's, not the provider's, and the next send uploads the file", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const providerIdOf = yield* stored
      state.reads = false
      assert.strictEqual((yield* Effect.flip(providerIdOf))._tag, "StoreError")
      state.reads = true
      assert.strictEqual(yield* providerIdOf, "provider-1")
    }).pipe(Effect.provide(layer))
  })
})

describe("a customer's file", () => {
  it.effect("a download that was kept has its bytes even if the storage's response was lost", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const { open, read } = yield* awaited
      state.losesKept = true
      assert.strictEqual(reasonOf(yield* Effect.flip(open)), "storage_unavailable")
      state.losesKept = false
      assert.strictEqual(yield* read, words)
      assert.strictEqual(state.downloads, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a download that takes longer than a request waits continues, and the next request gets the file", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const { open, read } = yield* awaited
      state.download = Stream.concat(Stream.fromEffectDrain(Effect.sleep("30 seconds")), state.download)
      const first = yield* Effect.forkChild(Effect.flip(open))
      yield* advance("20 seconds")
      assert.strictEqual(reasonOf(yield* Fiber.join(first)), "provider_unavailable")
      const second = yield* Effect.forkChild(read)
      yield* advance("10 seconds")
      assert.strictEqual(yield* Fiber.join(second), words)
      assert.strictEqual(state.downloads, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("a download continues if the request for it is broken off", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const { open, read } = yield* awaited
      state.download = Stream.concat(Stream.fromEffectDrain(Effect.sleep("5 seconds")), state.download)
      const broken = yield* Effect.forkChild(open)
      yield* advance("1 second")
      yield* Fiber.interrupt(broken)
      yield* advance("4 seconds")
      assert.strictEqual(yield* read, words)
      assert.strictEqual(state.downloads, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("all requests that wait for a download get its failure, and the next request downloads the file", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const { open, read } = yield* awaited
      const works = state.download
      state.download = Stream.fromEffect(Effect.delay(
        Effect.fail(new ProviderError({ reason: "provider_unavailable", message: "the provider is away" })),
        "1 second"
      ))
      const waiting = yield* Effect.forkChild(Effect.all([Effect.flip(open), Effect.flip(open)], {
        concurrency: "unbounded"
      }))
      yield* advance("1 second")
      for (const { message } of yield* Fiber.join(waiting)) assert.strictEqual(message, "the provider is away")
      assert.strictEqual(state.downloads, 1)
      state.download = works
      assert.strictEqual(yield* read, words)
      assert.strictEqual(state.downloads, 2)
    }).pipe(Effect.provide(layer))
  })
})

describe("a download by a process with a wrong clock", () => {
  const wrong = it.effect.each([Duration.days(40), Duration.days(-40)].map(Duration.toMillis))

  wrong("a file that the provider holds is downloaded, even if the process's clock is wrong by %i ms", (ahead) => {
    const { layer } = setUp()
    return Effect.gen(function*() {
      const { file, read } = yield* awaited
      const library = yield* MediaLibrary
      const claim = yield* claimed(file)
      assert.strictEqual((yield* inProcess(ahead)(library.fetch(claim))).id, file.id)
      assert.strictEqual(yield* read, words)
    }).pipe(Effect.provide(layer))
  })

  wrong("a download that failed is due again in 5 minutes, even if the process's clock is wrong by %i ms", (ahead) => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const { file: { workspaceId, ...given } } = yield* awaited
      const store = yield* MediaStore
      const library = yield* MediaLibrary
      const file = { ...given, workspaceId, id: yield* newId("med"), providerMediaId: `due ${workspaceId}` }
      yield* store.expect(file, file.createdAt)
      const due = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        return yield* store.claimAwaited({ now, until: now + hour, limit: 10 })
      })
      state.download = Stream.fail(new FileGone({ mayReturn: true }))
      yield* assertExpired(inProcess(ahead)(library.fetch((yield* due)[0]!)))
      yield* advance(Duration.toMillis("5 minutes") - 1)
      assert.deepStrictEqual(yield* due, [])
      yield* advance(1)
      assert.deepStrictEqual((yield* due).map(({ id }) => id), [file.id])
    }).pipe(Effect.provide(layer))
  })
})

describe("a download that ends after its claim", () => {
  it.effect("a download that times out after its claim deletes no bytes that another process has stored since", () => {
    const [late, prompt] = [setUp(), setUp()]
    return Effect.gen(function*() {
      const { file, read } = yield* awaited
      const other = yield* another(late)
      late.state.download = Stream.never
      // as if the process had been suspended for most of the lease before it began
      const claim = yield* claimed(file, Duration.minutes(1))
      const download = yield* Effect.forkChild(Effect.flip(other.fetch(claim)))
      yield* advance("1 minute")
      assert.strictEqual(yield* read, words)
      yield* advance(downloadTimeout)
      assert.strictEqual(reasonOf(yield* Fiber.join(download)), "provider_unavailable")
      assert.strictEqual(yield* read, words)
    }).pipe(Effect.provide(prompt.layer))
  })

  it.effect("a download that begins after its claim deletes no bytes that another process has stored since", () => {
    const [late, prompt] = [setUp(), setUp()]
    return Effect.gen(function*() {
      const { file, read } = yield* awaited
      const other = yield* another(late)
      const claim = yield* claimed(file, Duration.minutes(1))
      yield* advance("1 minute")
      assert.strictEqual(yield* read, words)
      assert.strictEqual(reasonOf(yield* Effect.flip(other.fetch(claim))), "provider_unavailable")
      assert.strictEqual(yield* read, words)
      assert.strictEqual(late.state.downloads, 0)
    }).pipe(Effect.provide(prompt.layer))
  })

  it.effect("a download that ends after its claim returns the file that another process has stored since", () => {
    const [late, prompt] = [setUp(), setUp()]
    return Effect.gen(function*() {
      const { file, read } = yield* awaited
      const other = yield* another(late)
      late.state.download = Stream.concat(Stream.fromEffectDrain(Effect.sleep("2 minutes")), late.state.download)
      const download = yield* Effect.forkChild(other.fetch(yield* claimed(file, Duration.minutes(1))))
      yield* advance("1 minute")
      assert.strictEqual(yield* read, words)
      yield* advance("1 minute")
      assert.strictEqual((yield* Fiber.join(download)).id, file.id)
      assert.strictEqual(yield* read, words)
    }).pipe(Effect.provide(prompt.layer))
  })

  it.effect("a download whose claim has ended while no other process stored the file asks to try again", () => {
    const late = setUp()
    return Effect.gen(function*() {
      const { file, read } = yield* awaited
      const other = yield* another(late)
      late.state.download = Stream.concat(Stream.fromEffectDrain(Effect.sleep("2 minutes")), late.state.download)
      const download = yield* Effect.forkChild(Effect.flip(other.fetch(yield* claimed(file, Duration.minutes(1)))))
      yield* advance("2 minutes")
      assert.strictEqual(reasonOf(yield* Fiber.join(download)), "provider_unavailable")
      assert.strictEqual(yield* read, words)
    }).pipe(Effect.provide(setUp().layer))
  })

  it.effect("a download that ends after its claim leaves the later claim of another process", () => {
    const [late, now] = [setUp(), setUp()]
    return Effect.gen(function*() {
      const { file, state } = yield* awaited
      const [first, second] = [yield* another(late), yield* another(now)]
      late.state.download = Stream.fail(new FileGone())
      late.state.download = Stream.concat(Stream.fromEffectDrain(Effect.sleep("2 minutes")), late.state.download)
      now.state.download = Stream.concat(Stream.fromEffectDrain(Effect.sleep("3 minutes")), now.state.download)
      const lost = yield* Effect.forkChild(Effect.flip(first.fetch(yield* claimed(file, Duration.minutes(1)))))
      yield* advance("1 minute")
      const kept = yield* Effect.forkChild(second.fetch(yield* claimed(file)))
      yield* advance("1 minute")
      yield* Fiber.join(lost)
      assert.strictEqual(yield* state, "Awaited")
      yield* advance("2 minutes")
      assert.strictEqual((yield* Fiber.join(kept)).id, file.id)
    }).pipe(Effect.provide(setUp().layer))
  })

  it.effect("a download ends before its claim, however long what precedes it takes", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const { file, read } = yield* awaited
      const library = yield* MediaLibrary
      state.isSuspended = true
      const download = yield* Effect.forkChild(Effect.flip(library.fetch(yield* claimed(file))))
      yield* advance(downloadTimeout)
      assert.strictEqual(reasonOf(yield* Fiber.join(download)), "provider_unavailable")
      state.isSuspended = false
      assert.strictEqual(yield* read, words, "the claim was given back")
    }).pipe(Effect.provide(layer))
  })
})

describe("a customer's file that is removed during its download", () => {
  it.effect("the bytes of a file that was removed during its download are found if the downloader dies", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const { file } = yield* awaited
      const library = yield* MediaLibrary
      const store = yield* MediaStore
      const bytes = yield* MediaBytes
      const has = Effect.map(
        Effect.exit(Stream.runDrain(bytes.read(file, { start: 0, end: words.length }))),
        Exit.isSuccess
      )
      // the process dies after it has written all bytes: nothing more happens
      yield* claimed(file)
      yield* library.remove(file.workspaceId, file.id)
      yield* bytes.write(file, state.download.pipe(Stream.orDie))
      assert.isTrue(yield* has)
      const removed = Effect.flatMap(Clock.currentTimeMillis, (now) => store.removed(now, "", 10))
      assert.deepStrictEqual(yield* removed, [])
      yield* advance(downloadLease)
      assert.deepStrictEqual((yield* removed).map(({ id }) => id), [file.id])
    }).pipe(Effect.provide(layer))
  })

  it.effect("a downloader that finishes deletes the bytes, and the file can be forgotten at once", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const { file } = yield* awaited
      const library = yield* MediaLibrary
      const store = yield* MediaStore
      const bytes = yield* MediaBytes
      state.download = Stream.concat(Stream.fromEffectDrain(Effect.sleep("1 minute")), state.download)
      const download = yield* Effect.forkChild(Effect.flip(library.fetch(yield* claimed(file))))
      yield* settle
      yield* library.remove(file.workspaceId, file.id)
      yield* advance("1 minute")
      assert.strictEqual((yield* Fiber.join(download))._tag, "NotFound")
      const read = Stream.runDrain(bytes.read(file, { start: 0, end: words.length }))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(read)))
      const removed = yield* store.removed(yield* Clock.currentTimeMillis, "", 10)
      assert.deepStrictEqual(removed.map(({ id }) => id), [file.id])
    }).pipe(Effect.provide(layer))
  })
})

describe("a customer's file that cannot be downloaded", () => {
  it.effect.each<[string, Parameters<typeof setUp>[0]]>([
    ["a number of another provider", { name: "another" }],
    ["a provider without downloads", { hasDownloads: false }]
  ])("a file of %s stays as it is until the provider has deleted it", ([, given]) =>
    Effect.gen(function*() {
      const { open, state } = yield* awaited
      assert.strictEqual(reasonOf(yield* Effect.flip(open)), "provider_unavailable")
      assert.strictEqual(yield* state, "Awaited")
      yield* advance(Duration.days(7))
      assert.strictEqual(reasonOf(yield* Effect.flip(open)), "provider_unavailable")
      yield* advance(1)
      yield* assertExpired(open)
      assert.strictEqual(yield* state, "Gone")
    }).pipe(Effect.provide(setUp(given).layer)))

  it.effect("a file of a removed number is gone", () =>
    Effect.gen(function*() {
      const { number, open, state } = yield* awaited
      yield* PhoneNumberStore.use((numbers) => numbers.remove(number.id))
      yield* assertExpired(open)
      assert.strictEqual(yield* state, "Gone")
    }).pipe(Effect.provide(setUp().layer)))

  it.effect("a file is gone for good only if the provider is sure of it", () => {
    const { layer, state: library } = setUp()
    return Effect.gen(function*() {
      const { open, read, state } = yield* awaited
      const works = library.download
      library.download = Stream.fail(new FileGone({ mayReturn: true }))
      yield* assertExpired(open)
      assert.strictEqual(yield* state, "Awaited")
      library.download = works
      assert.strictEqual(yield* read, words)
      const sure = yield* awaited
      library.download = Stream.fail(new FileGone())
      yield* assertExpired(sure.open)
      assert.strictEqual(yield* sure.state, "Gone")
    }).pipe(Effect.provide(layer))
  })
})

describe("a file that is needed until a time", () => {
  it.effect("a file stays until a queued message needs it no more, and a use beside it changes nothing", () =>
    Effect.gen(function*() {
      const { workspace } = yield* world()
      const library = yield* MediaLibrary
      const store = yield* MediaStore
      const { media } = yield* library.upload({
        workspaceId: workspace.id,
        key: key("a file"),
        filename: () => "a.txt",
        size: 5,
        bytes: Stream.succeed(new TextEncoder().encode(words))
      })
      const { keepUntil } = library.sendable
      const expiry = Effect.map(store.find(media), (found) => {
        const state = Option.getOrThrow(found)
        return state._tag === "Stored" ? Media.expiresAt(state.media) : assert.fail(state._tag)
      })
      const start = yield* Clock.currentTimeMillis
      const day = 24 * hour
      yield* keepUntil(workspace.id, [media.id], start + day)
      assert.strictEqual(yield* expiry, start + 30 * day, "it is kept for longer anyway")
      const found = yield* keepUntil(workspace.id, [yield* newId("med"), media.id], start + 45 * day)
      assert.deepStrictEqual([...found.keys()], [media.id])
      yield* advance(2 * hour)
      yield* library.open(workspace.id, media.id)
      assert.strictEqual(yield* expiry, start + 75 * day)
    }).pipe(Effect.provide(setUp().layer)))
})

describe("a customer's file in a message for later", () => {
  const day = 24 * hour

  it.effect("it is downloaded when the message is queued, if it is needed for longer than files are kept", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const { file, state: present } = yield* awaited
      const { sendable: { keepUntil } } = yield* MediaLibrary
      const store = yield* MediaStore
      const now = yield* Clock.currentTimeMillis
      assert.deepStrictEqual([...yield* keepUntil(file.workspaceId, [file.id], now + day)], [[file.id, null]])
      assert.strictEqual(state.downloads, 0)
      const found = yield* keepUntil(file.workspaceId, [file.id], now + 60 * day)
      assert.strictEqual(found.get(file.id)?.size, words.length)
      assert.strictEqual(yield* present, "Stored")
      const kept = Option.getOrThrow(yield* store.find(file))
      assert.isAtLeast(kept._tag === "Stored" ? Media.expiresAt(kept.media) : 0, now + 60 * day)
    }).pipe(Effect.provide(layer))
  })

  it.effect("if it cannot be downloaded then, the message is queued all the same", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const { file } = yield* awaited
      const { sendable: { keepUntil } } = yield* MediaLibrary
      state.download = Stream.fail(new ProviderError({ reason: "provider_unavailable", message: "not now" }))
      const until = (yield* Clock.currentTimeMillis) + 60 * day
      assert.deepStrictEqual([...yield* keepUntil(file.workspaceId, [file.id], until)], [[file.id, null]])
    }).pipe(Effect.provide(layer))
  })
})

const mega = 1_000_000

describe("an upload that is repeated under its key", () => {
  it.effect.each([0, 6 * mega])(
    "gets the stored file though both would exceed the quota, with %i bytes announced",
    (announced) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const library = yield* MediaLibrary
        const upload = (filename: string) =>
          library.upload({
            workspaceId: workspace.id,
            key: key("a file"),
            filename: () => filename,
            size: announced,
            bytes: Stream.map(Stream.rechunk(Stream.range(1, 60), 1), () => new Uint8Array(100_000).fill(97))
          })
        const { media } = yield* upload("a.txt")
        assert.deepStrictEqual(yield* upload("a.txt"), { media, isReplayed: true })
        assert.strictEqual(reasonOf(yield* Effect.flip(upload("b.txt"))), "payload_mismatch")
      }).pipe(Effect.provide(
        setUp().layer.pipe(
          Layer.provide(
            Layer.succeed(CurrentLimits, { ...standard, defaults: { ...standard.defaults, mediaQuota: 10 * mega } })
          )
        )
      ))
  )
})

describe("an upload of unannounced size", () => {
  /** Begins an upload of this many bytes that never ends, and waits until the library has taken all of them. */
  const begun = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, name: string, size: number) {
    const library = yield* MediaLibrary
    const taken = yield* Deferred.make<void>()
    const pieces = Stream.rechunk(Stream.range(1, size / 100_000), 1)
    const upload = yield* Effect.forkChild(library.upload({
      workspaceId,
      key: key(name),
      filename: () => name,
      size: 0,
      bytes: pieces.pipe(
        Stream.map(() => new Uint8Array(100_000).fill(97)),
        Stream.concat(Stream.drain(Stream.fromEffect(Deferred.succeed(taken, undefined)))),
        Stream.concat(Stream.never)
      )
    }))
    const refused = Effect.flip(Fiber.join(upload))
    const end = yield* Effect.race(Effect.as(Deferred.await(taken), undefined), refused)
    return { refusal: end === undefined ? undefined : reasonOf(end), stop: Fiber.interrupt(upload) }
  })

  it.effect("is refused while it arrives if it and the others in progress exceed the quota", () =>
    Effect.gen(function*() {
      const { workspace } = yield* world()
      const first = yield* begun(workspace.id, "first", 8 * mega)
      const second = yield* begun(workspace.id, "second", 8 * mega)
      const third = yield* begun(workspace.id, "third", 8 * mega)
      assert.deepStrictEqual([first, second, third].map(({ refusal }) => refusal), [
        undefined,
        "media_quota",
        "media_quota"
      ])
      yield* first.stop
      const fourth = yield* begun(workspace.id, "fourth", 10 * mega)
      assert.isUndefined(fourth.refusal, "what others reserved is given back, and the whole quota can be used")
      yield* fourth.stop
    }).pipe(Effect.provide(
      setUp().layer.pipe(
        Layer.provide(
          Layer.succeed(CurrentLimits, { ...standard, defaults: { ...standard.defaults, mediaQuota: 10 * mega } })
        )
      )
    )))

  it.effect("leaves room for many small ones", () =>
    Effect.gen(function*() {
      const { workspace } = yield* world()
      const all = yield* Effect.forEach(
        Array.from({ length: 90 }, (_, i) => `file ${i}`),
        (name) => begun(workspace.id, name, 100_000)
      )
      assert.isTrue(all.every(({ refusal }) => refusal === undefined))
      yield* Effect.forEach(all, ({ stop }) => stop)
    }).pipe(Effect.provide(setUp().layer)))
})

describe("the upload of a file to the provider", () => {
  it.effect("after a look-up that failed once, the next send of the file uploads it", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const providerId = yield* stored
      state.looksUp = false
      assert.isTrue(Exit.isFailure(yield* Effect.exit(providerId)))
      state.looksUp = true
      const again = yield* Effect.forkChild(providerId)
      yield* advance(Duration.toMillis(uploadPatience))
      assert.strictEqual(yield* Fiber.join(again), "provider-1")
      assert.strictEqual(yield* providerId, "provider-1")
      assert.strictEqual(state.uploads, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("an upload that the provider never answers ends, and the next send of the file begins another one", () => {
    const { layer, state } = setUp()
    return Effect.gen(function*() {
      const providerId = yield* stored
      state.answers = false
      const waiting = yield* Effect.forkChild(Effect.exit(providerId))
      yield* advance(Duration.toMillis(uploadPatience))
      assert.isTrue(Exit.isFailure(yield* Fiber.join(waiting)))
      state.answers = true
      yield* advance(Duration.toMillis(providerUploadTimeout))
      assert.strictEqual(yield* providerId, "provider-1")
    }).pipe(Effect.provide(layer))
  })
})
