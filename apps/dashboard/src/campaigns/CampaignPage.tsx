/** One campaign: its report before it starts, its progress, its result, and what can be done with it. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useParams } from "@tanstack/react-router"
import type { Campaign, CampaignForecast } from "@wac/client/internal"
import { type ReactNode, useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { api, isNotFound } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Confirm } from "../ui/Dialog.tsx"
import { Failure, Notice } from "../ui/Failure.tsx"
import { elsewhere, Field } from "../ui/Field.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { fromLocal, lengthOf, toLocal } from "../ui/Moment.ts"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { type Column, Id, Table } from "../ui/Table.tsx"
import { Time, TimeOr, timeZone } from "../ui/Time.tsx"
import { capitalized, counted, grouped } from "../ui/Words.ts"
import { marketName } from "../usage/Market.ts"
import { CampaignState, outcomes, pauseReasons } from "./CampaignWords.tsx"
import { Comparison } from "./Comparison.tsx"
import { Funnel } from "./Funnel.tsx"
import { campaignQuery } from "./Queries.ts"
import { Recipients } from "./Recipients.tsx"

type Step = "check" | "start" | "pause" | "resume" | "cancel" | "remove"

/** What is asked before it is done. */
type Asked = "start" | "cancel" | "remove"

/** Messages a second that it may send; `undefined` while the number is not known. */
const usePace = ({ from, share }: Campaign): number | undefined => {
  const { data } = useQuery(phoneNumbersQuery)
  const number = data?.find(({ id, isDefault, phoneNumber }) =>
    from === null ? isDefault : id === from || phoneNumber === from
  )
  return number === undefined ? undefined : number.messagesPerSecond * share
}

/** How many customers a campaign that has not started will send to. */
const reachedBy = ({ counts, forecast }: Campaign): number => forecast?.messages ?? counts.queued

/** How far back the rate is measured, in milliseconds. */
const rateSpan = 15_000

/** Customers a second, measured while the page is open; `undefined` for the first seconds. */
const useRate = (done: number, at: number): number | undefined => {
  const [seen, setSeen] = useState<ReadonlyArray<{ readonly at: number; readonly done: number }>>([])
  const [first, last] = [seen[0], seen.at(-1)]
  if (last === undefined || at > last.at) {
    setSeen([...seen.filter((before) => at - before.at <= rateSpan), { at, done }])
  }
  return first === undefined || last === undefined || last.at - first.at < 2000
    ? undefined
    : Math.max(0, last.done - first.done) / (last.at - first.at) * 1000
}

/** `12 a second`, `0.4 a second`. */
const asRate = (perSecond: number): string =>
  `${perSecond < 10 ? perSecond.toFixed(1) : grouped(Math.round(perSecond))} a second`

/** How long something takes at a pace, at least a second. */
const lengthAt = (count: number, pace: number): string => lengthOf(Math.max(1000, count / pace * 1000))

const Steps = ({ campaign }: { readonly campaign: Campaign }) => {
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
      startsAt === null ? `Send to ${reached}` : `Schedule for ${reached}`,
      <div className="space-y-4">
        <p>
          Sends the template to {reached}
          {pace === undefined ?
            null :
            `, at most ${grouped(Math.floor(pace))} a second, in about ${lengthAt(reachedBy(campaign), pace)}`}
          {startsAt === null ? "." : (
            <>
              , from <Time at={startsAt} />.
            </>
          )}
        </p>
        <Field label="Start at" hint={`Empty: at once. Time zone: ${timeZone}`} error={act.error} param="startAt">
          {(control) => (
            <input
              {...control}
              type="datetime-local"
              className="field"
              value={chosen ?? (startAt === null ? "" : toLocal(startAt))}
              onChange={(event) => setChosen(event.target.value)}
            />
          )}
        </Field>
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
      {can("ready") && counts.queued > 0 ? button("start", startAt === null ? "Start" : "Schedule", "primary") : null}
      {can("running", "scheduled") ? button("pause", "Pause") : null}
      {can("paused") ? button("resume", "Resume", "primary") : null}
      {can("scheduled", "running", "paused") ? button("cancel", "Cancel", "danger") : null}
      {can("draft", "ready") && refusal === undefined
        ? <Link to="/campaigns/$id/edit" params={{ id }} className={buttonClass()}>Change</Link>
        : null}
      {can("draft", "ready") ? button("remove", "Delete", "danger") : null}
      {asked === undefined ? <Failure error={act.error} /> : (
        <Confirm
          title={questions[asked][0]}
          action={questions[asked][1]}
          isOpen
          isPending={act.isPending}
          error={elsewhere(act.error, "startAt")}
          onClose={() => setAsked(undefined)}
          onConfirm={() => act.mutate(asked)}
        >
          {questions[asked][2]}
        </Confirm>
      )}
    </>
  )
}

