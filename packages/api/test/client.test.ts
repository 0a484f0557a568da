/**
 * The client's types are those of the API definition that the server goes by, and it has a method for every endpoint.
 * The type checker checks the types (`npm run check -- types`); the methods are called.
 */
import { createClient } from "@wac/client"
import type * as Client from "@wac/client"
import type { Wire } from "@wac/client"
import { createInternalClient } from "@wac/client/internal"
import type * as Verifier from "@wac/verifier"
import type { Schema } from "effect"
import { HttpApi, type HttpApiGroup } from "effect/http-api"
import { assert, describe, expectTypeOf, it } from "vitest"
import type { ErrorBody as ApiErrorBody } from "../src/ErrorBody.ts"
import { Api } from "../src/index.ts"

// What the API definition says of each endpoint, in the form of the client's tables.

type Groups = typeof Api extends { readonly groups: ReadonlyMap<string, infer Group> } ? Group
  : typeof Api extends { readonly groups: Readonly<Record<string, infer Group>> } ? Group
  : never
type Endpoints = HttpApiGroup.Endpoints<Groups>

interface Endpoint {
  readonly method: string
  readonly path: string
  readonly "~Query": unknown
  readonly "~Payload": unknown
  readonly "~Success": unknown
}

/** What goes over the wire: that of the schema from which an endpoint makes its codec. */
type Encoded<Codec> = Codec extends { readonly schema: infer S extends Schema.Constraint } ? S["Encoded"] : never

/** A part of an endpoint, under this name; nothing if the endpoint does not have it, or it is empty. */
type Part<Name extends string, Codec> = [Codec] extends [never] ? unknown
  : keyof Encoded<Codec> extends never ? unknown
  : { readonly [N in Name]: Encoded<Codec> }

/** A client asks for JSON where there is a file as well. */
type Answer<Codec> = Encoded<Codec> extends void ? undefined : Exclude<Encoded<Codec>, string>

type Flat<T> = { [Field in keyof T]: T[Field] }

type Described<Prefix extends string> = {
  readonly [
    E in Endpoints as E extends Endpoint
      ? E["path"] extends `${Prefix}${string}` ? `${E["method"]} ${E["path"]}` : never
      : never
  ]: E extends Endpoint ? Flat<
      & Part<"query", E["~Query"]>
      & Part<"body", E["~Payload"]>
      & { readonly response: Answer<E["~Success"]> }
    >
    : never
}

/** A time that a client takes as a `Date` too, and messages without the content that the API definition leaves open. */
type Plain<Table> = {
  readonly [Key in keyof Table]: {
    readonly [P in keyof Table[Key]]: P extends "query" ?
      { [F in keyof Table[Key][P]]: Exclude<Table[Key][P][F], Date> }
      : P extends "response" ? WithoutContent<Table[Key][P]>
      : Table[Key][P]
  }
}

/** A customer's message, whose content the API definition leaves open. */
interface OpenInbound {
  readonly [field: string]: Client.Json
  readonly direction: "inbound"
  readonly status: "received"
  readonly message_id: string
  readonly provider_message_id: string
  readonly tenant_id: string
  readonly from: string
  readonly from_user_id: string | null
  readonly to: string
  readonly type: string
  readonly context: Client.Json
  readonly received_at: string
}
interface Page<Item> {
  readonly data: ReadonlyArray<Item>
  readonly has_more: boolean
  readonly next_cursor: string | null
}
type WithoutContent<Response> = [Response] extends [Wire.AnyMessage] ? Wire.Message | OpenInbound
  : [Response] extends [Page<Wire.AnyMessage>] ? Page<Wire.Message | OpenInbound>
  : Response

/** The routes that are in one of two tables only, or not the same in both. */
type Differing<A, B> = {
  [K in keyof A | keyof B]: K extends keyof A & keyof B
    ? (<T>() => T extends Flat<A[K]> ? 1 : 2) extends (<T>() => T extends Flat<B[K]> ? 1 : 2) ? never : K
    : K
}[keyof A | keyof B]

const routesOf = (prefix: string): ReadonlyArray<string> => {
  const routes: Array<string> = []
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      if (endpoint.path.startsWith(prefix)) routes.push(`${endpoint.method} ${endpoint.path}`)
    }
  })
  return [...new Set(routes)].sort()
}

