/**
 * Ending claims of posts (`InboundPostStep` of the core): the difference is written where the token holds the claim.
 */
import type { InboundPost, InboundPostStep, Time } from "@wac/core"
import { plain } from "../Column.ts"
import type { DirectOptions } from "../Database.ts"
import { booleans, instants, integers, texts } from "../Parameter.ts"

/** The end of a claim. */
export interface End extends InboundPost.PostName {
  readonly token: string
  /** Where time passes as a test says; else the database's. */
  readonly now: Time.Instant | undefined
  readonly ended: InboundPostStep.Ended
}

const endText = `with given as materialized (
    select g.*, decode(g.hex, 'hex') as digest, coalesce(g.now, wac_now()) as at
    from unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::integer[], $8::boolean[],
      $9::text[], $10::bigint[], $11::boolean[]) g (place, provider, hex, token, now, due_in, tries, keeps_problem, problem,
      expires_in, only_if_new)
  )
  update inbound_posts p set
    due_at = g.at + g.due_in,
    token = null,
    tries = p.tries + g.tries,
    problem = case when g.keeps_problem then p.problem else g.problem end,
    expires_at = case when g.only_if_new then coalesce(p.expires_at, g.at + g.expires_in)
      else coalesce(g.at + g.expires_in, p.expires_at) end
  from given g
  where p.provider = g.provider and p.digest = g.digest and p.token = g.token
  returning g.place`

/** Answers whether each claim was still held. */
export const end: DirectOptions<End, boolean> = {
  write: (ends) => {
    const ended = ends.map(({ ended }) => ended)
    return [{
      text: endText,
      params: [
        integers(ends.map((_, i) => i)),
        texts(ends.map(({ provider }) => provider)),
        texts(ends.map(({ digest }) => digest)),
        texts(ends.map(({ token }) => token)),
        instants(ends.map(({ now }) => now ?? null)),
        instants(ended.map(({ dueIn }) => dueIn)),
        integers(ended.map(({ isTry }) => Number(isTry))),
        booleans(ended.map(({ problem }) => problem === undefined)),
        texts(ended.map(({ problem }) => problem ?? null)),
        instants(ended.map(({ expires }) => expires === undefined ? null : expires.in)),
        booleans(ended.map(({ expires }) => expires?.onlyIfNew ?? false))
      ]
    }]
  },
  read: ([rows], ends) => {
    const places = new Set(rows!.map((row) => plain<number>(row, "place")))
    return ends.map((_, i) => places.has(i))
  }
}
