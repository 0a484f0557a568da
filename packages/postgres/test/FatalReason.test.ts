import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import * as PostgresClient from "../src/PostgresClient.ts"
import { type LostBeforeCommit, Sessions, type ThrownBeforeCommit } from "../src/Sessions.ts"
import { describe, isLostConnection } from "../src/SqlFailure.ts"
import { freshDatabase } from "./servers.ts"

const ending = "do $$ begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(5); end $$"

const ways: ReadonlyArray<
  readonly [
    name: string,
    statement: Effect.Effect<unknown, SqlError | LostBeforeCommit | ThrownBeforeCommit, PgClient.PgClient | Sessions>
  ]
> = [
  ["of its own", PgClient.PgClient.use((client) => client.unsafe(ending))],
  [
    "of a step",
    Sessions.use((sessions) => sessions.transaction([{ text: ending }], () => ({ writes: [], result: 0 })))
  ],
  ["in a pipeline", Sessions.use((sessions) => sessions.pipelined([{ text: "select 1" }, { text: ending }]))]
]

layer(
  Layer.unwrap(Effect.map(freshDatabase(), (url) => Layer.orDie(PostgresClient.layer({ url })))),
  { excludeTestServices: true }
)("a connection that the server ends", (it) => {
  for (const [name, statement] of ways) {
    it.effect(`a statement ${name} fails with the server's reason, as a lost connection`, () =>
      Effect.gen(function*() {
        const failure = yield* Effect.flip(statement)
        const error = failure._tag === "SqlError" ? failure : failure.error
        assert.strictEqual(describe(error), "terminating connection due to administrator command, 57P01")
        assert.isTrue(isLostConnection(error))
      }))
  }
})