/** Calls every method of a client, and goes through every list; resolves to the routes that were called. */
const routesCalled = async (
  make: (fetch: typeof globalThis.fetch) => Readonly<Record<string, Readonly<Record<string, unknown>>>>
): Promise<ReadonlyArray<string>> => {
  const routes: Array<string> = []
  const client = make(async (input, init) => {
    const { pathname } = new URL(`${input as URL}`)
    routes.push(`${init?.method} ${pathname.replace("the-id", ":id")}`)
    return Response.json({ status: "sent", data: [], results: [], has_more: false, hasMore: false, next_cursor: null })
  })
  for (const group of Object.values(client)) {
    for (
      const [name, method] of Object.entries(group) as Array<[string, (...args: ReadonlyArray<unknown>) => unknown]>
    ) {
      const isOfMembers = group === client["members"]
      const takesId = /^(get|markRead|revoke|retry|cancel|endSession|optOut|optIn|removePasskey|values)$/.test(name) &&
          !["session", "webhook", "usage", "queue"].some((one) => group === client[one]) ||
        isOfMembers && (name === "change" || name === "remove" || name === "endSessions" || name === "resetFactor") ||
        group === client["templates"] && (name === "edit" || name === "remove") ||
        group === client["campaigns"] && name !== "create" ||
        group === client["media"] && (name === "open" || name === "remove")
      if (name === "addRecipients" || name === "replaceRecipients") await method("the-id", [])
      else if (name === "conversation") await (method({}) as Client.Listing<unknown>).toArray()
      else if (name === "recipients" || name === "messages") {
        await (method("the-id") as Client.Listing<unknown>).toArray()
      } else if (name === "upload" && group === client["media"]) {
        await method({ bytes: new Uint8Array(), filename: "a" })
      } else if (name === "upload") {
        // under /v1 files are signed, so they are bytes
        await method("the-id", { bytes: "media" in client ? new Uint8Array() : new Blob(), type: "text/csv" })
      } else if (name === "import") await method({ bytes: new Blob(), type: "text/csv" })
      else if (name === "enqueueMany") await method([])
      else if (name === "list") await (method() as Client.Listing<unknown>).toArray()
      else await (takesId ? method("the-id", {}) : method.length > 1 ? method({}) : method())
    }
  }
  return [...new Set(routes)].sort()
}

/** The API definition leaves its messages open, so that each is decoded alone. */
type Batch = "POST /v1/messages/batch"

/** EventSource reads it. */
const streaming = ["GET /internal/stream"] as const
/** The client's types of their responses are written from the API definition. */
type Events = "GET /v1/events"

describe("the client's types", () => {
  it("the client has types of exactly the endpoints under /v1, whose bodies are JSON", () => {
    type Left = "POST /v1/media" | "GET /v1/media/:id" | "PUT /v1/campaigns/:id/recipients" | Events | Batch
    type Different = Differing<Plain<Omit<Wire.Routes, Left>>, Plain<Omit<Described<"/v1/">, Left>>>
    expectTypeOf<Different>().toEqualTypeOf<never>()
    expectTypeOf<Wire.Routes[Batch]["response"]>().toEqualTypeOf<Described<"/v1/">[Batch]["response"]>()
  })

  it("the client's type of an error's body has exactly the fields of the API definition", () => {
    type Encoded = ApiErrorBody["error"]
    expectTypeOf<Client.ErrorBody["error"]["code"]>().toEqualTypeOf<Encoded["code"]>()
    expectTypeOf<Exclude<keyof Encoded, keyof Client.ErrorBody["error"]>>().toEqualTypeOf<never>()
    expectTypeOf<Omit<Encoded, "reason">>().toExtend<Omit<Client.ErrorBody["error"], "reason">>()
  })

  it("the client's types of event data equal the verifier's", () => {
    type Own = Client.EventDataByType
    type Received = Verifier.EventDataByType
    expectTypeOf<keyof Own>().toEqualTypeOf<keyof Received>()
    type Written = "message.received" | "message.echoed"
    expectTypeOf<Omit<Own, Written>>().toEqualTypeOf<Omit<Received, Written>>()
    // the name of an unknown kind is an enumeration, of which each package has its own
    expectTypeOf<Own[Written]>().toExtend<Received[Written]>()
    expectTypeOf<Received[Written]>().toExtend<Own[Written]>()
    expectTypeOf<Client.Event>().toExtend<Verifier.WebhookEvent>()
  })

  it("the client's types narrow an event by its type, and an error's reason by its code", () => {
    const narrow = (event: Client.Event) => {
      if (event.type === "message.failed") expectTypeOf(event.data.error).toEqualTypeOf<Client.MessageFailure>()
      if (event.type === "message.received" && event.data.type === "text") {
        expectTypeOf(event.data.text.body).toBeString()
      }
    }
    const narrowError = (error: Client.WacError) => {
      if (error.code === "rate_limited") {
        expectTypeOf(error.reason).toEqualTypeOf<"workspace" | "phone_number" | "pair" | "provider" | "login">()
      }
      if (error.code === "not_found") expectTypeOf(error.reason).toEqualTypeOf<"media_expired" | undefined>()
    }
    expectTypeOf(narrow).toBeFunction()
    expectTypeOf(narrowError).toBeFunction()
  })
})

describe("the client's methods", () => {
  it("the client's methods call exactly the endpoints under /v1", async () => {
    const called = await routesCalled((fetch) =>
      createClient({ baseUrl: "https://wac.example.com/v1", apiKey: "wac_live_x", fetch }) as never
    )
    assert.deepStrictEqual(called, routesOf("/v1/").map((route) => route.replace(":name", ":id")))
  })

  it("the client's methods call exactly the endpoints under /internal", async () => {
    const called = await routesCalled((fetch) =>
      createInternalClient({ baseUrl: "https://wac.example.com", fetch }) as never
    )
    assert.deepStrictEqual(
      called,
      routesOf("/internal/").filter((route) => !streaming.some((one) => one === route))
    )
  })

  it("the client omits only the endpoints for load balancers", () => {
    const others = routesOf("/").filter((route) => !/ \/(v1|internal)\//.test(route))
    assert.deepStrictEqual(others, ["GET /healthz", "GET /readyz"])
  })
})
