import { assert, it } from "@effect/vitest"
import type { Portal } from "../../src/people/Portal.ts"
import { type Loaded, open } from "../../src/people/PortalStep.ts"
import { id } from "../samples.ts"

const link: Portal = {
  id: id("ses"),
  tokenHash: "link",
  workspaceId: id("ws"),
  role: "developer",
  visitor: "ana@shop.example",
  createdAt: 0,
  expiresAt: 100
}

const loaded = (isOpen = false): Loaded => ({
  now: (asked) => asked,
  kept: (tokenHash) => tokenHash === "link" ? { portal: link, isOpen } : undefined
})

const command = { now: 99, tokenHash: "link", sessionHash: "session", expiresAt: 199 }
const nothing = { answers: [undefined], writes: [] }

it("a link becomes a session with its own token and duration", () => {
  const session = { ...link, tokenHash: "session", createdAt: 99, expiresAt: 199 }
  assert.deepStrictEqual(open(loaded(), [command]), {
    answers: [session],
    writes: [{ tokenHash: "link", session }]
  })
})

it("a link opens nothing if it is unknown, expired or used, even within a batch", () => {
  assert.deepStrictEqual(open(loaded(), [{ ...command, tokenHash: "other" }]), nothing)
  assert.deepStrictEqual(open(loaded(), [{ ...command, now: 100 }]), nothing)
  assert.deepStrictEqual(open(loaded(true), [command]), nothing)
  const { answers, writes } = open(loaded(), [command, { ...command, sessionHash: "second" }])
  assert.deepStrictEqual(answers.map((session) => session?.tokenHash), ["session", undefined])
  assert.lengthOf(writes, 1)
})

it("a session begins at the storage's time, and lasts as long as was asked", () => {
  const [session] = open({ ...loaded(), now: () => 50 }, [command]).answers
  assert.deepInclude(session, { createdAt: 50, expiresAt: 150 })
  assert.deepStrictEqual(open({ ...loaded(), now: () => 100 }, [command]), nothing)
})
