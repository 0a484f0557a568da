/**
 * Conformance of `MediaStore`: uploads under a quota, ids at the provider, customers' files, and expiry.
 */
import { assert } from "@effect/vitest"
import { type Id, type Idempotency, type Media, type MediaStep, MediaStore } from "@wac/core"
import { Duration, Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"

const { day, hour, minute, world } = Fixture

const key = (name: string) => name as Idempotency.IdempotencyKey

/** A file of a workspace, as input of *keep*. */
const fileOf = (own: Fixture.World, id: Id.MediaId, size = 100): Media.Media => ({
  id,
  workspaceId: own.workspace.id,
  mimeType: "image/png",
  size,
  isAnimated: false,
  isOpus: false,
  sha256: "0".repeat(64),
  filename: "cat “1”.png",
  createdAt: own.start,
  lastUsedAt: own.start
})

const begin = (own: Fixture.World, id: Id.MediaId, fields: Partial<MediaStep.Begin> = {}) =>
  MediaStore.MediaStore.use((store) =>
    store.begin({
      now: own.start,
      until: own.start + 30 * minute,
      workspaceId: own.workspace.id,
      id,
      key: key(id),
      size: 0,
      quota: null,
      ...fields
    })
  )

const keep = (media: Media.Media, fields: Partial<MediaStep.Keep> = {}) =>
  MediaStore.MediaStore.use((store) =>
    store.keep({ now: media.createdAt, media, quota: null, idempotency: null, ...fields })
  )

const keyed = (name: string, fingerprint: string, expiresAt: number) => ({
  idempotency: { key: key(name), fingerprint, expiresAt }
})

/** An uploaded file of a workspace. */
const stored = Effect.fnUntraced(function*(own: Fixture.World, size?: number, fields?: Partial<MediaStep.Keep>) {
  const media = fileOf(own, yield* Fixture.id("med"), size)
  assert.isUndefined(yield* begin(own, media.id))
  assert.deepStrictEqual(yield* keep(media, fields), { _tag: "Kept", media })
  return media
})

const find = ({ id, workspaceId }: MediaStep.Named) =>
  Effect.map(MediaStore.MediaStore.use((store) => store.find({ id, workspaceId })), Option.getOrUndefined)

const remove = ({ id, workspaceId }: MediaStep.Named, now: number, only: MediaStep.Remove["only"]) =>
  MediaStore.MediaStore.use((store) => store.remove({ id, workspaceId, now, only }))

/** The ids of those of `files` that are in `all`. */
const among = (files: ReadonlyArray<MediaStep.Named>, all: ReadonlyArray<MediaStep.Named>): ReadonlyArray<string> =>
  files.flatMap(({ id }) => all.some((other) => other.id === id) ? [id] : [])

const everything = 10_000

const awaitedOf = (own: Fixture.World, id: Id.MediaId, providerMediaId: string): Media.Awaited => ({
  id,
  workspaceId: own.workspace.id,
  phoneNumberId: own.number.id,
  providerMediaId,
  filename: "notes.pdf",
  sha256: null,
  createdAt: own.start
})

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a file is found in its workspace once its upload has ended, and nowhere else", () =>
    Effect.gen(function*() {
      const [own, other] = [yield* world(), yield* world()]
      const media = fileOf(own, yield* Fixture.id("med"))
      assert.isUndefined(yield* find(media))
      yield* begin(own, media.id)
      assert.isUndefined(yield* find(media))
      yield* keep(media)
      assert.deepStrictEqual(yield* find(media), { _tag: "Stored", media })
      assert.isUndefined(yield* find({ ...media, workspaceId: other.workspace.id }))
      assert.isFalse(yield* remove({ ...media, workspaceId: other.workspace.id }, own.start, "file"))
      assert.deepStrictEqual(yield* keep(media), { _tag: "Kept", media }, "repeated")
    }))

  it.effect("the bytes of all files stay within the quota, and a removed file gives its bytes back", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const first = yield* stored(own, 600, { quota: 1000 })
      const second = fileOf(own, yield* Fixture.id("med"), 401)
      assert.strictEqual((yield* begin(own, second.id, { size: 401, quota: 1000 }))?.reason, "media_quota")
      assert.isUndefined(yield* begin(own, second.id, { size: 400, quota: 1000 }))
      const refused = yield* keep(second, { quota: 1000 })
      assert.strictEqual(refused._tag === "Refused" && refused.error.code, "forbidden")
      assert.isUndefined(yield* find(second))
      const fits = { ...second, size: 400 }
      assert.strictEqual((yield* keep(fits, { quota: 1000 }))._tag, "Kept")
      assert.strictEqual((yield* begin(own, yield* Fixture.id("med"), { size: 1, quota: 1000 }))?.code, "forbidden")
      assert.isTrue(yield* remove(first, own.start, "file"))
      assert.isFalse(yield* remove(first, own.start, "file"))
      yield* stored(own, 600, { quota: 1000 })
    }))

  it.effect("concurrent uploads never exceed the quota together", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const ids = yield* Effect.replicateEffect(Fixture.id("med"), 32)
      yield* Effect.forEach(ids, (id) => begin(own, id), { concurrency: "unbounded" })
      const kept = yield* Effect.forEach(ids, (id) => keep(fileOf(own, id, 100), { quota: 1050 }), {
        concurrency: "unbounded"
      })
      assert.strictEqual(kept.filter(({ _tag }) => _tag === "Kept").length, 10)
      assert.strictEqual(kept.filter(({ _tag }) => _tag === "Refused").length, 22)
    }))

  it.effect("what an upload has reserved counts against the quota until the upload is kept or removed", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const [one, two, three] = [yield* Fixture.id("med"), yield* Fixture.id("med"), yield* Fixture.id("med")]
      const reserve = (id: Id.MediaId, size: number) => begin(own, id, { size, quota: 1000 })
      assert.isUndefined(yield* reserve(one, 0))
      assert.isUndefined(yield* reserve(one, 600))
      assert.isUndefined(yield* reserve(one, 600), "repeated")
      assert.strictEqual((yield* reserve(two, 401))?.reason, "media_quota")
      assert.isUndefined(yield* reserve(two, 100))
      assert.strictEqual((yield* reserve(two, 401))?.reason, "media_quota", "it keeps the 100")
      assert.strictEqual((yield* reserve(three, 301))?.reason, "media_quota")
      assert.isUndefined(yield* reserve(three, 300))
      // a file that is smaller than what was reserved for it gives the rest back
      assert.strictEqual((yield* keep(fileOf(own, one, 500), { quota: 1000 }))._tag, "Kept")
      assert.isUndefined(yield* reserve(two, 200))
      const larger = yield* keep(fileOf(own, two, 201), { quota: 1000 })
      assert.strictEqual(larger._tag, "Refused", "beside what others have reserved")
      assert.isTrue(yield* remove({ workspaceId: own.workspace.id, id: three }, own.start, "upload"))
      assert.strictEqual((yield* keep(fileOf(own, two, 500), { quota: 1000 }))._tag, "Kept")
      assert.strictEqual((yield* reserve(yield* Fixture.id("med"), 1))?.reason, "media_quota")
    }))

  it.effect("concurrent uploads never reserve more than the quota together", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const ids = yield* Effect.replicateEffect(Fixture.id("med"), 32)
      const begun = yield* Effect.forEach(ids, (id) => begin(own, id, { size: 100, quota: 1050 }), {
        concurrency: "unbounded"
      })
      assert.strictEqual(begun.filter((refusal) => refusal === undefined).length, 10)
    }))

  it.effect("an upload that never ends gives what it reserved back when it is removed, and reserves no more", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const [broken, other] = [yield* Fixture.id("med"), yield* Fixture.id("med")]
      const named = { workspaceId: own.workspace.id, id: broken }
      const until = own.start + 30 * minute
      assert.isUndefined(yield* begin(own, broken, { size: 1000, quota: 1000 }))
      assert.strictEqual((yield* begin(own, other, { size: 1, quota: 1000 }))?.reason, "media_quota")
      assert.isTrue(yield* remove(named, until, "due"))
      assert.isUndefined(yield* begin(own, broken, { now: until, until, size: 1000, quota: 1000 }))
      assert.deepStrictEqual(yield* keep(fileOf(own, broken)), { _tag: "Lost" }, "it does not begin again")
      assert.isUndefined(yield* begin(own, other, { size: 1000, quota: 1000 }))
    }))

  it.effect("an upload that repeats a stored one is judged as if it took its place, so a full quota does not refuse it", () =>
    Effect.gen(function*() {
      const [own, other] = [yield* world(), yield* world()]
      const bound = keyed("k", "one", own.start + day)
      const first = yield* stored(own, 600, { ...bound, quota: 1000 })
      const begun = (id: Id.MediaId, fields: Partial<MediaStep.Begin> = {}) =>
        begin(own, id, { key: key("k"), size: 600, quota: 1000, ...fields })
      const again = fileOf(own, yield* Fixture.id("med"), 600)
      assert.isUndefined(yield* begun(again.id))
      assert.isUndefined(yield* begun(again.id, { size: 700 }), "more of it arrives")
      assert.strictEqual((yield* begun(again.id, { size: 1001 }))?.reason, "media_quota")
      assert.strictEqual((yield* begun(yield* Fixture.id("med")))?.reason, "media_quota", "the first one is not over")
      assert.deepStrictEqual(yield* keep(again, { ...bound, quota: 1000 }), { _tag: "Replayed", media: first })
      const different = yield* keep(again, { ...keyed("k", "two", own.start + day), quota: 1000 })
      assert.strictEqual(different._tag === "Refused" && different.error.code, "idempotency_conflict")
      // a key counts in its workspace, and until it expires
      yield* stored(other, 600)
      const foreign = { workspaceId: other.workspace.id, key: key("k"), size: 600, quota: 1000 }
      assert.strictEqual((yield* begin(other, yield* Fixture.id("med"), foreign))?.reason, "media_quota")
      const late = yield* begun(yield* Fixture.id("med"), { now: own.start + day })
      assert.strictEqual(late?.reason, "media_quota")
    }))

  it.effect("a repeated upload gets the first one's file, a different one under the same key is a conflict", () =>
    Effect.gen(function*() {
      const [own, other] = [yield* world(), yield* world()]
      const bound = keyed("k", "one", own.start + day)
      const first = yield* stored(own, 10, bound)
      const again = fileOf(own, yield* Fixture.id("med"), 10)
      yield* begin(own, again.id)
      assert.deepStrictEqual(yield* keep(again, bound), { _tag: "Replayed", media: first })
      const conflict = yield* keep(again, keyed("k", "two", own.start + day))
      assert.strictEqual(conflict._tag === "Refused" && conflict.error.code, "idempotency_conflict")
      assert.isUndefined(yield* find(again))
      yield* stored(other, 10, keyed("k", "two", other.start + day))
      // also after the file is gone, until the key expires
      yield* remove(first, own.start, "file")
      assert.strictEqual((yield* keep(again, bound))._tag, "Replayed")
      const later = own.start + day
      const anew = { ...again, createdAt: later, lastUsedAt: later }
      assert.strictEqual((yield* keep(anew, { ...keyed("k", "two", later + day), now: later }))._tag, "Kept")
    }))

  it.effect("of concurrent uploads under one key, one is kept", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const ids = yield* Effect.replicateEffect(Fixture.id("med"), 8)
      yield* Effect.forEach(ids, (id) => begin(own, id))
      const kept = yield* Effect.forEach(ids, (id) => keep(fileOf(own, id), keyed("k", "one", own.start + day)), {
        concurrency: "unbounded"
      })
      assert.strictEqual(kept.filter(({ _tag }) => _tag === "Kept").length, 1)
      assert.strictEqual(new Set(kept.map((each) => "media" in each && each.media.id)).size, 1)
    }))

  it.effect("an upload that never ends is due after its time, and cannot be kept once it is removed", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const media = fileOf(own, yield* Fixture.id("med"))
      yield* begin(own, media.id)
      assert.isFalse(yield* remove(media, own.start, "file"), "it cannot be found")
      assert.deepStrictEqual(among([media], yield* store.due(own.start + 30 * minute - 1, everything)), [])
      assert.deepStrictEqual(among([media], yield* store.due(own.start + 30 * minute, everything)), [media.id])
      assert.isFalse(yield* remove(media, own.start + 30 * minute - 1, "due"))
      assert.isTrue(yield* remove(media, own.start + 30 * minute, "due"))
      assert.deepStrictEqual(yield* keep(media), { _tag: "Lost" })
      assert.deepStrictEqual(among([media], yield* store.removed(own.start, "", everything)), [media.id])
      assert.deepStrictEqual(among([media], yield* store.removed(own.start, media.id, everything)), [])
      yield* store.forget(media, own.start)
      assert.deepStrictEqual(among([media], yield* store.removed(own.start, "", everything)), [])
    }))

  it.effect("a failed upload is removed, and a kept file is not removed as one", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const failed = yield* Fixture.id("med")
      yield* begin(own, failed)
      assert.isTrue(yield* remove({ workspaceId: own.workspace.id, id: failed }, own.start, "upload"))
      const media = yield* stored(own)
      assert.isFalse(yield* remove(media, own.start, "upload"))
      assert.isDefined(yield* find(media))
    }))

  it.effect("a file expires 30 days after its last use", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const media = yield* stored(own)
      assert.deepStrictEqual(among([media], yield* store.due(own.start + 30 * day, everything)), [media.id])
      yield* store.use(media, own.start + hour)
      yield* store.use(media, own.start)
      assert.deepStrictEqual(yield* find(media), {
        _tag: "Stored",
        media: { ...media, lastUsedAt: own.start + hour }
      })
      assert.deepStrictEqual(among([media], yield* store.due(own.start + 30 * day, everything)), [])
      assert.isFalse(yield* remove(media, own.start + 30 * day, "due"))
      const end = own.start + 30 * day + hour
      assert.deepStrictEqual(among([media], yield* store.due(end, everything)), [media.id])
      assert.isTrue(yield* remove(media, end, "due"))
      assert.isUndefined(yield* find(media))
      yield* store.forget(media, end)
    }))

  it.effect("a use counts from its own time by the retention in force, also if that is now shorter", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const media = yield* stored(own, 100, { keptFor: Duration.days(30) })
      const usedAt = own.start + hour
      const isKeptUntil = Effect.fnUntraced(function*(end: number, message: string) {
        assert.deepStrictEqual(yield* find(media), { _tag: "Stored", media: { ...media, lastUsedAt: usedAt } }, message)
        assert.deepStrictEqual(among([media], yield* store.due(end - 1, everything)), [], message)
        assert.deepStrictEqual(among([media], yield* store.due(end, everything)), [media.id], message)
      })
      yield* store.use(media, usedAt, Duration.days(7))
      yield* isKeptUntil(usedAt + 7 * day, "the retention is shorter")
      yield* store.use(media, usedAt, Duration.days(7))
      yield* isKeptUntil(usedAt + 7 * day, "repeated")
      yield* store.use(media, own.start, Duration.days(30))
      yield* isKeptUntil(usedAt + 30 * day, "an earlier use, by a longer retention")
      yield* store.use(media, own.start, Duration.days(7))
      yield* isKeptUntil(usedAt + 7 * day, "an earlier use, by a shorter retention")
    }))

  it.effect("a use that lasts keeps a file from its end, whatever earlier uses follow", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const media = yield* stored(own)
      const until = own.start + 45 * day
      yield* store.use(media, own.start + hour, Duration.days(30), until)
      yield* store.use(media, own.start + 2 * hour, Duration.days(30))
      yield* store.use(media, own.start + 2 * hour, Duration.days(30), own.start)
      assert.deepStrictEqual(yield* find(media), { _tag: "Stored", media: { ...media, lastUsedAt: until } })
      const end = until + 30 * day
      assert.deepStrictEqual(among([media], yield* store.due(end - 1, everything)), [])
      assert.deepStrictEqual(among([media], yield* store.due(end, everything)), [media.id])
    }))

  it.effect("only a file that can be read is used, and a use changes no other one", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const [own, other] = [yield* world(), yield* world()]
      const [media, beside] = [yield* stored(own, 600, { quota: 1000 }), yield* stored(own, 100)]
      const uploading = { workspaceId: own.workspace.id, id: yield* Fixture.id("med") }
      yield* begin(own, uploading.id)
      const awaited = awaitedOf(own, yield* Fixture.id("med"), `provider ${yield* Fixture.word}`)
      yield* store.expect(awaited, null)
      const later = own.start + hour
      const unknown = { workspaceId: own.workspace.id, id: yield* Fixture.id("med") }
      const elsewhere = { ...media, workspaceId: other.workspace.id }
      yield* Effect.forEach(
        [uploading, awaited, unknown, elsewhere, beside, beside],
        (each) => store.use(each, later),
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(yield* find(media), { _tag: "Stored", media })
      assert.deepStrictEqual(yield* find(beside), { _tag: "Stored", media: { ...beside, lastUsedAt: later } })
      assert.deepStrictEqual(yield* find(awaited), { _tag: "Awaited", awaited })
      assert.isUndefined(yield* find(unknown))
      const end = own.start + 30 * minute
      assert.deepStrictEqual(among([uploading], yield* store.due(end, everything)), [uploading.id])
      // a use leaves the quota as it is
      assert.isUndefined(yield* begin(own, yield* Fixture.id("med"), { size: 300, quota: 1000 }))
      assert.isDefined(yield* begin(own, yield* Fixture.id("med"), { size: 301, quota: 1000 }))
      yield* remove(media, later, "file")
      yield* store.use(media, later)
      assert.isUndefined(yield* find(media))
    }))

  it.effect("a file has one id at the provider for each number, until the provider deletes it", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const media = yield* stored(own)
      const other = yield* Fixture.id("pn")
      const at = (number: Id.PhoneNumberId, now: number, margin = 0) =>
        Effect.map(store.uploaded(media.id, number, now, margin), Option.getOrUndefined)
      assert.isUndefined(yield* at(own.number.id, own.start))
      const first = { providerMediaId: "1", expiresAt: own.start + day }
      yield* store.keepUploaded(media.id, own.number.id, first)
      assert.deepStrictEqual(yield* at(own.number.id, own.start), first)
      assert.isUndefined(yield* at(other, own.start))
      assert.isUndefined(yield* at(own.number.id, own.start + day))
      assert.isUndefined(yield* at(own.number.id, own.start + day - hour, hour))
      const second = { providerMediaId: "2", expiresAt: own.start + 2 * day }
      yield* store.keepUploaded(media.id, own.number.id, second)
      assert.deepStrictEqual(yield* at(own.number.id, own.start + day), second)
      yield* store.forgetUploaded(media.id, other, "2")
      yield* store.forgetUploaded(media.id, own.number.id, "1")
      assert.deepStrictEqual(yield* at(own.number.id, own.start + day), second, "a later upload stays")
      yield* store.forgetUploaded(media.id, own.number.id, "2")
      yield* store.forgetUploaded(media.id, own.number.id, "2")
      assert.isUndefined(yield* at(own.number.id, own.start + day))
    }))

  it.effect("a customer's file has one id, is downloaded by one process, and is then a file like any other", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const awaited = awaitedOf(own, yield* Fixture.id("med"), `provider ${yield* Fixture.word}`)
      assert.strictEqual(yield* store.expect(awaited, own.start), awaited.id)
      assert.strictEqual(yield* store.expect({ ...awaited, id: yield* Fixture.id("med") }, own.start), awaited.id)
      assert.deepStrictEqual(yield* find(awaited), { _tag: "Awaited", awaited })
      const claim = (now: number, only?: MediaStep.Named) =>
        Effect.map(
          store.claimAwaited({ now, until: now + minute, limit: everything, ...(only && { only }) }),
          (all) => among([awaited], all).length
        )
      const claims = yield* Effect.replicateEffect(claim(own.start), 4, { concurrency: "unbounded" })
      assert.strictEqual(claims.reduce((sum, count) => sum + count, 0), 1)
      assert.strictEqual(yield* claim(own.start + minute - 1, awaited), 0)
      assert.strictEqual(yield* claim(own.start + minute), 1, "the download failed")
      const now = own.start + 2 * minute - 1
      const media = { ...fileOf(own, awaited.id), createdAt: now, lastUsedAt: now }
      const leaseUntil = own.start + 2 * minute
      assert.deepStrictEqual(yield* keep(media), { _tag: "Lost" }, "without the claim")
      assert.deepStrictEqual(yield* keep(media, { leaseUntil: own.start + minute }), { _tag: "Lost" }, "an old claim")
      assert.deepStrictEqual(
        yield* keep(media, { leaseUntil, now: leaseUntil }),
        { _tag: "Lost" },
        "a claim that ended"
      )
      assert.deepStrictEqual(yield* keep(media, { leaseUntil }), { _tag: "Kept", media })
      assert.strictEqual(yield* claim(own.start + day), 0)
      assert.deepStrictEqual(yield* find(awaited), { _tag: "Stored", media })
      assert.strictEqual(yield* store.expect({ ...awaited, id: yield* Fixture.id("med") }, own.start), awaited.id)
    }))

  it.effect("a download that failed is due again when it is put off to", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const awaited = awaitedOf(own, yield* Fixture.id("med"), `provider ${yield* Fixture.word}`)
      yield* store.expect(awaited, own.start)
      const claim = (now: number) =>
        Effect.map(
          store.claimAwaited({ now, until: now + minute, limit: everything }),
          (all) => among([awaited], all).length
        )
      assert.strictEqual(yield* claim(own.start), 1)
      const first = { ...awaited, leaseUntil: own.start + minute }
      yield* store.postpone(first, own.start + minute, hour - minute)
      assert.strictEqual(yield* claim(own.start + hour - 1), 0)
      assert.strictEqual(yield* claim(own.start + hour), 1)
      const second = { ...awaited, leaseUntil: own.start + hour + minute }
      yield* store.lose(second)
      yield* store.postpone(second, own.start, 0)
      assert.strictEqual(yield* claim(own.start + day), 0)
    }))

  it.effect("whoever's claim of a download has ended changes nothing of the file and deletes none of its bytes", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const awaited = awaitedOf(own, yield* Fixture.id("med"), `provider ${yield* Fixture.word}`)
      yield* store.expect(awaited, own.start)
      const claim = Effect.fnUntraced(function*(now: number) {
        const all = yield* store.claimAwaited({ now, until: now + minute, limit: 1, only: awaited })
        return all[0]!
      })
      const late = yield* claim(own.start)
      const { id, workspaceId } = awaited
      assert.deepStrictEqual(late, { workspaceId, id, leaseUntil: own.start + minute, at: own.start, awaited })
      assert.isTrue(yield* store.mayErase(late, own.start + minute - 1))
      assert.isFalse(yield* store.mayErase(late, own.start + minute), "another process may have claimed it")
      const now = own.start + minute
      const held = yield* claim(now)
      assert.deepStrictEqual(held, { ...late, leaseUntil: own.start + 2 * minute, at: now })
      yield* store.postpone(late, own.start, 0)
      yield* store.lose(late)
      assert.isFalse(yield* store.mayErase(late, own.start))
      assert.isTrue(yield* store.mayErase(held, now))
      assert.deepStrictEqual(yield* find(awaited), { _tag: "Awaited", awaited })
      const due = yield* store.claimAwaited({ now, until: now + minute, limit: everything })
      assert.deepStrictEqual(among([awaited], due), [], "the later claim lasts")
      const media = { ...fileOf(own, id), createdAt: now, lastUsedAt: now }
      assert.strictEqual((yield* keep(media, { leaseUntil: late.leaseUntil, now: own.start }))._tag, "Lost")
      assert.strictEqual((yield* keep(media, { leaseUntil: held.leaseUntil }))._tag, "Kept")
      assert.isFalse(yield* store.mayErase(held, now), "the file is stored")
      assert.isTrue(yield* remove(awaited, now, "file"))
      assert.isTrue(yield* store.mayErase(late, now), "its bytes must be deleted anyway")
      yield* store.forget(awaited, now)
      assert.isTrue(yield* store.mayErase(late, now), "nobody else can have the file")
    }))

  it.effect("a customer's file that is removed during its download stays known until the claim ends or is given back", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const removedDuringDownload = Effect.gen(function*() {
        const awaited = awaitedOf(own, yield* Fixture.id("med"), `provider ${yield* Fixture.word}`)
        yield* store.expect(awaited, null)
        const command = { now: own.start, until: own.start + minute, limit: 1, only: awaited }
        const [claim] = yield* store.claimAwaited(command)
        assert.isTrue(yield* remove(awaited, own.start, "file"))
        assert.isUndefined(yield* find(awaited))
        yield* store.forget(awaited, own.start + minute - 1)
        return claim!
      })
      const removed = Effect.fnUntraced(function*(claim: MediaStep.Claim, now: number) {
        return among([claim], yield* store.removed(now, "", everything)).length
      })
      const dead = yield* removedDuringDownload
      assert.strictEqual(yield* removed(dead, own.start + minute - 1), 0)
      assert.strictEqual(yield* removed(dead, own.start + minute), 1)
      assert.isTrue(yield* store.mayErase(dead, own.start))
      assert.deepStrictEqual(yield* keep(fileOf(own, dead.id), { leaseUntil: dead.leaseUntil }), { _tag: "Lost" })
      yield* store.forget(dead, own.start + minute)
      assert.strictEqual(yield* removed(dead, own.start + minute), 0)
      const alive = yield* removedDuringDownload
      yield* store.postpone(alive, own.start, 0)
      assert.strictEqual(yield* removed(alive, own.start), 1)
      yield* store.forget(alive, own.start)
      assert.strictEqual(yield* removed(alive, own.start), 0)
      // nobody downloads it
      const awaited = awaitedOf(own, yield* Fixture.id("med"), `provider ${yield* Fixture.word}`)
      yield* store.expect(awaited, null)
      yield* remove(awaited, own.start, "file")
      assert.strictEqual(among([awaited], yield* store.removed(own.start, "", everything)).length, 1)
    }))

  it.effect("a customer's file that only a request downloads can be claimed again once its claim is given back", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const awaited = awaitedOf(own, yield* Fixture.id("med"), `provider ${yield* Fixture.word}`)
      yield* store.expect(awaited, null)
      const command = { now: own.start, until: own.start + hour, limit: everything }
      const claim = Effect.map(store.claimAwaited({ ...command, only: awaited }), (all) => all.length)
      assert.deepStrictEqual([yield* claim, yield* claim], [1, 0])
      yield* store.postpone({ ...awaited, leaseUntil: own.start + hour }, own.start, 0)
      const due = yield* store.claimAwaited(command)
      assert.deepStrictEqual(among([awaited], due), [], "it is never due")
      assert.deepStrictEqual([yield* claim, yield* claim], [1, 0])
    }))

  it.effect("a customer's file that only a request downloads is claimed by name, and may turn out to be gone", () =>
    Effect.gen(function*() {
      const store = yield* MediaStore.MediaStore
      const own = yield* world()
      const awaited = awaitedOf(own, yield* Fixture.id("med"), `provider ${yield* Fixture.word}`)
      yield* store.expect(awaited, null)
      const command = { now: own.start + day, until: own.start + 2 * day, limit: everything }
      assert.deepStrictEqual(among([awaited], yield* store.claimAwaited(command)), [])
      const [claim] = yield* store.claimAwaited({ ...command, only: awaited })
      assert.deepStrictEqual(claim?.awaited, awaited)
      yield* store.lose(claim!)
      assert.deepStrictEqual(yield* find(awaited), { _tag: "Gone" })
      const { leaseUntil } = claim!
      assert.deepStrictEqual(yield* keep(fileOf(own, awaited.id), { leaseUntil }), { _tag: "Lost" })
      assert.isTrue(yield* remove(awaited, own.start, "file"))
      assert.isUndefined(yield* find(awaited))
    }))
}
