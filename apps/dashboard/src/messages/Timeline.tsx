/** A message's life, step by step. */
import type { MessageDetail } from "@wac/client/internal"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { lengthOf } from "../ui/Moment.ts"
import { exactly, Time } from "../ui/Time.tsx"

interface Step {
  readonly name: string
  readonly at: string
  readonly icon: IconName
  readonly isBad?: boolean
}

/** What has happened, in the order of time. Pure. */
const stepsOf = (
  { createdAt, deliveredAt, failedAt, readAt, sentAt }: Pick<
    MessageDetail,
    "createdAt" | "deliveredAt" | "failedAt" | "readAt" | "sentAt"
  >
): ReadonlyArray<Step> => {
  const steps: ReadonlyArray<readonly [string, string | null, IconName, boolean]> = [
    ["Requested", createdAt, "key", false],
    ["Accepted by the provider", sentAt, "arrow", false],
    ["Arrived at the phone", deliveredAt, "check", false],
    ["Read by the recipient", readAt, "check", false],
    ["Failed", failedAt, "cross", true]
  ]
  return steps
    .flatMap(([name, at, icon, isBad]) => at === null ? [] : [{ name, at, icon, isBad }])
    // stable: steps of the same millisecond keep the order above
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
}

export const Timeline = ({ message }: { readonly message: MessageDetail }) => {
  const steps = stepsOf(message)
  return (
    <ol className="space-y-0">
      {steps.map(({ at, icon, isBad, name }, i) => {
        const before = steps[i - 1]
        return (
          <li key={name} className="relative flex gap-3 pb-5 last:pb-0">
            {i < steps.length - 1
              ? <span aria-hidden="true" className="absolute top-7 bottom-0 left-3 w-px bg-line" />
              : null}
            <span
              className={`z-10 flex size-6 items-center justify-center rounded-full ${
                isBad === true ? "bg-bad-soft text-bad" : "bg-accent-soft text-accent"
              }`}
            >
              <Icon name={icon} className="size-3.5" />
            </span>
            <span>
              <span className="font-medium">{name}</span>{" "}
              <span className="text-muted">
                <Time at={at} />
              </span>
              <span className="block text-[13px] text-muted">
                {exactly(at)}
                {before === undefined
                  ? null
                  : ` · ${stepLength(Date.parse(at) - Date.parse(before.at))} after the step before`}
              </span>
            </span>
          </li>
        )
      })}
    </ol>
  )
}

const stepLength = (millis: number): string =>
  millis < 1000 ? `${Math.max(0, Math.round(millis))} ms` : lengthOf(millis)
