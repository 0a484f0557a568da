/** The form of a campaign: the template and what fills it, the file of customers, the schedule, and a preview. */
import { Link, useNavigate } from "@tanstack/react-router"
import type { Campaign, PhoneNumber, TemplateDetail } from "@wac/client/internal"
import { useState } from "react"
import * as MaxLength from "../generated/MaxLength.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { FromField } from "../numbers/FromField.tsx"
import { useRefusal } from "../session/Session.tsx"
import { placeholderParams } from "../templates/Names.ts"
import { Preview } from "../templates/Preview.tsx"
import { sendableFrom } from "../templates/Sendable.ts"
import { templateKey, TemplateOption } from "../templates/TemplateOption.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, Field, TextField } from "../ui/Field.tsx"
import { Empty } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Section } from "../ui/Page.tsx"
import {
  columnsOf,
  type Draft,
  exampleOf,
  filledAs,
  filledBy,
  type Fillings,
  firstOf,
  forCustomer,
  lackingIn,
  planOf,
  type Start,
  startDraft,
  templateOf,
  variableColumns
} from "./Draft.ts"
import { RecipientFields, uploadOf, useRecipients } from "./RecipientFields.tsx"
import { fileParam } from "./RecipientFile.ts"
import { useSaveCampaign } from "./SaveCampaign.ts"
import { ScheduleFields, scheduleParams } from "./ScheduleFields.tsx"
import { TemplateValues } from "./TemplateValues.tsx"
import { TestSend } from "./TestSend.tsx"

/** The sentence about columns that the template's values need and the file lacks; `undefined` if it lacks none. */
const lackWords = (lacking: ReadonlyArray<string>): string | undefined =>
  lacking.length === 0
    ? undefined
    : `The file has no column for ${lacking.map((name) => `{{${name}}}`).join(", ")}, which the template’s values need.`

