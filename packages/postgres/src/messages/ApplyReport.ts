/**
 * Applies the provider's reports to messages (core's `OutcomeStep.applyReport`): loads the messages and writes the
 * results.
 */
import { type Id, type MessageStore, OutcomeStep, type SendBatch } from "@wac/core"
import { list, row, text } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { statement } from "../Statement.ts"
import { awaitDeadlines, keepSends } from "./KeepSends.ts"
import { sendsIn } from "./StoredSend.ts"

/** The provider's identifiers of messages. */
const names = list<string>("text")

const lock = statement(
  { references: list<Id.MessageId>("text"), names },
  ({ names, references }) =>
    `select to_json(m) as send from wac.messages m
  where m.id = any (array(
    select r from unnest(${references}) r
    union
    select n.message_id from unnest(${names}) k (name)
    cross join lateral (select n.message_id from wac.message_names n where n.provider_message_id = k.name offset 0) n
  ))
  order by m.id for update`
)

const findNames = statement(
  { names },
  ({ names }) =>
    `select n.provider_message_id, n.message_id from unnest(${names}) k (name)
  cross join lateral (
    select n.provider_message_id, n.message_id from wac.message_names n where n.provider_message_id = k.name offset 0
  ) n`
)

const named = row({ providerMessageId: text(), messageId: text<Id.MessageId>() })

const numbered = row({ id: text<Id.PhoneNumberId>(), providerNumberId: text() })

const findNumbers = statement(
  { names: list<string>("text") },
  ({ names }) => `select ${numbered.names("p")} from wac.phone_numbers p where p.provider_number_id = any (${names})`
)

const distinct = <A>(values: ReadonlyArray<A | null>) => [...new Set(values)].filter((value) => value !== null)

/** `MessageStore.applyReport`. */
export const applyReport: StepOptions<
  MessageStore.ApplyReport,
  OutcomeStep.LoadedReports,
  MessageStore.ReportResult | undefined,
  SendBatch.Writes
> = {
  load: (commands) => {
    const names = distinct(commands.map(({ report }) => report.providerMessageId))
    return [
      lock({ references: distinct(commands.map(({ reference }) => reference)), names }),
      findNames({ names }),
      findNumbers({ names: distinct(commands.map(({ providerNumberId }) => providerNumberId)) })
    ]
  },
  read: ([sendRows, nameRows, numberRows], now) => {
    const names = new Map(nameRows!.map(named.read).map((name) => [name.providerMessageId, name.messageId]))
    const numbers = new Map(numberRows!.map(numbered.read).map((number) => [number.providerNumberId, number.id]))
    return {
      now,
      send: sendsIn(sendRows!),
      named: (name) => names.get(name),
      number: (providerNumberId) => numbers.get(providerNumberId)
    }
  },
  decide: OutcomeStep.applyReport,
  write: (writes) => [...keepSends(writes), ...awaitDeadlines(writes.deadlines)]
}
