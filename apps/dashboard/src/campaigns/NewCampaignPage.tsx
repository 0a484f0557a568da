/** A campaign that is not started, new or changed: a template, a file of customers, and what fills the template. */
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import type { Campaign, TemplateDetail } from "@wac/client/internal"
import { useState } from "react"
import * as MaxLength from "../generated/MaxLength.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { FromField } from "../numbers/FromField.tsx"
import { useRefusal } from "../session/Session.tsx"
import { Preview } from "../templates/Preview.tsx"
import { approvedQuery } from "../templates/Queries.ts"
import { templateKey, TemplateOption } from "../templates/TemplateOption.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure, Notice } from "../ui/Failure.tsx"
import { elsewhere, Field } from "../ui/Field.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { fromLocal, toLocal } from "../ui/Moment.ts"
import { Page, Section } from "../ui/Page.tsx"
import { timeZone } from "../ui/Time.tsx"
import { campaignQuery } from "./Queries.ts"
import { fileOf, type Head, headOf, numbersOf } from "./RecipientFile.ts"
import { useSaveCampaign } from "./SaveCampaign.ts"
import {
  columnsOf,
  contentOf,
  exampleOf,
  type Fillings,
  fillingsOf,
  guessed,
  TemplateValues
} from "./TemplateValues.tsx"

/** A template as the campaign has it, with what this form cannot fill. */
const filledAs = (
  before: Campaign["template"] | null | undefined,
  template: TemplateDetail,
  fillings: Fillings
): Campaign["template"] => ({
  ...(before && templateKey(before) === templateKey(template) ? before : {}),
  ...contentOf(template, fillings)
})

const keyOf = (template: TemplateDetail | undefined): string => template === undefined ? "" : templateKey(template)

const timeOf = (at: string | null | undefined): string => at == null ? "" : toLocal(at)

const percentOf = (share: number): string => `${Math.round(share * 100)}`

