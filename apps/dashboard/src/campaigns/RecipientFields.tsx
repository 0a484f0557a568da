/** The fields for the file of a campaign's customers, and the state of the chosen file. */
import type { Campaign } from "@wac/client/internal"
import { useRef, useState } from "react"
import { Field } from "../ui/Field.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Table } from "../ui/Table.tsx"
import { CountryField } from "./CountryField.tsx"
import { adviceOn, type Example, fileOf, fileParam, type Head, headOf, phoneColumnOf } from "./RecipientFile.ts"

interface Recipients {
  readonly file: File | undefined
  /** The beginning of the file; `undefined` until it is read. */
  readonly head: Head | undefined
  /** Why the file cannot be read. */
  readonly unread: string | undefined
  readonly numberColumn: string
  readonly country: string
}

/** The state of the chosen file, and functions that choose a file and change the fields. */
export const useRecipients = () => {
  const [recipients, setRecipients] = useState<Recipients>({
    file: undefined,
    head: undefined,
    unread: undefined,
    numberColumn: "",
    country: ""
  })
  const latest = useRef<File>(undefined)
  const change = (changes: Partial<Recipients>) => setRecipients((before) => ({ ...before, ...changes }))
  const choose = async (file: File | undefined): Promise<void> => {
    latest.current = file
    change({ file, head: undefined, unread: undefined })
    if (file === undefined) return
    const read = await headOf(file).then(
      (head) => ({ head, numberColumn: phoneColumnOf(head) ?? "" }),
      (error: unknown) => ({ unread: error instanceof Error ? error.message : "The file could not be read." })
    )
    // another file has been chosen meanwhile
    if (latest.current !== file) return
    change(read)
  }
  return { ...recipients, change, choose }
}

/** The file as it is uploaded, with the parameters of the request; `undefined` if no file was chosen or read. */
export const uploadOf = ({ country, file, head, numberColumn }: Recipients) =>
  file === undefined || head === undefined ? undefined : {
    file: fileOf(file, head),
    query: {
      ...(head.columns.length === 0 ? {} : { toColumn: numberColumn }),
      ...(country === "" ? {} : { defaultCountry: country })
    }
  }

/** How many customers of a file the form shows. */
const mostShown = 5

/** How the file was read: a description, and the first customers by column. */
const Summary = ({ head: { columns, examples, summary } }: { readonly head: Head }) => (
  <div className="space-y-2">
    <p role="status">{summary}</p>
    {examples.length === 0 ? null : (
      <Table<Example>
        label="First rows of the file"
        columns={columns.map((name) => ({
          name,
          className: "max-w-48 truncate",
          cell: (example) => example[name]
        }))}
        items={examples.slice(0, mostShown)}
        keyOf={(example) => examples.indexOf(example)}
      />
    )}
  </div>
)

export const RecipientFields = (
  { campaign, error, recipients: { change, choose, country, head, numberColumn, unread } }: {
    readonly recipients: ReturnType<typeof useRecipients>
    /** The campaign to change; `undefined` for a new one. */
    readonly campaign: Campaign | undefined
    readonly error: unknown
  }
) => {
  const advice = head === undefined ? undefined : adviceOn(head, numberColumn, country)
  return (
    <>
      <Field
        label="Customers"
        error={error}
        param={fileParam}
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
            // a browser reports no change if the file that is chosen is the one before, even if it was saved again
            onClick={({ currentTarget }) => {
              currentTarget.value = ""
              void choose(undefined)
            }}
            onChange={(event) => void choose(event.target.files?.[0])}
          />
        )}
      </Field>
      {unread === undefined ? null : <Notice tone="bad" role="alert">{unread}</Notice>}
      {head?.summary === undefined ? null : <Summary head={head} />}
      {advice === undefined ? null : <Notice tone="warn" role="status">{advice}</Notice>}
      {head === undefined ? null : (
        <CountryField
          label="Country of numbers without a country code"
          hint="Empty: such numbers are left out."
          error={error}
          param="defaultCountry"
          value={country}
          onChange={(country) => change({ country })}
        />
      )}
      {head === undefined || head.columns.length === 0 ?
        null :
        (
          <Field label="Column with the phone numbers or user ids">
            {(control) => (
              <select
                {...control}
                required
                className="field"
                value={numberColumn}
                onChange={(event) => change({ numberColumn: event.target.value })}
              >
                <option value="">Choose a column</option>
                {head.columns.map((column) => <option key={column} value={column}>{column}</option>)}
              </select>
            )}
          </Field>
        )}
    </>
  )
}
