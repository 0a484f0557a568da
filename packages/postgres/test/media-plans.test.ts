/**
 * What uploads and uses of files cost: only their own rows, whatever else is stored and whatever the planner assumes
 * about the tables. Every statement is first repeated on nearly empty tables until its plan is fixed.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import type { Id, Idempotency, MediaStep } from "@wac/core"
import { Effect } from "effect"
import { options } from "../src/media/MediaStep.ts"
import { mayErase } from "../src/media/MediaStore.ts"
import { carryOut } from "./carryOut.ts"
import { planningDatabases } from "./servers.ts"
import { discardPlans, touched, touchedBy } from "./touched.ts"

const now = 1_800_000_000_000
const stored = 10_000
const batch = 64
const workspaces = 4

/** Files and keys of uploads, of which some have expired. Every hundredth belongs to the same workspace. */
const fill = (from: number, to: number) => [
  `insert into wac.media (id, workspace_id, state, due_at, media)
  select 'med ' || i, 'ws ' || i % 100, 'stored', ${now} + i, json_build_object('size', 1, 'lastUsedAt', 0)
  from generate_series(${from}, ${to}) i`,
  `insert into wac.media_usage (workspace_id, used) select 'ws ' || i, 100 from generate_series(${from}, ${to}) i`,
  `insert into wac.media_keys (workspace_id, key, fingerprint, media, expires_at)
  select 'ws ' || i % 100, 'key ' || i, 'f', '{}',
    case when i <= 10 * ${batch} then i else ${now} + i end
  from generate_series(${from}, ${to}) i`
]

const tables = ["media", "media_usage", "media_keys"]

/** A batch of uses, each of another file. */
const uses = Array.from({ length: batch }, (_, i): MediaStep.Command => ({
  _tag: "Use",
  workspaceId: `ws ${i % workspaces}` as Id.WorkspaceId,
  id: `med ${100 * i + i % workspaces}` as Id.MediaId,
  now
}))

/** A batch of uploads that are complete, each with a key of its own. */
const uploads = Array.from({ length: batch }, (_, i): MediaStep.Command => ({
  _tag: "Keep",
  media: {
    id: `upl ${i}` as Id.MediaId,
    workspaceId: `ws ${i % workspaces}` as Id.WorkspaceId,
    mimeType: "image/png",
    size: 1,
    isAnimated: false,
    isOpus: false,
    sha256: "",
    filename: null,
    createdAt: now,
    lastUsedAt: now
  },
  quota: null,
  idempotency: { key: `upload ${i}` as Idempotency.IdempotencyKey, fingerprint: "f", expiresAt: now + 86_400_000 },
  now
}))

const uploading = `insert into wac.media (id, workspace_id, state, due_at)
  select 'upl ' || i, 'ws ' || i % ${workspaces}, 'uploading', ${now} + 1000 from generate_series(0, ${batch} - 1) i`

/** Whether a claim allows to erase the bytes of a file that another process has stored. */
const erasure = mayErase({
  claim: { workspaceId: "ws 7" as Id.WorkspaceId, id: "med 107" as Id.MediaId, leaseUntil: now },
  now
})

/** The planner's basis: guesses about empty tables, or statistics of their content. */
const beliefs = ["guessed", "seen"] as const

for (const { layer: database, name } of planningDatabases) {
  for (const belief of beliefs) {
    layer(database, { excludeTestServices: true })(`${name}, tables ${belief}`, (it) => {
      it.effect("a batch of uses or uploads, and what a claim may erase, read only the rows of their files, keys and workspaces", () =>
        Effect.gen(function*() {
          const client = yield* PgClient.PgClient
          // one connection, so that its plans stay
          yield* client.withTransaction(Effect.gen(function*() {
            yield* client`set local statement_timeout = 0`
            for (const statement of [...fill(0, 0), uploading]) yield* client.unsafe(statement)
            for (let i = 0; i < 8; i++) {
              yield* touchedBy(carryOut(options, uses))
              yield* touchedBy(carryOut(options, uploads))
              yield* touched(erasure)
            }
            for (const statement of fill(1, stored)) yield* client.unsafe(statement)
            if (belief === "seen") yield* client.unsafe(`analyze ${tables.map((table) => `wac.${table}`).join(", ")}`)
            const measure = Effect.gen(function*() {
              const measured = (commands: ReadonlyArray<MediaStep.Command>) =>
                Effect.gen(function*() {
                  // when it plans again, the planner reads the ends of indexes
                  yield* touchedBy(carryOut(options, commands))
                  const of = yield* touchedBy(carryOut(options, commands))
                  for (const table of tables) {
                    assert.strictEqual(of(table).scans, 0, `${table} was read from end to end`)
                  }
                  // once to decide, and once to write
                  assert.deepInclude(of("media"), { read: 2 * batch, written: batch })
                  return of
                })
              const used = yield* measured(uses)
              assert.isAtMost(used("media_usage").read, 3 * workspaces)
              assert.strictEqual(used("media_usage").written, 0)
              assert.strictEqual(used("media_keys").read, 0)
              const uploaded = yield* measured(uploads)
              assert.isAtMost(uploaded("media_usage").read, 4 * workspaces)
              assert.strictEqual(uploaded("media_usage").written, workspaces)
              yield* touched(erasure)
              assert.deepInclude((yield* touched(erasure))("media"), { scans: 0, read: 1 })
              // as many that have expired are found and deleted
              assert.deepInclude(uploaded("media_keys"), { read: batch, written: 2 * batch })
            })
            yield* measure
            if (belief === "guessed") yield* Effect.andThen(discardPlans, measure)
          }))
        }))
    })
  }
}
