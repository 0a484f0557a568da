/**
 * Whether an answer is one that the OpenAPI document allows its operation: the status, the type of the body, and each
 * value in it.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import type { Answer } from "./harness.ts"

/** Any part of the document. */
type Json = ReturnType<typeof JSON.parse>

/** A name in a JSON pointer that is part of an address. */
const escaped = (name: string): string => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"))

/** Judges answers by a document. */
export const make = (document: Json) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, allErrors: true })
  ajv.addSchema(document, "openapi")
  const compiled = new Map<string, ValidateFunction>()
  /** The judge of the schema at a place of the document: what is wrong with a value. One for all that are the same. */
  const judgeOf = (path: ReadonlyArray<string>): ValidateFunction => {
    const schema = path.reduce((part: Json, name) => part[name], document)
    const pointer = `openapi${schema.$ref ?? `#/${path.map(escaped).join("/")}`}`
    const known = compiled.get(pointer)
    if (known !== undefined) return known
    const judge = ajv.compile({ $ref: pointer })
    compiled.set(pointer, judge)
    return judge
  }

  const templates = Object.keys(document.paths).map((template) => ({
    template,
    segments: template.split("/"),
    parameters: template.split("{").length
  })).sort((a, b) => a.parameters - b.parameters)

  /** The path as the document has it, by a target; `undefined` if it has none, or if HTTP knows no such target. */
  const templateOf = (target: string): string | undefined => {
    if (!/^\/[!-"$-~]*$/.test(target)) return undefined
    const given = target.replace(/\?.*$/, "").split("/")
    return templates.find(({ segments }) =>
      segments.length === given.length &&
      segments.every((segment, i) => segment.startsWith("{") ? given[i] !== "" : segment === given[i])
    )?.template
  }

  return {
    /** The difference between an answer and the document; empty if the document has no such operation. */
    faults: (
      { method, target }: { readonly method: string; readonly target: string },
      { body, headers, status, text }: Answer
    ): ReadonlyArray<string> => {
      const template = templateOf(target)
      const responses = document.paths[template ?? ""]?.[method.toLowerCase()]?.responses
      if (template === undefined || responses === undefined) return []
      const name = `${method} ${template}`
      if (responses[status] === undefined) return [`${name}: the status ${status} is not documented`]
      const { content } = responses[status]
      if (content === undefined) return text === "" ? [] : [`${name} ${status}: a body is not documented`]
      const type = (headers.get("content-type") ?? "").replace(/;.*$/s, "")
      if (type !== "application/json") {
        return type in content || "application/octet-stream" in content
          ? []
          : [`${name} ${status}: the type ${type} is not documented`]
      }
      if (!(type in content)) return [`${name} ${status}: JSON is not documented`]
      const judge = judgeOf([
        "paths",
        template,
        method.toLowerCase(),
        "responses",
        `${status}`,
        "content",
        type,
        "schema"
      ])
      if (judge(body)) return []
      return (judge.errors ?? []).map(({ instancePath, message, params }) =>
        `${name} ${status}: ${instancePath} ${message} ${JSON.stringify(params)}`
      )
    }
  }
}
