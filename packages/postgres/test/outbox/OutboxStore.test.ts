/**
 * `OutboxStore` with what hosts enqueue by SQL.
 */
import { PgClient } from "@effect/sql-pg"
import { layer } from "@effect/vitest"
import { OutboxStoreSuite } from "@wac/testkit"
import { Effect, Layer } from "effect"
import { storageAndClient } from "../servers.ts"

const door = Layer.effect(
  OutboxStoreSuite.Door,
  Effect.map(
    PgClient.PgClient,
    (client) => ({ key, message, workspaceId }: OutboxStoreSuite.Enqueued) =>
      client.unsafe<{ id: string }>("select wac.enqueue($1, $2, $3::text::jsonb) as id", [
        workspaceId,
        key,
        JSON.stringify(message)
      ]).pipe(
        Effect.map(([row]) => row!.id),
        Effect.orDie
      )
  )
)

layer(Layer.provideMerge(door, storageAndClient), { excludeTestServices: true })("OutboxStore", (it) => {
  OutboxStoreSuite.testsOfDoor(it)
})
