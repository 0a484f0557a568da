/**
 * Carries out steps in a transaction of the test's own client, so that the test can look at it before the commit.
 */
import { PgClient } from "@effect/sql-pg"
import type { Step, Time } from "@wac/core"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { StepOptions } from "../src/Database.ts"
import { planning } from "../src/Sessions.ts"
import type { Row, Rows, Statement } from "../src/Statement.ts"

/** Carries out statements with the settings of steps, which last until the surrounding transaction ends. */
export const carryOutAll = (
  statements: ReadonlyArray<Statement>
): Effect.Effect<ReadonlyArray<Rows>, SqlError, PgClient.PgClient> =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    for (const [name, value] of Object.entries(planning)) yield* client`select set_config(${name}, ${value}, true)`
    return yield* Effect.forEach(statements, ({ params = [], text }) => client.unsafe<Row>(text, params))
  })

/** Carries out a step that is judged at `now`, or else at each command's own time. Returns the answers. */
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
