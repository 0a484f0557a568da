/**
 * Conformance of `SessionStore`: how sessions are created, used, kept fresh and ended.
 */
import { assert } from "@effect/vitest"
import { MemberStore, Session, SessionStore } from "@wac/core"
import { Duration, Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as Forgetting from "../Forgetting.ts"
import { type Founded, founder } from "../workspaces/WorkspaceStoreSuite.ts"
import * as People from "./PeopleFixture.ts"

const { day, hour, minute } = Fixture

const start = 1_767_614_400_000

const step = Duration.toMillis(Session.idleStep)

/** A session of the only member, created at `start`: 12 hours idle time, 7 days in total. */
const created = Effect.gen(function*() {
  const { owner, workspace } = yield* founder
  const store = yield* SessionStore.SessionStore
  const session: SessionStore.StoredSession = {
    id: yield* Fixture.id("ses"),
    workspaceId: workspace.id,
    roles: new Map([[workspace.id, "developer"], [yield* Fixture.id("ws"), "owner"]]),
    address: "203.0.113.7",
    agent: "Mozilla/5.0 “x”",
    tokenHash: (yield* Fixture.word).replaceAll("-", "").repeat(2),
    userId: owner.userId,
    createdAt: start,
    idleUntil: start + 12 * hour,
    absoluteUntil: start + 7 * day
  }
  yield* store.create(session)
  return session
})

/** Registers the tests. They need a member, whom only {@link Founded} creates. */
export const testsOfEmpty = (it: Fixture.FoundedIt<Founded>): void => {
  it.effect("a session is found by its own token's hash only", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const one = yield* created
      const two = yield* created
      assert.deepStrictEqual(yield* store.use(one.tokenHash, start, one.idleUntil), Option.some(one))
      assert.deepStrictEqual(yield* store.use(two.tokenHash, start, two.idleUntil), Option.some(two))
      assert.deepStrictEqual(yield* store.use("f".repeat(64), start, start + hour), Option.none())
    }))

  it.effect("a session keeps the roles of its own sign-in, or none", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const one = yield* created
      for (const roles of [null, new Map(), one.roles]) {
        const session = { ...one, id: yield* Fixture.id("ses"), tokenHash: yield* People.tokenHash, roles }
        assert.isTrue(yield* store.create(session))
        assert.deepStrictEqual(yield* store.use(session.tokenHash, start, session.idleUntil), Option.some(session))
        assert.deepInclude(yield* store.list(session.userId, start), session)
        yield* store.remove(session.tokenHash)
      }
    }))

  it.effect("a session is fresh for ten minutes after it was created or its person last proved their presence", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const { tokenHash: first } = yield* created
      const other = yield* created
      const tokenHash = yield* People.tokenHash
      assert.isTrue(yield* store.isFresh(first, start + 10 * minute - 1))
      assert.isFalse(yield* store.isFresh(first, start + 10 * minute))
      assert.isTrue(yield* store.prove(first, start + hour, tokenHash))
      const isFresh = (at: number) => store.isFresh(tokenHash, at)
      assert.isTrue(yield* isFresh(start + hour + 10 * minute - 1))
      assert.isFalse(yield* isFresh(start + hour + 10 * minute))
      assert.isFalse(yield* store.isFresh(other.tokenHash, start + hour))
      yield* store.use(tokenHash, start + hour, start + 2 * hour)
      yield* store.move(tokenHash, other.workspaceId)
      assert.isTrue(yield* isFresh(start + hour))
      assert.isFalse(yield* store.isFresh("f".repeat(64), start))
      assert.isFalse(yield* store.prove("f".repeat(64), start, yield* People.tokenHash))
    }))

  it.effect("a proof of presence replaces the session's token, once, and the old one finds nothing any more", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = yield* created
      const [next, late] = [yield* People.tokenHash, yield* People.tokenHash]
      const results = yield* Effect.all(
        [store.prove(session.tokenHash, start, next), store.prove(session.tokenHash, start, late)],
        { concurrency: "unbounded" }
      )
      assert.sameMembers(results, [true, false])
      const [own, unused] = results[0] === true ? [next, late] : [late, next]
      const renewed = { ...session, tokenHash: own }
      assert.deepStrictEqual(yield* store.use(own, start, session.idleUntil), Option.some(renewed))
      for (const hash of [session.tokenHash, unused]) {
        assert.deepStrictEqual(yield* store.use(hash, start, session.idleUntil), Option.none())
        assert.isFalse(yield* store.isFresh(hash, start))
      }
      assert.deepInclude(yield* store.list(session.userId, start), renewed)
      yield* store.remove(own)
    }))

  it.effect("a session of a person who proved their presence before is as fresh as that proof", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = { ...(yield* created), tokenHash: "e".repeat(64), id: yield* Fixture.id("ses") }
      yield* store.create(session, { provenAt: start - 9 * minute })
      assert.isTrue(yield* store.isFresh(session.tokenHash, start))
      assert.isFalse(yield* store.isFresh(session.tokenHash, start + minute))
    }))

  it.effect("a session that continues another one is as fresh as it, ends when it would have ended, and needs it", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const members = yield* MemberStore.MemberStore
      const session = (fields: Partial<SessionStore.StoredSession>) =>
        Effect.gen(function*() {
          const made = { ...(yield* created), id: yield* Fixture.id("ses"), tokenHash: yield* People.tokenHash }
          return { ...made, ...fields }
        })
      const first = yield* created
      const late = { createdAt: start + hour, idleUntil: start + 13 * hour, absoluteUntil: start + 7 * day + hour }
      const second = yield* session(late)
      assert.isTrue(yield* store.create(second, { of: first.tokenHash, isContinuing: true }))
      assert.deepStrictEqual(yield* store.use(first.tokenHash, start, start), Option.none())
      const kept = { ...second, absoluteUntil: first.absoluteUntil }
      assert.deepStrictEqual(yield* store.use(second.tokenHash, start + hour, start + hour), Option.some(kept))
      assert.isTrue(yield* store.isFresh(second.tokenHash, start + 10 * minute - 1))
      assert.isFalse(yield* store.isFresh(second.tokenHash, start + hour))
      const renewed = yield* People.tokenHash
      assert.isTrue(yield* store.prove(second.tokenHash, start + 2 * hour, renewed))
      const end = { idleUntil: first.absoluteUntil + hour, absoluteUntil: first.absoluteUntil + day }
      const third = yield* session({ ...end, createdAt: start + 3 * hour })
      assert.isTrue(yield* store.create(third, { of: renewed, isContinuing: true }))
      const limited = { ...third, idleUntil: first.absoluteUntil, absoluteUntil: first.absoluteUntil }
      assert.deepStrictEqual(yield* store.use(third.tokenHash, start + 3 * hour, start), Option.some(limited))
      assert.isTrue(yield* store.isFresh(third.tokenHash, start + 2 * hour + 10 * minute - 1))
      assert.isFalse(yield* store.isFresh(third.tokenHash, start + 2 * hour + 10 * minute))
      const own = yield* Fixture.world()
      const stranger = yield* People.joined(own)
      const theirs = yield* session({ userId: stranger.userId })
      yield* store.create(theirs)
      for (const  of of[second.tokenHash, theirs.tokenHash, undefined]) {
        const refused = yield* session({})
        assert.isFalse(yield* store.create(refused, { of, isContinuing: true }))
        assert.deepStrictEqual(yield* store.use(refused.tokenHash, start, start), Option.none())
      }
      assert.deepStrictEqual(yield* store.use(theirs.tokenHash, start, start), Option.some(theirs))
      // none outlives a new password that ends the session which it continues
      for (let round = 0; round < 5; round++) {
        const before = yield* session({ userId: stranger.userId })
        yield* store.create(before)
        const after = yield* session({ userId: stranger.userId })
        yield* Effect.all([
          members.setPassword(stranger.userId, `$${round}`),
          store.create(after, { of: before.tokenHash, isContinuing: true })
        ], { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* store.list(stranger.userId, start), [])
      }
    }))

  it.effect("all sessions of a person end in one step, except one that is named", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const { tokenHash, userId } = yield* created
      yield* created
      const before = (yield* store.list(userId, start)).length
      assert.strictEqual(yield* store.endAll(userId, tokenHash), before - 1)
      assert.deepStrictEqual((yield* store.list(userId, start)).map((session) => session.tokenHash), [tokenHash])
      assert.strictEqual(yield* store.endAll(yield* Fixture.id("usr")), 0)
      assert.strictEqual(yield* store.endAll(userId), 1)
      assert.deepStrictEqual(yield* store.list(userId, start), [])
    }))

  it.effect("use moves the idle end forward, never back", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = yield* created
      const { tokenHash } = session
      const moved = { ...session, idleUntil: start + 13 * hour }
      assert.deepStrictEqual(yield* store.use(tokenHash, start + hour, start + 13 * hour), Option.some(moved))
      assert.deepStrictEqual(yield* store.use(tokenHash, start + 2 * hour, start + 5 * hour), Option.some(moved))
      const late = start + 13 * hour - 1
      assert.deepStrictEqual(yield* store.use(tokenHash, late, start + hour), Option.some(moved))
    }))

  it.effect("a session ends at its idle end, and using it then does not revive it", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const one = yield* created
      const end = one.idleUntil
      assert.isTrue(Option.isSome(yield* store.use(one.tokenHash, end - 1, end)))
      assert.deepStrictEqual(yield* store.use(one.tokenHash, end, end + 12 * hour), Option.none())
      assert.deepStrictEqual(yield* store.use(one.tokenHash, end + 1, end + 13 * hour), Option.none())
    }))

  it.effect("the idle end never moves beyond the absolute end", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = yield* created
      const { absoluteUntil, tokenHash } = session
      for (let at = start; at < absoluteUntil; at += 12 * hour - 1) {
        const used = yield* store.use(tokenHash, at, at + 12 * hour)
        const idleUntil = Math.min(at + 12 * hour, absoluteUntil)
        assert.deepStrictEqual(used, Option.some({ ...session, idleUntil }))
      }
      assert.isTrue(Option.isSome(yield* store.use(tokenHash, absoluteUntil - 1, absoluteUntil + hour)))
      assert.deepStrictEqual(yield* store.use(tokenHash, absoluteUntil, absoluteUntil + hour), Option.none())
    }))

  it.effect("use does what Session.used says, at every time and for every idle end", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = yield* created
      const { absoluteUntil, idleUntil } = session
      const times = [start, idleUntil, idleUntil + step, absoluteUntil].flatMap((at) => [at - 1, at, at + 1])
      for (const now of times) {
        for (const until of times) {
          const own = { ...session, id: yield* Fixture.id("ses"), tokenHash: "9".repeat(64) }
          yield* store.create(own)
          const expected = Session.used(own, now, until)
          assert.deepStrictEqual(yield* store.use(own.tokenHash, now, until), Option.fromUndefinedOr(expected))
          yield* store.remove(own.tokenHash)
        }
      }
    }))

  it.effect("remove ends one session immediately, and ignores unknown ones", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const one = yield* created
      const two = yield* created
      yield* store.remove(one.tokenHash)
      yield* store.remove(one.tokenHash)
      yield* store.remove("e".repeat(64))
      assert.deepStrictEqual(yield* store.use(one.tokenHash, start, one.idleUntil), Option.none())
      assert.deepStrictEqual(yield* store.use(two.tokenHash, start, two.idleUntil), Option.some(two))
    }))

  it.effect("create ends the session that it replaces, and no other", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const [other, first] = [yield* created, yield* created]
      const second = { ...first, id: yield* Fixture.id("ses"), tokenHash: "a".repeat(64) }
      assert.isTrue(yield* store.create(second, { of: first.tokenHash }))
      assert.deepStrictEqual(yield* store.use(first.tokenHash, start, first.idleUntil), Option.none())
      for (const session of [second, other]) {
        assert.deepStrictEqual(yield* store.use(session.tokenHash, start, session.idleUntil), Option.some(session))
      }
    }))

  it.effect("a new password ends every session of its person, and prevents sign-ins with the old one", () =>
    Effect.gen(function*() {
      const { owner } = yield* founder
      const store = yield* SessionStore.SessionStore
      const members = yield* MemberStore.MemberStore
      const before = [yield* created, yield* created]
      const passwordHash = "$argon2id$v=19$m=19456,t=2,p=1$bmV3c2FsdA$bmV3aGFzaA"
      // including what a failed test and the others have left
      assert.isAtLeast(Option.getOrThrow(yield* members.setPassword(owner.userId, passwordHash)), 2)
      for (const { idleUntil, tokenHash } of before) {
        assert.deepStrictEqual(yield* store.use(tokenHash, start, idleUntil), Option.none())
      }
      const found = Option.getOrThrow(yield* members.findByUserId(owner.userId))
      assert.strictEqual(found.person.passwordHash, passwordHash)
      const late = { ...before[0]!, tokenHash: "b".repeat(64) }
      const current = yield* created
      assert.isFalse(yield* store.create(late, { of: current.tokenHash, passwordHash: owner.passwordHash! }))
      assert.deepStrictEqual(yield* store.use(late.tokenHash, start, late.idleUntil), Option.none())
      assert.deepStrictEqual(yield* store.use(current.tokenHash, start, current.idleUntil), Option.some(current))
      assert.isTrue(yield* store.create(late, { passwordHash }))
      assert.deepStrictEqual(yield* members.setPassword(yield* Fixture.id("usr"), passwordHash), Option.none())
      assert.deepStrictEqual(yield* members.setPassword(owner.userId, owner.passwordHash!), Option.some(2))
    }))

  it.effect("of sign-ins that race with a new password, none leaves a session behind", () =>
    Effect.gen(function*() {
      const { owner } = yield* founder
      const store = yield* SessionStore.SessionStore
      const members = yield* MemberStore.MemberStore
      const { tokenHash: _, ...session } = yield* created
      for (let round = 0; round < 10; round++) {
        const hashes = Array.from({ length: 8 }, (_, i) => `${round}${i}`.padStart(64, "c"))
        const create = (tokenHash: string) =>
          Effect.flatMap(
            Fixture.id("ses"),
            (id) => store.create({ ...session, id, tokenHash }, { passwordHash: owner.passwordHash! })
          )
        const change = members.setPassword(owner.userId, `${owner.passwordHash}x`)
        yield* Effect.all([...hashes.slice(0, 4).map(create), change, ...hashes.slice(4).map(create)], {
          concurrency: "unbounded"
        })
        for (const tokenHash of hashes) {
          assert.deepStrictEqual(yield* store.use(tokenHash, start, session.idleUntil), Option.none())
        }
        yield* members.setPassword(owner.userId, owner.passwordHash!)
      }
    }))

  it.effect("racing uses leave the latest idle end", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = yield* created
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, i) => (i * 7) % 20),
        (n) => store.use(session.tokenHash, start + hour, start + 13 * hour + n * step),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        yield* store.use(session.tokenHash, start + hour, start),
        Option.some({ ...session, idleUntil: start + 13 * hour + 19 * step })
      )
    }))

  it.effect("a person's live sessions are listed newest first, and a new password can keep one of them", () =>
    Effect.gen(function*() {
      const { owner } = yield* founder
      const store = yield* SessionStore.SessionStore
      const members = yield* MemberStore.MemberStore
      yield* members.setPassword(owner.userId, owner.passwordHash!)
      const [first, second] = [yield* created, yield* created]
      const idOf = ({ id }: SessionStore.StoredSession) => id
      assert.deepStrictEqual((yield* store.list(owner.userId, start)).map(idOf), [second.id, first.id])
      assert.deepStrictEqual(yield* store.list(owner.userId, first.idleUntil), [])
      assert.deepStrictEqual(yield* store.list(yield* Fixture.id("usr"), start), [])
      const ended = yield* members.setPassword(owner.userId, owner.passwordHash!, { keep: first.tokenHash })
      assert.deepStrictEqual(ended, Option.some(1))
      assert.deepStrictEqual(yield* store.list(owner.userId, start), [first])
    }))

  it.effect("a person can end their own sessions by id, and no one else's", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = yield* created
      assert.isFalse(yield* store.end(yield* Fixture.id("usr"), session.id))
      assert.isFalse(yield* store.end(session.userId, yield* Fixture.id("ses")))
      assert.isTrue(yield* store.end(session.userId, session.id))
      assert.isFalse(yield* store.end(session.userId, session.id))
      assert.deepStrictEqual(yield* store.use(session.tokenHash, start, session.idleUntil), Option.none())
    }))

  it.effect("a session moves to another workspace, and otherwise stays as it is", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = yield* created
      const workspaceId = yield* Fixture.id("ws")
      yield* store.move(session.tokenHash, workspaceId)
      yield* store.move("d".repeat(64), workspaceId)
      const moved = { ...session, workspaceId }
      assert.deepStrictEqual(yield* store.use(session.tokenHash, start, session.idleUntil), Option.some(moved))
    }))

  it.effect("only ended sessions are deleted", () =>
    Effect.gen(function*() {
      const store = yield* SessionStore.SessionStore
      const session = yield* created
      const { absoluteUntil, idleUntil, tokenHash } = session
      yield* Forgetting.all(store.forget(absoluteUntil - 1))
      assert.deepStrictEqual(yield* store.use(tokenHash, start, idleUntil), Option.some(session))
      assert.isAtLeast(yield* Forgetting.all(store.forget(absoluteUntil)), 1)
      assert.deepStrictEqual(yield* store.use(tokenHash, absoluteUntil, idleUntil), Option.none())
    }))
}
