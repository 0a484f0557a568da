/** The form of a template, with a preview beside it. */
import { Link } from "@tanstack/react-router"
import type { TemplateDetail } from "@wac/client/internal"
import { placeholdersOf } from "@wac/core/templates/Placeholders"
import { type ReactNode, useRef, useState } from "react"
import * as MaxLength from "../generated/MaxLength.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { FromField } from "../numbers/FromField.tsx"
import { useRefusal } from "../session/Session.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Check, Choices, elsewhere, Field, TextField } from "../ui/Field.tsx"
import { grouped } from "../ui/Language.ts"
import { Section } from "../ui/Page.tsx"
import { ButtonFields } from "./ButtonFields.tsx"
import {
  type Category,
  componentsOf,
  type Draft,
  formatOf,
  type HeaderKind,
  headerKinds,
  isFile,
  nextPlaceholder,
  pathOf,
  problemOf
} from "./Draft.ts"
import { asName } from "./Names.ts"
import { Preview } from "./Preview.tsx"
import { useSaveTemplate } from "./SaveTemplate.ts"

const categories: ReadonlyArray<readonly [Category, ReactNode]> = [
  ["utility", "Utility: about something that the customer has ordered or done"],
  ["marketing", "Marketing: offers and news. Customers who have opted out do not get it"],
  ["authentication", "Authentication: a one-time code. The provider writes the text"]
]

/** How many characters of the permitted length a text uses, counted as the service does (by code points). */
const used = (text: string, max: number): string => `${grouped([...text].length)} of ${grouped(max)} characters`

interface PartProps {
  readonly draft: Draft
  readonly onChange: (changes: Partial<Draft>) => void
  readonly error: unknown
}

/** The fields of an authentication template, which has no texts of its own. */
const CodeFields = ({ draft, error, onChange }: PartProps) => {
  const { code } = draft
  const change = (changes: Partial<Draft["code"]>) => onChange({ code: { ...code, ...changes } })
  return (
    <>
      <Check checked={code.isWarning} onChange={(isWarning) => change({ isWarning })}>
        Add “For your security, do not share this code”
      </Check>
      <TextField
        label="The code expires after, in minutes"
        hint="Empty: the message does not say."
        error={error}
        param={`${pathOf(draft, "FOOTER")}.code_expiration_minutes`}
        type="number"
        min={1}
        value={code.minutes}
        onChange={(text) => change({ minutes: text })}
      />
      <TextField
        label="Label of the button that copies the code"
        hint="Empty: the provider’s own words."
        error={error}
        param={`${pathOf(draft, "BUTTONS")}.buttons[0].text`}
        maxLength={MaxLength.buttonComponentText}
        value={code.label}
        onChange={(text) => change({ label: text })}
      />
    </>
  )
}

const HeaderFields = ({ draft, error, onChange }: PartProps) => {
  const { header } = draft
  const change = (changes: Partial<Draft["header"]>) => onChange({ header: { ...header, ...changes } })
  const path = pathOf(draft, "HEADER")
  return (
    <>
      <Field label="Header" error={error} param={`${path}.format`}>
        {(control) => (
          <select
            {...control}
            className="field"
            value={header.kind}
            onChange={(event) => change({ kind: event.target.value as HeaderKind })}
          >
            {Object.entries(headerKinds).map(([kind, name]) => <option key={kind} value={kind}>{name}</option>)}
          </select>
        )}
      </Field>
      {header.kind === "TEXT"
        ? (
          <TextField
            label="Header text"
            hint={`${used(header.text, MaxLength.headerComponentText)}. It may have one placeholder.`}
            error={error}
            param={`${path}.text`}
            required
            maxLength={MaxLength.headerComponentText}
            value={header.text}
            onChange={(text) => change({ text })}
          />
        )
        : null}
      {header.kind === "TEXT" && placeholdersOf(header.text).length > 0
        ? (
          <TextField
            label="Example for the header’s placeholder"
            error={error}
            param={`${path}.example`}
            required
            maxLength={MaxLength.headerComponentExampleHeaderText}
            value={header.example}
            onChange={(text) => change({ example: text })}
          />
        )
        : null}
      {isFile(header.kind)
        ? (
          <TextField
            label="Sample file"
            hint="The id of a file of the workspace, which the reviewers see. POST /v1/media uploads one. A change needs it again."
            error={error}
            param={`${path}.example`}
            required
            maxLength={MaxLength.headerComponentExampleMedia}
            placeholder="med_…"
            className="font-mono"
            value={header.media}
            onChange={(text) => change({ media: text })}
          />
        )
        : null}
    </>
  )
}

const BodyFields = ({ draft, error, onChange }: PartProps) => {
  const { body, examples } = draft
  const path = pathOf(draft, "BODY")
  const field = useRef<HTMLTextAreaElement>(null)
  const addPlaceholder = () => {
    const { selectionEnd, selectionStart } = field.current ?? { selectionStart: body.length, selectionEnd: body.length }
    const text = `${body.slice(0, selectionStart)}{{${nextPlaceholder(draft)}}}${body.slice(selectionEnd)}`
    onChange({ body: text })
    field.current?.focus()
  }
  return (
    <>
      <Field
        label="Body"
        hint={`${used(body, MaxLength.bodyComponentText)}. Placeholders are {{1}} and {{2}}, or {{name}}.`}
        error={error}
        param={`${path}.text`}
      >
        {(control) => (
          <textarea
            {...control}
            ref={field}
            required
            rows={5}
            maxLength={MaxLength.bodyComponentText}
            className="field"
            value={body}
            onChange={(event) => onChange({ body: event.target.value })}
          />
        )}
      </Field>
      <Button small onClick={addPlaceholder}>Add a placeholder</Button>
      {placeholdersOf(body).map((name) => (
        <TextField
          key={name}
          label={`Example for {{${name}}}`}
          error={error}
          param={`${path}.example`}
          required
          maxLength={MaxLength.bodyComponentExampleBodyText}
          value={examples[name] ?? ""}
          onChange={(text) => onChange({ examples: { ...examples, [name]: text } })}
        />
      ))}
    </>
  )
}

