/**
 * What ending the claim of a post changes. The claim's token guards it, so that nothing need be loaded: a storage writes the
 * difference where the token holds the claim, in one statement.
 */
import { Duration } from "effect"
import type { Instant } from "../Time.ts"
import * as InboundPost from "./InboundPost.ts"

/** A post was processed. */
export interface Complete extends InboundPost.PostName {
  readonly now: Instant
  /** Of the claim. */
  readonly token: string
}

/** A claim ends without the post being processed: it has failed, or is given back. */
export type Release =
  & Complete
  & (
    | { readonly problem: InboundPost.Problem; readonly retryAt: Instant | null }
    | { readonly problem: null; readonly retryAt: Instant }
  )

/** What the end of a claim changes. Times are milliseconds from the storage's time. */
export interface Ended {
  /** When it is due again; `null`: never. */
  readonly dueIn: number | null
  /** Whether it counts as a try. */
  readonly isTry: boolean
  /** Why its last try failed, `null` if it did not; left out: as before. */
  readonly problem?: InboundPost.Problem | null
  /** When it may be forgotten; left out: as before. */
  readonly expires?: {
    readonly in: number
    /** Only where that is not fixed yet: the time of a problem runs from the first one. */
    readonly onlyIfNew: boolean
  }
}

/** The end of a claim by which the post was processed. */
export const complete: Ended = {
  dueIn: null,
  isTry: false,
  problem: null,
  expires: { in: Duration.toMillis(InboundPost.keptFor), onlyIfNew: false }
}

/** The end of a claim without that. */
export const release = ({ now, problem, retryAt }: Release): Ended => ({
  dueIn: retryAt === null ? null : retryAt - now,
  ...problem === null ? { isTry: false } : {
    isTry: true,
    problem,
    expires: { in: Duration.toMillis(InboundPost.keptWithProblemFor), onlyIfNew: true }
  }
})
