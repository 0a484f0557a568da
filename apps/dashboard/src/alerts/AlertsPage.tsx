/** What a person should look at, now and lately, and who else is told of it. */
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useSearch } from "@tanstack/react-router"
import type { AlertSettings } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api, firstPage } from "../session/Service.ts"
import { live, useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { Failure, Notice } from "../ui/Failure.tsx"
import { elsewhere, Field } from "../ui/Field.tsx"
import { Filters, SelectFilter, useFilter } from "../ui/Filters.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Page, Section } from "../ui/Page.tsx"
import { pageSize, Paging } from "../ui/Paged.tsx"
import { Status } from "../ui/Status.tsx"
import { Cell, Row, Table } from "../ui/Table.tsx"
import { Time, TimeOr } from "../ui/Time.tsx"
import { asSentence } from "../ui/Words.ts"
import { alertPlaces } from "./AlertPlaces.ts"

const SettingsForm = ({ settings }: { readonly settings: AlertSettings }) => {
  const client = useQueryClient()
  const [emails, setEmails] = useState(settings.emails.join("\n"))
  const [url, setUrl] = useState(settings.url ?? "")
  const save = useMutation({
    mutationFn: () =>
      api.alerts.configure({
        emails: emails.split(/[\s,;]+/).filter((email) => email !== ""),
        url: url.trim() === "" ? null : url.trim()
      }),
    onSettled: () => client.invalidateQueries()
  })
  return (
    <form
      className="max-w-lg space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!save.isPending) save.mutate()
      }}
    >
      <Field
        label="E-mail addresses"
        hint="One a line, at most 20. Mail is sent if the service has a mail server."
        error={save.error}
        param="emails"
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
      <Field
        label="URL"
        hint="Alerts are posted there, signed with the webhook’s secret as events are."
        error={save.error}
        param="url"
      >
        {(control) => (
          <input
            {...control}
            type="url"
            className="field"
            placeholder="https://example.com/alerts"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
        )}
      </Field>
      <Failure error={elsewhere(save.error, "emails", "url")} />
      {save.isSuccess ? <Notice tone="good" role="status">Saved.</Notice> : null}
      <Button type="submit" isPending={save.isPending}>Save</Button>
    </form>
  )
}

const Settings = () => {
  const refusal = useRefusal(RoleOf.alertsSettings, RoleOf.alertsConfigure)
  const query = useQuery({
    queryKey: ["alert-settings"],
    queryFn: ({ signal }) => api.alerts.settings({ signal }),
    enabled: refusal === undefined
  })
  return (
    <Section title="Who is told" description="One message when a matter begins, and one when it is over.">
      {refusal === undefined
        ? <Loaded query={query} lines={3}>{(settings) => <SettingsForm settings={settings} />}</Loaded>
        : <Notice>{refusal}</Notice>}
    </Section>
  )
}

export const AlertsPage = () => {
  const { cursor, open } = useSearch({ from: "/alerts" })
  const setFilter = useFilter()
  const query = useQuery({
    queryKey: ["alerts", { open, cursor }],
    queryFn: ({ signal }) =>
      firstPage(api.alerts.list({
        limit: pageSize,
        ...(open === "yes" ? { open: true } : {}),
        ...(cursor === undefined ? {} : { cursor })
      }, { signal })),
    placeholderData: keepPreviousData,
    ...live(10_000)
  })
  return (
    <Page title="Alerts" lead="What a person should look at. A matter is noticed within about a minute.">
      <Filters>
        <SelectFilter
          label="State"
          value={open}
          options={[["yes", "Open only"]]}
          onChange={(open) => setFilter({ open })}
        />
      </Filters>
      <div className="card">
        <Loaded query={query}>
          {({ data, nextCursor }) =>
            data.length === 0
              ? <Empty title={open === undefined ? "There were no alerts" : "Nothing needs attention"} />
              : (
                <>
                  <Table
                    label="Alerts"
                    columns={["Matter", "State", "Began", { name: "Over", className: "hidden sm:table-cell" }]}
                  >
                    {data.map((alert) => (
                      <Row key={alert.id}>
                        <Cell>
                          <Link to={alertPlaces[alert.kind]} className="font-medium text-ink hover:underline">
                            {asSentence(alert.message)}
                          </Link>
                        </Cell>
                        <Cell>
                          {alert.closedAt === null
                            ? <Status tone="warn">Open</Status>
                            : <Status tone="good">Over</Status>}
                        </Cell>
                        <Cell className="text-muted">
                          <Time at={alert.openedAt} />
                        </Cell>
                        <Cell className="hidden text-muted sm:table-cell">
                          <TimeOr at={alert.closedAt} none="Not yet" />
                        </Cell>
                      </Row>
                    ))}
                  </Table>
                  <Paging cursor={cursor} next={nextCursor} />
                </>
              )}
        </Loaded>
      </div>
      <Settings />
    </Page>
  )
}
