/** When a campaign sends, how fast, and what share of its customers it leaves out: the fields, and what they mean. */
import type { Campaign, CreateCampaign } from "@wac/client/internal"
import type { ComponentProps, ReactNode } from "react"
import { Field } from "../ui/Field.tsx"
import { fromLocal, toLocal } from "../ui/Moment.ts"
import { timeZone } from "../ui/Time.tsx"

/** The text of each field. */
export interface Schedule {
  readonly startAt: string
  readonly notAfter: string
  /** In percent. */
  readonly share: string
  readonly quietFrom: string
  readonly quietTo: string
  /** In percent. */
  readonly holdout: string
}

const timeOf = (at: string | null | undefined): string => at == null ? "" : toLocal(at)

export const percentOf = (share: number): string => `${Math.round(share * 100)}`

/** The fields of a campaign; of a new one if it is omitted. */
export const scheduleOf = (campaign: Campaign | undefined): Schedule => ({
  startAt: timeOf(campaign?.startAt),
  notAfter: timeOf(campaign?.notAfter),
  share: percentOf(campaign?.share ?? 0.5),
  quietFrom: campaign?.quietHours?.from ?? "",
  quietTo: campaign?.quietHours?.to ?? "",
  holdout: percentOf(campaign?.holdout ?? 0)
})

/** The fields of another campaign that is like it: its times have passed. */
export const repeated = (schedule: Schedule): Schedule => ({ ...schedule, startAt: "", notAfter: "" })

/** The part of a plan that the fields mean. */
export const plannedBy = ({ holdout, notAfter, quietFrom, quietTo, share, startAt }: Schedule) =>
  ({
    ...(startAt === "" ? {} : { startAt: fromLocal(startAt)! }),
    ...(notAfter === "" ? {} : { notAfter: fromLocal(notAfter)! }),
    share: Number(share) / 100,
    ...(quietFrom === "" || quietTo === "" ? {} : { quietHours: { from: quietFrom, to: quietTo } }),
    ...(Number(holdout) === 0 ? {} : { holdout: Number(holdout) / 100 })
  }) satisfies Partial<CreateCampaign>

/** The names that the service calls these fields by. */
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
          type: "datetime-local"
        })}
        {field("notAfter", "Send nothing after", "Empty: 24 hours after the start.", { type: "datetime-local" })}
      </div>
      {field("share", "Share of the number’s rate, in percent", "The rest stays free for your other messages.", {
        type: "number",
        required: true,
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
        min: 0,
        max: 50
      })}
    </>
  )
}
