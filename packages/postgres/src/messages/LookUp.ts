/**
 * Looks up idempotency keys and judges them (core's `Idempotency.judge`), in one round trip.
 */
import { Idempotency, type MessageStore, type Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { plain } from "../Column.ts"
import type { DirectOptions } from "../Database.ts"
import { texts } from "../Parameter.ts"
import { sendOf, type StoredSend } from "./StoredSend.ts"

const lookUpText = `select k.place::integer - 1 as place, to_json(m.m) as send
  from unnest($1::text[], $2::text[], $3::text[]) with ordinality k (workspace_id, route, key, place)
  cross join lateral (
    select m from messages m where m.workspace_id = k.workspace_id and m.route = k.route and m.key = k.key offset 0
  ) m`

/** A key to judge, at the caller's time or, if `undefined`, at the database's. */
export interface LookUp {
  readonly request: MessageStore.KeyedRequest
  readonly now: Time.Instant | undefined
}

/** `MessageStore.lookUp`. */
export const lookUp: DirectOptions<LookUp, Idempotency.Verdict> = {
  write: (commands) => [
    {
      text: lookUpText,
      params: [
        texts(commands.map(({ request }) => request.workspaceId)),
        texts(commands.map(({ request }) => request.route)),
        texts(commands.map(({ request }) => request.key))
      ]
    },
    { text: `select ${Clocks.now}::double precision as now` }
  ],
  isReading: true,
  read: ([rows, times]) => {
    const at = plain<Time.Instant>(times![0]!, "now")
    const sends = new Map(rows!.map((row) => [plain<number>(row, "place"), plain<StoredSend>(row, "send")]))
    return ({ now, request }, place) => {
      const stored = sends.get(place)
      const send = stored && sendOf(stored)
      return Idempotency.judge(send?.binding ?? undefined, send?.message, request.fingerprint, now ?? at)
    }
  }
}
