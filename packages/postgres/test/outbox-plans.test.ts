/**
 * What a step on the outbox costs: its own rows, however many were moved or wait, and whatever the planner assumes about
 * the table.
 */
import { layer } from "@effect/vitest"
import type { Id, Idempotency, OutboxStep } from "@wac/core"
import { MessageFixture } from "@wac/testkit"
import { cancel } from "../src/messages/Cancel.ts"
import { claim } from "../src/outbox/ClaimEntries.ts"
import { end } from "../src/outbox/EndEntries.ts"
import { enqueuedUntil, forget, listed } from "../src/outbox/OutboxStore.ts"
import { carryOut, carryOutAll } from "./carryOut.ts"
import { planningDatabases } from "./servers.ts"
import { readOnlyTheirRows, type Step } from "./touched.ts"

const now = 1_800_000_000_000
const moved = 20_000
/** Of the first hundred workspaces. */
const waiting = 5000
/** The first one of each, by another process. */
const claimed = 100
/** Of a workspace that no process works on. */
const free = 10_000
/** Of the same one, before those: they wait for another try. */
const delayed = 10_000

const fill = [
  "insert into wac.workspaces (id, name, created_at) select 'ws ' || i, 'one', 0 from generate_series(0, 100) i",
  `insert into wac.outbox (message_id, workspace_id, key, message, due_at, claim_token, moved_at)
  select 'msg ' || lpad(i::text, 6, '0'), 'ws ' || i % 100, i::text, '{"to":"+4","type":"text"}',
    case when i > ${moved} and i <= ${moved + claimed} then ${now + 1} else 0 end,
    case when i > ${moved} and i <= ${moved + claimed} then 'other' end,
    case when i <= ${moved} then i end
  from generate_series(1, ${moved + waiting}) i`,
  `insert into wac.outbox (message_id, workspace_id, key, message, due_at, tries)
  select 'msg delayed ' || i, 'ws free', 'delayed-' || i, '{"to":"+4","type":"text"}', ${now + 1}, 1
  from generate_series(1, ${delayed}) i`,
  `insert into wac.outbox (message_id, workspace_id, key, message)
  select 'msg of free ' || i, 'ws free', i::text, '{"to":"+4","type":"text"}' from generate_series(1, ${free}) i`
]

const ended = (n: number): OutboxStep.EndEntry => {
  const messageId = `msg ${String(moved + n).padStart(6, "0")}` as Id.MessageId
  const workspaceId = `ws ${n % 100}` as Id.WorkspaceId
  return {
    now,
    entry: { messageId, workspaceId },
    token: "other",
    request: { workspaceId, route: "enqueue", key: `${n}` as Idempotency.IdempotencyKey, fingerprint: "one" },
    end: { _tag: "Moved" },
    provider: "sandbox",
    ids: { events: [], deliveries: [] }
  }
}

const steps: { readonly [step: string]: Step } = {
  "a claim of ten entries": [
    carryOutAll(claim({ asked: now, last: "ws 1", limit: 10, start: "ws 1", token: "one" })),
    // two probes of each workspace, the entries, and what locking and writing them reads
    { outbox: 2 * 101 + 30 }
  ],
  // of one that another process has taken, so that nothing is written
  "a cancel of an entry": [
    carryOut(cancel, [{
      now,
      workspaceId: "ws 3" as Id.WorkspaceId,
      messageId: `msg ${String(moved + 3).padStart(6, "0")}` as Id.MessageId,
      boundTo: null,
      enqueued: MessageFixture.enqueued
    }]),
    { outbox: 4, messages: 0 }
  ],
  "the ends of two entries": [carryOut(end, [ended(1), ended(2)]), { outbox: 8, messages: 0 }],
  // of the first workspace, which has 200 that were moved
  "a count of a workspace's waiting entries": [
    carryOutAll([enqueuedUntil({ workspaceId: "ws 1" as Id.WorkspaceId, until: 4e12 })]),
    { outbox: waiting / 100 + 2 }
  ],
  "a page of the list": [
    carryOutAll([listed({ workspaceId: "ws free" as Id.WorkspaceId, after: 0, limit: 10 })]),
    { outbox: 12 }
  ],
  "a sweep": [carryOutAll([forget({ before: 1000 })]), { outbox: 1500, messages: 0 }]
}

for (const { layer: database, name } of planningDatabases) {
  layer(database, { excludeTestServices: true })(name, (it) => {
    it.effect("each step reads only its own rows", () => readOnlyTheirRows(steps, fill))
  })
}
