/**
 * Every route with every credential, walked over from the API definition: what the service does is the table in
 * `docs/reference/access.md`, and what the definition says. `npx vitest run --project server matrix -u` writes it.
 */
import { layer } from "@effect/vitest"
import { Access, Api, EndpointAnnotations } from "@wac/api"
import { ApiScope, Id, Member, Members, Portals } from "@wac/core"
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { assert, expect } from "vitest"
import * as checks from "../checks.ts"
import { call, ownPage, ready } from "../harness.ts"
import { accept, type Headers, join, password } from "../people/joining.ts"
import * as Things from "./things.ts"

const routes = Object.values(Api.groups).flatMap((group) =>
  Object.values(group.endpoints).map(({ annotations, method, path, payload }) => ({
    method,
    path,
    access: Context.getOrUndefined(annotations, Access.Access),
    isOpenToPortal: Context.get(annotations, Access.OpenToPortal),
    needsFreshSession: Context.get(annotations, Access.NeedsFreshSession),
    takesBody: payload.size > 0,
    fileType: Context.get(annotations, EndpointAnnotations.TakesFile)[0]
  }))
)
type Route = (typeof routes)[number]

const roles = Member.Role.literals

/**
 * The credentials: nobody, an API key with each scope alone, a person of each role, the portal with each role, and
 * somebody else's owner.
 */
interface Credential {
  readonly name: string
  /** The headers of its requests. */
  readonly headers: Headers
  /** What it is by the definition. */
  readonly kind: "nobody" | "key" | "person" | "portal"
  /** The one scope of a key; `undefined` if it has all. */
  readonly scope?: ApiScope.ApiScope
  readonly role: Member.Role | undefined
  /** Whether it asks for things of the first workspace, and is of another. */
  readonly isForeign: boolean
}

