/** The form of a campaign: a template, a file of customers, and what fills the template. */
import { Link, useNavigate } from "@tanstack/react-router"
import type { Campaign, TemplateDetail } from "@wac/client/internal"
import { useState } from "react"
import * as MaxLength from "../generated/MaxLength.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { FromField } from "../numbers/FromField.tsx"
import { useRefusal } from "../session/Session.tsx"
import { Preview } from "../templates/Preview.tsx"
import { templateKey, TemplateOption } from "../templates/TemplateOption.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure, Notice } from "../ui/Failure.tsx"
import { elsewhere, Field, TextField } from "../ui/Field.tsx"
import { Empty } from "../ui/Loaded.tsx"
import { Section } from "../ui/Page.tsx"
import { RecipientFields, uploadOf, useRecipients } from "./RecipientFields.tsx"
import { useSaveCampaign } from "./SaveCampaign.ts"
import { plannedBy, repeated, ScheduleFields, scheduleOf, scheduleParams } from "./ScheduleFields.tsx"
import {
  columnsOf,
  contentOf,
  exampleOf,
  type Fillings,
  fillingsOf,
  guessed,
  TemplateValues
} from "./TemplateValues.tsx"
import { TestSend } from "./TestSend.tsx"

/** A template as the campaign has it, with what this form cannot fill. */
const filledAs = (
  before: Campaign["template"] | null | undefined,
  template: TemplateDetail,
  fillings: Fillings
): Campaign["template"] => ({
  ...(before && templateKey(before) === templateKey(template) ? before : {}),
  ...contentOf(template, fillings)
})

const copied = " (copy)"

/** The name of a copy. Where it has no place for the addition, the end of the name goes. */
const copyOf = (name: string): string => `${name.slice(0, MaxLength.createCampaignName - copied.length)}${copied}`

const keyOf = (template: TemplateDetail | undefined): string => template === undefined ? "" : templateKey(template)

