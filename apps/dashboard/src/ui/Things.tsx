/** Which page shows a thing, by the prefix of its id. */
import { Link } from "@tanstack/react-router"
import type { IconName } from "./Icon.tsx"
import { Id } from "./Table.tsx"

/** A kind of thing, such as messages, each of which has its own page. */
interface Kind {
  readonly prefix: string
  readonly name: string
  readonly icon: IconName
  readonly to:
    | "/messages/$id"
    | "/campaigns/$id"
    | "/events/$id"
    | "/deliveries/$id"
    | "/requests/$id"
    | "/api-keys/$id"
    | "/templates/$id"
}

const kinds: ReadonlyArray<Kind> = [
  { prefix: "msg_", name: "message", icon: "message", to: "/messages/$id" },
  { prefix: "cmp_", name: "campaign", icon: "campaign", to: "/campaigns/$id" },
  { prefix: "evt_", name: "event", icon: "event", to: "/events/$id" },
  { prefix: "dlv_", name: "delivery", icon: "delivery", to: "/deliveries/$id" },
  { prefix: "req_", name: "request", icon: "list", to: "/requests/$id" },
  { prefix: "key_", name: "API key", icon: "key", to: "/api-keys/$id" },
  { prefix: "tpl_", name: "template", icon: "template", to: "/templates/$id" }
]

/** The kind of the thing with an id; `undefined` if its kind has no pages. Pure. */
export const kindOf = (id: string): Kind | undefined => kinds.find(({ prefix }) => id.startsWith(prefix))

/** An id, which links to the page of its thing if there is one. */
export const Thing = ({ id }: { readonly id: string }) => {
  const kind = kindOf(id)
  return kind === undefined
    ? <Id>{id}</Id>
    : (
      <Link to={kind.to} params={{ id }} className="text-accent underline">
        <Id>{id}</Id>
      </Link>
    )
}
