/** The names and meanings of message statuses, and how a status is shown. */
import type { MessageStatus } from "@wac/client/internal"
import type { IconName } from "../ui/Icon.tsx"
import { Status, type Tone } from "../ui/Status.tsx"
import { Time } from "../ui/Time.tsx"

const statuses: Record<MessageStatus, readonly [Tone, string, IconName]> = {
  queued: ["calm", "Queued", "clock"],
  sending: ["calm", "Sending", "clock"],
  unknown: ["warn", "Outcome unknown", "warning"],
  sent: ["calm", "Sent", "arrow"],
  delivered: ["good", "Delivered", "check"],
  read: ["good", "Read", "check"],
  failed: ["bad", "Failed", "cross"],
  skipped: ["calm", "Skipped", "circle"],
  cancelled: ["calm", "Cancelled", "circle"]
}

/** Every status of a message with its name. */
export const messageStatuses = (Object.keys(statuses) as ReadonlyArray<MessageStatus>)
  .map((status) => [status, statuses[status][1]] as const)

export const MessageState = ({ status }: { readonly status: MessageStatus }) => {
  const [tone, name, icon] = statuses[status]
  return <Status tone={tone} icon={icon}>{name}</Status>
}

/** The status of a message in a list, with its time if it is queued for a time. */
export const ListedState = (
  { sendAt, status }: { readonly status: MessageStatus; readonly sendAt: string | null }
) => (
  <>
    <MessageState status={status} />
    {status !== "queued" || sendAt === null ? null : (
      <span className="block text-[13px] text-muted">
        <Time at={sendAt} />
      </span>
    )}
  </>
)

/** What each status means, in sentences. */
export const messageMeanings: Record<MessageStatus, string> = {
  queued: "It is sent at its time, or by its campaign.",
  sending: "It was not sent yet. A request with the same Idempotency-Key tries again.",
  unknown:
    "The provider did not confirm whether it accepted the message. It is not sent again; a report of the provider settles it.",
  sent: "The provider accepted it, and has not reported that it arrived.",
  delivered: "It arrived at the phone.",
  read: "The recipient read it.",
  failed: "It did not arrive, as far as the provider has reported.",
  skipped: "Its campaign never sent it.",
  cancelled: "It was cancelled before its time, and never sent."
}
