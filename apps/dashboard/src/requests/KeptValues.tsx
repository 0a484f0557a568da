/** The values of requests: the switch that keeps them, and the kept values of one request. */
import { useMutation, useQuery } from "@tanstack/react-query"
import type { ApiRequestDetail, RequestValues } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { Confirm } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Section } from "../ui/Page.tsx"
import { type Column, Id, Table } from "../ui/Table.tsx"
import { exactly, Until } from "../ui/Time.tsx"
import { counted } from "../ui/Words.ts"

/** The switch for keeping values, which everyone sees, but only an owner may change. */
export const ValuesSwitch = () => {
  const refusal = useRefusal(RoleOf.requestsConfigureValues)
  const query = useQuery({
    queryKey: ["requests", "settings", "values"],
    queryFn: ({ signal }) => api.requests.valuesSettings({ signal }),
    // the switch turns itself off
    ...live(60_000)
  })
  // what the person wants is kept: the switch may change while they are asked
  const [asked, setAsked] = useState<"keep" | "stop">()
  const isStop = asked === "stop"
  return (
    <Section
      title="Values"
      description="To find a mistake, an owner can have the values of your API keys’ requests kept for 24 hours. Codes, passwords and secrets are left out."
    >
      <Loaded query={query} lines={2}>
        {({ on, until }) => (
          <div className="space-y-3">
            {until !== null
              ? (
                <Notice tone="warn">
                  Values are kept for another <Until at={until} />, until {exactly(until)}.
                </Notice>
              )
              : <p>No values are kept.</p>}
            <Button
              look={on ? "danger" : "secondary"}
              refusal={refusal}
              onClick={() => setAsked(on ? "stop" : "keep")}
            >
              {on ? "Stop keeping values" : "Keep values for 24 hours"}
            </Button>
            {asked !== undefined ?
              (
                <Confirm
                  title={isStop ? "Stop keeping values?" : "Keep values for 24 hours?"}
                  action={isStop ? "Stop and delete" : "Keep values"}
                  look={isStop ? "destroy" : "primary"}
                  act={() => api.requests.configureValues({ on: !isStop })}
                  onClose={() => setAsked(undefined)}
                >
                  {isStop
                    ? "All values that are kept are deleted. The requests stay in the list."
                    : "What your programs ask for is kept encrypted, also what customers are told. Each request’s values are kept for 24 hours. Admins can see them, and each look is in the audit."}
                </Confirm>
              ) :
              null}
          </div>
        )}
      </Loaded>
    </Section>
  )
}

type Value = RequestValues["data"][number]

const columns: ReadonlyArray<Column<Value>> = [
  { name: "Field", cell: ({ path }) => path === "" ? "The body" : <Id>{path}</Id> },
  {
    name: "Value",
    cell: ({ cut, value }) => (
      <span className="break-all whitespace-pre-wrap">
        {typeof value === "string" ? value : JSON.stringify(value)}
        {cut ? <span className="text-muted">… (cut)</span> : null}
      </span>
    )
  }
]

/**
 * The kept values of a request, if it has any; they are read only when a person asks, because each look is in the
 * audit.
 */
export const ValuesOf = ({ request: { id, valuesUntil } }: { readonly request: ApiRequestDetail }) => {
  const refusal = useRefusal(RoleOf.requestsValues)
  const look = useMutation({ mutationFn: () => api.requests.values(id) })
  if (valuesUntil === null) return null
  return (
    <Section
      flush={look.isSuccess}
      title="Values"
      description={`Values are kept until ${exactly(valuesUntil)}. Each look is in the audit.`}
    >
      {look.isSuccess
        ? (
          <>
            <Table label="Values" columns={columns} items={look.data.data} keyOf={({ path }) => path} />
            {look.data.omitted === 0
              ? null
              : (
                <p className="px-4 py-2 text-muted">
                  {counted(look.data.omitted, "further value is", "further values are")}{" "}
                  not kept, because there is a limit for each request.
                </p>
              )}
          </>
        )
        : (
          <div className="space-y-3">
            <Failure error={look.error} />
            <Button refusal={refusal} isPending={look.isPending} onClick={() => look.mutate()}>Show the values</Button>
          </div>
        )}
    </Section>
  )
}