class World extends Context.Service<World, {
  readonly url: string
  readonly credentials: ReadonlyArray<Credential>
  readonly thing: { readonly [path: string]: string }
}>()("@wac/server/test/keys/matrix.test/World") {
  static readonly layer = Layer.effect(
    World,
    Effect.gen(function*() {
      const { key, services, session, url } = yield* ready({ environment: checks.unlimited })
      const { workspaceId } = (yield* call(`${url}/internal/session`, { headers: session })).body
      const { thing } = yield* Things.make({ url, services, id: workspaceId, key, owner: session })
      const others = yield* Effect.forEach(
        roles.filter((role) => role !== "owner"),
        (role) => Effect.map(join(url, session, `${role}@example.com`, role), ({ headers }) => [role, headers] as const)
      )
      const person: { readonly [role: string]: Headers } = { ...Object.fromEntries(others), owner: session }

      const theirs = yield* checks.anotherWorkspace("theirs", "+15005550102").pipe(Effect.provideContext(services))
      const by = { id: null, userId: Id.UserId.make(`usr_${checks.nobody}`), email: "operator@example.com" }
      const invited = yield* Effect.orDie(
        Context.get(services, Members.Members).invite(
          { ...by, role: "owner", workspaceId: theirs.id, workspaceName: "theirs", roles: null },
          { email: "theirs@example.com", role: "owner" },
          () => ""
        )
      )
      const joined = yield* accept(url, Redacted.value(invited.token), password)
      const portal = Effect.fnUntraced(function*(role: Member.Role, workspace: Id.WorkspaceId) {
        const { token } = yield* Effect.orDie(
          Context.get(services, Portals.Portals).link({
            workspaceId: workspace,
            role,
            visitor: "ana@shop.example",
            lifetime: Duration.hours(1)
          })
        )
        const opened = yield* call(`${url}/internal/portal`, {
          headers: ownPage,
          body: { token: Redacted.value(token) }
        })
        return { ...ownPage, cookie: opened.headers.getSetCookie()[0]!.split(";")[0]!, "wac-portal": workspace }
      })

      const bearer = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` })
      const credentials: ReadonlyArray<Credential> = [
        { name: "nobody", headers: ownPage, kind: "nobody", role: undefined, isForeign: false },
        ...yield* Effect.forEach(
          ApiScope.all,
          (scope) =>
            Effect.map(checks.keyWithScopes(services, workspaceId, [scope]), ({ apiKey }): Credential => ({
              name: scope,
              headers: bearer(apiKey),
              kind: "key",
              scope,
              role: undefined,
              isForeign: false
            }))
        ),
        ...roles.map((role): Credential => ({
          name: role,
          headers: person[role]!,
          kind: "person",
          role,
          isForeign: false
        })),
        ...yield* Effect.forEach(
          ["member", "developer", "owner"] as const,
          (role) =>
            Effect.map(portal(role, workspaceId), (headers): Credential => ({
              name: `portal, ${role}`,
              headers,
              kind: "portal",
              role,
              isForeign: false
            }))
        ),
        {
          name: "owner of another workspace",
          headers: { ...ownPage, cookie: joined.headers.getSetCookie()[0]!.split(";")[0]! },
          kind: "person",
          role: "owner",
          isForeign: true
        },
        {
          name: "API key of another",
          headers: bearer((yield* checks.keyWithScopes(services, theirs.id, ApiScope.all)).apiKey),
          kind: "key",
          role: undefined,
          isForeign: true
        },
        {
          name: "portal of another",
          headers: yield* portal("owner", theirs.id),
          kind: "portal",
          role: "owner",
          isForeign: true
        }
      ]
      return { url, credentials, thing }
    })
  )
}

/** What a cell says: let in, let in to one's own things alone, not known, or known and refused. */
type Cell = "yes" | "its own" | "401" | "403"

const isEnough = (role: Member.Role | undefined, needed: Member.Role): boolean =>
  role !== undefined && roles.indexOf(role) >= roles.indexOf(needed)

/** What the definition says. */
const said = ({ access, isOpenToPortal }: Route, { isForeign, kind, role, scope }: Credential): Cell => {
  const isIn = isForeign ? "its own" : "yes"
  switch (access?._tag) {
    case "Public":
      return "yes"
    case "ApiKey":
      if (kind !== "key") return "401"
      return scope === undefined || scope === access.scope ? isIn : "403"
    case "Session":
      if (kind === "nobody" || kind === "key") return "401"
      if (kind === "portal" && !isOpenToPortal) return "403"
      return isEnough(role, access.role) ? isIn : "403"
    default:
      return assert.fail("a route says nothing of who may call it")
  }
}

/** What a route needs before it looks for the thing with the id. */
const bodies: { readonly [route: string]: unknown } = {
  "PATCH /internal/members/:id": { role: "member" },
  "PATCH /internal/templates/:id": { category: "utility" }
}

/** What the service does: the most general request, which can only fail for who asks. */
const done = Effect.fnUntraced(function*(route: Route, { headers, isForeign }: Credential) {
  const { thing, url } = yield* World
  const { access, fileType, method, path, takesBody } = route
  // of one's own an id that nobody has, so that everything stays; of another workspace's the real one
  const id = isForeign ? thing[path] ?? checks.nobody : checks.nobody
  const { status, text } = yield* call(url + path.replace(/:\w+/g, id), {
    method,
    headers: {
      "idempotency-key": crypto.randomUUID(),
      ...(fileType === undefined ? {} : { "content-type": `${fileType}; boundary=b` }),
      ...(method === "GET" ? {} : ownPage),
      ...headers
    },
    ...(fileType !== undefined ? { body: "" } : takesBody ? { body: bodies[`${method} ${path}`] ?? {} } : {})
  })
  if (status === 401 && access?._tag !== "Public") return "401"
  if (status === 403) return "403"
  assert.notInclude([405, 429, 500, 503], status, `${method} ${path}: ${text}`)
  if (access?._tag === "Public" || !isForeign) return "yes"
  for (const [place, own] of Object.entries(thing)) {
    if (!place.startsWith("/internal/sessions")) assert.notInclude(text, own, `${method} ${path}`)
  }
  // a customer's name is no thing: each workspace may have one by it
  if (path.includes(":id")) assert.strictEqual(status, 404, `${method} ${path}: ${text}`)
  return "its own"
})

const cells: { readonly [cell in Cell]: string } = { "yes": "yes", "its own": "its own", "401": "–", "403": "no" }

/** The cells of a row; the keys with one scope share one, which names the scopes of those that are let in. */
const shown = (credentials: ReadonlyArray<Credential>, found: ReadonlyArray<Cell>): ReadonlyArray<string> => {
  const ofKeys = credentials.flatMap(({ scope }, i) => scope === undefined ? [] : [{ scope, cell: found[i]! }])
  const letIn = ofKeys.filter(({ cell }) => cell === "yes").map(({ scope }) => scope)
  const key = letIn.length === ofKeys.length
    ? "yes"
    : letIn.length === 0
    ? "–"
    : letIn.map((scope) => `\`${scope}\``).join(", ")
  const others = credentials.flatMap(({ scope }, i) => scope === undefined ? [cells[found[i]!]] : [])
  return [others[0]!, key, ...others.slice(1)]
}

/** As dprint formats it. */
const table = (
  credentials: ReadonlyArray<Credential>,
  rows: ReadonlyArray<readonly [Route, ReadonlyArray<Cell>]>
): string => {
  const names = credentials.flatMap(({ name, scope }) => scope === undefined ? [name] : [])
  const head = ["Route", "fresh session", names[0]!, "API key", ...names.slice(1)]
  const body = rows.map(([{ method, needsFreshSession, path }, found]) => [
    `\`${method} ${path}\``,
    needsFreshSession ? "needed" : "",
    ...shown(credentials, found)
  ])
  const widths = head.map((name, i) => Math.max(name.length, ...body.map((row) => row[i]!.length)))
  const line = (texts: ReadonlyArray<string>) => `| ${texts.map((text, i) => text.padEnd(widths[i]!)).join(" | ")} |`
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)].join("\n")
}

