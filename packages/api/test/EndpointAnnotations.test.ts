import { AuditEntry } from "@wac/core"
import { Context } from "effect"
import { OpenApi } from "effect/http-api"
import { assert, describe, it } from "vitest"
import { Access, apiKey, session } from "../src/Access.ts"
import { Audited } from "../src/audit/Audited.ts"
import * as EndpointAnnotations from "../src/EndpointAnnotations.ts"
import { byOperation, Endpoints } from "../src/Endpoints.ts"

/** As it is generated from the schemas alone. */
const generated = new Map(
  Object.values(OpenApi.fromApi(Endpoints).paths)
    .flatMap((methods) => Object.values(methods) as ReadonlyArray<OpenApi.OpenAPISpecOperation>)
    .map((operation) => [operation.operationId, operation] as const)
)

const takes = (id: string, place: string, name: string): boolean =>
  generated.get(id)!.parameters.some((parameter) => parameter.in === place && parameter.name === name)

describe.each([...byOperation])("%s", (id, endpoint) => {
  it("the endpoint declares its access, and its path suits that kind of caller", () => {
    const access = Context.getOrUndefined(endpoint.annotations, Access)
    assert.isDefined(access)
    assert.deepStrictEqual(
      generated.get(id)!.security,
      access._tag === "ApiKey" ? [{ apiKey: [] }] : access._tag === "Session" ? [{ session: [] }] : []
    )
  })

  it("the endpoint accepts an Idempotency-Key, a limit and a cursor exactly if its annotations say so", () => {
    assert.strictEqual(
      takes(id, "header", "idempotency-key"),
      EndpointAnnotations.has(endpoint, EndpointAnnotations.NeedsIdempotencyKey)
    )
    assert.strictEqual(takes(id, "query", "limit"), EndpointAnnotations.has(endpoint, EndpointAnnotations.IsPaged))
    assert.strictEqual(takes(id, "query", "cursor"), EndpointAnnotations.has(endpoint, EndpointAnnotations.IsPaged))
  })
})

/** Changes by people: of API keys, requests are kept. */
const changing = [...byOperation].filter(([, endpoint]) =>
  EndpointAnnotations.mutates(endpoint) && Context.getOrUndefined(endpoint.annotations, Access)?._tag !== "ApiKey"
)

it.each(changing)("%s declares the audit's name for its change, or that it changes nothing", (_, endpoint) => {
  const audited = Context.getOrUndefined(endpoint.annotations, Audited)
  assert.isDefined(audited)
  if (audited !== null) assert.include(AuditEntry.actions, audited)
})

it("the audit has one name for each kind of change", () => {
  const names = changing.map(([, endpoint]) => Context.getOrUndefined(endpoint.annotations, Audited)).filter(Boolean)
  assert.strictEqual(new Set(names).size, names.length)
})

const sends = [...byOperation].filter(([, endpoint]) => EndpointAnnotations.has(endpoint, EndpointAnnotations.Sends))

it.each(sends)("%s sends, so it requires an Idempotency-Key, and members cannot call it", (_, endpoint) => {
  assert.isTrue(EndpointAnnotations.has(endpoint, EndpointAnnotations.NeedsIdempotencyKey))
  const access = Context.getOrUndefined(endpoint.annotations, Access)
  assert.deepInclude([apiKey("messages:send"), session("developer")], access)
})

it("there is one operation for each endpoint", () => {
  assert.deepStrictEqual([...generated.keys()].toSorted(), [...byOperation.keys()].toSorted())
})
