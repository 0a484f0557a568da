/** The buttons for the actions on a campaign, and their confirmations. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import type { Campaign } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Confirm } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { TextField } from "../ui/Field.tsx"
import { grouped } from "../ui/Language.ts"
import { fromLocal, lengthOf, toLocal } from "../ui/Moment.ts"
import { Notice } from "../ui/Notice.tsx"
import { Time, timeZone, useNow } from "../ui/Time.tsx"
import { asRate, counted } from "../ui/Words.ts"
import { pauseReasons, withoutTime } from "./CampaignWords.tsx"
import { usePace } from "./Pace.ts"
import { endsAt, goesOnAt, reachedBy, stopsEarlyAt, timeNeeded } from "./Reach.ts"

/** An action that is done without a question. */
type Step = "check" | "pause"

/** An action that the person has to confirm. */
type Asked = "start" | "resume" | "cancel" | "remove"

interface Question {
  readonly campaign: Campaign
  readonly onClose: () => void
}

/** The start of the minute, so that what is derived from now changes once a minute. */
const toMinute = (now: number): number => now - now % 60_000

const Start = ({ campaign, onClose }: Question) => {
  const pace = usePace(campaign)
  const { forecast, id, startAt } = campaign
  const alwaysQuiet = forecast?.alwaysQuiet ?? 0
  // the text of the field, once the person has changed it
  const [chosen, setChosen] = useState<string>()
  const startsAt = chosen === undefined ? startAt : fromLocal(chosen) ?? null
  // a time in the past is no schedule: the campaign starts immediately
  const isLater = useNow((now) => startsAt !== null && Date.parse(startsAt) > now)
  const reached = counted(reachedBy(campaign), "customer", "customers")
  const stopsAt = useNow((now) =>
    pace === undefined
      ? 0
      : stopsEarlyAt(campaign, pace, startsAt !== null && isLater ? Date.parse(startsAt) : toMinute(now)) ?? 0
  )
  return (
    <Confirm
      title="Start the campaign"
      action={isLater ? `Schedule for ${reached}` : `Send to ${reached}`}
      act={async () => {
        if (startsAt !== startAt) await api.campaigns.edit(id, { startAt: startsAt })
        await api.campaigns.start(id)
      }}
      param="startAt"
      onClose={onClose}
    >
      {(error) => (
        <div className="space-y-4">
          <p>
            Sends the template to {reached}
            {pace === undefined ?
              null :
              `, at most ${asRate(pace)}, in about ${lengthOf(timeNeeded(campaign, pace))}`}
            {startsAt === null || !isLater ? "." : (
              <>
                , from <Time at={startsAt} />.
              </>
            )}
          </p>
          {stopsAt === 0 ? null : (
            <Notice tone="warn">
              It stops{" "}
              <Time at={new Date(stopsAt).toISOString()} />, before it can have sent to all of them; the others get
              nothing. Change the campaign first: “Send nothing after” decides when it stops.
            </Notice>
          )}
          {alwaysQuiet === 0 ? null : (
            <Notice tone="warn">
              Quiet hours never end for{" "}
              {withoutTime(alwaysQuiet)}: at any time it is quiet in one of the time zones of their country. Give their
              time zones in a column timeZone of the file, or change the quiet hours first.
            </Notice>
          )}
          <TextField
            label="Start at"
            hint={`Empty: at once. Time zone: ${timeZone}`}
            error={error}
            param="startAt"
            type="datetime-local"
            value={chosen ?? (startAt === null ? "" : toLocal(startAt))}
            onChange={setChosen}
          />
        </div>
      )}
    </Confirm>
  )
}

/** The end of a campaign that leaves it no time to send if it is resumed at `now`; `undefined` if there is time. */
const endedBefore = (campaign: Campaign, now: number): number | undefined => {
  const from = goesOnAt(campaign, now)
  const end = endsAt(campaign, from)
  return end <= from ? end : undefined
}

/**
 * The question before a paused campaign is resumed. It is always asked: “Resume” appears where “Pause” was, and to
 * resume says that a person has seen why the campaign was paused.
 */