/** What is to be expected, in a sentence for each. */
const Expected = ({ forecast }: { readonly forecast: CampaignForecast }) => {
  const { costs, days, limitedCustomers, lines, messagingLimit, seconds } = forecast
  const unrated = lines.filter(({ billable, cost }) => billable !== false && cost === null)
  return (
    <>
      <Fact name="Takes, at its pace">{lengthOf(Math.max(1000, seconds * 1000))}</Fact>
      <Fact name="Counts against the messaging limit">
        {counted(limitedCustomers, "customer", "customers")}
        {messagingLimit === null
          ? "; there is no limit"
          : days === null
          ? "; the limit allows none"
          : ` of ${grouped(messagingLimit)} in 24 hours: ${counted(days, "day", "days")}`}
      </Fact>
      {costs.length === 0 ? null : (
        <Fact name="Costs, by the rate card">
          {costs.map(({ amount, currency }) => `${amount} ${currency}`).join(", ")}
          {unrated.length === 0 ? "" : `; no rate for ${unrated.map(({ market }) => marketName(market)).join(", ")}`}
          <ul className="text-muted">
            {lines.flatMap(({ category, cost, market, messages }) =>
              cost === null ? [] : [
                <li key={`${market} ${category}`} className="tabular-nums">
                  {marketName(market)}, {category}: {counted(messages, "message", "messages")}, {cost.amount}{" "}
                  {cost.currency}
                </li>
              ]
            )}
          </ul>
        </Fact>
      )}
    </>
  )
}

const reasonColumns: ReadonlyArray<Column<Campaign["reasons"][number]>> = [
  { name: "Outcome", cell: ({ outcome }) => outcomes[outcome][0] },
  { name: "Reason", cell: ({ reason }) => capitalized(reason) },
  {
    name: "Customers",
    className: "tabular-nums",
    cell: ({ outcome, reason, recipients }) => (
      <Link to="." search={{ outcome, reason } as never} className="text-accent underline">{grouped(recipients)}</Link>
    )
  }
]

/** Why customers did not get it, the most frequent reason first. */
const Reasons = ({ campaign: { reasons } }: { readonly campaign: Campaign }) =>
  reasons.length === 0 ? null : (
    <Section flush title="Why customers did not get it">
      <Table
        label="Reasons"
        columns={reasonColumns}
        items={reasons}
        keyOf={({ outcome, reason }) => `${outcome} ${reason}`}
      />
    </Section>
  )

/** The report of the check. */
const Report = ({ campaign }: { readonly campaign: Campaign }) => {
  const { checked, counts, forecast, problems, rows, status } = campaign
  const isChecking = status === "checking"
  const reached = reachedBy(campaign)
  return (
    <Section
      title="Report"
      description={isChecking
        ? "Every row is checked. Nothing is sent."
        : "Nothing is sent until the campaign is started."}
    >
      <div className="space-y-4">
        {isChecking
          ? (
            <div role="status" className="space-y-1">
              <p>Checked {grouped(checked)} of {counted(rows, "row", "rows")}.</p>
              <progress
                max={Math.max(rows, 1)}
                value={checked}
                aria-label="Checked rows"
                className="block h-2 w-full max-w-md accent-accent"
              />
            </div>
          )
          : null}
        <Facts>
          <Fact name="Rows">{grouped(rows)}</Fact>
          <Fact name="Customers to send to">{grouped(reached)}</Fact>
          {reached === counts.queued
            ? null
            : <Fact name="Held out for comparison">{counted(counts.queued - reached, "customer", "customers")}</Fact>}
          {forecast === null ? null : <Expected forecast={forecast} />}
          <Fact name="Rows left out">
            {problems === 0
              ? "None"
              : (
                <Link
                  to="."
                  search={{ outcome: "left_out" } as never}
                  className="text-accent underline"
                >
                  {grouped(problems)}
                </Link>
              )}
          </Fact>
        </Facts>
      </div>
    </Section>
  )
}

/** How fast a running campaign sends, and how long it will take. */
const Rate = ({ at, campaign }: { readonly campaign: Campaign; readonly at: number }) => {
  const { counts } = campaign
  const pace = usePace(campaign)
  const rate = useRate(counts.total - counts.queued, at)
  return rate === undefined
    ? pace === undefined ?
      null :
      `, at most ${asRate(pace)}; about ${lengthAt(counts.queued, pace)} left`
    : rate === 0
    ? "; nothing was sent in the last seconds"
    : `, ${asRate(rate)}; about ${lengthAt(counts.queued, rate)} left`
}

