/**
 * The page that sends one message by hand: an approved template with its placeholders, or text in an open service
 * window.
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { Link, useNavigate, useSearch } from "@tanstack/react-router"
import type { PhoneNumber, SendMessage, TemplateDetail } from "@wac/client/internal"
import { type ReactNode, useState } from "react"
import { isName } from "../contacts/Names.ts"
import { CustomerWindow } from "../contacts/Window.tsx"
import * as MaxLength from "../generated/MaxLength.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { FromField } from "../numbers/FromField.tsx"
import { numberOf } from "../numbers/NumberOf.ts"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { channel } from "../session/Document.ts"
import { useOnce } from "../session/Once.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { placeholderParams } from "../templates/Names.ts"
import { Preview, TextPreview } from "../templates/Preview.tsx"
import { approvedQuery } from "../templates/Queries.ts"
import { sendableFrom } from "../templates/Sendable.ts"
import { templateKey, TemplateOption } from "../templates/TemplateOption.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Choices, elsewhere, Field, TextField } from "../ui/Field.tsx"
import { Empty, LoadState } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Page, Section } from "../ui/Page.tsx"
import { exactly, Time } from "../ui/Time.tsx"
import { HeldQueue } from "./HeldQueue.tsx"
import { sendAtOnce, SendTimeFields, sendTimeParams, timesOf } from "./SendTimeFields.tsx"
import { ToField } from "./ToField.tsx"

type Kind = "template" | "text"

/** The notice that a message is queued: when it will be sent, and a link to it. */
const Queued = (
  { sent, to }: { readonly to: string; readonly sent: Awaited<ReturnType<typeof api.messages.send>> }
) =>
  sent.status === "sent" ? null : (
    <Notice
      tone="good"
      role="status"
      actions={
        <Link to="/messages/$id" params={{ id: sent.messageId }} className={buttonClass("secondary", true)}>
          Open the message
        </Link>
      }
    >
      The message to {to} is queued. It will be sent <Time at={sent.sendAt} />: {exactly(sent.sendAt)}.
    </Notice>
  )

