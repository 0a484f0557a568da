/**
 * Applies the provider's reports (core's `SendStep.applyReport`): what is loaded and written.
 */
import { type Id, type MessageStore, type Sends, SendStep } from "@wac/core"
import { plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { texts } from "../Parameter.ts"
import { awaitDeadlines, keepSends } from "./KeepSends.ts"
import { sendOf, type StoredSend } from "./StoredSend.ts"

const lockText = `select to_json(m) as send from messages m
  where m.id = any (array(
    select r from unnest($1::text[]) r
    union
    select n.message_id from unnest($2::text[]) k (name)
    cross join lateral (select n.message_id from message_names n where n.provider_message_id = k.name offset 0) n
  ))
  order by m.id for update`

const namesText = `select n.provider_message_id, n.message_id from unnest($1::text[]) k (name)
  cross join lateral (
    select n.provider_message_id, n.message_id from message_names n where n.provider_message_id = k.name offset 0
  ) n`

const numbersText =
  "select p.id, p.provider_number_id from phone_numbers p where p.provider_number_id = any ($1::text[])"

const distinct = (values: ReadonlyArray<string | null>) => texts([...new Set(values)].filter((value) => value !== null))

/** `MessageStore.applyReport`. */
export const applyReport: StepOptions<
  MessageStore.ApplyReport,
  SendStep.LoadedReports,
  MessageStore.Reported | undefined,
  Sends.Writes
> = {
  load: (commands) => {
    const names = distinct(commands.map(({ report }) => report.providerMessageId))
    return [
      { text: lockText, params: [distinct(commands.map(({ reference }) => reference)), names] },
      { text: namesText, params: [names] },
      { text: numbersText, params: [distinct(commands.map(({ providerNumberId }) => providerNumberId))] }
    ]
  },
  read: ([sendRows, nameRows, numberRows], now) => {
    const sends = new Map(sendRows!.map((row) => {
      const send = sendOf(plain<StoredSend>(row, "send"))
      return [send.message.id, send]
    }))
    const names = new Map(
      nameRows!.map((row) => [plain<string>(row, "provider_message_id"), plain<Id.MessageId>(row, "message_id")])
    )
    const numbers = new Map(
      numberRows!.map((row) => [plain<string>(row, "provider_number_id"), plain<Id.PhoneNumberId>(row, "id")])
    )
    return {
      now,
      send: (id) => sends.get(id),
      named: (name) => names.get(name),
      number: (providerNumberId) => numbers.get(providerNumberId)
    }
  },
  decide: SendStep.applyReport,
  write: (writes) => [...keepSends(writes), ...awaitDeadlines(writes.deadlines)]
}
