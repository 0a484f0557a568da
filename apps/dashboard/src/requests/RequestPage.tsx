/** The page of one request: its outcome, who made it, what it did, its fields, and its values if they are kept. */
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import type { ApiRequestDetail } from "@wac/client/internal"
import { api, errorAddress } from "../session/Service.ts"
import { Loaded } from "../ui/Loaded.tsx"
import { Missing } from "../ui/Missing.tsx"
import { durationOf } from "../ui/Moment.ts"
import { Fact, Facts, Page, Section } from "../ui/Page.tsx"
import { type Column, Id, Table } from "../ui/Table.tsx"
import { Thing } from "../ui/Things.tsx"
import { exactly, Time } from "../ui/Time.tsx"
import { capitalized, counted } from "../ui/Words.ts"
import { ValuesOf } from "./KeptValues.tsx"
import { MadeBy, Outcome } from "./RequestWords.tsx"

type Field = NonNullable<ApiRequestDetail["fields"]>[number]

const shapeOf = ({ length, type }: Field): string => {
  switch (type) {
    case "text":
      return `Text of ${counted(length ?? 0, "character", "characters")}`
    case "list":
      return `List of ${counted(length ?? 0, "item", "items")}`
    case "object":
      return `Object with ${counted(length ?? 0, "field", "fields")}`
    case "unknown":
      return `${counted(length ?? 0, "field", "fields")} that the API does not have`
    default:
      return capitalized(type)
  }
}

const columns: ReadonlyArray<Column<Field>> = [
  { name: "Field", cell: ({ path }) => path === "" ? "The body" : <Id>{path}</Id> },
  { name: "Value", cell: shapeOf }
]

export const RequestPage = () => {
  const { id } = useParams({ from: "/requests/$id" })
  // a recorded request does not change, so the query is not repeated
  const query = useQuery({ queryKey: ["requests", id], queryFn: ({ signal }) => api.requests.get(id, { signal }) })
  const { data: request } = query
  return (
    <Page title={request === undefined ? "Request" : `${request.method} ${request.route}`} lead={<Id>{id}</Id>}>
      <div className="card">
        <Loaded
          query={query}
          missing={
            <Missing what="request" to="/requests" all="All requests">
              A request is listed about a second after its response, for as long as the operator keeps requests. One
              that only read something in these pages is not listed unless it was refused; the service’s log may have
              its id.
            </Missing>
          }
        >
          {(request) => (
            <div className="p-4">
              <Facts>
                <Fact name="Answered">
                  <Outcome request={request} />
                  {request.code === null ? null : (
                    <a
                      className="block text-[13px] text-accent underline"
                      href={errorAddress({ code: request.code, reason: request.reason })}
                    >
                      What to do about it
                    </a>
                  )}
                </Fact>
                <Fact name="By">
                  <MadeBy request={request} />
                </Fact>
                <Fact name={request.method === "POST" && request.code === null ? "What it did" : "About"}>
                  {request.subject === null
                    ? <span className="text-muted">Not known</span>
                    : <Thing id={request.subject} />}
                </Fact>
                <Fact name="At">
                  <Time at={request.at} />
                  <span className="block text-[13px] text-muted">{exactly(request.at)}</span>
                </Fact>
                <Fact name="Took">{durationOf(request.durationMs)}</Fact>
              </Facts>
            </div>
          )}
        </Loaded>
      </div>
      {request?.fields == null ? null : (
        <Section
          flush
          title="What was asked"
          description="The fields of the body and the shapes of their values."
        >
          <Table
            label="What was asked"
            columns={columns}
            items={request.fields}
            keyOf={({ path, type }) => `${path} ${type}`}
          />
        </Section>
      )}
      {request === undefined ? null : <ValuesOf key={id} request={request} />}
    </Page>
  )
}
