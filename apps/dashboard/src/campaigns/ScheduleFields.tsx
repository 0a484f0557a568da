/** The fields for when a campaign sends, how fast, and which share of its customers is held out for comparison. */
import type { ComponentProps, ReactNode } from "react"
import { Field } from "../ui/Field.tsx"
import { latestLocal } from "../ui/Moment.ts"
import { timeZone } from "../ui/Time.tsx"
import type { Schedule } from "./Draft.ts"

/** The names of these fields in the API, to which errors refer. */
export const scheduleParams = ["startAt", "notAfter", "share", "quietHours", "holdout"] as const

const pair = "grid gap-3 sm:grid-cols-2"

export const ScheduleFields = (
  { error, onChange, schedule }: {
    readonly schedule: Schedule
    readonly onChange: (schedule: Schedule) => void
    readonly error: unknown
  }
) => {
  const field = (
    name: keyof Schedule,
    label: string,
    hint: ReactNode,
    input: ComponentProps<"input">,
    param: string = name
  ) => (
    <Field label={label} hint={hint} error={error} param={param}>
      {(control) => (
        <input
          className={input.type === "number" ? "field max-w-32 tabular-nums" : "field"}
          {...control}
          {...input}
          value={schedule[name]}
          onChange={(event) => onChange({ ...schedule, [name]: event.target.value })}
        />
      )}
    </Field>
  )
  const time = { type: "time", required: schedule.quietFrom !== "" || schedule.quietTo !== "" }
  return (
    <>
      <div className={pair}>
        {field("startAt", "Start at", `Once you have started it. Empty: at once. Time zone: ${timeZone}`, {
          type: "datetime-local",
          max: latestLocal
        })}
        {field("notAfter", "Send nothing after", "Empty: 24 hours after the start.", {
          type: "datetime-local",
          max: latestLocal
        })}
      </div>
      {field("share", "Share of the number’s rate, in percent", "The rest stays free for your other messages.", {
        type: "number",
        required: true,
        step: "any",
        min: 1,
        max: 90
      })}
      <div className={pair}>
        {field("quietFrom", "Quiet from", "By each customer’s clock.", time, "quietHours.from")}
        {field("quietTo", "Quiet until", "By each customer’s clock.", time, "quietHours.to")}
      </div>
      {field("holdout", "Held out for comparison, in percent", "Customers chosen by chance, who get nothing.", {
        type: "number",
        required: true,
        step: "any",
        min: 0,
        max: 50
      })}
    </>
  )
}