const Form = (
  { campaign, templates }: {
    readonly templates: ReadonlyArray<TemplateDetail>
    /** The campaign to change; a new one if omitted. */
    readonly campaign?: Campaign
  }
) => {
  const approved = (given: Campaign["template"] | null | undefined) =>
    templates.find((template) => given != null && templateKey(template) === templateKey(given))
  const [before, beforeB] = [approved(campaign?.template), approved(campaign?.templateB)]
  const unapproved = [campaign?.template, campaign?.templateB].flatMap((given) =>
    given == null || approved(given) !== undefined ? [] : [`${given.name} · ${given.language}`]
  )
  const refusal = useRefusal(
    RoleOf.campaignsCreate,
    RoleOf.campaignsEdit,
    RoleOf.campaignsUpload,
    RoleOf.campaignsCheck
  )
  const [name, setName] = useState(campaign?.name ?? "")
  const [chosen, setChosen] = useState(keyOf(campaign === undefined ? templates[0] : before))
  const [from, setFrom] = useState(campaign?.from ?? "")
  const [file, setFile] = useState<File>()
  const [head, setHead] = useState<Head>()
  const [unread, setUnread] = useState<string>()
  const [numberColumn, setNumberColumn] = useState("")
  const [country, setCountry] = useState("")
  const [fillings, setFillings] = useState<Fillings>(
    campaign && before ? fillingsOf(before, campaign.template) : {}
  )
  const [chosenB, setChosenB] = useState(keyOf(beforeB))
  const [fillingsB, setFillingsB] = useState<Fillings>(
    campaign?.templateB && beforeB ? fillingsOf(beforeB, campaign.templateB) : {}
  )
  const [startAt, setStartAt] = useState(timeOf(campaign?.startAt))
  const [notAfter, setNotAfter] = useState(timeOf(campaign?.notAfter))
  const [share, setShare] = useState(percentOf(campaign?.share ?? 0.5))
  const [quiet, setQuiet] = useState<{ readonly from: string; readonly to: string }>(
    campaign?.quietHours ?? { from: "", to: "" }
  )
  const [holdout, setHoldout] = useState(percentOf(campaign?.holdout ?? 0))
  const template = templates.find((template) => templateKey(template) === chosen)
  const templateB = templates.find((template) => templateKey(template) === chosenB)

  const choose = async (file: File | undefined) => {
    setFile(file)
    setHead(undefined)
    setUnread(undefined)
    if (file === undefined) return
    try {
      const head = await headOf(file)
      setHead(head)
      setNumberColumn(numbersOf(head) ?? "")
      setFillings((before) => ({ ...before, ...guessed(head.columns) }))
      setFillingsB((before) => ({ ...before, ...guessed(head.columns) }))
    } catch (error) {
      setUnread(error instanceof Error ? error.message : "The file could not be read.")
    }
  }

  const save = useSaveCampaign(campaign)
  const submit = (template: TemplateDetail) =>
    save.mutate({
      plan: {
        name: name.trim(),
        template: filledAs(campaign?.template, template, fillings),
        ...(templateB === undefined ? {} : { templateB: filledAs(campaign?.templateB, templateB, fillingsB) }),
        ...(from === "" ? {} : { from }),
        ...(startAt === "" ? {} : { startAt: fromLocal(startAt)! }),
        ...(notAfter === "" ? {} : { notAfter: fromLocal(notAfter)! }),
        share: Number(share) / 100,
        ...(quiet.from === "" || quiet.to === "" ? {} : { quietHours: quiet }),
        ...(Number(holdout) === 0 ? {} : { holdout: Number(holdout) / 100 })
      },
      recipients: file === undefined || head === undefined ? undefined : {
        file: fileOf(file, head),
        query: {
          ...(head.columns.length === 0 ? {} : { toColumn: numberColumn }),
          ...(country === "" ? {} : { defaultCountry: country.toUpperCase() })
        }
      }
    })
  const { error } = save
  const columns = head?.columns ?? (campaign === undefined ? [] : columnsOf(fillings, fillingsB))
  const blocked = refusal ??
    (template === undefined ? "Choose a template that the provider has approved." : template.unfillable) ??
    unread ?? (file !== undefined && head === undefined ? "The file is being read." : undefined)
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
          <Field label="Name" hint="For you; customers do not see it." error={error} param="name">
            {(control) => (
              <input
                {...control}
                required
                autoComplete="off"
                maxLength={MaxLength.createCampaignName}
                className="field"
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
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
          <Field
            label="Customers"
            hint={campaign === undefined
              ? "A CSV file with a row of column names, or a file with a recipient in JSON in each line (.ndjson)."
              : "Another file replaces all rows that the campaign has. Empty: they stay."}
          >
            {(control) => (
              <input
                {...control}
                type="file"
                required={campaign === undefined}
                accept=".csv,.ndjson,.jsonl,text/csv,application/x-ndjson"
                className="field py-1.5"
                onChange={(event) => void choose(event.target.files?.[0])}
              />
            )}
          </Field>
          {unread === undefined ? null : <Notice tone="bad" role="alert">{unread}</Notice>}
          {head === undefined ? null : (
            <Field
              label="Country of numbers without a country code"
              hint="Two letters, such as DE. Empty: such numbers are left out."
              error={error}
              param="defaultCountry"
            >
              {(control) => (
                <input
                  {...control}
                  autoComplete="off"
                  pattern="[A-Za-z]{2}"
                  className="field max-w-32 uppercase"
                  value={country}
                  onChange={(event) => setCountry(event.target.value)}
                />
              )}
            </Field>
          )}
          {head === undefined || columns.length === 0 ? null : (
            <Field label="Column with the phone numbers or user ids">
              {(control) => (
                <select
                  {...control}
                  required
                  className="field"
                  value={numberColumn}
                  onChange={(event) => setNumberColumn(event.target.value)}
                >
                  <option value="">Choose a column</option>
                  {columns.map((column) => <option key={column} value={column}>{column}</option>)}
                </select>
              )}
            </Field>
          )}
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
          <div className="grid gap-3 sm:grid-cols-2">
            <Field
              label="Start at"
              hint={`Once you have started it. Empty: at once. Time zone: ${timeZone}`}
              error={error}
              param="startAt"
            >
              {(control) => (
                <input
                  {...control}
                  type="datetime-local"
                  className="field"
                  value={startAt}
                  onChange={(event) => setStartAt(event.target.value)}
                />
              )}
            </Field>
            <Field
              label="Send nothing after"
              hint="Empty: 24 hours after the start."
              error={error}
              param="notAfter"
            >
              {(control) => (
                <input
                  {...control}
                  type="datetime-local"
                  className="field"
                  value={notAfter}
                  onChange={(event) => setNotAfter(event.target.value)}
                />
              )}
            </Field>
          </div>
          <Field
            label="Share of the number’s rate, in percent"
            hint="The rest stays free for your other messages."
            error={error}
            param="share"
          >
            {(control) => (
              <input
                {...control}
                type="number"
                required
                min={1}
                max={90}
                className="field max-w-32 tabular-nums"
                value={share}
                onChange={(event) => setShare(event.target.value)}
              />
            )}
          </Field>
          <div className="grid gap-3 sm:grid-cols-2">
            {([["from", "Quiet from"], ["to", "Quiet until"]] as const).map(([end, label]) => (
              <Field key={end} label={label} hint="By each customer’s clock." error={error} param={`quietHours.${end}`}>
                {(control) => (
                  <input
                    {...control}
                    type="time"
                    required={quiet.from !== "" || quiet.to !== ""}
                    className="field"
                    value={quiet[end]}
                    onChange={(event) => setQuiet({ ...quiet, [end]: event.target.value })}
                  />
                )}
              </Field>
            ))}
          </div>
          <Field
            label="Held out for comparison, in percent"
            hint="Customers chosen by chance, who get nothing."
            error={error}
            param="holdout"
          >
            {(control) => (
              <input
                {...control}
                type="number"
                required
                min={0}
                max={50}
                className="field max-w-32 tabular-nums"
                value={holdout}
                onChange={(event) => setHoldout(event.target.value)}
              />
            )}
          </Field>
          <Failure
            error={elsewhere(
              error,
              "quietHours",
              "holdout",
              "name",
              "template",
              "templateB",
              "from",
              "startAt",
              "notAfter",
              "share",
              "defaultCountry"
            )}
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
            : <Preview template={template} values={exampleOf(template, fillings, head)} />}
          {templateB === undefined ? null : (
            <>
              <h3 className="font-medium">Variant B, for half of the customers</h3>
              <Preview template={templateB} values={exampleOf(templateB, fillingsB, head)} />
            </>
          )}
        </div>
      </Section>
    </div>
  )
}

const FormPage = (
  { campaign, title }: { readonly title: string; readonly campaign?: Campaign }
) => {
  const templates = useQuery(approvedQuery)
  return (
    <Page title={title} lead="One template to many customers. Every row is checked before anything is sent.">
      {templates.data === undefined || templates.data.length === 0
        ? (
          <div className="card">
            <Loaded query={templates} lines={6}>
              {() => (
                <Empty
                  title="The provider has approved no template yet"
                  actions={<Link to="/templates" className={buttonClass()}>Templates</Link>}
                />
              )}
            </Loaded>
          </div>
        )
        : <Form templates={templates.data} {...(campaign === undefined ? {} : { campaign })} />}
    </Page>
  )
}

export const NewCampaignPage = () => <FormPage title="New campaign" />

/** Changes a campaign that is not started, or gives it another file. */
export const EditCampaignPage = () => {
  const { id } = useParams({ from: "/campaigns/$id/edit" })
  const query = useQuery(campaignQuery(id))
  return query.data === undefined
    ? (
      <Page title="Change the campaign">
        <div className="card">
          <Loaded query={query}>{() => null}</Loaded>
        </div>
      </Page>
    )
    : <FormPage key={id} title="Change the campaign" campaign={query.data} />
}
