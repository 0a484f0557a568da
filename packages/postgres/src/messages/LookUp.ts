/**
 * Looks up idempotency keys and judges them (core's `SendBinding.judge`), in one round trip.
 */
import { type KeyedMessage, type MessageStore, SendBinding, type Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { columns, double, result, row } from "../Columns.ts"
import type { DirectOptions } from "../Database.ts"
import { statement } from "../Statement.ts"
import { send } from "./StoredSend.ts"

const find = statement({
  keys: columns<Pick<MessageStore.KeyedRequest, "workspaceId" | "route" | "key">>({
    workspaceId: "text",
    route: "text",
    key: "text"
  })
}, ({ keys }) =>
  `select k.place::integer - 1 as place, to_json(m.m) as send
  from ${keys("k", "place")}
  cross join lateral (
    select m from wac.messages m where m.workspace_id = k.workspace_id and m.route = k.route and m.key = k.key offset 0
  ) m`)

const found = result<{ readonly place: number; readonly send: KeyedMessage.KeyedMessage }>({ place: "integer", send })

const time = row({ now: double() })

/** A key to judge. `now` is the caller's time in tests that control time; `undefined` means the database's time. */
export interface LookUp {
  readonly request: MessageStore.KeyedRequest
  readonly now: Time.Instant | undefined
}

/** `MessageStore.lookUp`. */
export const lookUp: DirectOptions<LookUp, SendBinding.Verdict> = {
  write: (commands) => [
    find({ keys: commands.map(({ request }) => request) }),
    { text: `select ${Clocks.now}::double precision as now` }
  ],
  isReading: true,
  read: ([rows, times]) => {
    const at = time.read(times![0]!).now
    const sends = new Map(rows!.map(found.read).map(({ place, send }) => [place, send]))
    return ({ now, request }, place) => {
      const send = sends.get(place)
      return SendBinding.judge(send?.binding ?? undefined, send?.message, request.fingerprint, now ?? at)
    }
  }
}
