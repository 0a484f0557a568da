/**
 * Conformance of `MemberStore`. `SessionStoreSuite` tests what a new password does to sessions.
 */
import { assert } from "@effect/vitest"
import { AlertStore, type Id, type Member, MemberStore, SessionStore, WorkspaceStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import { type Founded, founder } from "../workspaces/WorkspaceStoreSuite.ts"
import * as People from "./PeopleFixture.ts"

const { hour, world } = Fixture

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a person who does not exist is not found", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      assert.deepStrictEqual(yield* members.findByEmail(`${yield* Fixture.word}@example.com`), Option.none())
      assert.deepStrictEqual(yield* members.findByUserId(yield* Fixture.id("usr")), Option.none())
      assert.deepStrictEqual(yield* members.setPassword(yield* Fixture.id("usr"), "$argon2id$"), Option.none())
    }))

  it.effect("the members of a workspace are listed in the order of joining", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const [own, other] = [yield* world(), yield* world()]
      const second = yield* People.joined(own, { createdAt: own.start + 1, role: "admin" })
      const first = yield* People.joined(own)
      yield* People.joined(other)
      assert.deepStrictEqual(yield* members.ofWorkspace(own.workspace.id), [first, second])
    }))

  it.effect("a member gets another role, or is removed with their sessions in the workspace", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const sessions = yield* SessionStore.SessionStore
      const own = yield* world()
      const owner = yield* People.joined(own, { role: "owner" })
      const member = yield* People.joined(own)
      const by = People.asker("owner", owner.userId)
      const change = (role: Member.Role | null) =>
        members.change({ workspaceId: own.workspace.id, userId: member.userId, role, by })
      const admin = { ...member, role: "admin" } as const
      assert.deepStrictEqual(yield* change("admin"), { _tag: "Changed", before: member, member: admin })
      const session = (workspaceId: typeof own.workspace.id) =>
        Effect.gen(function*() {
          yield* sessions.create({
            id: yield* Fixture.id("ses"),
            tokenHash: yield* People.tokenHash,
            userId: member.userId,
            workspaceId,
            roles: null,
            address: null,
            agent: null,
            createdAt: own.start,
            idleUntil: own.start + hour,
            absoluteUntil: own.start + hour
          })
        })
      yield* session(own.workspace.id)
      yield* session((yield* world()).workspace.id)
      assert.deepStrictEqual(yield* change(null), { _tag: "Changed", before: admin, member: null })
      assert.deepStrictEqual(yield* change("member"), { _tag: "Unknown" })
      assert.deepStrictEqual(yield* members.ofWorkspace(own.workspace.id), [owner])
      assert.strictEqual((yield* sessions.list(member.userId, own.start)).length, 1)
      // the account stays
      const { memberships } = Option.getOrThrow(yield* members.findByUserId(member.userId))
      assert.deepStrictEqual(memberships, [])
    }))

  it.effect("alert settings lose the addresses of all members who are removed at once, and keep other addresses in order", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const alerts = yield* AlertStore.AlertStore
      const own = yield* world()
      const by = People.asker("owner", yield* Fixture.id("usr"))
      const removed = yield* Effect.replicateEffect(People.joined(own), People.crowd)
      const left = yield* People.joined(own)
      const emails = ["team@example.com", ...removed.map(({ email }) => email), left.email, "another@example.com"]
      yield* alerts.configure(own.workspace.id, { emails, url: null })
      yield* Effect.forEach(
        removed,
        ({ userId, workspaceId }) => members.change({ workspaceId, userId, role: null, by }),
        { concurrency: "unbounded", discard: true }
      )
      assert.deepStrictEqual(yield* alerts.settings(own.workspace.id), {
        emails: ["team@example.com", left.email, "another@example.com"],
        url: null
      })
    }))

  it.effect("assign makes a new person a member, and gives a known person exactly the stated roles", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const [own, other, third] = [yield* world(), yield* world(), yield* world()]
      const email = `${yield* Fixture.word}@example.com`
      const command = yield* People.assignment([own], {
        email,
        roles: [
          { workspaceId: own.workspace.id, role: "member" },
          { workspaceId: other.workspace.id, role: "owner" }
        ]
      })
      const raced = yield* Effect.replicateEffect(
        Effect.flatMap(Fixture.id("usr"), (userId) => members.assign({ ...command, userId })),
        5,
        { concurrency: "unbounded" }
      )
      const userId = People.recognized(raced[0]!)
      assert.deepStrictEqual(new Set(raced.map(People.recognized)), new Set([userId]))
      const account = Effect.map(members.findByUserId(userId), Option.getOrThrow)
      assert.deepInclude((yield* account).person, { email, passwordHash: null })
      const roles = [
        { workspaceId: own.workspace.id, role: "admin" as const },
        { workspaceId: third.workspace.id, role: "developer" as const }
      ]
      const again = yield* members.assign({ ...command, now: own.start + 1, roles })
      assert.strictEqual(People.recognized(again), userId)
      assert.sameDeepMembers([...(yield* account).memberships], [
        { role: "admin", workspace: own.workspace },
        { role: "developer", workspace: third.workspace }
      ])
    }))

  it.effect("assign recognizes a known identity whatever its address is, and changes nothing for the address's person", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const [one, other] = [yield* People.assignment([own]), yield* People.assignment([own])]
      const [userId, otherId] = [
        People.recognized(yield* members.assign(one)),
        People.recognized(yield* members.assign(other))
      ]
      for (const email of [other.email, `${yield* Fixture.word}@example.com`, null]) {
        const roles = [{ workspaceId: own.workspace.id, role: "admin" as const }]
        assert.strictEqual(People.recognized(yield* members.assign({ ...one, email, roles })), userId)
      }
      const { memberships, person } = Option.getOrThrow(yield* members.findByUserId(userId))
      assert.strictEqual(person.email, one.email)
      assert.deepStrictEqual(memberships.map(({ role }) => role), ["admin"])
      const untouched = Option.getOrThrow(yield* members.findByUserId(otherId))
      assert.deepStrictEqual(untouched.memberships.map(({ role }) => role), ["member"])
    }))

  it.effect("assign links an identity to the person of its address once at each issuer, however many sign-ins race", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const { email, userId } = yield* People.joined(own)
      const raced = yield* Effect.replicateEffect(
        Effect.flatMap(People.assignment([own], { email }), members.assign),
        5,
        { concurrency: "unbounded" }
      )
      const linked = raced.filter(({ _tag }) => _tag === "Recognized")
      assert.deepStrictEqual(linked.map(People.recognized), [userId])
      const { subject } = yield* People.identity
      const moved = yield* People.assignment([own], {
        email,
        identity: { issuer: "https://another-issuer.example", subject }
      })
      assert.strictEqual(People.recognized(yield* members.assign(moved)), userId)
      // of the password, which people may have had before
      assert.strictEqual(
        Option.getOrThrow(yield* members.findByUserId(userId)).person.passwordHash,
        People.passwordHash
      )
    }))

  it.effect("an account whose identities are forgotten goes to the next one with its address, without its sessions", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const sessions = yield* SessionStore.SessionStore
      const own = yield* world()
      const before = yield* People.assignment([own])
      const after = { ...before, identity: yield* People.identity, userId: yield* Fixture.id("usr") }
      const other = yield* People.assignment([own])
      const userId = People.recognized(yield* members.assign(before))
      const otherId = People.recognized(yield* members.assign(other))
      for (const person of [userId, otherId]) {
        yield* sessions.create({
          id: yield* Fixture.id("ses"),
          tokenHash: yield* People.tokenHash,
          userId: person,
          workspaceId: own.workspace.id,
          roles: new Map([[own.workspace.id, "member"]]),
          address: null,
          agent: null,
          createdAt: own.start,
          idleUntil: own.start + hour,
          absoluteUntil: own.start + hour
        })
      }
      const refused = yield* members.assign(after)
      const theirs = { userId, email: before.email!, workspaceId: own.workspace.id }
      assert.deepStrictEqual(People.refusedAccount(refused), [theirs])
      assert.strictEqual(yield* members.unlink(userId), 1)
      assert.strictEqual(yield* members.unlink(userId), 0)
      assert.deepStrictEqual(yield* sessions.list(userId, own.start), [])
      assert.lengthOf(yield* sessions.list(otherId, own.start), 1)
      assert.strictEqual(People.recognized(yield* members.assign(after)), userId)
      assert.strictEqual((yield* members.assign(before))._tag, "Refused")
      assert.strictEqual(People.recognized(yield* members.assign(other)), otherId)
    }))

  it.effect("assign creates one person for an identity, even if sign-ins with different addresses race", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const identity = yield* People.identity
      const raced = yield* Effect.replicateEffect(
        Effect.flatMap(People.assignment([own], { identity }), members.assign),
        5,
        { concurrency: "unbounded" }
      )
      assert.strictEqual(new Set(raced.map(People.recognized)).size, 1)
      assert.lengthOf(yield* members.ofWorkspace(own.workspace.id), 1)
    }))

  it.effect("assign refuses an unknown identity without a verified address or without roles, and creates nobody", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const unverified = yield* People.assignment([own], { email: null })
      const without = yield* People.assignment([])
      for (const command of [unverified, without]) {
        assert.deepStrictEqual(People.refusedAccount(yield* members.assign(command)), [])
        assert.deepStrictEqual(yield* members.findByUserId(command.userId), Option.none())
      }
      assert.deepStrictEqual(yield* members.findByEmail(without.email!), Option.none())
      // the identity is still unknown
      const roles = [{ workspaceId: own.workspace.id, role: "member" as const }]
      assert.strictEqual(People.recognized(yield* members.assign({ ...without, roles })), without.userId)
    }))

  it.effect("assign ends the sessions in workspaces that it takes away, and without roles all of them, and returns what the refused person lost", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const sessions = yield* SessionStore.SessionStore
      const [own, other] = [yield* world(), yield* world()]
      const command = yield* People.assignment([own, other])
      const userId = People.recognized(yield* members.assign(command))
      for (const { workspace } of [own, other]) {
        yield* sessions.create({
          id: yield* Fixture.id("ses"),
          tokenHash: yield* People.tokenHash,
          userId,
          workspaceId: workspace.id,
          roles: null,
          address: null,
          agent: null,
          createdAt: own.start,
          idleUntil: own.start + hour,
          absoluteUntil: own.start + hour
        })
      }
      const left = Effect.map(
        sessions.list(userId, own.start),
        (all) => all.map(({ workspaceId }) => workspaceId)
      )
      yield* members.assign({ ...command, roles: command.roles.slice(1) })
      assert.deepStrictEqual(yield* left, [other.workspace.id])
      const refused = () => Effect.map(members.assign({ ...command, email: null, roles: [] }), People.refusedAccount)
      const lost = { userId, email: command.email!, workspaceId: other.workspace.id }
      assert.deepStrictEqual(yield* refused(), [lost])
      assert.deepStrictEqual(yield* refused(), [])
      assert.deepStrictEqual(yield* left, [])
      assert.deepStrictEqual(Option.getOrThrow(yield* members.findByUserId(userId)).memberships, [])
    }))

  it.effect("assign takes the address of the account out of the alert settings of the workspaces that it takes away", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const alerts = yield* AlertStore.AlertStore
      const [own, other, strange] = [yield* world(), yield* world(), yield* world()]
      const command = yield* People.assignment([own, other])
      yield* members.assign(command)
      const email = command.email!
      const team = "team@example.com"
      const url = "https://example.com/alerts"
      for (const { workspace } of [own, other, strange]) {
        yield* alerts.configure(workspace.id, { emails: [email, team], url })
      }
      const emails = Effect.forEach(
        [own, other, strange],
        ({ workspace }) => Effect.map(alerts.settings(workspace.id), ({ emails }) => emails)
      )
      yield* members.assign({ ...command, email: "other@example.com", roles: command.roles.slice(1) })
      assert.deepStrictEqual(yield* emails, [[team], [email, team], [email, team]])
      assert.strictEqual((yield* members.assign({ ...command, email: null, roles: [] }))._tag, "Refused")
      assert.deepStrictEqual(yield* emails, [[team], [team], [email, team]])
      assert.deepStrictEqual(yield* alerts.settings(own.workspace.id), { emails: [team], url })
    }))

  it.effect("assign, changes of the person's memberships and new passwords do not fail when they race", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const [own, other] = [yield* world(), yield* world()]
      const { email, identity } = yield* People.assignment([own])
      const assign = (...worlds: ReadonlyArray<Fixture.World>) =>
        Effect.flatMap(
          People.assignment(worlds, { email, identity }),
          (command) => Effect.map(members.assign(command), People.recognized)
        )
      const userId = yield* assign(own, other)
      const by = People.asker("owner", yield* Fixture.id("usr"))
      for (let round = 0; round < 10; round++) {
        const change = ({ workspace }: Fixture.World, role: Member.Role | null) =>
          members.change({ workspaceId: workspace.id, userId, role, by })
        yield* Effect.all([
          assign(other, own),
          change(own, "admin"),
          members.setPassword(userId, `$${round}`),
          assign(own),
          change(other, null),
          change(own, null),
          assign(own, other)
        ], { concurrency: "unbounded" })
      }
      assert.strictEqual(yield* assign(other), userId)
      const { memberships } = Option.getOrThrow(yield* members.findByUserId(userId))
      assert.deepStrictEqual(memberships, [{ role: "member", workspace: other.workspace }])
    }))

  it.effect("a new password is set only while the verified one is the present one and the session to keep exists", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const sessions = yield* SessionStore.SessionStore
      const own = yield* world()
      const [{ userId }, other] = [yield* People.joined(own), yield* People.joined(own)]
      const opened = (userId: Id.UserId) =>
        Effect.gen(function*() {
          const tokenHash = yield* People.tokenHash
          yield* sessions.create({
            id: yield* Fixture.id("ses"),
            tokenHash,
            userId,
            workspaceId: own.workspace.id,
            roles: null,
            address: null,
            agent: null,
            createdAt: own.start,
            idleUntil: own.start + hour,
            absoluteUntil: own.start + hour
          })
          return tokenHash
        })
      const [keep, strangers] = [yield* opened(userId), yield* opened(other.userId)]
      const present = Effect.gen(function*() {
        const { person } = Option.getOrThrow(yield* members.findByUserId(userId))
        return [person.passwordHash, (yield* sessions.list(userId, own.start)).map(({ tokenHash }) => tokenHash)]
      })
      for (
        const conditions of [
          { verified: "$another", keep },
          { verified: "$another" },
          { verified: People.passwordHash, keep: yield* People.tokenHash },
          { verified: People.passwordHash, keep: strangers }
        ]
      ) {
        assert.deepStrictEqual(yield* members.setPassword(userId, "$refused", conditions), Option.none())
        assert.deepStrictEqual(yield* present, [People.passwordHash, [keep]])
      }
      const first = yield* members.setPassword(userId, "$first", { verified: People.passwordHash, keep })
      assert.deepStrictEqual(first, Option.some(0))
      assert.deepStrictEqual(yield* present, ["$first", [keep]])
      const next = yield* People.tokenHash
      assert.deepStrictEqual(
        yield* members.setPassword(userId, "$first", { verified: "$first", keep, next }),
        Option.some(0)
      )
      assert.deepStrictEqual(yield* present, ["$first", [next]])
      // of a reset and changes that verified the same password, no change comes after the reset
      for (let round = 0; round < 5; round++) {
        const verified = `$round ${round}`
        yield* members.setPassword(userId, verified)
        const token = yield* opened(userId)
        yield* Effect.all([
          members.setPassword(userId, "$changed", { verified, keep: token }),
          members.setPassword(userId, "$reset"),
          members.setPassword(userId, "$changed", { verified, keep: token })
        ], { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* present, ["$reset", []])
      }
    }))

  it.effect("only owners manage owners, by their present role", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const owners = [yield* People.joined(own, { role: "owner" }), yield* People.joined(own, { role: "owner" })]
      const admin = yield* People.joined(own, { role: "admin" })
      const change = (userId: typeof admin.userId, role: Member.Role | null, by: typeof admin) =>
        members.change({
          workspaceId: own.workspace.id,
          userId,
          role,
          // the role that the request carried
          by: People.asker("owner", by.userId)
        })
      for (const role of ["admin", null] as const) {
        assert.strictEqual((yield* change(owners[0]!.userId, role, admin))._tag, "Refused")
      }
      assert.strictEqual((yield* change(admin.userId, "owner", admin))._tag, "Refused")
      // in a session whose sign-in brought less than the person's present role
      const limited = yield* members.change({
        workspaceId: own.workspace.id,
        userId: admin.userId,
        role: "owner",
        by: { userId: owners[0]!.userId, role: null, limit: "admin" }
      })
      assert.strictEqual(limited._tag, "Refused")
      assert.strictEqual((yield* change(admin.userId, "owner", owners[0]!))._tag, "Changed")
    }))

  it.effect("a person who was removed or demoted during their request changes no member", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const owner = yield* People.joined(own, { role: "owner" })
      const [admin, gone, member] = [
        yield* People.joined(own, { role: "admin" }),
        yield* People.joined(own, { role: "admin" }),
        yield* People.joined(own)
      ]
      const change = (userId: Id.UserId, role: Member.Role | null, by: Id.UserId, ofHost: Member.Role | null = null) =>
        Effect.map(
          members.change({ workspaceId: own.workspace.id, userId, role, by: { userId: by, role: ofHost } }),
          ({ _tag }) => _tag
        )
      assert.strictEqual(yield* change(member.userId, "member", admin.userId), "Changed")
      assert.strictEqual(yield* change(admin.userId, "developer", owner.userId), "Changed")
      assert.strictEqual(yield* change(gone.userId, null, owner.userId), "Changed")
      for (const by of [admin, gone]) {
        assert.strictEqual(yield* change(member.userId, "admin", by.userId), "Refused")
        assert.strictEqual(yield* change(member.userId, null, by.userId), "Refused")
      }
      // a host's person is not a member
      assert.strictEqual(yield* change(member.userId, "admin", yield* Fixture.id("usr"), "admin"), "Changed")
    }))

  it.effect("the last owner is neither demoted nor removed, however many requests race", () =>
    Effect.gen(function*() {
      const members = yield* MemberStore.MemberStore
      const own = yield* world()
      const owners = yield* Effect.replicateEffect(People.joined(own, { role: "owner" }), 4)
      const answers = yield* Effect.forEach(
        owners,
        ({ userId }, i) =>
          members.change({
            workspaceId: own.workspace.id,
            userId,
            role: i % 2 === 0 ? null : "member",
            by: People.asker("owner", userId)
          }),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(answers.filter(({ _tag }) => _tag === "Refused").length, 1)
      const left = yield* members.ofWorkspace(own.workspace.id)
      assert.strictEqual(left.filter(({ role }) => role === "owner").length, 1)
    }))
}

