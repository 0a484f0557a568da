/** The names and meanings of template statuses, and how a status is shown. */
import { Status, type Tone } from "../ui/Status.tsx"
import { capitalized } from "../ui/Words.ts"

const tones: { readonly [status: string]: Tone } = {
  approved: "good",
  pending: "calm",
  in_appeal: "calm",
  paused: "warn",
  rejected: "bad",
  disabled: "bad"
}

/** The statuses by which the list can be filtered, with their names. */
export const templateStatuses = ["approved", "pending", "rejected", "paused", "disabled"].map((status) =>
  [status, capitalized(status)] as const
)

const meanings: { readonly [status: string]: string } = {
  approved: "It can be sent.",
  pending: "The provider reviews it. It cannot be sent before it is approved.",
  in_appeal: "The provider reviews its decision. It cannot be sent meanwhile.",
  paused: "The provider has paused it, because customers did not like it. It cannot be sent meanwhile.",
  rejected: "It cannot be sent. Edit it, and the provider reviews it again.",
  disabled: "The provider has disabled it. It cannot be sent any more."
}

/** What a status means, in sentences; empty for a status that this page does not know. Pure. */
export const meaningOf = (status: string): string => meanings[status] ?? ""

export const TemplateState = ({ status }: { readonly status: string }) => (
  <Status tone={tones[status] ?? "calm"} {...(tones[status] === undefined ? { icon: "circle" } : {})}>
    {capitalized(status)}
  </Status>
)
