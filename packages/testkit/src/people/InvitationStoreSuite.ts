/**
 * Conformance of `InvitationStore`: invitations and their acceptance, and links that reset a password.
 */
import { assert } from "@effect/vitest"
import { AlertStore, type Id, InvitationStore, type Member, MemberStore, SessionStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as People from "./PeopleFixture.ts"

const { day, hour, world } = Fixture

type Made = Parameters<InvitationStore.InvitationStore["Service"]["create"]>[0]

/** Stores an invitation. */
const assertCreated = (invitation: Made) =>
  Effect.gen(function*() {
    const store = yield* InvitationStore.InvitationStore
    assert.deepStrictEqual(yield* store.create(invitation), { _tag: "Created", invitation })
  })

/** Tries to store an invitation that its maker may not make. */
const assertRefused = (invitation: Made) =>
  Effect.gen(function*() {
    const store = yield* InvitationStore.InvitationStore
    const result = yield* store.create(invitation)
    assert.strictEqual(result._tag === "Refused" && result.error.reason, "role_not_allowed")
  })

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
      const withdraw = (workspaceId: Id.WorkspaceId) =>
        store.withdraw({ workspaceId, id: invitation.id, by: People.operator })
      assert.deepStrictEqual(yield* withdraw(other.workspace.id), { _tag: "Unknown" })
      assert.deepStrictEqual(yield* withdraw(own.workspace.id), { _tag: "Withdrawn", invitation })
      assert.deepStrictEqual(yield* withdraw(own.workspace.id), { _tag: "Unknown" })
      assert.deepStrictEqual(yield* store.accept(yield* People.acceptance(invitation)), { _tag: "Gone" })
    }))

  it.effect("an invitation ends when its maker is removed or may not give its role any more", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const members = yield* MemberStore.MemberStore
      const alerts = yield* AlertStore.AlertStore
      const own = yield* world()
      const workspaceId = own.workspace.id
      const [one, two] = [yield* People.joined(own, { role: "owner" }), yield* People.joined(own, { role: "owner" })]
      const by = People.maker(two)
      const roles = ["owner", "admin", "member"] as const
      const made = yield* Effect.forEach(roles, (role) => People.invitation(own, { role, by }))
      const others = yield* People.invitation(own, { role: "owner", by: People.maker(one) })
      for (const invitation of [...made, others]) yield* assertCreated(invitation)
      const change = (userId: Id.UserId, role: Member.Role | null) =>
        members.change({ workspaceId, userId, role, by: { userId: one.userId, role: null } })
      const pending = Effect.map(store.list(workspaceId, own.start), (all) => all.map(({ id }) => id))
      yield* change(two.userId, "admin")
      assert.sameMembers(yield* pending, [made[1]!.id, made[2]!.id, others.id])
      yield* alerts.configure(workspaceId, { emails: [one.email, two.email], url: null })
      yield* change(two.userId, null)
      assert.deepStrictEqual(yield* pending, [others.id])
      assert.deepStrictEqual((yield* alerts.settings(workspaceId)).emails, [one.email])
      for (const invitation of made) {
        assert.deepStrictEqual(yield* store.accept(yield* People.acceptance(invitation)), { _tag: "Gone" })
      }
      // a person who is no member makes none
      yield* assertRefused(yield* People.invitation(own, { by }))
      const sock = yield* store.accept(yield* People.acceptance(others))
      assert.strictEqual(sock._tag, "Accepted")
    }))

  it.effect("an invitation is judged by its maker's role when it is accepted, however their role was lost", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const admin = yield* People.joined(own, { role: "admin" })
      const made = yield* People.invitation(own, { role: "developer", by: People.maker(admin) })
      yield* assertCreated(made)
      const forOwner = yield* People.invitation(own, { role: "owner", by: People.maker(admin) })
      yield* assertRefused(forOwner)
      assert.deepStrictEqual(yield* store.find(forOwner.tokenHash), Option.none())
      const identity = yield* People.identity
      const assign = (role: Member.Role) =>
        members.assign({
          identity,
          userId: admin.userId,
          email: admin.email,
          now: own.start,
          roles: [{ workspaceId: own.workspace.id, role }]
        })
      yield* assign("developer")
      assert.deepStrictEqual(yield* store.accept(yield* People.acceptance(made)), { _tag: "Gone" })
      yield* assign("admin")
      assert.strictEqual((yield* store.accept(yield* People.acceptance(made)))._tag, "Accepted")
    }))

  it.effect("only an owner withdraws or replaces an invitation that is for an owner or that an owner made", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const own = yield* world()
      const workspaceId = own.workspace.id
      const [owner, admin] = [
        People.maker(yield* People.joined(own, { role: "owner" })),
        People.maker(yield* People.joined(own, { role: "admin" }))
      ]
      for (const [by, role] of [[owner, "owner"], [owner, "member"], [People.operator, "member"]] as const) {
        const made = yield* People.invitation(own, { by, role })
        yield* assertCreated(made)
        const refused = yield* store.withdraw({ workspaceId, id: made.id, by: admin })
        assert.strictEqual(refused._tag, "Refused")
        const instead = yield* People.invitation(own, { email: made.email, by: admin })
        yield* assertRefused(instead)
        assert.deepStrictEqual(yield* store.find(made.tokenHash), Option.some(made))
        const renewed = yield* People.invitation(own, { email: made.email, by: owner })
        yield* assertCreated(renewed)
        assert.strictEqual((yield* store.withdraw({ workspaceId, id: renewed.id, by: owner }))._tag, "Withdrawn")
      }
      const made = yield* People.invitation(own, { by: admin })
      yield* assertCreated(made)
      yield* assertCreated(yield* People.invitation(own, { email: made.email, by: admin }))
    }))

  it.effect("an invitation that races with its maker's removal leaves no member that the maker may not invite", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const workspaceId = own.workspace.id
      const owner = yield* People.joined(own, { role: "owner" })
      for (let round = 0; round < 5; round++) {
        const other = yield* People.joined(own, { role: "owner" })
        const made = yield* People.invitation(own, { role: "owner", by: People.maker(other) })
        const [late, command] = [
          yield* People.invitation(own, { role: "admin", by: People.maker(other) }),
          yield* People.acceptance(made)
        ]
        yield* store.create(made)
        const [accepted] = yield* Effect.all([
          store.accept(command),
          members.change({ workspaceId, userId: other.userId, role: null, by: { userId: owner.userId, role: null } }),
          store.create(late)
        ], { concurrency: "unbounded" })
        const all = yield* members.ofWorkspace(workspaceId)
        assert.strictEqual(all.some(({ userId }) => userId === command.userId), accepted._tag === "Accepted")
        // whichever came first, none is left behind
        assert.deepStrictEqual(yield* store.list(workspaceId, own.start), [])
      }
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
      const proven = { provenId: member.userId, passwordHash: null }
      const command = yield* People.acceptance(invitation, proven)
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
      assert.deepStrictEqual(yield* store.accept(yield* People.acceptance(again, proven)), accepted)
      const [, after] = Option.getOrThrow(yield* members.findByUserId(member.userId)).memberships
      assert.strictEqual(after!.role, "admin")
    }))

  it.effect("an account that nobody has proven to be theirs joins no workspace, and its invitation stays valid", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const members = yield* MemberStore.MemberStore
      const [first, second] = [yield* world(), yield* world()]
      const member = yield* People.joined(first)
      const invitation = yield* People.invitation(second, { email: member.email })
      yield* store.create(invitation)
      for (const provenId of [null, yield* Fixture.id("usr")]) {
        const command = yield* People.acceptance(invitation, { provenId })
        assert.deepStrictEqual(yield* store.accept(command), { _tag: "Unproven" })
      }
      assert.deepStrictEqual(yield* members.ofWorkspace(second.workspace.id), [])
      const { person } = Option.getOrThrow(yield* members.findByUserId(member.userId))
      assert.strictEqual(person.passwordHash, People.passwordHash)
      const proven = yield* People.acceptance(invitation, { provenId: member.userId, passwordHash: null })
      assert.strictEqual((yield* store.accept(proven))._tag, "Accepted")
    }))

  it.effect("of racing requests with different invitations for a new address, exactly one creates its account", () =>
    Effect.gen(function*() {
      const store = yield* InvitationStore.InvitationStore
      const members = yield* MemberStore.MemberStore
      const email = `${yield* Fixture.word}@example.com`
      const commands = yield* Effect.replicateEffect(
        Effect.gen(function*() {
          const invitation = yield* People.invitation(yield* world(), { email })
          yield* store.create(invitation)
          return yield* People.acceptance(invitation, { passwordHash: `$${yield* Fixture.word}` })
        }),
        4
      )
      const answers = yield* Effect.forEach(commands, store.accept, { concurrency: "unbounded" })
      assert.deepStrictEqual(answers.map(({ _tag }) => _tag).sort(), ["Accepted", "Unproven", "Unproven", "Unproven"])
      const { memberships, person } = Option.getOrThrow(yield* members.findByEmail(email))
      const { passwordHash, userId } = commands[answers.findIndex(({ _tag }) => _tag === "Accepted")]!
      assert.deepInclude(person, { userId, passwordHash })
      assert.lengthOf(memberships, 1)
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
        roles: null,
        address: null,
        agent: null,
        createdAt: own.start,
        idleUntil: own.start + hour,
        absoluteUntil: own.start + hour
      }
      yield* sessions.create(session)
      assert.deepStrictEqual(yield* store.findReset(one, own.start + hour - 1), Option.some(userId))
      assert.deepStrictEqual(yield* store.findReset(one, own.start + hour), Option.none())
      assert.deepStrictEqual(yield* store.findReset("f".repeat(64), own.start), Option.none())
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
      assert.deepStrictEqual(yield* store.findReset(one, own.start), Option.none())
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