const Form = (
  { approved, givenFrom, givenTo, numbers }: {
    readonly approved: ReadonlyArray<TemplateDetail>
    readonly numbers: ReadonlyArray<PhoneNumber>
    readonly givenTo: string
    readonly givenFrom: string
  }
) => {
  const client = useQueryClient()
  const navigate = useNavigate()
  const refusal = useRefusal(RoleOf.messagesSend)
  const [to, setTo] = useState(givenTo)
  const [from, setFrom] = useState(givenFrom)
  const templates = sendableFrom(approved, numbers, from)
  const [kind, setKind] = useState<Kind>(templates.length === 0 ? "text" : "template")
  const first = templates.find(({ unfillable }) => unfillable === null)
  const [chosen, setChosen] = useState(first === undefined ? "" : templateKey(first))
  const [values, setValues] = useState<{ readonly [variable: string]: string }>({})
  const [body, setBody] = useState("")
  const [times, setTimes] = useState(sendAtOnce)
  const once = useOnce<SendMessage>({ isMessage: true })
  const template = templates.find((template) => templateKey(template) === chosen)
  const requestOf = (): SendMessage => {
    const addressing = { to: to.trim(), ...(from === "" ? {} : { from }), ...timesOf(times) }
    if (kind === "text" || template === undefined) return { ...addressing, type: "text", text: { body } }
    const { language, name, variables } = template
    const bodyParams = variables.map((variable) => values[variable] ?? "")
    return {
      ...addressing,
      type: "template",
      template: { name, language, ...(bodyParams.length === 0 ? {} : { bodyParams }) }
    }
  }
  const send = useMutation({
    mutationFn: () => {
      const request = requestOf()
      return once(
        [request],
        () => request,
        async (request, key) => ({ to: request.to, sent: await api.messages.send(request, key) })
      )
    },
    onSuccess: ({ sent: { messageId, status } }) =>
      status === "sent" ? navigate({ to: "/messages/$id", params: { id: messageId } }) : undefined,
    onSettled: () => client.invalidateQueries()
  })
  const { error } = send
  const places = placeholderParams(template, "template")
  const number = numberOf(numbers, from)?.id
  const choices: ReadonlyArray<readonly [Kind, ReactNode]> = [
    ["template", "A template, at any time"],
    ["text", channel.serviceWindow ? "Text, while the customer’s service window is open" : "Text"]
  ]
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <Section title="Message">
        <form
          className="space-y-5"
          onSubmit={(event) => {
            event.preventDefault()
            if (!send.isPending && refusal === undefined) send.mutate()
          }}
        >
          <ToField
            label="To"
            hint="A number with the country code, digits only after the plus; or a user id."
            error={error}
            value={to}
            onChange={setTo}
          />
          <FromField value={from} onChange={setFrom} error={error} />
          {channel.templates ? <Choices label="Kind" value={kind} onChange={setKind} choices={choices} /> : null}
          {channel.serviceWindow && kind === "text" && number !== undefined && isName(to.trim())
            ? (
              <div>
                <p className="text-[13px] text-muted">
                  The customer’s service window{times.when === "now" ? "" : "; it must be open when the text is sent"}
                </p>
                <CustomerWindow phoneNumberId={number} to={to.trim()} />
              </div>
            )
            : null}
          {kind === "text"
            ? (
              <Field label="Text" error={error} param="text">
                {(control) => (
                  <textarea
                    {...control}
                    required
                    rows={4}
                    maxLength={MaxLength.textContentBody}
                    className="field"
                    value={body}
                    onChange={(event) => setBody(event.target.value)}
                  />
                )}
              </Field>
            )
            : templates.length === 0
            ? <p className="text-muted">The provider has approved no template yet.</p>
            : (
              <>
                <Field label="Template" error={elsewhere(error, ...places)} param="template">
                  {(control) => (
                    <select
                      {...control}
                      className="field"
                      value={template === undefined ? "" : chosen}
                      onChange={(event) => setChosen(event.target.value)}
                    >
                      {template === undefined ? <option value="">Choose a template</option> : null}
                      {templates.map((template) => <TemplateOption key={templateKey(template)} template={template} />)}
                    </select>
                  )}
                </Field>
                {template?.variables.map((variable, i) => (
                  <TextField
                    key={`${chosen} ${variable}`}
                    label={`Placeholder ${variable}`}
                    error={error}
                    param={places[i]}
                    required
                    maxLength={MaxLength.templateValue}
                    value={values[variable] ?? ""}
                    onChange={(text) => setValues({ ...values, [variable]: text })}
                  />
                ))}
              </>
            )}
          {times.when === "later" ? <HeldQueue /> : null}
          <SendTimeFields times={times} onChange={setTimes} error={error} />
          <Failure error={elsewhere(error, "to", "from", "text", "template", ...sendTimeParams)} />
          {send.data === undefined ? null : <Queued {...send.data} />}
          <div className="flex flex-wrap gap-2">
            <Button
              look="primary"
              type="submit"
              icon={times.when === "now" ? "arrow" : "clock"}
              isPending={send.isPending}
              refusal={refusal ?? (kind === "template"
                ? template === undefined
                  ? "Choose a template that the provider has approved."
                  : template.unfillable ?? undefined
                : undefined)}
            >
              {times.when === "later"
                ? send.isPending ? "Queueing…" : "Queue message"
                : send.isPending
                ? "Sending…"
                : "Send message"}
            </Button>
            <Link to="/messages" className={buttonClass()}>Cancel</Link>
          </div>
        </form>
      </Section>
      <Section title="On the phone">
        {kind === "text"
          ? <TextPreview text={body} />
          : template === undefined
          ? <Empty title="No template is chosen" />
          : <Preview template={template} values={values} />}
      </Section>
    </div>
  )
}

export const SendPage = () => {
  const { from = "", to = "" } = useSearch({ from: "/messages/new" })
  const templates = useQuery(approvedQuery)
  const numbers = useQuery(phoneNumbersQuery)
  return (
    <Page
      title="Send a message"
      lead="One message to one customer. It counts and is checked like a message that a server sends."
    >
      {templates.data === undefined || numbers.data === undefined
        ? (
          <div className="card">
            <LoadState query={templates.data === undefined ? templates : numbers} lines={6} />
          </div>
        )
        : (
          <Form
            key={`${from} ${to}`}
            approved={templates.data}
            numbers={numbers.data}
            givenFrom={from}
            givenTo={to}
          />
        )}
    </Page>
  )
}
