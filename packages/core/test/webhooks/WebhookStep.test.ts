import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { WorkspaceId } from "../../src/Id.ts"
import type { Sealed } from "../../src/secrets/Sealed.ts"
import type { Webhook } from "../../src/webhooks/Webhook.ts"
import {
  type Loaded,
  pause,
  put,
  remove,
  resume,
  type Resumption,
  rotateSecret
} from "../../src/webhooks/WebhookStep.ts"
import { inBatches, sizes } from "../batches.ts"
import { between, checks, day, hour, minute, upTo } from "../checks.ts"
import { health, id, start, webhook } from "../samples.ts"

const sealed = (n: number): Sealed => ({ keyId: `k${n}`, nonce: new Uint8Array(12), ciphertext: new Uint8Array(48) })

const loaded = (present: Webhook | undefined, now?: number): Loaded => ({
  now: (asked) => now ?? asked,
  present: () => present
})

const workspaceId = id("ws")
const paused = webhook({ pausedAt: start })

describe("setting a webhook", () => {
  it("put creates the candidate if there is no webhook", () => {
    const { answers, writes } = put(loaded(undefined), [webhook()])
    assert.deepStrictEqual(answers, [{ webhook: webhook(), created: true }])
    assert.deepStrictEqual(writes.webhooks, [webhook()])
  })

  it("of two creators within a batch, the first one creates the webhook", () => {
    const other = webhook({ id: id("whk", 2), url: "https://other.example/", updatedAt: start + 1 })
    const { answers, writes } = put(loaded(undefined), [webhook(), other])
    const after = webhook({ url: other.url, updatedAt: other.updatedAt })
    assert.deepStrictEqual(answers, [{ webhook: webhook(), created: true }, { webhook: after, created: false }])
    assert.deepStrictEqual(writes.webhooks, [after])
  })

  it("put keeps id, secrets, state and health of the present webhook", () => {
    const present = webhook({
      pausedAt: start,
      resumedAt: start,
      secrets: [{ sealed: sealed(1), expiresAt: null }],
      health: health({ consecutiveFailures: 3, failuresSince: start })
    })
    const set = {
      url: "https://other.example/",
      envelope: "a",
      eventTypes: ["message.read"],
      updatedAt: start + hour
    } as const
    const { answers } = put(loaded(present), [webhook({ id: id("whk", 2), createdAt: start + hour, ...set })])
    assert.deepStrictEqual(answers, [{ webhook: { ...present, ...set }, created: false }])
  })
})

describe("rotating a secret", () => {
  const rotation = { workspaceId, webhookId: id("whk"), secret: sealed(2), previousExpiresAt: start + hour, now: start }

  it("a rotation puts the new secret first, and previous ones expire by the storage's time", () => {
    const present = webhook({ secrets: [{ sealed: sealed(1), expiresAt: null }] })
    const { answers: [rotated] } = rotateSecret(loaded(present, start + day), [rotation])
    assert.deepStrictEqual(rotated?.secrets, [
      { sealed: sealed(2), expiresAt: null },
      { sealed: sealed(1), expiresAt: start + day + hour }
    ])
  })

  it("a rotation applies to the present webhook only", () => {
    for (const present of [undefined, webhook({ id: id("whk", 2) })]) {
      assert.deepStrictEqual(rotateSecret(loaded(present), [rotation]), {
        answers: [undefined],
        writes: { webhooks: [] }
      })
    }
  })
})

describe("pausing, resuming and removing", () => {
  const at = { workspaceId, now: start + hour }

  it("without a webhook, pause, resume and remove change nothing", () => {
    assert.deepStrictEqual(pause(loaded(undefined), [at]).answers, [undefined])
    assert.deepStrictEqual(resume(loaded(undefined), [{ ...at, replay: "none" }]), {
      answers: [undefined],
      writes: { resumed: [] }
    })
    assert.deepStrictEqual(remove(loaded(undefined), [at]), { answers: [false], writes: { removed: [] } })
  })

  it("pausing a paused webhook keeps its time", () => {
    assert.deepStrictEqual(pause(loaded(webhook()), [at, { ...at, now: start + day }]).answers, [
      webhook({ pausedAt: start + hour }),
      webhook({ pausedAt: start + hour })
    ])
  })

  it.each<["all" | "none" | { since: number }, Resumption["skip"]]>([
    ["all", undefined],
    ["none", { from: null }],
    [{ since: start + minute }, { from: start + minute }]
  ])("a resume that replays %j skips what is left", (replay, skip) => {
    const resumed = webhook({ resumedAt: start + hour })
    assert.deepStrictEqual(resume(loaded(paused), [{ ...at, replay }]), {
      answers: [resumed],
      writes: { resumed: [{ webhook: resumed, at: start + hour, skip }] }
    })
  })

  it("an active webhook is not resumed, and nothing is skipped", () => {
    assert.deepStrictEqual(resume(loaded(webhook()), [{ ...at, replay: "none" }]), {
      answers: [webhook()],
      writes: { resumed: [] }
    })
  })

  it("a removed webhook is no longer paused, and removed once", () => {
    assert.deepStrictEqual(remove(loaded(paused), [at, at]), {
      answers: [true, false],
      writes: { removed: [{ webhook: webhook(), at: start + hour }] }
    })
  })
})

const command = Schema.Struct({
  kind: Schema.Literals(["put", "rotate", "pause", "resume", "remove"]),
  workspace: between(1, 2),
  of: between(1, 3),
  minutes: between(0, 3),
  replay: Schema.Literals(["all", "none"])
})

it.prop("batches decide the same as their commands one by one", {
  commands: upTo(command, 30),
  sizes
}, (_) => {
  const play = (sizes: ReadonlyArray<number>) => {
    const webhooks = new Map<WorkspaceId, Webhook>()
    const resumed: Array<Resumption> = []
    const present = (workspaceId: WorkspaceId) => webhooks.get(workspaceId)
    const keep = (all: ReadonlyArray<Webhook>) => all.forEach((one) => webhooks.set(one.workspaceId, one))
    const answers = inBatches(_.commands, sizes, (one) => one.kind, (kind, batch): ReadonlyArray<unknown> => {
      const known: Loaded = { now: (asked) => asked, present }
      const named = batch.map((one) => ({
        ...one,
        workspaceId: id("ws", one.workspace),
        now: start + one.minutes * minute,
        webhookId: id("whk", one.of)
      }))
      switch (kind) {
        case "put": {
          const done = put(
            known,
            named.map((one) =>
              webhook({
                id: one.webhookId,
                workspaceId: one.workspaceId,
                updatedAt: one.now,
                secrets: [{ sealed: sealed(0), expiresAt: null }]
              })
            )
          )
          keep(done.writes.webhooks)
          return done.answers
        }
        case "rotate": {
          const done = rotateSecret(
            known,
            named.map((one) => ({
              ...one,
              secret: sealed(one.minutes),
              previousExpiresAt: one.now + one.of * minute
            }))
          )
          keep(done.writes.webhooks)
          return done.answers
        }
        case "pause": {
          const done = pause(known, named)
          keep(done.writes.webhooks)
          return done.answers
        }
        case "resume": {
          const done = resume(known, named)
          keep(done.writes.resumed.map((one) => one.webhook))
          resumed.push(...done.writes.resumed)
          return done.answers
        }
        default: {
          const done = remove(known, named)
          done.writes.removed.forEach((one) => webhooks.delete(one.webhook.workspaceId))
          return done.answers
        }
      }
    })
    return { answers, webhooks, resumed }
  }
  assert.deepStrictEqual(play(_.sizes), play([]))
}, checks)
