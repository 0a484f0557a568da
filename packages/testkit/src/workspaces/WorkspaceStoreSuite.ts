/**
 * Conformance of `WorkspaceStore`: workspaces and their settings, and the one caller that creates the first.
 */
import { assert } from "@effect/vitest"
import {
  MemberStore,
  type PhoneNumber,
  PhoneNumberStore,
  type StoreError,
  type Workspace,
  type WorkspaceStep,
  WorkspaceStore
} from "@wac/core"
import { Context, Effect, Exit, Layer, Option } from "effect"
import type { SecureRandom } from "effect/crypto"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"

const { world } = Fixture

interface First {
  readonly workspace: Workspace.Workspace
  readonly owner: WorkspaceStep.Owner
  readonly phoneNumber: PhoneNumber.PhoneNumber
}

const createdAt = 1_767_614_400_000

const candidate: Effect.Effect<First, never, SecureRandom.SecureRandom> = Effect.gen(function*() {
  const workspaceId = yield* Fixture.id("ws")
  return {
    workspace: { id: workspaceId, name: "First", createdAt, tier: "scale", monthlyQuota: 5000, suspended: false },
    owner: {
      userId: yield* Fixture.id("usr"),
      workspaceId,
      email: `owner-${yield* Fixture.word}@example.com`,
      passwordHash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2g",
      role: "owner",
      createdAt
    },
    phoneNumber: yield* Fixture.phoneNumber(workspaceId, { tier: "high", messagingLimit: 250 })
  }
})

/** The first workspace of a storage that was empty. In {@link layerFounded}, several callers race to create it. */
export class Founded extends Context.Service<Founded, {
  readonly before: ReadonlyArray<Workspace.Workspace>
  readonly attempts: ReadonlyArray<{ readonly first: First; readonly created: boolean }>
}>()("@wac/testkit/workspaces/WorkspaceStoreSuite/Founded") {}

/** Creates the first workspace. The storage must be empty. */
export const layerFounded: Layer.Layer<
  Founded,
  StoreError.StoreError,
  WorkspaceStore.WorkspaceStore | SecureRandom.SecureRandom
> = Layer.effect(
  Founded,
  Effect.gen(function*() {
    const store = yield* WorkspaceStore.WorkspaceStore
    const before = yield* store.list
    const candidates = yield* Effect.replicateEffect(candidate, 12)
    const attempts = yield* Effect.forEach(
      candidates,
      (first) => Effect.map(store.createFirst(first), (created) => ({ first, created })),
      { concurrency: "unbounded" }
    )
    return Founded.of({ before, attempts })
  })
)

