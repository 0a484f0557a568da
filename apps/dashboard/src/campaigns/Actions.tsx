/** The actions on a campaign, and their confirmations. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate } from "@tanstack/react-router"
import type { Campaign } from "@wac/client/internal"
import { type ReactNode, useRef, useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Confirm } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, TextField } from "../ui/Field.tsx"
import { grouped } from "../ui/Language.ts"
import { fromLocal, toLocal } from "../ui/Moment.ts"
import { Time, timeZone, useNow } from "../ui/Time.tsx"
import { counted } from "../ui/Words.ts"
import { lengthAt, reachedBy, usePace } from "./Pace.ts"

type Step = "check" | "start" | "pause" | "resume" | "cancel" | "remove"

/** The question that confirms an action. */
type Asked = "start" | "cancel" | "remove"

export const Actions = ({ campaign }: { readonly campaign: Campaign }) => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const refusal = useRefusal(
    RoleOf.campaignsEdit,
    RoleOf.campaignsCheck,
    RoleOf.campaignsStart,
    RoleOf.campaignsPause,
    RoleOf.campaignsResume,
    RoleOf.campaignsCancel,
    RoleOf.campaignsRemove
  )
  const pace = usePace(campaign)
  const [asked, setAsked] = useState<Asked>()
  const { counts, id, startAt, status } = campaign
  // as the dialog's field has it, once a person has changed it
  const [chosen, setChosen] = useState<string>()
  const startsAt = chosen === undefined ? startAt : fromLocal(chosen) ?? null
  // what has passed is no schedule: the campaign starts at once
  const isLater = useNow((now) => startsAt !== null && Date.parse(startsAt) > now)
  const isScheduled = useNow((now) => startAt !== null && Date.parse(startAt) > now)
  const field = useRef<HTMLDivElement>(null)
  const act = useMutation({
    mutationFn: async (step: Step): Promise<void> => {
      if (step === "start" && startsAt !== startAt) await api.campaigns.edit(id, { startAt: startsAt })
      await api.campaigns[step](id)
    },
    onSuccess: (_, step) => {
      setAsked(undefined)
      if (step === "remove") void navigate({ to: "/campaigns" })
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["campaigns"] })
  })
  const can = (...statuses: ReadonlyArray<Campaign["status"]>) => statuses.includes(status)
  const button = (step: Step, words: string, look: "primary" | "secondary" | "danger" = "secondary") => (
    <Button
      key={step}
      look={look}
      refusal={refusal}
      isPending={act.isPending && act.variables === step}
      onClick={() => step === "start" || step === "cancel" || step === "remove" ? setAsked(step) : act.mutate(step)}
    >
      {words}
    </Button>
  )
  const recipients = counted(counts.queued, "customer", "customers")
  const reached = counted(reachedBy(campaign), "customer", "customers")
  const questions: Record<Asked, readonly [title: string, action: string, text: ReactNode]> = {
    start: [
      "Start the campaign",
      isLater ? `Schedule for ${reached}` : `Send to ${reached}`,
      <div ref={field} className="space-y-4">
        <p>
          Sends the template to {reached}
          {pace === undefined ?
            null :
            `, at most ${grouped(Math.floor(pace))} a second, in about ${lengthAt(reachedBy(campaign), pace)}`}
          {startsAt === null || !isLater ? "." : (
            <>
              , from <Time at={startsAt} />.
            </>
          )}
        </p>
        <TextField
          label="Start at"
          hint={`Empty: at once. Time zone: ${timeZone}`}
          error={act.error}
          param="startAt"
          type="datetime-local"
          value={chosen ?? (startAt === null ? "" : toLocal(startAt))}
          onChange={setChosen}
        />
      </div>
    ],
    cancel: [
      "Cancel the campaign",
      "Cancel the campaign",
      <>
        {counts.queued === 0 ? "No customer is left to send to." : `${recipients} will not be sent to.`}{" "}
        Messages that were sent stay sent. It cannot be started again.
      </>
    ],
    remove: ["Delete the campaign", "Delete", <>Deletes the campaign and its {grouped(campaign.rows)} rows.</>]
  }
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
      {asked === undefined ? <Failure error={act.error} /> : (
        <Confirm
          title={questions[asked][0]}
          action={questions[asked][1]}
          isOpen
          isPending={act.isPending}
          error={elsewhere(act.error, "startAt")}
          onClose={() => {
            setAsked(undefined)
            act.reset()
          }}
          onConfirm={() => {
            // a time that is half filled in has no value, which means at once
            if (field.current?.querySelector("input")?.reportValidity() !== false) act.mutate(asked)
          }}
        >
          {questions[asked][2]}
        </Confirm>
      )}
    </>
  )
}
