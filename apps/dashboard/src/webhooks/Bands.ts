/** Converts the outages of the receiver into the shaded bands of charts. */
import type { ReceiverOutage } from "@wac/client/internal"
import type { Band } from "../ui/Chart.tsx"
import { t } from "../ui/Language.ts"

const kinds: Record<ReceiverOutage["kind"], string> = { failing: t("failing"), paused: t("paused") }

export const bandsOf = (outages: ReadonlyArray<ReceiverOutage>): ReadonlyArray<Band> =>
  outages.map(({ kind, since, until }) => ({
    from: Date.parse(since),
    until: until === null ? Infinity : Date.parse(until),
    name: kinds[kind]
  }))