/** What the caller that won the race has created. */
export const founder: Effect.Effect<First, never, Founded> = Effect.map(
  Founded,
  ({ attempts }) => attempts.find(({ created }) => created)?.first ?? assert.fail("nobody created the first workspace")
)

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("create stores the workspace and its number as given", () =>
    Effect.gen(function*() {
      const store = yield* WorkspaceStore.WorkspaceStore
      const numbers = yield* PhoneNumberStore.PhoneNumberStore
      const { number, workspace } = yield* world({
        workspace: { tier: "free", monthlyQuota: 0, suspended: true },
        number: { tier: "coexistence", messagingLimit: 250, available: false }
      })
      assert.deepStrictEqual(yield* store.get(workspace.id), Option.some(workspace))
      assert.deepStrictEqual(yield* numbers.list(workspace.id), [number])
    }))

  it.effect("an unknown workspace is not found", () =>
    Effect.gen(function*() {
      const store = yield* WorkspaceStore.WorkspaceStore
      const numbers = yield* PhoneNumberStore.PhoneNumberStore
      const nobody = yield* Fixture.id("ws")
      assert.deepStrictEqual(yield* store.get(nobody), Option.none())
      assert.deepStrictEqual(yield* numbers.list(nobody), [])
    }))

  it.effect("create stores the credentials of a workspace's number in the same step, and nothing if it fails", () =>
    Effect.gen(function*() {
      const store = yield* WorkspaceStore.WorkspaceStore
      const numbers = yield* PhoneNumberStore.PhoneNumberStore
      const { workspace } = yield* world()
      const made = (providerNumberId: string) =>
        Effect.gen(function*() {
          const id = yield* Fixture.id("ws")
          return {
            workspace: { ...workspace, id },
            phoneNumber: yield* Fixture.phoneNumber(id, { providerNumberId })
          }
        })
      const credentials = {
        version: "one",
        accessToken: Fixture.sealed(1),
        baseUrl: "https://graph.example",
        apiVersion: "v26.0"
      }
      const providerNumberId = yield* Fixture.word
      const first = yield* made(providerNumberId)
      yield* store.create({ ...first, credentials })
      assert.deepStrictEqual(yield* store.get(first.workspace.id), Option.some(first.workspace))
      assert.deepStrictEqual(yield* numbers.list(first.workspace.id), [
        { ...first.phoneNumber, credentialsVersion: "one" }
      ])
      assert.deepStrictEqual(yield* numbers.credentials(first.phoneNumber.id), Option.some(credentials))

      const second = yield* made(providerNumberId)
      const exit = yield* Effect.exit(store.create({ ...second, credentials: { ...credentials, version: "two" } }))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(yield* store.get(second.workspace.id), Option.none())
      assert.deepStrictEqual(yield* numbers.list(second.workspace.id), [])
      assert.deepStrictEqual(yield* numbers.credentials(second.phoneNumber.id), Option.none())
      assert.deepStrictEqual(yield* numbers.credentials(first.phoneNumber.id), Option.some(credentials))
    }))

  it.effect("list returns every workspace, oldest first", () =>
    Effect.gen(function*() {
      const store = yield* WorkspaceStore.WorkspaceStore
      const one = yield* world()
      const two = yield* world({ start: one.start })
      const three = yield* world({ start: one.start })
      const made = [one, two, three].map(({ workspace }) => workspace)
      const listed = (yield* store.list).filter(({ id }) => made.some((workspace) => workspace.id === id))
      assert.deepStrictEqual(listed, made)
    }))

  it.effect("configure changes only the given fields of one workspace", () =>
    Effect.gen(function*() {
      const store = yield* WorkspaceStore.WorkspaceStore
      const { start, workspace } = yield* world({ workspace: { tier: "free", monthlyQuota: 10 } })
      const other = yield* world({ start })
      yield* store.configure(workspace.id, { suspended: true })
      assert.deepStrictEqual(yield* store.get(workspace.id), Option.some({ ...workspace, suspended: true }))
      yield* store.configure(workspace.id, { tier: null, monthlyQuota: 0 })
      const changed = { ...workspace, suspended: true, tier: null, monthlyQuota: 0 }
      assert.deepStrictEqual(yield* store.get(workspace.id), Option.some(changed))
      yield* store.configure(workspace.id, {})
      assert.deepStrictEqual(yield* store.get(workspace.id), Option.some(changed))
      yield* store.configure(workspace.id, { monthlyQuota: null, suspended: false })
      assert.deepStrictEqual(
        yield* store.get(workspace.id),
        Option.some({ ...workspace, tier: null, monthlyQuota: null })
      )
      assert.deepStrictEqual(yield* store.get(other.workspace.id), Option.some(other.workspace))
    }))

  it.effect("settings are in force from the next accept", () =>
    Effect.gen(function*() {
      const store = yield* WorkspaceStore.WorkspaceStore
      const own = yield* world()
      const accept = Effect.map(MessageFixture.accept(own), ({ accepted }) => MessageFixture.describe(accepted))
      assert.strictEqual(yield* accept, "Claimed")
      yield* store.configure(own.workspace.id, { suspended: true })
      assert.strictEqual(yield* accept, "forbidden/workspace_suspended")
      yield* store.configure(own.workspace.id, { suspended: false, monthlyQuota: 1 })
      assert.strictEqual(yield* accept, "forbidden/quota_exhausted")
      yield* store.configure(own.workspace.id, { monthlyQuota: 2 })
      assert.strictEqual(yield* accept, "Claimed")
      assert.strictEqual(yield* accept, "forbidden/quota_exhausted")
    }))

  it.effect("a key's workspace is returned in its present state", () =>
    Effect.gen(function*() {
      const store = yield* WorkspaceStore.WorkspaceStore
      const { workspace } = yield* world()
      yield* store.configure(workspace.id, { tier: "scale" })
      assert.deepStrictEqual(yield* store.get(workspace.id), Option.some({ ...workspace, tier: "scale" }))
    }))

  it.effect("createFirst does nothing once there is a workspace, however it was created", () =>
    Effect.gen(function*() {
      const store = yield* WorkspaceStore.WorkspaceStore
      const numbers = yield* PhoneNumberStore.PhoneNumberStore
      const members = yield* MemberStore.MemberStore
      yield* world()
      const late = yield* candidate
      assert.isFalse(yield* store.createFirst(late))
      assert.deepStrictEqual(yield* store.get(late.workspace.id), Option.none())
      assert.deepStrictEqual(yield* numbers.list(late.workspace.id), [])
      assert.deepStrictEqual(yield* members.findByEmail(late.owner.email), Option.none())
      assert.deepStrictEqual(yield* members.findByUserId(late.owner.userId), Option.none())
    }))
}

/** Registers the tests that need a storage of their own, empty before {@link layerFounded}. */
export const testsOfEmpty = (it: Fixture.FoundedIt<Founded>): void => {
  it.effect("of racing createFirst calls, exactly one returns true, and only its workspace is stored", () =>
    Effect.gen(function*() {
      const { attempts, before } = yield* Founded
      const store = yield* WorkspaceStore.WorkspaceStore
      const numbers = yield* PhoneNumberStore.PhoneNumberStore
      const members = yield* MemberStore.MemberStore
      assert.deepStrictEqual(before, [])
      assert.strictEqual(attempts.filter(({ created }) => created).length, 1)
      const { phoneNumber, workspace } = yield* founder
      assert.deepStrictEqual(yield* store.list, [workspace])
      assert.deepStrictEqual(yield* store.get(workspace.id), Option.some(workspace))
      assert.deepStrictEqual(yield* numbers.list(workspace.id), [phoneNumber])
      for (const { created, first } of attempts) {
        if (created) continue
        assert.deepStrictEqual(yield* store.get(first.workspace.id), Option.none())
        assert.deepStrictEqual(yield* numbers.list(first.workspace.id), [])
        assert.deepStrictEqual(yield* members.findByEmail(first.owner.email), Option.none())
        assert.deepStrictEqual(yield* members.findByUserId(first.owner.userId), Option.none())
      }
    }))
}
