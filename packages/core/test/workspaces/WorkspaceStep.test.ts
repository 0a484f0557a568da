import { assert, describe, it } from "@effect/vitest"
import type { Workspace } from "../../src/workspaces/Workspace.ts"
import { create, type Loaded, type Owner } from "../../src/workspaces/WorkspaceStep.ts"
import { id, sender, start } from "../samples.ts"

const workspace = (n: number): Workspace => ({
  id: id("ws", n),
  name: "W",
  createdAt: start,
  tier: null,
  monthlyQuota: null,
  suspended: false
})

const made = (n: number, providerNumberId = String(n)) => ({
  workspace: workspace(n),
  phoneNumber: sender({ id: id("pn", n), workspaceId: id("ws", n), providerNumberId, isDefault: false })
})

const owner: Owner = {
  userId: id("usr"),
  workspaceId: id("ws"),
  email: "owner@example.com",
  passwordHash: "h",
  role: "owner",
  createdAt: start
}

const loaded = (isAny: boolean, ...known: ReadonlyArray<string>): Loaded => ({
  now: (asked) => asked,
  isAny,
  isKnown: (providerNumberId) => known.includes(providerNumberId)
})

describe("making workspaces", () => {
  it("a workspace's number is its default", () => {
    const { answers, writes } = create(loaded(true), [made(1), made(2)])
    assert.deepStrictEqual(answers, ["created", "created"])
    assert.deepStrictEqual(writes.workspaces, [workspace(1), workspace(2)])
    assert.deepStrictEqual(writes.numbers.map(({ isDefault }) => isDefault), [true, true])
    assert.deepStrictEqual(writes.owners, [])
  })

  it("the credentials of a workspace's number are stored with it, and only if it is created", () => {
    const credentials = {
      version: "one",
      accessToken: { keyId: "k", nonce: new Uint8Array(12), ciphertext: new Uint8Array(48) },
      baseUrl: null,
      apiVersion: null
    }
    const { answers, writes } = create(loaded(true), [{ ...made(1), credentials }, made(2), {
      ...made(3, "1"),
      credentials
    }])
    assert.deepStrictEqual(answers, ["created", "created", "number_known"])
    assert.deepStrictEqual(writes.numbers.map(({ credentialsVersion }) => credentialsVersion), ["one", null])
    assert.deepStrictEqual(writes.credentials, [{ id: id("pn", 1), credentials }])
  })

  it("a number that already belongs to a workspace creates no other, even within a batch", () => {
    const { answers, writes } = create(loaded(true, "1"), [made(1), made(2), made(3, "2")])
    assert.deepStrictEqual(answers, ["number_known", "created", "number_known"])
    assert.deepStrictEqual(writes.workspaces, [workspace(2)])
  })

  it("the first workspace is created once, with its owner", () => {
    const first = { ...made(1), owner }
    const { answers, writes } = create(loaded(false), [first, { ...made(2), owner }, made(3)])
    assert.deepStrictEqual(answers, ["created", "not_first", "created"])
    assert.deepStrictEqual(writes.owners, [owner])
    assert.deepStrictEqual(create(loaded(true), [first]), {
      answers: ["not_first"],
      writes: { workspaces: [], numbers: [], credentials: [], owners: [] }
    })
  })
})
