/** The counted outcomes of sends and of webhook attempts: how charts show each, and which page lists what it counts. */
import type { UsageBefore } from "@wac/client/internal"
import type { LinkOf, Place, Series } from "../ui/Chart.tsx"
import { range } from "../ui/Filters.tsx"

/** The name of a count in the service's report. */
export type Count = Exclude<keyof UsageBefore, "since" | "sendsDelivered">

/** An outcome, as a series of a chart. */
export interface Outcome extends Series {
  readonly key: Count
  /** What is counted, in a sentence. */
  readonly definition: string
  /**
   * The page that lists what is counted, with its filters except the time. It may have more, such as messages that
   * failed after they were accepted. Omitted if no filter comes near.
   */
  readonly list?: Place
}

/** The outcomes of sends. */
export const sends: ReadonlyArray<Outcome> = [
  {
    key: "sendsAccepted",
    name: "Accepted",
    definition: "The provider accepted the send.",
    fill: "fill-accent",
    texture: "plain"
  },
  {
    key: "sendsFailed",
    name: "Failed",
    definition: "The provider refused the send or did not take it.",
    fill: "fill-bad",
    texture: "stripes",
    list: { to: "/messages", search: { status: "failed" } }
  },
  {
    key: "sendsUnknown",
    name: "Unknown",
    definition: "The provider did not confirm the outcome.",
    fill: "fill-warn",
    texture: "dots",
    list: { to: "/messages", search: { status: "unknown" } }
  },
  {
    key: "sendsRefused",
    name: "Refused",
    definition: "A rule or limit of this service refused it.",
    fill: "fill-edge",
    texture: "grid",
    list: { to: "/requests", search: { refused: "yes" } }
  }
]

/** The outcomes of webhook attempts. */
export const attempts: ReadonlyArray<Outcome> = [
  {
    key: "attemptsDelivered",
    name: "Delivered",
    definition: "Attempts that your receiver answered with 200.",
    fill: "fill-accent",
    texture: "plain",
    list: { to: "/deliveries", search: { status: "delivered" } }
  },
  {
    key: "attemptsFailed",
    name: "Failed",
    definition: "Attempts that it did not.",
    fill: "fill-bad",
    texture: "stripes"
  }
]

/** Returns the page that lists what an outcome counts in a step of a chart; `undefined` if there is none. */
export const listOf = (outcomes: ReadonlyArray<Outcome>): LinkOf => (key, { from, until }) => {
  const list = outcomes.find((outcome) => outcome.key === key)?.list
  if (list === undefined) return undefined
  const [begin, end] = [from, until].map((at) => new Date(at).toISOString())
  return { to: list.to, search: { ...list.search, since: range, begin, end } }
}