export const CampaignForm = (
  { approved, numbers, start }: {
    readonly approved: ReadonlyArray<TemplateDetail>
    readonly numbers: ReadonlyArray<PhoneNumber>
    readonly start?: Start | undefined
  }
) => {
  // as it was when the form began: what others change meanwhile is not a change of this form
  const [like] = useState(start?.campaign)
  /** The campaign to change; `undefined` if the form creates one. */
  const campaign = start?.isCopy === true ? undefined : like
  const first = sendableFrom(approved, numbers, like?.from ?? "")
  const unapproved = [like?.template, like?.templateB].flatMap((given) =>
    given == null || templateOf(first, templateKey(given)) !== undefined
      ? []
      : [`${given.name} · ${given.language}`]
  )
  const refusal = useRefusal(
    RoleOf.campaignsCreate,
    RoleOf.campaignsEdit,
    RoleOf.campaignsUpload,
    RoleOf.campaignsCheck
  )
  const [draft, setDraft] = useState(() => startDraft(start, first))
  const change = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))
  const templates = sendableFrom(approved, numbers, draft.from)
  const recipients = useRecipients()
  const { file, head, unread } = recipients
  const columns = variableColumns(head, recipients.numberColumn)
  const offered = columns ?? columnsOf(draft.fillings, draft.fillingsB)
  const customer = firstOf(head, columns)
  const template = templateOf(templates, draft.template)
  const templateB = templateOf(templates, draft.templateB)
  const filled = template === undefined ? {} : filledBy(template, draft.fillings, columns)
  const filledB = templateB === undefined ? {} : filledBy(templateB, draft.fillingsB, columns)
  const plan = planOf(draft, templates, columns, like)

  const navigate = useNavigate()
  const save = useSaveCampaign(campaign)
  const { error } = save
  const blocked = refusal ??
    (plan === undefined ? "Choose a template that the provider has approved." : template?.unfillable) ??
    unread ?? (file !== undefined && head === undefined ? "The file is being read." : undefined) ??
    (plan === undefined ? undefined : lackWords(lackingIn(columns, plan.template, plan.templateB)))
  /** The template as the file's first customer gets it, for a test; or why it cannot be filled yet. */
  const testSendProps = (
    before: Campaign["template"] | null | undefined,
    template: TemplateDetail,
    filled: Fillings
  ) => {
    const content = filledAs(before, template, filled)
    const test = forCustomer(content, customer)
    const values = exampleOf(filled, customer)
    return {
      template: test ?? content,
      blocked: template.unfillable ??
        (test !== undefined && template.variables.every((variable) => values[variable])
          ? undefined
          : "Choose a file or write the texts first: they fill the placeholders.")
    }
  }
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
      <Section title="Campaign">
        <form
          className="space-y-5"
          onSubmit={(event) => {
            event.preventDefault()
            if (plan === undefined || blocked !== undefined || save.isPending) return
            save.mutate({ plan, recipients: uploadOf(recipients) }, {
              // not called if the person has left the form meanwhile
              onSuccess: (id) => navigate({ to: "/campaigns/$id", params: { id } })
            })
          }}
        >
          <TextField
            label="Name"
            hint="For you; customers do not see it."
            error={error}
            param="name"
            required
            maxLength={MaxLength.createCampaignName}
            value={draft.name}
            onChange={(name) => change({ name })}
          />
          {unapproved.length === 0 ? null : (
            <Notice tone="warn">
              The provider does not approve {unapproved.join(", ")}, which the campaign has. Choose another template.
            </Notice>
          )}
          <Field
            label="Template"
            error={elsewhere(error, ...placeholderParams(template, "template"))}
            param="template"
          >
            {(control) => (
              <select
                {...control}
                className="field"
                value={template === undefined ? "" : draft.template}
                onChange={({ target: { value } }) =>
                  change({ template: value, ...(value === draft.templateB ? { templateB: "" } : {}) })}
              >
                {template === undefined ? <option value="">Choose a template</option> : null}
                {templates.map((template) => <TemplateOption key={templateKey(template)} template={template} />)}
              </select>
            )}
          </Field>
          <FromField value={draft.from} onChange={(from) => change({ from })} error={error} />
          <RecipientFields campaign={campaign} error={error} recipients={recipients} />
          {template === undefined ? null : (
            <TemplateValues
              template={template}
              param="template"
              error={error}
              columns={offered}
              fillings={filled}
              onChange={(variable, filling) => change({ fillings: { ...draft.fillings, [variable]: filling } })}
            />
          )}
          <Field
            label="Compare with"
            hint="A second template, which half of the customers get. The result compares the two."
            error={elsewhere(error, ...placeholderParams(templateB, "templateB"))}
            param="templateB"
          >
            {(control) => (
              <select
                {...control}
                className="field"
                value={templateB === undefined ? "" : draft.templateB}
                onChange={(event) => change({ templateB: event.target.value })}
              >
                <option value="">Nothing: all get the same</option>
                {templates.filter((other) => templateKey(other) !== draft.template).map((other) => (
                  <TemplateOption key={templateKey(other)} template={other} />
                ))}
              </select>
            )}
          </Field>
          {templateB === undefined ? null : (
            <TemplateValues
              template={templateB}
              param="templateB"
              error={error}
              columns={offered}
              fillings={filledB}
              of=" of variant B"
              onChange={(variable, filling) => change({ fillingsB: { ...draft.fillingsB, [variable]: filling } })}
            />
          )}
          <ScheduleFields schedule={draft.schedule} onChange={(schedule) => change({ schedule })} error={error} />
          <Failure
            error={elsewhere(
              error,
              "name",
              "template",
              "templateB",
              "from",
              "defaultCountry",
              fileParam,
              ...scheduleParams
            )}
          />
          {error === null || save.left === undefined
            ? null
            : <Notice tone="warn" role="status">{save.left}</Notice>}
          <div className="flex flex-wrap gap-2">
            <Button
              look="primary"
              type="submit"
              isPending={save.isPending}
              refusal={blocked}
            >
              {save.isPending ? "Uploading…" : campaign === undefined ? "Upload and check" : "Save and check"}
            </Button>
            {campaign === undefined
              ? <Link to="/campaigns" className={buttonClass()}>Cancel</Link>
              : <Link to="/campaigns/$id" params={{ id: campaign.id }} className={buttonClass()}>Cancel</Link>}
          </div>
          <p className="text-[13px] text-muted">
            Nothing is sent until you have seen the report and start the campaign.
          </p>
        </form>
      </Section>
      <Section title="On the first customer’s phone">
        <div className="space-y-4">
          {template === undefined
            ? <Empty title="No template is chosen" />
            : (
              <>
                <Preview template={template} values={exampleOf(filled, customer)} />
                <TestSend {...testSendProps(like?.template, template, filled)} from={draft.from} />
              </>
            )}
          {templateB === undefined ? null : (
            <>
              <h3 className="font-medium">Variant B, for half of the customers</h3>
              <Preview template={templateB} values={exampleOf(filledB, customer)} />
              <TestSend {...testSendProps(like?.templateB, templateB, filledB)} from={draft.from} of=" of variant B" />
            </>
          )}
        </div>
      </Section>
    </div>
  )
}
