/**
 * Ends claims of posts (core's `InboundPostStep`): writes the outcome if the token still holds the claim.
 */
import type { InboundPost, InboundPostStep, Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { bigint, boolean, integer, row, text } from "../Columns.ts"
import type { DirectOptions } from "../Database.ts"
import { statement } from "../Statement.ts"

/** The end of a claim. */
export interface End extends InboundPost.PostName {
  readonly token: string
  /** The time in tests that control it; `undefined` for the database's time. */
  readonly now: Time.Instant | undefined
  readonly ended: InboundPostStep.Ended
}

const given = row({
  place: integer(),
  provider: text(),
  digest: text(),
  token: text(),
  now: bigint<number | null>(),
  dueIn: bigint<number | null>(),
  tries: integer(),
  keepsProblem: boolean(),
  problem: text<string | null>(),
  expiresIn: bigint<number | null>(),
  onlyIfNew: boolean()
})

const place = given.pick("place")

const endAll = statement({ given }, ({ given }) =>
  `with given as materialized (
    select g.*, decode(g.digest, 'hex') as name, coalesce(g.now, ${Clocks.now}) as at from ${given("g")}
  )
  update wac.inbound_posts p set
    due_at = g.at + g.due_in,
    token = null,
    tries = p.tries + g.tries,
    problem = case when g.keeps_problem then p.problem else g.problem end,
    expires_at = case when g.only_if_new then coalesce(p.expires_at, g.at + g.expires_in)
      else coalesce(g.at + g.expires_in, p.expires_at) end
  from given g
  where p.provider = g.provider and p.digest = g.name and p.token = g.token
  returning g.place`)

/** Ends claims. Each answer is whether the claim was still held. */
export const end: DirectOptions<End, boolean> = {
  write: (ends) => [
    endAll({
      given: ends.map(({ digest, ended: { dueIn, expires, isTry, problem }, now, provider, token }, place) => ({
        place,
        provider,
        digest,
        token,
        now: now ?? null,
        dueIn,
        tries: Number(isTry),
        keepsProblem: problem === undefined,
        problem: problem ?? null,
        expiresIn: expires === undefined ? null : expires.in,
        onlyIfNew: expires?.onlyIfNew ?? false
      }))
    })
  ],
  read: ([rows]) => {
    const places = new Set(rows!.map((row) => place.read(row).place))
    return (_, place) => places.has(place)
  }
}
