/**
 * Carries steps out in a transaction of the test's own client, so that it can be looked at before it is committed.
 */
import { PgClient } from "@effect/sql-pg"
import type { Step, Time } from "@wac/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { StepOptions } from "../src/Database.ts"
import { planning } from "../src/Sessions.ts"
import type { Row, Rows, Statement } from "../src/Statement.ts"

/** Carries out statements with the settings of steps; they last as long as the transaction that this is in. */
export const carryOutAll = (
  statements: ReadonlyArray<Statement>
): Effect.Effect<ReadonlyArray<Rows>, SqlError, PgClient.PgClient> =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    for (const [name, value] of Object.entries(planning)) yield* client`select set_config(${name}, ${value}, true)`
    return yield* Effect.forEach(statements, ({ params = [], text }) => client.unsafe<Row>(text, params))
  })

/** A step that is judged at `now`, or else when each command was asked for. Answers with its answers. */
export const carryOut = <Command, Loaded extends Step.Known, Answer, Writes, Need = never>(
  { decide, load, more, read, write }: StepOptions<Command, Loaded, Answer, Writes, Need>,
  commands: ReadonlyArray<Command>,
  now?: Time.Instant
): Effect.Effect<ReadonlyArray<Answer>, SqlError, PgClient.PgClient> =>
  Effect.gen(function*() {
    const next = (loaded: Loaded): Effect.Effect<ReadonlyArray<Answer>, SqlError, PgClient.PgClient> => {
      const decided: Step.Decided<Answer, Writes> | Step.Needs<Need> = decide(loaded, commands)
      if (!("needs" in decided)) return Effect.as(carryOutAll(write(decided.writes, loaded)), decided.answers)
      const { needs } = decided
      return Effect.flatMap(carryOutAll(more!.load(needs)), (rows) => next(more!.read(loaded, needs, rows)))
    }
    const rows = yield* carryOutAll(load(commands))
    return yield* next(read(rows, (asked) => now ?? asked, commands))
  })
