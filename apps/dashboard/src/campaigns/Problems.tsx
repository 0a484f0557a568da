/** Why the check has left out rows of a campaign's file, with examples of rows for each reason. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { Campaign, CampaignProblemExample, CampaignProblemMessage } from "@wac/client/internal"
import * as RoleOf from "../generated/RoleOf.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { grouped } from "../ui/Language.ts"
import { Loaded } from "../ui/Loaded.tsx"
import { Section } from "../ui/Page.tsx"
import { counted } from "../ui/Words.ts"
import { problemSentence, reasonAdvice, reasonWords } from "./CampaignWords.tsx"
import { useDownload } from "./DownloadRows.ts"
import { problemsQuery } from "./Queries.ts"

/** An example of a row: its place in the file, and the value that was refused. */
const Example = ({ example: { line, row, value } }: { readonly example: CampaignProblemExample }) => (
  <li className="max-w-full">
    <span className="text-muted">{line === null ? `Row ${grouped(row)}` : `Line ${grouped(line)}`}:</span>{" "}
    {value === null || value === "" ?
      <span className="text-muted">empty</span> :
      <span className="break-words">{value}</span>}
  </li>
)

/** A message about rows, with the number of rows and examples. */
const Problem = (
  { isOnly, problem: { examples, message, rows } }: {
    /** Whether all rows with this reason have this message, so that their number need not be repeated. */
    readonly isOnly: boolean
    readonly problem: CampaignProblemMessage
  }
) => (
  <li className="space-y-0.5">
    <p className="break-words">
      {message === null ? "Other problems." : problemSentence(message)}
      {isOnly ? null : <span className="text-muted tabular-nums">{" "}{counted(rows, "row", "rows")}.</span>}
    </p>
    <ul className="flex flex-wrap gap-x-4 text-[13px] tabular-nums">
      {examples.map((example) => <Example key={example.row} example={example} />)}
      {examples.length > 0 && examples.length < rows ? <li className="text-muted">and more</li> : null}
    </ul>
  </li>
)

export const Problems = ({ campaign }: { readonly campaign: Campaign }) => {
  const { id, status } = campaign
  const refusal = useRefusal(RoleOf.campaignsEdit, RoleOf.campaignsUpload)
  const download = useDownload(id, { outcome: "left_out" })
  const canChange = refusal === undefined && (status === "draft" || status === "ready")
  return (
    <Section
      title="Why rows are left out"
      description={canChange
        ? "Correct the file and choose it again, or start without these rows."
        : "Nothing is sent to these rows."}
      actions={
        <>
          <Button small isPending={download.isPending} onClick={() => download.mutate()}>Download these rows</Button>
          {canChange
            ? (
              <Link to="/campaigns/$id/edit" params={{ id }} className={buttonClass("secondary", true)}>
                Choose another file
              </Link>
            )
            : null}
        </>
      }
    >
      <Failure error={download.error} />
      <Loaded query={useQuery(problemsQuery(campaign))} lines={5}>
        {({ reasons, uncounted }) => (
          <>
            <ul className="divide-y divide-line">
              {reasons.map(({ messages, reason, rows }) => (
                <li key={reason} className="space-y-2 py-3 first:pt-0 last:pb-0">
                  <div className="flex flex-wrap items-baseline justify-between gap-x-4">
                    <h3 className="font-medium">{reasonWords[reason]}</h3>
                    <Link
                      to="."
                      search={{ outcome: "left_out", reason } as never}
                      hash="rows"
                      className="text-accent underline tabular-nums"
                    >
                      {counted(rows, "row", "rows")}
                    </Link>
                  </div>
                  <ul className="space-y-2">
                    {messages.map((problem) => (
                      <Problem key={problem.message ?? ""} problem={problem} isOnly={messages.length === 1} />
                    ))}
                  </ul>
                  <p className="text-muted">{reasonAdvice[reason]}</p>
                </li>
              ))}
            </ul>
            {uncounted === 0 ? null : (
              <p className="text-muted">
                {counted(uncounted, "row was", "rows were")}{" "}
                checked by an earlier version, which did not count the reasons. The list of rows below shows them.
              </p>
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}