const Resume = ({ campaign, onClose }: Question) => {
  const pace = usePace(campaign)
  const { counts, id, notAfter, pausedReason } = campaign
  const [end, setEnd] = useState(notAfter === null ? "" : toLocal(notAfter))
  // what the person has not changed keeps its seconds
  const chosen = end === "" || (notAfter !== null && end === toLocal(notAfter)) ? notAfter : fromLocal(end) ?? null
  const planned = { ...campaign, notAfter: chosen }
  const endedAt = useNow((now) => counts.queued === 0 ? 0 : endedBefore(planned, now) ?? 0)
  const stopsAt = useNow((now) =>
    pace === undefined || counts.queued === 0 ? 0 : stopsEarlyAt(planned, pace, goesOnAt(planned, toMinute(now))) ?? 0
  )
  const left = counted(counts.queued, "customer", "customers")
  return (
    <Confirm
      title="Resume the campaign"
      action={counts.queued === 0 ? "Resume" : `Send to ${left}`}
      refusal={endedAt === 0 ? undefined : "Its end leaves no time to send"}
      act={async () => {
        if (chosen !== notAfter) await api.campaigns.edit(id, { notAfter: chosen })
        await api.campaigns.resume(id)
      }}
      param="notAfter"
      onClose={onClose}
    >
      {(error) => (
        <div className="space-y-4">
          <p>
            {pausedReason === null ? "" : `${pauseReasons[pausedReason]} `}
            {left} {counts.queued === 1 ? "is" : "are"} left.
          </p>
          {endedAt !== 0
            ? (
              <Notice tone="warn">
                Its end (<Time at={new Date(endedAt).toISOString()} />) leaves no time to send: those who are left would
                get nothing. Set a later end.
              </Notice>
            )
            : stopsAt !== 0
            ? (
              <Notice tone="warn">
                It stops{" "}
                <Time at={new Date(stopsAt).toISOString()} />, before it can have sent to all of them; the others get
                nothing.
              </Notice>
            )
            : null}
          <TextField
            label="Send nothing after"
            hint={`${notAfter === null ? "Empty: 24 hours after the start. " : ""}Time zone: ${timeZone}`}
            error={error}
            param="notAfter"
            type="datetime-local"
            required={notAfter !== null}
            value={end}
            onChange={setEnd}
          />
        </div>
      )}
    </Confirm>
  )
}

const Cancel = ({ campaign: { counts, id }, onClose }: Question) => (
  <Confirm
    title="Cancel the campaign"
    action="Cancel the campaign"
    act={() => api.campaigns.cancel(id)}
    onClose={onClose}
  >
    {counts.queued === 0
      ? "No customer is left to send to."
      : `${counted(counts.queued, "customer", "customers")} will not be sent to.`}{" "}
    Messages that were sent stay sent. It cannot be started again.
  </Confirm>
)

const Remove = ({ campaign: { id, rows }, onClose }: Question) => {
  const navigate = useNavigate()
  return (
    <Confirm
      title="Delete the campaign"
      action="Delete"
      act={() => api.campaigns.remove(id)}
      onClose={onClose}
      onDone={() => navigate({ to: "/campaigns" })}
    >
      Deletes the campaign and its {grouped(rows)} rows.
    </Confirm>
  )
}

const questions = { start: Start, resume: Resume, cancel: Cancel, remove: Remove } satisfies Record<Asked, unknown>

const isAsked = (step: Asked | Step): step is Asked => step in questions

export const Actions = ({ campaign }: { readonly campaign: Campaign }) => {
  const client = useQueryClient()
  const refusal = useRefusal(
    RoleOf.campaignsEdit,
    RoleOf.campaignsCheck,
    RoleOf.campaignsStart,
    RoleOf.campaignsPause,
    RoleOf.campaignsResume,
    RoleOf.campaignsCancel,
    RoleOf.campaignsRemove
  )
  const [asked, setAsked] = useState<Asked>()
  const { counts, id, startAt, status } = campaign
  const isScheduled = useNow((now) => startAt !== null && Date.parse(startAt) > now)
  const act = useMutation({
    mutationFn: async (step: Step): Promise<void> => void await api.campaigns[step](id),
    onSettled: () => client.invalidateQueries({ queryKey: ["campaigns"] })
  })
  const can = (...statuses: ReadonlyArray<Campaign["status"]>) => statuses.includes(status)
  const button = (
    step: Asked | Step,
    words: string,
    look: "primary" | "secondary" | "danger" = "secondary"
  ) => (
    <Button
      key={step}
      look={look}
      refusal={refusal}
      // the page may show the campaign as paused before the request for the pause has ended
      isPending={act.isPending && (act.variables === step || step === "resume")}
      onClick={() => {
        if (isAsked(step)) {
          act.reset()
          setAsked(step)
        } else act.mutate(step)
      }}
    >
      {words}
    </Button>
  )
  const Question = asked === undefined ? undefined : questions[asked]
  return (
    <>
      {can("draft", "ready") && campaign.rows > 0 && campaign.checked < campaign.rows
        ? button("check", "Check the rows", "primary")
        : null}
      {can("ready") && counts.queued > 0 ? button("start", isScheduled ? "Schedule" : "Start", "primary") : null}
      {can("running", "scheduled") ? button("pause", "Pause") : null}
      {can("paused") ? button("resume", "Resume", "primary") : null}
      {can("scheduled", "running", "paused") ? button("cancel", "Cancel", "danger") : null}
      {can("draft", "ready") && refusal === undefined
        ? <Link to="/campaigns/$id/edit" params={{ id }} className={buttonClass()}>Change</Link>
        : null}
      {refusal === undefined
        ? <Link to="/campaigns/new" search={{ like: id }} className={buttonClass()}>Duplicate</Link>
        : null}
      {can("draft", "ready") ? button("remove", "Delete", "danger") : null}
      <Failure error={act.error} />
      {Question === undefined ? null : <Question campaign={campaign} onClose={() => setAsked(undefined)} />}
    </>
  )
}
