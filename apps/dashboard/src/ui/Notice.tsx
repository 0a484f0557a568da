/** A message to the reader, in a box. */
import type { ReactNode } from "react"
import { Icon } from "./Icon.tsx"
import type { Tone } from "./Status.tsx"

const tones: Record<Tone, string> = {
  good: "border-good/30 bg-good-soft text-good",
  warn: "border-warn/30 bg-warn-soft text-warn",
  bad: "border-bad/30 bg-bad-soft text-bad",
  calm: "border-line bg-sunken text-ink"
}

/** A message to the reader, in a box. */
export const Notice = (
  { actions, children, role, tone = "calm" }: {
    readonly tone?: Tone
    readonly role?: "alert" | "status"
    readonly actions?: ReactNode
    readonly children: ReactNode
  }
) => (
  <div role={role} className={`flex flex-wrap items-start gap-x-3 gap-y-2 rounded-md border px-3 py-2 ${tones[tone]}`}>
    <Icon name={tone === "good" ? "check" : tone === "calm" ? "circle" : "warning"} className="mt-0.5" />
    <div className="min-w-0 flex-1 basis-48 break-words">{children}</div>
    {actions === undefined ? null : <div className="flex flex-wrap gap-2">{actions}</div>}
  </div>
)