const introduction = `# Who may call what

Every route with every credential, as the service was seen to respond. A test writes this table and holds it to the API definition: a route that is added is in it, or the test fails.

- A scope: an API key with it is let in; one without it is refused, 403 \`missing_scope\`.
- _yes_: the caller is let in; whatever else is wrong with a request is another matter.
- _its own_: the caller is let in to its own workspace; a thing of another workspace is 404, as if it did not exist.
- _no_: the caller is known and refused, 403 \`role_not_allowed\`.
- _needed_: a session must be fresh, or it gets 403 \`fresh_session_required\`: its person signed in or confirmed their password within the last 10 minutes. Sessions of a host and of the portal always count as fresh.
- _–_: the credential counts for nothing here, 401.

An API key never opens a route of the dashboard, and a session never opens one of the API. \`POST /mcp\` opens to an API key the routes of the API that its scopes open, as [tools](../guides/agents.md). The portal is a session of a host's customer (\`wac.portal.link\`). Unsafe requests of sessions must also come from our own pages, or they get 403 \`cross_site\`. Owners are invited, changed and removed by owners alone.
`

/** The one that ends the session of who asks. */
const isSignOut = ({ method, path }: Route): boolean => method === "DELETE" && path === "/internal/session"

layer(World.layer, checks.live)("every route", (it) => {
  it.effect(
    "every route admits exactly the callers of its definition, as docs/reference/access.md says",
    () =>
      Effect.gen(function*() {
        const { credentials } = yield* World
        const found = new Map<Route, Array<Cell>>()
        for (const route of [...routes.filter((route) => !isSignOut(route)), ...routes.filter(isSignOut)]) {
          const row: Array<Cell> = []
          for (const credential of credentials) {
            const cell = yield* done(route, credential)
            assert.strictEqual(cell, said(route, credential), `${route.method} ${route.path}: ${credential.name}`)
            row.push(cell)
          }
          found.set(route, row)
        }
        const rows = routes.map((route) => [route, found.get(route)!] as const)
        yield* Effect.promise(() =>
          expect(`${introduction}\n${table(credentials, rows)}\n`).toMatchFileSnapshot(
            "../../../../docs/reference/access.md"
          )
        )
      })
  )
})