/** Registers the tests that need a member, whom only {@link Founded} creates. */
export const testsOfEmpty = (it: Fixture.FoundedIt<Founded>): void => {
  it.effect("the owner is found by e-mail address and by id, with the workspace's present state", () =>
    Effect.gen(function*() {
      const store = yield* WorkspaceStore.WorkspaceStore
      const members = yield* MemberStore.MemberStore
      const { owner, workspace } = yield* founder
      const { createdAt, email, passwordHash, role, userId, workspaceId } = owner
      const account = { person: { userId, email, passwordHash, createdAt }, memberships: [{ role, workspace }] }
      assert.deepStrictEqual(yield* members.findByEmail(email), Option.some(account))
      assert.deepStrictEqual(yield* members.findByUserId(userId), Option.some(account))
      const member = { userId, workspaceId, email, role, createdAt }
      assert.deepInclude(yield* members.list, { member, workspace })
      yield* store.configure(workspace.id, { monthlyQuota: 6000 })
      assert.deepStrictEqual(
        yield* members.findByUserId(userId),
        Option.some({ ...account, memberships: [{ role, workspace: { ...workspace, monthlyQuota: 6000 } }] })
      )
      yield* store.configure(workspace.id, { monthlyQuota: workspace.monthlyQuota })
    }))
}
