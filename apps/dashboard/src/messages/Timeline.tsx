/** The timeline of a message: each step, the event that reported it, and that event's delivery to the webhook. */
import { Link } from "@tanstack/react-router"
import type { Delivery, Event, MessageDetail } from "@wac/client/internal"
import { Icon, type IconName } from "../ui/Icon.tsx"
import { lengthOf } from "../ui/Moment.ts"
import { exactly, Time } from "../ui/Time.tsx"
import { counted } from "../ui/Words.ts"
import { DeliveryState } from "../webhooks/DeliveryWords.tsx"

interface Step {
  readonly name: string
  /** The event that reports the step, if there is one. */
  readonly reported: Life | undefined
  readonly at: string
  readonly icon: IconName
  readonly isBad?: boolean
}

/** The steps for reported failures that a later report corrected. Pure. */
const correctedOf = (life: ReadonlyArray<Life>): ReadonlyArray<Step> => {
  const lastCorrection = Math.max(
    ...life.map(({ event: { data, type } }) =>
      (type === "message.sent" || type === "message.delivered" || type === "message.read") &&
        data.corrects !== undefined
        ? data.sequence
        : 0
    )
  )
  return life.flatMap((reported) =>
    reported.event.type === "message.failed" && reported.event.data.sequence < lastCorrection
      ? [{
        name: "Reported as failed, which a later report corrected",
        reported,
        at: reported.event.data.failed_at,
        icon: "cross"
      }]
      : []
  )
}

/** The steps of a message, oldest first. `life`, its events, is newest first. Pure. */
const stepsOf = (
  { createdAt, deliveredAt, failedAt, readAt, sendAt, sentAt }: Pick<
    MessageDetail,
    "createdAt" | "deliveredAt" | "failedAt" | "readAt" | "sendAt" | "sentAt"
  >,
  life: ReadonlyArray<Life>
): ReadonlyArray<Step> => {
  const steps: ReadonlyArray<readonly [string, string | undefined, string | null, IconName, boolean]> = [
    [
      sendAt === null ? "Requested, and allowed by rules and limits" : "Requested, and queued",
      undefined,
      createdAt,
      "key",
      false
    ],
    // a message that was cancelled, or is still queued, did not reach this step
    ["Its time came", undefined, sentAt === null && failedAt === null ? null : sendAt, "clock", false],
    ["Accepted by the provider", "message.sent", sentAt, "arrow", false],
    ["Arrived at the phone", "message.delivered", deliveredAt, "check", false],
    ["Read by the recipient", "message.read", readAt, "check", false],
    ["Failed", "message.failed", failedAt, "cross", true]
  ]
  return steps
    .flatMap(([name, type, at, icon, isBad]): ReadonlyArray<Step> =>
      at === null ? [] : [{ name, reported: life.find(({ event }) => event.type === type), at, icon, isBad }]
    )
    .concat(correctedOf(life))
    // the sort is stable: steps of the same millisecond keep the order above
    .toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
}

/** The event of a step, and the state of its delivery. */
const Reported = ({ delivery, event }: Life) => (
  <span className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-1 text-[13px]">
    <Link to="/events/$id" params={{ id: event.id }} className="text-accent underline">{event.type}</Link>
    {delivery === undefined
      ? <span className="text-muted">was recorded; no webhook was subscribed to it</span>
      : (
        <>
          <Link to="/deliveries/$id" params={{ id: delivery.id }}>
            <DeliveryState delivery={delivery} /> <span className="sr-only">delivery of {event.type}</span>
          </Link>
          <span className="text-muted">
            {counted(delivery.attemptCount, "attempt", "attempts")}
            {delivery.completedAt === null ? null : (
              <>
                , done <Time at={delivery.completedAt} />
              </>
            )}
            {delivery.nextAttemptAt === null ? null : (
              <>
                , the next <Time at={delivery.nextAttemptAt} />
              </>
            )}
          </span>
        </>
      )}
  </span>
)

/** An event of the message, and its delivery if a webhook was subscribed to it. */
type Life = { readonly event: Event; readonly delivery: Delivery | undefined }

export const Timeline = (
  { life, message }: { readonly message: MessageDetail; readonly life: ReadonlyArray<Life> }
) => {
  const steps = stepsOf(message, life)
  return (
    <ol className="space-y-0">
      {steps.map(({ at, icon, isBad, name, reported }, i) => {
        const before = steps[i - 1]
        return (
          <li key={`${name} ${at}`} className="relative flex gap-3 pb-5 last:pb-0">
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
              {reported === undefined ? null : <Reported {...reported} />}
            </span>
          </li>
        )
      })}
    </ol>
  )
}

const stepLength = (millis: number): string =>
  millis < 1000 ? `${Math.max(0, Math.round(millis))} ms` : lengthOf(millis)