const Progress = ({ at, campaign }: { readonly campaign: Campaign; readonly at: number }) => {
  const { counts, pausedReason, startAt, status } = campaign
  const done = counts.total - counts.queued
  return (
    <Section title={status === "completed" || status === "cancelled" ? "Result" : "Progress"}>
      <div className="space-y-5">
        {status === "paused" && pausedReason !== null
          ? <Notice tone="warn" role="status">{pauseReasons[pausedReason]} Nothing is sent until it is resumed.</Notice>
          : null}
        {status === "scheduled" && startAt !== null
          ? (
            <p role="status">
              It starts <Time at={startAt} />.
            </p>
          )
          : null}
        {status === "running"
          ? (
            <div role="status" className="space-y-1">
              <p>
                {grouped(done)} of {counted(counts.total, "customer", "customers")}
                <Rate campaign={campaign} at={at} />
              </p>
              <progress
                max={Math.max(counts.total, 1)}
                value={done}
                aria-label="Progress"
                className="block h-2 w-full max-w-md accent-accent"
              />
            </div>
          )
          : null}
        <Funnel counts={counts} />
      </div>
    </Section>
  )
}

/** A template and what fills it. */
const PlannedTemplate = (
  { of = "", template: { bodyParams, language, name } }: {
    readonly template: Campaign["template"]
    readonly of?: string
  }
) => {
  const values = bodyParams === undefined
    ? []
    : Array.isArray(bodyParams)
    ? bodyParams.map(String)
    : Object.entries(bodyParams).map(([name, value]) => `${name}: ${value}`)
  return (
    <>
      <Fact name={`Template${of}`}>{name} · {language}</Fact>
      <Fact name={`Placeholders${of}`}>{values.length === 0 ? "None" : values.join(", ")}</Fact>
    </>
  )
}

const Plan = ({ campaign }: { readonly campaign: Campaign }) => {
  const { template, templateB } = campaign
  return (
    <Section title="Plan">
      <Facts>
        <PlannedTemplate template={template} of={templateB === null ? "" : " of variant A"} />
        {templateB === null ? null : <PlannedTemplate template={templateB} of=" of variant B" />}
        <Fact name="From">{campaign.from ?? "The default number"}</Fact>
        <Fact name="Starts">
          <TimeOr at={campaign.startAt} none="When it is started" />
        </Fact>
        <Fact name="Sends nothing after">
          <TimeOr at={campaign.notAfter} none="24 hours after the start" />
        </Fact>
        <Fact name="Share of the number’s rate">{Math.round(campaign.share * 100)} %</Fact>
        <Fact name="Quiet hours">
          {campaign.quietHours === null
            ? "None"
            : `${campaign.quietHours.from} to ${campaign.quietHours.to}, by each customer’s clock`}
        </Fact>
        <Fact name="Held out for comparison">
          {campaign.holdout === 0 ? "Nobody" : `${Math.round(campaign.holdout * 100)} % of the customers`}
        </Fact>
        <Fact name="Pauses itself">If more than {Math.round(campaign.maxFailureRate * 100)} % fail</Fact>
        <Fact name="Started">
          <TimeOr at={campaign.startedAt} none="Not yet" />
        </Fact>
        <Fact name="Ended">
          <TimeOr at={campaign.completedAt} none="Not yet" />
        </Fact>
        <Fact name="Created">
          <Time at={campaign.createdAt} />
        </Fact>
        <Fact name="Id">
          <Id>{campaign.id}</Id>
        </Fact>
      </Facts>
    </Section>
  )
}

export const CampaignPage = () => {
  const { id } = useParams({ from: "/campaigns/$id" })
  const query = useQuery(campaignQuery(id))
  const campaign = query.data
  if (campaign === undefined) {
    return (
      <Page title="Campaign">
        <div className="card">
          {isNotFound(query.error)
            ? (
              <Empty
                title="There is no such campaign"
                actions={<Link to="/campaigns" className={buttonClass()}>All campaigns</Link>}
              />
            )
            : <Loaded query={query}>{() => null}</Loaded>}
        </div>
      </Page>
    )
  }
  const isBefore = ["draft", "checking", "ready"].includes(campaign.status)
  return (
    <Page
      title={campaign.name}
      lead={<CampaignState status={campaign.status} />}
      actions={<Steps campaign={campaign} />}
    >
      {query.error === null ? null : <Loaded query={query}>{() => null}</Loaded>}
      {isBefore && campaign.pausedReason !== null
        ? <Notice tone="warn" role="status">The check stopped. {pauseReasons[campaign.pausedReason]}</Notice>
        : null}
      {isBefore ? <Report campaign={campaign} /> : <Progress campaign={campaign} at={query.dataUpdatedAt} />}
      {isBefore || campaign.comparison === null
        ? null
        : <Comparison campaign={campaign} comparison={campaign.comparison} />}
      <Reasons campaign={campaign} />
      <Plan campaign={campaign} />
      <Recipients campaign={campaign} />
    </Page>
  )
}
