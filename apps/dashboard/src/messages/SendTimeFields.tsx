/** The fields for when a message is sent, and the request's parameters that follow from them. */
import type { SendMessage } from "@wac/client/internal"
import { longestDays, standardTrialHours } from "../generated/SendTimes.ts"
import { mayBeDone } from "../session/Once.ts"
import { Choices, TextField } from "../ui/Field.tsx"
import { day, fromLocal, toLocal } from "../ui/Moment.ts"
import { timeZone, useNow } from "../ui/Time.tsx"

/** The values of the fields; times have the format of `datetime-local` inputs. */
export interface SendTimes {
  readonly when: "now" | "later"
  readonly sendAt: string
  readonly sendUntil: string
}

/** The initial values: the message is sent immediately. */
export const sendAtOnce: SendTimes = { when: "now", sendAt: "", sendUntil: "" }

/** The request's parameters for the fields; none if the message is sent immediately. */
export const timesOf = ({ sendAt, sendUntil, when }: SendTimes): Pick<SendMessage, "send_at" | "send_until"> => {
  const [at, until] = [fromLocal(sendAt), fromLocal(sendUntil)]
  return when === "now" || at === undefined
    ? {}
    : { send_at: at, ...(until === undefined ? {} : { send_until: until }) }
}

/** The names of these fields in the API, to which errors refer. */
export const sendTimeParams = ["send_at", "send_until"] as const

export const SendTimeFields = (
  { error, onChange, times }: {
    readonly times: SendTimes
    readonly onChange: (times: SendTimes) => void
    readonly error: unknown
  }
) => {
  const local = (days: number) => (now: number) => toLocal(new Date(now + days * day).toISOString())
  const [earliest, latest] = [useNow(local(0)), useNow(local(longestDays))]
  return (
    <>
      <Choices
        label="When"
        value={times.when}
        onChange={(when) => onChange({ ...times, when })}
        choices={[["now", "Now"], ["later", "Later, at a time"]]}
      />
      {times.when === "now" ? null : (
        <div className="grid gap-3 sm:grid-cols-2">
          <TextField
            label="Send at"
            hint={`At most ${longestDays} days ahead. Time zone: ${timeZone}`}
            error={error}
            param="send_at"
            type="datetime-local"
            required
            // the same request again, whose time has come meanwhile, tells what became of the first
            min={mayBeDone(error) ? undefined : earliest}
            max={latest}
            value={times.sendAt}
            onChange={(text) => onChange({ ...times, sendAt: text })}
          />
          <TextField
            label="Do not send after"
            hint={`A message that is held up is tried until then. Empty: ${standardTrialHours} hours after its time.`}
            error={error}
            param="send_until"
            type="datetime-local"
            min={times.sendAt}
            value={times.sendUntil}
            onChange={(text) => onChange({ ...times, sendUntil: text })}
          />
        </div>
      )}
    </>
  )
}
