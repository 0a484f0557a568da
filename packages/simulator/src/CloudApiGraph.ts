/** Routes the calls of the simulated Cloud API, checks their access tokens, and makes the response to each. */
import type { Schema } from "effect"
import * as Errors from "./CloudApiErrors.ts"
import type { Fault } from "./control/CloudApiFaults.ts"
import type * as Media from "./media/CloudApiMedia.ts"
import type { Accepted, Messages } from "./messages/CloudApiMessages.ts"
import * as Numbers from "./numbers/CloudApiNumbers.ts"
import * as Samples from "./templates/CloudApiSamples.ts"
import * as TemplateEdits from "./templates/CloudApiTemplateEdits.ts"
import * as Templates from "./templates/CloudApiTemplates.ts"

/** The parts of a call's method and path. */
export interface Route {
  readonly kind: "messages" | "reads"
  readonly method: string
  readonly version: string
  readonly id: string
  readonly edge: string | undefined
  readonly query: URLSearchParams
}

/** The response to a call, and the message that was accepted by it. */
export interface Answer {
  readonly http: number
  readonly body: Schema.Json
  readonly code: number | null
  readonly accepted?: Accepted
  /** Replaces the body. */
  readonly file?: Media.File
}

export interface Graph {
  readonly account: string
  readonly tokens: () => ReadonlySet<string>
  readonly numbers: ReadonlyMap<string, Numbers.BusinessNumber>
  readonly templates: () => ReadonlyArray<Templates.Template>
  /** The id of the next template. */
  readonly newTemplateId: () => string
  /** Stores a template that was created or changed, and starts its review. */
  readonly review: (template: Templates.Template) => void
  readonly forget: (template: Templates.Template) => void
  readonly messages: Messages
  readonly media: Media.Media
  readonly samples: Samples.Samples
  /** The simulator's own address, with which links to further pages begin. */
  readonly url: () => string
}

/** Reads the parts of a path of the API; undefined for any other path. */
export const routeOf = (method: string, target: string): Route | undefined => {
  const { pathname, searchParams } = new URL(target, "http://simulator")
  const path = /^\/(v\d+\.\d+)\/([^/]+)(?:\/([^/]+))?$/.exec(pathname)
  if (path === null) return undefined
  const [, version, id, edge] = path
  return {
    kind: method === "POST" && edge === "messages" ? "messages" : "reads",
    method,
    version: version!,
    id: id!,
    edge,
    query: searchParams
  }
}

const ok = (body: Schema.Json): Answer => ({ http: 200, body, code: null })

/** The response with a fault's error. */
export const refuseWith = (fault: Fault, traceId: string): Answer =>
  refuse(
    Errors.refusal({
      code: fault.code ?? 131000,
      details: fault.details,
      http: fault.http,
      transient: fault.transient
    }),
    traceId
  )

const refuse = (refusal: Errors.Refusal, traceId: string): Answer => {
  const body = refusal.body(traceId)
  const { code } = (body as { readonly error: { readonly code: number } }).error
  return { http: refusal.http, body, code }
}

const isMarkingRead = (body: string): boolean => {
  try {
    return (JSON.parse(body) as { readonly status?: unknown } | null)?.status === "read"
  } catch {
    return false
  }
}

