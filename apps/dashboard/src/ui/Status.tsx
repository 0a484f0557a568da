/** A status, shown as an icon, a word and a colour; the colour is never the only sign. */
import type { ReactNode } from "react"
import { Icon, type IconName } from "./Icon.tsx"

/** How a status is meant, which determines its colour. */
export type Tone = "good" | "warn" | "bad" | "calm"

const colours: Record<Tone, string> = {
  good: "text-good bg-good-soft",
  warn: "text-warn bg-warn-soft",
  bad: "text-bad bg-bad-soft",
  calm: "text-muted bg-sunken"
}

const icons: Record<Tone, IconName> = { good: "check", warn: "warning", bad: "cross", calm: "clock" }

export const Status = (
  { children, icon, tone }: { readonly tone: Tone; readonly icon?: IconName; readonly children: ReactNode }
) => (
  <span
    className={`inline-flex items-center gap-1 rounded-full py-0.5 pr-2 pl-1.5 text-[13px] font-medium whitespace-nowrap ${
      colours[tone]
    }`}
  >
    <Icon name={icon ?? icons[tone]} className="size-3.5" />
    {children}
  </span>
)
