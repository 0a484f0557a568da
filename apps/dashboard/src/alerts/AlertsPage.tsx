/** The page with open and past alerts, and with the settings for who is notified of them. */
import { Link } from "@tanstack/react-router"
import type { Alert, AlertSettings } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { sendsMail } from "../session/Document.ts"
import { useFresh, useSave } from "../session/Save.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { entriesIn, textsOf } from "../ui/Entries.ts"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, Field, TextField } from "../ui/Field.tsx"
import { useChosen } from "../ui/Filters.tsx"
import { ListPage, useList } from "../ui/List.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Section } from "../ui/Page.tsx"
import { Status } from "../ui/Status.tsx"
import { idInFile, type ListColumn } from "../ui/Table.tsx"
import { Time, TimeOr } from "../ui/Time.tsx"
import { asSentence } from "../ui/Words.ts"
import { placeOf } from "./AlertPlaces.ts"

const withoutMail = "This service has no mail server, so nothing is mailed."

/** The e-mail addresses in a text with one per line, or several with commas between them. */
const addressesIn = (text: string) => entriesIn(text, /[\s,;]+/)

const SettingsForm = ({ settings }: { readonly settings: AlertSettings }) => {
  const [emails, setEmails] = useState(settings.emails.join("\n"))
  const [url, setUrl] = useState(settings.url ?? "")
  const { error, isPending, save, saved } = useSave(
    { emails, url },
    ({ emails, url }) =>
      api.alerts.configure({
        emails: textsOf(addressesIn(emails)),
        url: url.trim() === "" ? null : url.trim()
      }),
    { first: settings, read: () => api.alerts.settings() }
  )
  return (
    <form
      className="max-w-lg space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isPending) save()
      }}
    >
      <Field
        label="E-mail addresses"
        hint={`One per line, at most 20.${sendsMail ? "" : ` ${withoutMail}`}`}
        error={error}
        param="emails"
        entries={addressesIn(emails)}
      >
        {(control) => (
          <textarea
            {...control}
            rows={3}
            className="field"
            value={emails}
            onChange={(event) => setEmails(event.target.value)}
          />
        )}
      </Field>
      <TextField
        label="URL"
        hint="Alerts are posted there, signed with the webhook’s secret as events are."
        error={error}
        param="url"
        type="url"
        placeholder="https://example.com/alerts"
        value={url}
        onChange={setUrl}
      />
      <Failure error={elsewhere(error, "emails", "url")} />
      {saved === undefined
        ? null
        : sendsMail || saved.emails.length === 0
        ? <Notice tone="good" role="status">Saved.</Notice>
        : <Notice tone="warn" role="status">Saved. {withoutMail}</Notice>}
      <Button type="submit" isPending={isPending}>Save</Button>
    </form>
  )
}

const Settings = () => {
  const refusal = useRefusal(RoleOf.alertsSettings, RoleOf.alertsConfigure)
  const query = useFresh({
    queryKey: ["alert-settings"],
    queryFn: ({ signal }) => api.alerts.settings({ signal }),
    enabled: refusal === undefined
  })
  return (
    <Section title="Who is told" description="Each gets one message when a problem starts, and one when it ends.">
      {refusal === undefined
        ? <Loaded query={query} lines={3}>{(settings) => <SettingsForm settings={settings} />}</Loaded>
        : <Notice>{refusal}</Notice>}
    </Section>
  )
}

const choices = { open: { label: "State", options: [["yes", "Open only"]] } } as const

const columns: ReadonlyArray<ListColumn<Alert>> = [
  {
    name: "Matter",
    text: ({ message }) => asSentence(message),
    cell: (alert) => (
      <Link {...placeOf(alert)} className="font-medium text-ink hover:underline">{asSentence(alert.message)}</Link>
    )
  },
  {
    name: "State",
    text: ({ closedAt }) => closedAt === null ? "Open" : "Over",
    cell: ({ closedAt }) => closedAt === null ? <Status tone="warn">Open</Status> : <Status tone="good">Over</Status>
  },
  {
    name: "Began",
    className: "text-muted",
    text: ({ openedAt }) => openedAt,
    cell: ({ openedAt }) => <Time at={openedAt} />
  },
  {
    name: "Over",
    from: "sm",
    className: "text-muted",
    text: ({ closedAt }) => closedAt,
    cell: ({ closedAt }) => <TimeOr at={closedAt} none="Not yet" />
  },
  idInFile
]

export const AlertsPage = () => {
  const { open } = useChosen(choices)
  const list = useList("alerts", { open: open === undefined ? undefined : true }, api.alerts.list, { every: 10_000 })
  return (
    <ListPage
      title="Alerts"
      lead="Problems that need your attention. New ones appear within about a minute."
      choices={choices}
      list={list}
      what="alert"
      columns={columns}
      none={{ title: "There were no alerts" }}
      noMatch={{ title: "Nothing needs attention" }}
    >
      <Settings />
    </ListPage>
  )
}
