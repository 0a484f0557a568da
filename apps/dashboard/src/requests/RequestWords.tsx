/** How pages show a request: its outcome, and who made it. */
import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import type { ApiRequest } from "@wac/client/internal"
import * as RoleOf from "../generated/RoleOf.ts"
import { KeyName } from "../keys/KeyName.tsx"
import { api } from "../session/Service.ts"
import { useRefusal, useSession } from "../session/Session.tsx"
import { Status } from "../ui/Status.tsx"

/** The reason or code with which a request was refused; empty if it was not refused. Pure. */
export const wordsOf = ({ code, reason }: { readonly code: string | null; readonly reason: string | null }): string =>
  reason ?? code ?? ""

/** The status of a request whose caller left before the response. */
const left = 499

const toneOf = ({ code, status }: ApiRequest) =>
  status === left ? "calm" : code === null ? "good" : status >= 500 ? "warn" : "bad"

/** The status of a request's response and, if it was refused, the reason. */
export const Outcome = ({ request }: { readonly request: ApiRequest }) => (
  <>
    <Status tone={toneOf(request)}>{request.status}</Status>
    {request.code === null
      ? null
      : <span className="ml-2 max-sm:block max-sm:ml-0">{wordsOf(request)}</span>}
  </>
)

/** The e-mail address of a person; if the reader may not list members, only whether the reader is the person. */
const Person = ({ id }: { readonly id: string }) => {
  const { userId } = useSession()
  const refusal = useRefusal(RoleOf.membersList)
  const { data: members } = useQuery({
    queryKey: ["members"],
    queryFn: ({ signal }) => api.members.list({ limit: 100 }, { signal }).toArray(1000),
    enabled: userId !== id && refusal === undefined
  })
  return userId === id ? "You" : members?.find((member) => member.id === id)?.email ?? "Another member"
}

/** Who made a request: an API key or a person. */
export const MadeBy = ({ request: { apiKeyId, userId } }: { readonly request: ApiRequest }) =>
  apiKeyId !== null
    ? (
      <Link to="/api-keys/$id" params={{ id: apiKeyId }} className="text-accent underline">
        <KeyName id={apiKeyId} />
      </Link>
    )
    : userId === null
    ? null
    : <Person id={userId} />