/** Makes the response to a call. Only accepted sends, uploads and changes of templates change the state. */
export const answer = (
  graph: Graph,
  route: Route | undefined,
  call: {
    readonly method: string
    readonly target: string
    readonly authorization: string | undefined
    readonly body: string
    /** The form of an upload. */
    readonly form: Media.Form | undefined
    /** How many bytes the body has. */
    readonly length: number
    /** The offset of a resumable upload's part. */
    readonly offset: string | undefined
  },
  now: number,
  nth: number,
  traceId: string
): Answer => {
  const refused = (refusal: Errors.Refusal) => refuse(refusal, traceId)
  const token = /^(?:Bearer|OAuth) (\S+)$/.exec(call.authorization ?? "")?.[1]
  if (token === undefined) {
    return refused(Errors.badToken("An access token is required to request this resource."))
  }
  if (!graph.tokens().has(token)) {
    return refused(Errors.badToken("Error validating access token: The session is invalid or has expired."))
  }
  const addressed = call.method === "GET" ? graph.media.at(call.target, now) : undefined
  if (addressed === "dead") return { http: 404, body: "URL signature expired", code: null }
  if (addressed !== undefined) return { ...ok(null), file: addressed }
  if (route === undefined) return refused(Errors.noObject(call.method, call.target))
  const absent = () => refused(Errors.noObject(route.method, route.id))
  const number = graph.numbers.get(route.id)

  if (route.method === "POST" && number !== undefined && route.edge === "messages") {
    if (isMarkingRead(call.body)) return ok({ success: true })
    const sent = graph.messages.send(number, call.body, now, nth)
    return "http" in sent ? refused(sent) : { ...ok(sent.answer), accepted: sent }
  }
  if (route.method === "POST" && number !== undefined && route.edge === "media") {
    const file = graph.media.upload(number.id, call.form, now)
    return "http" in file ? refused(file) : ok({ id: file.id })
  }
  const file = route.edge === undefined ? graph.media.find(route.id, now) : undefined
  if (file !== undefined) {
    if (route.method !== "DELETE") return ok(graph.media.shown(file, graph.url(), now))
    graph.media.forget(file.id)
    return ok({ success: true })
  }
  if (route.method === "GET" && route.id === "app" && route.edge === undefined) return ok({ id: Samples.appId })
  if (route.method === "POST" && route.id === Samples.appId && route.edge === "uploads") {
    const session = graph.samples.begin(route.query)
    return "http" in session ? refused(session) : ok(session)
  }
  if (route.method === "POST" && route.id.startsWith("upload:") && route.edge === undefined) {
    const handle = graph.samples.take(`${route.id}?${route.query}`, call)
    return "http" in handle ? refused(handle) : ok(handle)
  }
  if (route.method === "POST" && route.id === graph.account && route.edge === "subscribed_apps") {
    return ok({ success: true })
  }
  if (route.id === graph.account && route.edge === "message_templates") {
    if (route.method === "POST") {
      const template = TemplateEdits.created(graph.templates(), call.body, graph.newTemplateId(), now)
      if ("http" in template) return refused(template)
      graph.review(template)
      return ok({ id: template.id, status: template.status, category: template.category })
    }
    if (route.method === "DELETE") {
      const gone = TemplateEdits.deleted(graph.templates(), route.query)
      if ("http" in gone) return refused(gone)
      for (const template of gone) graph.forget(template)
      return ok({ success: true })
    }
  }
  const template = route.edge === undefined ? graph.templates().find(({ id }) => id === route.id) : undefined
  if (template !== undefined && route.method === "POST") {
    const edited = TemplateEdits.edited(template, call.body)
    if ("http" in edited) return refused(edited)
    graph.review(edited)
    return ok({ success: true, id: edited.id, name: edited.name, category: edited.category })
  }
  if (route.method !== "GET") return absent()
  if (template !== undefined) return ok(Templates.shown(template, route.query.get("fields")?.split(",")))
  if (number !== undefined && route.edge === undefined) {
    const shown = Numbers.show(number, route.query.get("fields")?.split(","))
    return "shown" in shown
      ? ok(shown.shown)
      : refused(Errors.badParameter(`Tried accessing nonexisting field (${shown.unknown})`))
  }
  if (route.id !== graph.account) return absent()
  switch (route.edge) {
    case "message_templates":
      return ok(Templates.page(graph.templates(), route.query, `${graph.url()}${call.target.split("?")[0]}`))
    case "phone_numbers":
      return ok({
        data: [...graph.numbers.values()].map((number) => {
          const shown = Numbers.show(number)
          return "shown" in shown ? shown.shown : null
        })
      })
    case undefined:
      return ok({ id: graph.account, name: "Simulated Business" })
    default:
      return absent()
  }
}
