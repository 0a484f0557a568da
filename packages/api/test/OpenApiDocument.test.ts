/**
 * The document says each thing once: schemas have the names that they were given, and what is said of a field stands
 * beside its schema.
 */
import { Predicate } from "effect"
import { OpenApi } from "effect/http-api"
import { assert, describe, it } from "vitest"
import { Api, OpenApiDocument } from "../src/index.ts"

interface Shown {
  readonly example?: unknown
  readonly examples?: object
}

interface Body {
  readonly content?: { readonly "application/json"?: Shown }
}

interface Operation {
  readonly operationId: string
  readonly requestBody?: Body
  readonly responses: { readonly [status: string]: Body }
}

const document = OpenApiDocument.complete(OpenApi.fromApi(Api))

/** Every part of a part of the document, itself included. */
const partsOf = (part: unknown): ReadonlyArray<unknown> =>
  Predicate.isObject(part) ? [part, ...Object.values(part).flatMap(partsOf)] : []

describe("the OpenAPI document", () => {
  it("no schema is there twice, as one that was given another description would be", () => {
    const names = Object.keys(document.components.schemas)
    assert.deepStrictEqual(names.filter((name) => names.includes(name.replace(/_\d+$/, "")) && /_\d+$/.test(name)), [])
  })

  it("no description names how long records are kept, which a setting of the service changes", () => {
    const texts = partsOf(document).flatMap((part) =>
      Predicate.hasProperty(part, "description") && typeof part.description === "string" ? [part.description] : []
    )
    const ages = /\b(?:last|for) (?:\d+ days|a year|year|week)\b|\bdeleted (?:after )?\d+ days\b|\bwhole week\b/u
    assert.deepStrictEqual(texts.filter((text) => ages.test(text)), [])
  })

  it("every body in JSON has an example", () => {
    const shown = ({ example, examples }: Shown) => example !== undefined || Object.keys(examples ?? {}).length > 0
    const operations = [...Object.values(document.paths), ...Object.values(document.webhooks)]
      .flatMap((path) => Object.values<Operation>(path as never))
    assert.isAbove(operations.length, 50)
    const without = operations.filter(({ requestBody, responses }) =>
      [requestBody, ...Object.values(responses)]
        .flatMap((body) => body?.content?.["application/json"] ?? [])
        .some((content) => !shown(content))
    )
    assert.deepStrictEqual(without.map(({ operationId }) => operationId), [])
  })

  it("the description of a field stands beside its schema, and not in an intersection", () => {
    const intersected = partsOf(document).filter((part) =>
      Predicate.hasProperty(part, "allOf") && Array.isArray(part.allOf) &&
      part.allOf.some((one: object) => Object.keys(one).join() === "description")
    )
    assert.deepStrictEqual(intersected, [])
    assert.deepStrictEqual(document.components.schemas["CreateReplay"]?.["properties"], {
      since: { $ref: "#/components/schemas/TimeGiven", description: "Events recorded at or after this time" },
      until: {
        $ref: "#/components/schemas/TimeGiven",
        description: "Events recorded before this time; defaults to now"
      },
      status: {
        $ref: "#/components/schemas/ReplayedStatus",
        description: "Only deliveries that ended with this status; if omitted, all that have ended"
      }
    })
  })
})