const FooterField = ({ draft, error, onChange }: PartProps) => (
  <TextField
    label="Footer"
    hint={`${used(draft.footer, MaxLength.footerComponentText)}. It has no placeholders. Empty: no footer.`}
    error={error}
    param={`${pathOf(draft, "FOOTER")}.text`}
    maxLength={MaxLength.footerComponentText}
    value={draft.footer}
    onChange={(text) => onChange({ footer: text })}
  />
)

export const TemplateForm = (
  { begin, template }: {
    /** The form's initial values. */
    readonly begin: Draft
    /** The template to change; if omitted, the form creates one. */
    readonly template?: TemplateDetail
  }
) => {
  const refusal = useRefusal(RoleOf.templatesCreate, RoleOf.templatesEdit)
  const [draft, setDraft] = useState(begin)
  const [phoneNumberId, setPhoneNumberId] = useState("")
  const save = useSaveTemplate(template)
  const format = template?.parameterFormat ?? formatOf(draft)
  const problem = problemOf(draft, format)
  const error = problem ?? save.error
  const change = (changes: Partial<Draft>) => {
    setDraft({ ...draft, ...changes })
    // a refusal is about the form as it was submitted
    if (save.error !== null) save.reset()
  }
  const blocked = refusal ?? (problem === undefined ? undefined : "The provider would refuse this: see what is marked.")
  const submit = () =>
    save.mutate({
      name: draft.name,
      language: draft.language,
      category: draft.category,
      parameterFormat: format,
      components: componentsOf(draft, format),
      ...(phoneNumberId === "" ? {} : { phoneNumberId })
    })
  const part = { draft, error, onChange: change }
  const isCode = draft.category === "authentication"
  const offered = template === undefined
    ? categories
    : categories.filter(([category]) => (category === "authentication") === isCode)
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <Section title="Template">
        <form
          className="space-y-5"
          onSubmit={(event) => {
            event.preventDefault()
            if (blocked === undefined && !save.isPending) submit()
          }}
        >
          {template === undefined
            ? (
              <>
                <TextField
                  label="Name"
                  hint="For you and your programs; customers do not see it. It cannot be changed later."
                  error={error}
                  param="name"
                  required
                  maxLength={MaxLength.createTemplateName}
                  placeholder="order_update"
                  value={draft.name}
                  onChange={(text) => change({ name: asName(text) })}
                />
                <TextField
                  label="Language"
                  hint="The language of the text, such as en_US or de. The other languages are templates of the same name."
                  error={error}
                  param="language"
                  required
                  maxLength={MaxLength.createTemplateLanguage}
                  value={draft.language}
                  onChange={(text) => change({ language: text.trim() })}
                />
                <FromField
                  label="In the account of"
                  param="phoneNumberId"
                  value={phoneNumberId}
                  onChange={setPhoneNumberId}
                  error={error}
                />
              </>
            )
            : null}
          <Choices
            label="Category"
            value={draft.category}
            onChange={(category) => change({ category })}
            choices={offered}
          />
          {isCode
            ? <CodeFields {...part} />
            : (
              <>
                <HeaderFields {...part} />
                <BodyFields {...part} />
                <FooterField {...part} />
                <ButtonFields
                  buttons={draft.buttons}
                  onChange={(buttons) => change({ buttons })}
                  error={error}
                  path={`${pathOf(draft, "BUTTONS")}.buttons`}
                />
              </>
            )}
          <Failure error={elsewhere(error, ...shown(draft))} />
          <div className="flex flex-wrap gap-2">
            <Button look="primary" type="submit" isPending={save.isPending} refusal={blocked}>
              {save.isPending ? "Submitting…" : "Submit for review"}
            </Button>
            {template === undefined
              ? <Link to="/templates" className={buttonClass()}>Cancel</Link>
              : <Link to="/templates/$id" params={{ id: template.id }} className={buttonClass()}>Cancel</Link>}
          </div>
          <p className="text-[13px] text-muted">
            {template === undefined
              ? "The provider reviews it, usually within minutes; it can take a day. It can be sent once it is approved: its page shows the result."
              : "The provider reviews it again, and takes a few changes of a template a month. Its page shows the result."}
          </p>
        </form>
      </Section>
      <div className="lg:sticky lg:top-6">
        <Section title="On the phone">
          <Preview
            template={{ name: draft.name || "the template", components: componentsOf(draft, format) }}
            values={draft.examples}
            header={draft.header.example}
          />
        </Section>
      </div>
    </div>
  )
}

/** The parameters whose errors the form's fields show. */
const shown = (draft: Draft): ReadonlyArray<string> => [
  "name",
  "language",
  "phoneNumberId",
  ...(["HEADER", "BODY", "FOOTER"] as const).flatMap((type) =>
    ["text", "format", "example", "code_expiration_minutes"].map((field) => `${pathOf(draft, type)}.${field}`)
  ),
  `${pathOf(draft, "BUTTONS")}${draft.category === "authentication" ? ".buttons[0].text" : ""}`
]