export const CampaignForm = (
  { campaign, like = campaign, templates }: {
    readonly templates: ReadonlyArray<TemplateDetail>
    /** The campaign to change; a new one if omitted. */
    readonly campaign?: Campaign
    /** The campaign whose plan the form begins with; the one to change if omitted. */
    readonly like?: Campaign
  }
) => {
  const approved = (given: Campaign["template"] | null | undefined) =>
    templates.find((template) => given != null && templateKey(template) === templateKey(given))
  const [before, beforeB] = [approved(like?.template), approved(like?.templateB)]
  const unapproved = [like?.template, like?.templateB].flatMap((given) =>
    given == null || approved(given) !== undefined ? [] : [`${given.name} · ${given.language}`]
  )
  const refusal = useRefusal(
    RoleOf.campaignsCreate,
    RoleOf.campaignsEdit,
    RoleOf.campaignsUpload,
    RoleOf.campaignsCheck
  )
  const [name, setName] = useState(campaign?.name ?? (like === undefined ? "" : copyOf(like.name)))
  const [chosen, setChosen] = useState(keyOf(like === undefined ? templates[0] : before))
  const [from, setFrom] = useState(like?.from ?? "")
  const [fillings, setFillings] = useState<Fillings>(
    like && before ? fillingsOf(before, like.template) : {}
  )
  const [chosenB, setChosenB] = useState(keyOf(beforeB))
  const [fillingsB, setFillingsB] = useState<Fillings>(
    like?.templateB && beforeB ? fillingsOf(beforeB, like.templateB) : {}
  )
  const [schedule, setSchedule] = useState(campaign === undefined ? repeated(scheduleOf(like)) : scheduleOf(campaign))
  const recipients = useRecipients((columns) => {
    setFillings((before) => guessed(before, columns))
    setFillingsB((before) => guessed(before, columns))
  })
  const { file, head, unread } = recipients
  const template = templates.find((template) => templateKey(template) === chosen)
  const templateB = templates.find((template) => templateKey(template) === chosenB)

  const navigate = useNavigate()
  const save = useSaveCampaign(campaign)
  const submit = (template: TemplateDetail) =>
    save.mutate({
      plan: {
        name: name.trim(),
        template: filledAs(like?.template, template, fillings),
        ...(templateB === undefined ? {} : { templateB: filledAs(like?.templateB, templateB, fillingsB) }),
        ...(from === "" ? {} : { from }),
        ...plannedBy(schedule)
      },
      recipients: uploadOf(recipients)
    }, {
      // unless the person has left the form meanwhile
      onSuccess: (id) => navigate({ to: "/campaigns/$id", params: { id } })
    })
  const { error } = save
  const columns = head?.columns ?? (like === undefined ? [] : columnsOf(fillings, fillingsB))
  const blocked = refusal ??
    (template === undefined ? "Choose a template that the provider has approved." : template.unfillable) ??
    unread ?? (file !== undefined && head === undefined ? "The file is being read." : undefined)
  /** A template as the first customer gets it. */
  const tested = (before: Campaign["template"] | null | undefined, template: TemplateDetail, fillings: Fillings) => {
    const values = exampleOf(template, fillings, head)
    return {
      template: {
        ...filledAs(before, template, fillings),
        ...(template.variables.length === 0
          ? {}
          : { bodyParams: template.variables.map((variable) => values[variable] ?? "") })
      },
      blocked: template.unfillable ??
        (template.variables.every((variable) => values[variable])
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
            if (template !== undefined && blocked === undefined && !save.isPending) submit(template)
          }}
        >
          <TextField
            label="Name"
            hint="For you; customers do not see it."
            error={error}
            param="name"
            required
            maxLength={MaxLength.createCampaignName}
            value={name}
            onChange={setName}
          />
          {unapproved.length === 0 ? null : (
            <Notice tone="warn">
              The provider does not approve {unapproved.join(", ")}, which the campaign has. Choose another template.
            </Notice>
          )}
          <Field label="Template" error={error} param="template">
            {(control) => (
              <select
                {...control}
                className="field"
                value={chosen}
                onChange={({ target: { value } }) => {
                  setChosen(value)
                  if (value === chosenB) setChosenB("")
                }}
              >
                {template === undefined ? <option value="">Choose a template</option> : null}
                {templates.map((template) => <TemplateOption key={templateKey(template)} template={template} />)}
              </select>
            )}
          </Field>
          <FromField value={from} onChange={setFrom} error={error} />
          <RecipientFields campaign={campaign} columns={columns} error={error} recipients={recipients} />
          {template === undefined ?
            null :
            <TemplateValues template={template} columns={columns} fillings={fillings} onChange={setFillings} />}
          <Field
            label="Compare with"
            hint="A second template, which half of the customers get. The result compares the two."
            error={error}
            param="templateB"
          >
            {(control) => (
              <select
                {...control}
                className="field"
                value={chosenB}
                onChange={(event) => setChosenB(event.target.value)}
              >
                <option value="">Nothing: all get the same</option>
                {templates.filter((other) => templateKey(other) !== chosen).map((other) => (
                  <TemplateOption key={templateKey(other)} template={other} />
                ))}
              </select>
            )}
          </Field>
          {templateB === undefined ? null : (
            <TemplateValues
              template={templateB}
              columns={columns}
              fillings={fillingsB}
              of=" of variant B"
              onChange={setFillingsB}
            />
          )}
          <ScheduleFields schedule={schedule} onChange={setSchedule} error={error} />
          <Failure
            error={elsewhere(error, "name", "template", "templateB", "from", "defaultCountry", ...scheduleParams)}
          />
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
                <Preview template={template} values={exampleOf(template, fillings, head)} />
                <TestSend {...tested(like?.template, template, fillings)} from={from} />
              </>
            )}
          {templateB === undefined ? null : (
            <>
              <h3 className="font-medium">Variant B, for half of the customers</h3>
              <Preview template={templateB} values={exampleOf(templateB, fillingsB, head)} />
              <TestSend {...tested(like?.templateB, templateB, fillingsB)} from={from} of=" of variant B" />
            </>
          )}
        </div>
      </Section>
    </div>
  )
}
