/**
 * Conformance of `InvitationStore`.
 */
import { assert } from "@effect/vitest"
import { type Id, InvitationStore, MemberStore, SessionStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as People from "./PeopleFixture.ts"

const { day, hour, world } = Fixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("an invitation is found by its token's hash, and listed until it expires", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const own = yield* world()
      const [one, two] = [yield* People.invitation(own), yield* People.invitation(own, { role: "admin" })]
      yield* store.create(one)
      yield* store.create(two)
      assert.deepStrictEqual(yield* store.find(one.tokenHash), Option.some(one))
      assert.deepStrictEqual(yield* store.find("f".repeat(64)), Option.none())
      assert.deepStrictEqual(yield* store.list(own.workspace.id, own.start), [two, one])
      assert.deepStrictEqual(yield* store.list(own.workspace.id, one.expiresAt), [])
      assert.deepStrictEqual(yield* store.list((yield* world()).workspace.id, 0), [])
    }))

  it.effect("an invitation replaces an earlier one of the workspace for the same address", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const [other, own] = [yield* world(), yield* world()]
      const one = yield* People.invitation(own)
      const elsewhere = yield* People.invitation(other, { email: one.email })
      const two = yield* People.invitation(own, { email: one.email, role: "owner" })
      for (const invitation of [one, elsewhere, two]) yield* store.create(invitation)
      assert.deepStrictEqual(yield* store.find(one.tokenHash), Option.none())
      assert.deepStrictEqual(yield* store.list(own.workspace.id, own.start), [two])
      assert.deepStrictEqual(yield* store.list(other.workspace.id, other.start), [elsewhere])
    }))

  it.effect("only its own workspace can withdraw an invitation", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const [own, other] = [yield* world(), yield* world()]
      const invitation = yield* People.invitation(own)
      yield* store.create(invitation)
      assert.deepStrictEqual(yield* store.remove(other.workspace.id, invitation.id), Option.none())
      assert.deepStrictEqual(yield* store.remove(own.workspace.id, invitation.id), Option.some(invitation))
      assert.deepStrictEqual(yield* store.remove(own.workspace.id, invitation.id), Option.none())
      assert.deepStrictEqual(yield* store.accept(yield* People.acceptance(invitation)), { _tag: "Gone" })
    }))

  it.effect("accepting an invitation makes a new person and a member, once", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const invitation = yield* People.invitation(own)
      yield* store.create(invitation)
      const nobody = yield* People.acceptance(invitation, { passwordHash: null })
      assert.deepStrictEqual(yield* store.accept(nobody), { _tag: "PasswordNeeded" })
      const command = yield* People.acceptance(invitation, { now: own.start + day })
      assert.deepStrictEqual(yield* store.accept(command), {
        _tag: "Accepted",
        userId: command.userId,
        workspaceId: own.workspace.id
      })
      const { email, role } = invitation
      const { passwordHash, userId } = command
      assert.deepStrictEqual(
        yield* members.findByEmail(email),
        Option.some({
          person: { userId, email, passwordHash, createdAt: command.now },
          memberships: [{ role, workspace: own.workspace }]
        })
      )
      assert.deepStrictEqual(yield* store.find(invitation.tokenHash), Option.none())
      assert.deepStrictEqual(yield* store.accept(yield* People.acceptance(invitation)), { _tag: "Gone" })
    }))

  it.effect("an expired invitation is gone", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const own = yield* world()
      const invitation = yield* People.invitation(own)
      yield* store.create(invitation)
      const accept = (now: number) => Effect.flatMap(People.acceptance(invitation, { now }), store.accept)
      assert.deepStrictEqual(yield* accept(invitation.expiresAt), { _tag: "Gone" })
      assert.strictEqual((yield* accept(invitation.expiresAt - 1))._tag, "Accepted")
    }))

  it.effect("a person joins a further workspace with their existing account", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const members = yield* MemberStore.MemberStore
      const [second, first] = [yield* world(), yield* world()]
      const member = yield* People.joined(first)
      const invitation = yield* People.invitation(second, { email: member.email, role: "admin" })
      yield* store.create(invitation)
      const command = yield* People.acceptance(invitation, { passwordHash: null })
      const accepted = { _tag: "Accepted" as const, userId: member.userId, workspaceId: second.workspace.id }
      assert.deepStrictEqual(yield* store.accept(command), accepted)
      const { memberships, person } = Option.getOrThrow(yield* members.findByUserId(member.userId))
      assert.strictEqual(person.passwordHash, People.passwordHash)
      assert.deepStrictEqual(memberships, [
        { role: "developer", workspace: first.workspace },
        { role: "admin", workspace: second.workspace }
      ])
      // an existing member keeps their role
      const again = yield* People.invitation(second, { email: member.email, role: "member" })
      yield* store.create(again)
      assert.deepStrictEqual(yield* store.accept(yield* People.acceptance(again)), accepted)
      const [, after] = Option.getOrThrow(yield* members.findByUserId(member.userId)).memberships
      assert.strictEqual(after!.role, "admin")
    }))

  it.effect("of racing requests to accept an invitation, exactly one succeeds", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const invitation = yield* People.invitation(own)
      yield* store.create(invitation)
      const commands = yield* Effect.replicateEffect(People.acceptance(invitation), 10)
      const answers = yield* Effect.forEach(commands, store.accept, { concurrency: "unbounded" })
      assert.strictEqual(answers.filter(({ _tag }) => _tag === "Accepted").length, 1)
      assert.strictEqual((yield* members.ofWorkspace(own.workspace.id)).length, 1)
    }))

  it.effect("a link resets a password once until it expires, and ends the person's sessions and other links", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const members = yield* MemberStore.MemberStore
      const sessions = yield* SessionStore.SessionStore
      const own = yield* world()
      const { userId } = yield* People.joined(own)
      const link = (userId: Id.UserId) =>
        Effect.gen(function*() {
          const tokenHash = yield* People.tokenHash
          yield* store.createReset({ tokenHash, userId, createdAt: own.start, expiresAt: own.start + hour })
          return tokenHash
        })
      const [one, two] = [yield* link(userId), yield* link(userId)]
      const session = {
        id: yield* Fixture.id("ses"),
        tokenHash: yield* People.tokenHash,
        userId,
        workspaceId: own.workspace.id,
        address: null,
        agent: null,
        createdAt: own.start,
        idleUntil: own.start + hour,
        absoluteUntil: own.start + hour
      }
      yield* sessions.create(session)
      assert.deepStrictEqual(yield* store.redeemReset(one, "$new", own.start + hour), Option.none())
      assert.deepStrictEqual(yield* store.redeemReset("f".repeat(64), "$new", own.start), Option.none())
      assert.strictEqual((yield* sessions.list(userId, own.start)).length, 1)
      const raced = yield* Effect.replicateEffect(store.redeemReset(one, "$new", own.start), 5, {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(raced.filter(Option.isSome), [Option.some(userId)])
      const found = Option.getOrThrow(yield* members.findByUserId(userId))
      assert.strictEqual(found.person.passwordHash, "$new")
      assert.deepStrictEqual(yield* sessions.list(userId, own.start), [])
      assert.deepStrictEqual(yield* store.redeemReset(two, "$newer", own.start), Option.none())
    }))

  it.effect("a link does not reset a password that was changed in another way since", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const [one, other] = [yield* People.joined(own), yield* People.joined(own)]
      const link = (userId: Id.UserId) =>
        Effect.gen(function*() {
          const tokenHash = yield* People.tokenHash
          yield* store.createReset({ tokenHash, userId, createdAt: own.start, expiresAt: own.start + hour })
          return tokenHash
        })
      const [own1, own2] = [yield* link(one.userId), yield* link(other.userId)]
      yield* members.setPassword(one.userId, "$changed")
      assert.deepStrictEqual(yield* store.redeemReset(own1, "$new", own.start), Option.none())
      assert.deepStrictEqual(yield* store.redeemReset(own2, "$new", own.start), Option.some(other.userId))
    }))
}
