/**
 * Batches that call an SQL function of a test, which maps a JSON array of commands to an array of answers.
 */
import { json, row } from "../src/Columns.ts"
import type { DirectOptions } from "../src/Database.ts"

export const calling = <Command, Answer>(fn: string): DirectOptions<Command, Answer> => ({
  write: (commands) => [{ text: `select ${fn}($1::text::json) as answers`, params: [JSON.stringify(commands)] }],
  read: ([rows]) => {
    const { answers } = row({ answers: json<ReadonlyArray<Answer>>() }).read(rows![0]!)
    return (_, place) => answers[place]!
  }
})
